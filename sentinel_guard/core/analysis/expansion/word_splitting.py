"""Word splitting and pathname expansion (globbing): the last steps of shell word expansion, pieces -> fields."""

from __future__ import annotations

import itertools
import posixpath
import re
from dataclasses import replace
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.glob_patterns import may_share, world_classes
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.parser.syntax_tree import CommandSub, Parameter, Part, Variable
from sentinel_guard.core.analysis.paths import TEMPORARY

MAX_DOTTED = 3
"""Parts of a pattern that ``dotglob`` is tried on."""

_MAGIC = re.compile(r"[*?\[]")
_SPECIAL = re.compile(r"[*?\[\]\\]")
_LETTER = re.compile(r"[A-Za-z](?![^\[]*\])")


class Piece(NamedTuple):
    """A run of characters of one kind on its way into fields."""

    text: str
    quoted: bool = False
    known: bool = True
    split: bool = False
    """From an unquoted expansion: IFS splits it."""


_NEW_NUMBERS = frozenset(("$", "BASHPID", "RANDOM", "SRANDOM", "EPOCHSECONDS", "EPOCHREALTIME"))
"""Variables whose number nobody can know beforehand."""

BREAK = Piece("\0break")
"""Stands between the words of ``"$@"``."""
_EMPTY = Piece("", quoted=True)


_DATE = (
    r"date +(?:(?:-u|--utc) +)?(?P<quote>[\"']?)\+(?P<format>(?:[\w.:-]|%[aAbBdFgGHIjklmMNpsSTuUVwWyYzZ])+)(?P=quote)"
)
_ONE_WORD = re.compile(
    rf"\"?\$\( *(?P<program>{_DATE}|whoami|hostname|id +-un?|uname +-[mns]|nproc|git rev-parse --short HEAD) *\)\"?"
)
"""What prints one word without a slash."""
_SECONDS, _DIGITS = re.compile(r"%[sNST]"), re.compile(r"%[dFgGHIjmMNsSTuUVwWyY]")


def makes_new_name(part: Part, before: list[Piece], scope: Scope) -> bool:
    """Whether a part ends a path at which nothing is yet: ``/tmp/work-$$``, ``x/$(date +%s)``, as from mktemp; or makes
    the name of a temporary file of one word that is not known.

    In ``/proc`` a number is a process.
    """
    source, number = "", False
    if isinstance(part, CommandSub):
        source = part.source
    elif isinstance(part, Variable) or (isinstance(part, Parameter) and not (part.op or part.index)):
        source = scope.written.get(part.name, "")
        number = part.name in _NEW_NUMBERS and part.name not in scope.variables
    match = _ONE_WORD.fullmatch(source) if source else None
    match = match if match and _prints(match, scope) else None
    begun = "".join(piece.text for piece in before) if number or match else ""
    new = number or (match is not None and _SECONDS.search(match["format"] or "") is not None)
    if new and "/" in begun:
        return not begun.startswith("/proc")
    # Some print nothing where something is missing: then the folder itself would be meant.
    begins = match is not None and begun.startswith(TEMPORARY) and not begun.endswith("/")
    return begins and not getattr(scope.world, "root", "").startswith(TEMPORARY)


def _prints(match: re.Match[str], scope: Scope) -> bool:
    """Whether the program that is meant prints it, and not dots alone."""
    name, shape = match["program"].split(" ")[0], match["format"]
    other = "PATH" in scope.variables or name in scope.functions or name in scope.aliases
    return not other and (shape is None or _DIGITS.search(shape) is not None)


def separators(scope: Scope) -> str | None:
    """The characters of IFS; None where they are not known."""
    value = scope.lookup("IFS")
    return None if not value.known else value.items[0] if value.items else " \t\n"


def split(pieces: list[Piece], ifs: str | None) -> list[list[Piece]]:
    if ifs is None:
        pieces = [p._replace(known=False) if p.split else p for p in pieces]
    fields: list[list[Piece]] = []
    current: list[Piece] = []
    for piece in pieces:
        if piece is BREAK:
            fields.append(current)
            current = []
        elif not (piece.split and piece.known and ifs):
            current.append(piece)
        else:
            for chunk, ends in chunks(piece.text, ifs):
                if chunk:
                    current.append(piece._replace(text=chunk))
                if ends and (current or ends.strip()):
                    fields.append(current or [_EMPTY])
                    current = []
    fields.append(current)
    return [f for f in fields if any(p.text or p.quoted or not p.known for p in f)]


def chunks(text: str, ifs: str) -> list[tuple[str, str]]:
    """Runs of text, each with the separator behind it."""
    blank = "".join(c for c in ifs if c in " \t\n")
    other = "".join(c for c in ifs if c not in " \t\n")
    spaces = f"[{re.escape(blank)}]" if blank else "(?!)"
    pattern = f"({spaces}*[{re.escape(other)}]{spaces}*|{spaces}+)" if other else f"({spaces}+)"
    found = re.split(pattern, text)
    return list(zip(found[::2], [*found[1::2], ""], strict=True))


def glob_fields(pieces: list[Piece], scope: Scope, source: str) -> tuple[Field, ...]:
    text = "".join(p.text for p in pieces)
    known = all(p.known for p in pieces)
    if text == "[" or not any(not p.quoted and _MAGIC.search(p.text) for p in pieces if p.known):
        return (Field(text, known, source=source),)
    options = scope.options
    if options and options.get("noglob"):
        return (Field(text, known, source=source),)
    unmatched = Field(text, known and options.get("nullglob", False) is not None, pattern=True, source=source)
    if not known or (scope.cwd is None and not text.startswith("/")):
        return (unmatched,)
    fields, more, cut = _found("".join(_escape(p.text) if p.quoted else _bare(p.text) for p in pieces), scope, source)
    unseen = _unseen(text, scope) if cut else ()
    # Without globstar bash takes ** for *: what the deep look has missed is no doubt then, but for what is read.
    if cut and "**" not in text:
        return (*fields, Field(text, known=False, pattern=True, source=source, unseen=unseen))
    if more:
        fields = (*fields, unmatched)
    elif not fields and not options.get("nullglob"):
        fields = (unmatched,)
    return (*fields[:-1], replace(fields[-1], unseen=unseen)) if unseen and fields else fields


def _unseen(text: str, scope: Scope) -> tuple[str, ...]:
    """One path for each kind of file that matters and that a pattern would take in."""
    head, slash, name = text.rpartition("/")
    path = posixpath.normpath(posixpath.join(scope.cwd or "/", head))
    tried = _dotted(name, scope)
    found = []
    for at, kinds in enumerate(scope.world.kinds_that_matter(path)):
        if not at and _OWN_BEGINNING.match(name) and f"{path}/".startswith(TEMPORARY):
            kinds = tuple(kind for kind in kinds if kind[:1] != "*")  # noqa: PLW2901 - the same kinds
        kind = next((k for k in kinds if any(_takes_in(one, k) for one in tried)), None)
        found += [f"{head}{slash}{kind}"] if kind is not None else []
    return tuple(found)


_OWN_BEGINNING = re.compile(r"\w{2,}[-_.]")
"""What begins so names files of one purpose: ``/tmp/crash-*``. In a temporary folder none of them is a ``.env``."""


def _takes_in(pattern: str, kind: str) -> bool:
    return (kind[:1] != "." or pattern[:1] == ".") and may_share(pattern, kind)


def _escape(text: str) -> str:
    """For ``World.glob``: the pattern that matches just this text."""
    return _SPECIAL.sub(r"[\g<0>]", text)


def _bare(text: str) -> str:
    """A backslash that came out of a variable still quotes what is behind it."""
    return re.sub(r"\\(.)", lambda m: _escape(m[1]), text, flags=re.DOTALL) if "\\" in text else text


def _found(pattern: str, scope: Scope, source: str) -> tuple[tuple[Field, ...], bool, bool]:
    """The matches, written as the pattern was: ``./*.c`` gives ``./a.c``, ``*/`` gives ``src/``.

    With them whether there are more than can be looked at one by one, so that all that matter are among them, and
    whether a folder was not looked at whole.
    """
    start = _MAGIC.search(re.sub(r"\[[*?\[\]\\]\]", "...", pattern))
    cut = pattern.rfind("/", 0, start.start() if start else 0) + 1
    head, rest = pattern[:cut], pattern[cut:]
    folder = re.sub(r"\[([*?\[\]\\])\]", r"\1", head)
    written = folder
    if not pattern.startswith("/"):
        folder = posixpath.join(scope.cwd or "/", folder)
    base = "/".join(p for p in folder.split("/") if p not in ("", "."))
    base = f"/{base}/" if base else "/"
    rest = world_classes(rest)
    if scope.is_on("nocaseglob"):
        rest = _LETTER.sub(lambda m: f"[{m[0].lower()}{m[0].upper()}]", rest)
    looked = [(scope.world.glob(_escape(base) + tried), scope.world.cut, tried) for tried in _tried(rest, scope)]
    names = sorted({name for matches, _, _ in looked for name in matches})
    cut = any(missed for _, missed, tried in looked if "**" not in tried)
    most = scope.budget.take_matches(len(names))
    chosen = names[:most] + [name for name in names[most:] if scope.world.matters(name)]
    ending = "/" if rest.endswith("/") else ""
    doubtful = scope.is_on("extglob") or "GLOBIGNORE" in scope.variables
    known = not (doubtful and ("(" in rest or "GLOBIGNORE" in scope.variables))
    known = known and not any(scope.options.get(name, False) is None for name in ("nocaseglob", "dotglob", "noglob"))
    doubted = getattr(scope.world, "doubted", ())
    fields = tuple(
        Field(written + name.removeprefix(base) + ending, known and name not in doubted, source=source)
        for name in chosen
    )
    return fields, most < len(names), cut


def _tried(rest: str, scope: Scope) -> list[str]:
    """``**`` is any depth where ``globstar`` is on, at its end all that is there; else ``*``. Both are looked at."""
    parts = rest.split("/")
    if "**" not in parts:
        return _dotted(rest, scope)
    deep = [rest, *([f"{rest}/*"] if parts[-1] == "**" and scope.is_on("globstar") else [])]
    flat = "/".join("*" if part == "**" else part for part in parts)
    return [tried for one in (*deep, flat) for tried in _dotted(one, scope)]


def _dotted(rest: str, scope: Scope) -> list[str]:
    """With ``dotglob`` a wildcard at the start of a name stands for a dot too."""
    if not scope.is_on("dotglob"):
        return [rest]
    parts = rest.split("/")
    magic = [at for at, part in enumerate(parts) if part[:1] in ("*", "?", "[")][:MAX_DOTTED]
    tried = []
    for dots in itertools.product((False, True), repeat=len(magic)):
        changed = list(parts)
        for at, dot in zip(magic, dots, strict=True):
            part = parts[at]
            changed[at] = part if not dot else f".{part}" if part[0] == "*" else f".{part[1:]}"
        tried.append("/".join(changed))
    return tried
