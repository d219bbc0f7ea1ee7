"""Operators of shell parameter expansion, ``${x#…}``, ``${x/a/b}``, ``${x@Q}``. Plain strings in, plain strings out."""

from __future__ import annotations

import re
from collections.abc import Callable

from sentinel_guard.core.analysis.expansion.glob_patterns import compiled, greedy, matches
from sentinel_guard.core.analysis.parser.dollar_parser import ansi_c

MAX_VALUE = 4096
"""Characters of a value that patterns are tried on."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v", "\x1b": "\\E"}


def transform(op: str, value: str, argument: str, extra: str) -> str | None:
    """One value behind one operator; None where it is not understood.

    ``argument`` is a shell pattern (quoted characters escaped by ``glob_patterns.escape``);
    ``extra`` is the replacement.
    """
    if len(value) > MAX_VALUE:
        return None
    if op in ("#", "##", "%", "%%"):
        return _trimmed(op, value, compiled(argument))
    if op[0] == "/":
        return _replaced(op, value, argument, extra)
    if op in _CASES:
        change, everywhere = _CASES[op]
        return _cased(value, argument, change, everywhere)
    return _OTHER[op](value) if op in _OTHER else None


def bounds(offset: int, length: int | None, size: int, *, listed: bool = False) -> slice | None:
    """``${x:offset:length}`` as a slice over ``size`` items; None where bash would call it an error."""
    start = offset if offset >= 0 else size + offset
    if start < 0 or start > size:
        return slice(0, 0)
    if length is None:
        return slice(start, size)
    if length < 0 and listed:
        return None
    stop = start + length if length >= 0 else size + length
    return None if stop < start else slice(start, stop)


def _trimmed(op: str, value: str, regex: re.Pattern[str]) -> str:
    """Without the shortest (``# %``) or longest (``## %%``) match at the start or end."""
    sizes = range(len(value) + 1)
    for size in sizes if len(op) == 1 else reversed(sizes):
        cut = size if op[0] == "#" else len(value) - size
        kept, tried = (value[cut:], value[:cut]) if op[0] == "#" else (value[:cut], value[cut:])
        if regex.fullmatch(tried):
            return kept
    return value


def _replaced(op: str, value: str, pattern: str, replacement: str) -> str | None:
    if not pattern:
        return replacement + value if op == "/#" else value + replacement if op == "/%" else value
    body = greedy(pattern)
    if body is None:
        return None
    anchored = {"/#": rf"\A(?:{body})", "/%": rf"(?:{body})\Z"}.get(op, body)
    regex = re.compile(anchored, re.DOTALL)
    if op != "//":
        return regex.sub(lambda _: replacement, value, count=1)
    # An empty match is no match for bash, but for the one of a whole empty value.
    if not value:
        return replacement if regex.fullmatch("") else value
    return regex.sub(lambda m: replacement if m[0] else "", value)


def _cased(value: str, pattern: str, change: Callable[[str], str], everywhere: bool) -> str:
    head = len(value) if everywhere else 1
    pattern = pattern or "?"
    return "".join(change(c) if at < head and matches(pattern, c) else c for at, c in enumerate(value))


def quoted(value: str) -> str:
    """``${x@Q}``: the value as bash would write it."""
    if _CONTROL.search(value):
        inner = value.replace("\\", "\\\\").replace("'", "\\'")
        return "$'" + _CONTROL.sub(lambda m: _NAMED.get(m[0], f"\\{ord(m[0]):03o}"), inner) + "'"
    return "'" + value.replace("'", "'\\''") + "'"


_CASES: dict[str, tuple[Callable[[str], str], bool]] = {
    "^": (str.upper, False),
    "^^": (str.upper, True),
    ",": (str.lower, False),
    ",,": (str.lower, True),
    "~": (str.swapcase, False),
    "~~": (str.swapcase, True),
}
_OTHER: dict[str, Callable[[str], str]] = {
    "@U": str.upper,
    "@L": str.lower,
    "@u": lambda value: value[:1].upper() + value[1:],
    "@Q": quoted,
    "@E": ansi_c,
}
