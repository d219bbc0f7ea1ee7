"""Parse files of settings and secrets into names and values: ``.env``, INI, YAML, JSON, ``.npmrc``, ``.netrc``,
``.pgpass``, keys.

Rules of this file:
1. Nothing is judged here: every value comes out, with the name that it stands under, or with none.
2. What spans lines comes out line by line: so it is found in whatever form its lines are written elsewhere.
3. A file that is not what its name says is taken apart by lines; nothing raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Part(NamedTuple):
    """One value; ``name`` is empty for what stands under none."""

    name: str
    value: str


NAME = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"
_ASSIGNED = re.compile(
    rf"""[ \t]*(?:(?:\#|;|//|-)[ \t]*)?(?:(?:export|set|setenv|const|let|var|ENV|ARG)[ \t]+)?
    ["']?({NAME})["']?[ \t]{{0,8}}(?:=(?=[ \t]*[^\s=])|:(?=[ \t])|[ \t]:=)[ \t]*""",
    re.VERBOSE,
)
"""An assignment up to its value. A line that ends in ``=`` may be the end of a key."""
_REGISTRY = re.compile(r"\s*(?://\S{1,200}?:|@\S{1,100}?:)?(_authToken|_auth|_password)\s*=\s*")
"""``.npmrc``."""
_LOGIN = re.compile(r"\b(password|account)\s+(\S+)")
"""``.netrc``."""
_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40})-----")
_END = "-----END "
_PUBLIC = re.compile(r"CERTIFICATE|PUBLIC|PARAMETERS|\bCRL\b")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{32,}")
_COMMENT = re.compile(r"[ \t]#")
_OPENSSH = "b3BlbnNzaC1rZXktdjE"
"""The first line of every key of OpenSSH's is the same (``openssh-key-v1`` in base64)."""
_DEEPEST = 20
"""Levels of JSON that are gone into."""


def parts(path: str, text: str) -> Iterator[Part]:
    """The values of a file in their order; ``path`` tells what kind of file it is."""
    name = path.rpartition("/")[2]
    if text.lstrip()[:1] in ("{", "["):
        try:
            yield from lines_of(leaves(json.loads(text)))
            return
        except (ValueError, RecursionError):
            pass
    if name in (".netrc", "_netrc"):
        yield from (Part(seen[1], seen[2]) for seen in _LOGIN.finditer(text))
    elif name in (".pgpass", "pgpass.conf"):
        yield from (Part("password", f[-1].replace("\\", "")) for f in _fields(text) if len(f) == 5)
    elif name == ".htpasswd":
        yield from (Part("password", f[1]) for f in _fields(text) if len(f) > 1)
    else:
        yield from lines_of(_assignments(name, text))


def _fields(text: str) -> list[list[str]]:
    return [re.split(r"(?<!\\):", line) for line in text.splitlines() if not line.startswith("#")]


def leaves(data: object, name: str = "", depth: int = 0) -> Iterator[Part]:
    """The texts in what JSON gave, each under the name next to it."""
    if isinstance(data, str):
        yield Part(name, data)
    elif isinstance(data, dict) and depth < _DEEPEST:
        for key, value in data.items():
            yield from leaves(value, str(key), depth + 1)
    elif isinstance(data, list) and depth < _DEEPEST:
        for value in data:
            yield from leaves(value, name, depth + 1)


def _assignments(name: str, text: str) -> Iterator[Part]:
    """Assignments, and lines that are none; where there is but one word, it stands under the name of the file."""
    lines, at = text.splitlines(), 0
    alone = len(text.split()) == 1
    while at < len(lines):
        line = lines[at]
        found = _REGISTRY.match(line) or _ASSIGNED.match(line)
        if not found:
            yield Part(name if alone else "", line.strip())
        else:
            value, at = _value(line[found.end() :], lines, at)
            yield Part(found[1], value)
        at += 1


def _value(rest: str, lines: list[str], at: int) -> tuple[str, int]:
    """What is assigned, without its quotes and comment; and the line on which it ends."""
    quote = next((q for q in ('"""', "'''", '"', "'", "`") if rest.startswith(q)), "")
    if not quote:
        return _COMMENT.split(rest, maxsplit=1)[0].strip().rstrip(",;").strip(), at
    closing = re.compile(rf"(?<!\\){quote}")
    held, body = list[str](), rest[len(quote) :]
    for end in range(at, len(lines)):
        body = lines[end] if end > at else body
        if closed := closing.search(body):
            return "\n".join([*held, body[: closed.start()]]), end
        held.append(body)
    # Never closed: an apostrophe, not a quote.
    return rest.strip(), at


def lines_of(found: Iterable[Part]) -> Iterator[Part]:
    """Each line of a value by itself; of a key the lines that are its own, of what is public none."""
    block = ""
    for name, value in found:
        for line in value.replace("\\r", "").replace("\\n", "\n").split("\n"):
            if begun := _BEGIN.search(line):
                block = begun[1]
            elif _END in line:
                block = ""
            elif block:
                yield from _key_line(name, block, line.strip())
            elif line.strip():
                yield Part(name, line.strip())


def _key_line(name: str, block: str, line: str) -> Iterator[Part]:
    if _KEY_LINE.fullmatch(line) and not _PUBLIC.search(block) and not line.startswith(_OPENSSH):
        yield Part(name or "PRIVATE_KEY", line)
