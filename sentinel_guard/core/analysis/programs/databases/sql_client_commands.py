r"""Meta-commands of SQL clients: ``\! cmd`` of psql and mysql, ``.shell`` of sqlite3, ``HOST`` of sqlplus …"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sentinel_guard.core.analysis.programs.databases.sql_statements import Found, mask

_PSQL = re.compile(r"\\(\\|[a-z]+|!|\?)[^\n]*", re.IGNORECASE)
_MYSQL = re.compile(r"^[ \t]*(?:(system|source|tee|pager)\b|\\([!.TP]))[^\n]*", re.MULTILINE | re.IGNORECASE)
_DOT = re.compile(r"^[ \t]*\.([a-z]+)[^\n]*", re.MULTILINE | re.IGNORECASE)
_ORACLE = re.compile(r"^[ \t]*(?:(ho(?:st)?|sta(?:rt)?|spo(?:ol)?)\b|(!|@@?|\$))[^\n]*", re.MULTILINE | re.IGNORECASE)
_SQLCMD = re.compile(r"^[ \t]*:?(!!|r\b|out\b)[^\n]*", re.MULTILINE | re.IGNORECASE)
_WORD = re.compile(r"'((?:[^']|'')*)'|\"([^\"]*)\"|(\S+)")
_TICKS = re.compile(r"`([^`]*)`")
_COPY = re.compile(r"\b(?P<way>to|from)\s+(?P<program>program\s+)?(?P<name>'(?:[^']|'')*'|\S+)", re.IGNORECASE)
MAKES_SQL = re.compile(r"'\s*(?:drop|truncate|delete|alter)\b|format\(\s*'\s*(?:drop|truncate|delete)", re.IGNORECASE)
"""A statement that makes others: ``select 'drop table ' || name``."""
_STREAMS = ("stdin", "stdout", "pstdin", "pstdout", "stderr", "off")
_DATA = re.compile(
    r"^(COPY\b[^\n]*\bFROM\s+stdin\b[^\n]*\n)(?:.*?^\\\.[ \t]*$|.*)", re.MULTILINE | re.DOTALL | re.IGNORECASE
)


class Style(NamedTuple):
    """The commands of one family of clients."""

    pattern: re.Pattern[str]
    names: Mapping[str, str]
    """Name -> ``shell`` (a command line), ``source`` (a file of SQL), ``read``, ``write`` (a file; ``|cmd`` is a
    command line), ``last`` (the last word is written), ``delete`` (data is lost), ``breaks`` (the text is not run in
    one session from its beginning to its end), or a case of its own."""
    prefixes: bool = False
    """Names may be abbreviated."""


STYLES: dict[str, Style] = {
    "psql": Style(_PSQL, {
        "!": "shell", "i": "source", "ir": "source", "include": "source", "include_relative": "source", "o": "write",
        "out": "write", "w": "write", "write": "write", "g": "write", "gx": "write", "s": "write", "copy": "copy",
        "gexec": "makes", "lo_export": "last", "lo_import": "read",
        **dict.fromkeys(("c", "connect", "if", "elif", "else", "endif", "watch"), "breaks"),
    }),
    "mysql": Style(_MYSQL, {
        "!": "shell", "system": "shell", "pager": "shell", "p": "shell", "source": "source", ".": "source",
        "tee": "write", "t": "write",
    }),
    "sqlite": Style(_DOT, {
        "shell": "shell", "system": "shell", "read": "source", "output": "write", "once": "write", "log": "write",
        "import": "read", "restore": "delete", "backup": "last", "save": "last", "clone": "last", "open": "open",
    }, prefixes=True),
    "oracle": Style(_ORACLE, {
        "ho": "shell", "host": "shell", "!": "shell", "$": "shell", "@": "source", "@@": "source", "sta": "source",
        "start": "source", "spo": "write", "spool": "write",
    }),
    "sqlcmd": Style(_SQLCMD, {"!!": "shell", "r": "source", "out": "write"}),
}  # fmt: skip


def split(text: str, style: str, dialect: str) -> tuple[str, list[Found]]:
    """The SQL of a text that such a client reads, and what its own commands do (``Found`` with the words above)."""
    if style not in STYLES:
        return text, []
    pattern, names, prefixes = STYLES[style]
    if style == "psql" and "\n\\." in text:
        text = _DATA.sub(r"\1", text)
    did, parts, at = list[Found](), list[str](), 0
    for match in pattern.finditer(mask(text, dialect)):
        name = match[1] or match[match.lastindex or 1]
        rest, before = text[match.start() : match.end()].strip(), text[at : match.start()]
        rest = rest[rest.index(name) + len(name) :].strip()
        how = _whole(name.lower(), names) if prefixes else names.get(name.lower(), "")
        did += _does(how, rest, before)
        parts.append(before)
        at = match.end()
    return ";".join([*parts, text[at:]]), did


def _whole(name: str, names: Mapping[str, str]) -> str:
    return next((how for full, how in names.items() if full.startswith(name)), "") if len(name) > 1 else ""


def _does(how: str, rest: str, before: str) -> Iterator[Found]:
    words = [match[1] or match[2] or match[3] or "" for match in _WORD.finditer(rest)]
    files = [word for word in words if not word.startswith("-")]
    for match in _TICKS.finditer(rest) if how != "shell" else ():
        yield Found("shell", match[1])
    if how == "shell":
        yield Found("shell", rest)
    elif how == "copy":
        for match in _COPY.finditer(rest):
            reads = match["way"].lower() == "from"
            name = match["name"].strip("'")
            if name.lower() not in _STREAMS:
                yield Found(
                    ("shell" if reads else "program") if match["program"] else "read" if reads else "write", name
                )
    elif how == "breaks":
        yield Found(how, rest)
    elif how == "makes":
        if MAKES_SQL.search(before):
            yield Found("delete", "\\gexec of statements that are made here")
    elif how == "open":
        yield from (Found("write", word) for word in files[-1:] if "--new" in words or "-new" in words)
    elif how == "delete":
        yield Found("delete", f"restore {rest}".strip())
    elif how == "last":
        yield from (Found("write", word) for word in files[-1:])
    elif how and files and files[0].startswith("|"):
        yield Found("shell", files[0][1:] if " " in files[0] else rest[rest.index("|") + 1 :])
    elif how:
        yield from (Found(how, word) for word in files[:1] if word not in _STREAMS)
