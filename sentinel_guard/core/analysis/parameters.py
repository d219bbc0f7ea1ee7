"""What the operators of ``${…}`` do to known values. Plain strings in, plain strings out."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

from sentinel_guard.core.analysis.arithmetic import evaluate
from sentinel_guard.core.analysis.dollar import ansi_c

MAX_VALUE = 4096
"""Characters of a value that patterns are tried on."""

_SPECIAL = re.compile(r"[*?\[\]\\]")


def escape(text: str) -> str:
    """The pattern that matches just this text: ``*`` gives ``[*]``."""
    return _SPECIAL.sub(r"[\g<0>]", text)


def transform(op: str, value: str, argument: str, extra: str) -> str | None:
    """One value behind one operator; None where it is not understood.

    ``argument`` is a shell pattern (quoted characters escaped by ``escape``), for ``:`` the offset; ``extra`` is the
    replacement, for ``:`` the length or empty.
    """
    if len(value) > MAX_VALUE:
        return None
    if op == ":":
        return _slice(value, argument, extra)
    if op in ("#", "##", "%", "%%"):
        return _trimmed(op, value, _regex(argument))
    if op[0] == "/":
        return _replaced(op, value, argument, extra)
    if op in _CASES:
        change, everywhere = _CASES[op]
        return _cased(value, argument, change, everywhere)
    return _OTHER[op](value) if op in _OTHER else None


def bounds(argument: str, extra: str, size: int) -> slice | None:
    """``${x:offset:length}`` as a slice over ``size`` items."""
    offset, length = evaluate(argument), evaluate(extra) if extra.strip() else size
    if offset is None or length is None:
        return None
    start = offset if offset >= 0 else size + offset
    stop = start + length if length >= 0 else size + length
    return slice(start, stop) if start >= 0 else slice(0, 0)


def _slice(value: str, argument: str, extra: str) -> str | None:
    cut = bounds(argument, extra, len(value))
    return None if cut is None else value[cut]


def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern.replace("[^", "[!")))


def _trimmed(op: str, value: str, regex: re.Pattern[str]) -> str:
    """Without the shortest (``# %``) or longest (``## %%``) match at the start or end."""
    sizes = range(len(value) + 1)
    for size in sizes if len(op) == 1 else reversed(sizes):
        cut = size if op[0] == "#" else len(value) - size
        kept, tried = (value[cut:], value[:cut]) if op[0] == "#" else (value[:cut], value[cut:])
        if regex.match(tried):
            return kept
    return value


def _replaced(op: str, value: str, pattern: str, replacement: str) -> str:
    if not pattern:
        return replacement + value if op == "/#" else value + replacement if op == "/%" else value
    body = _regex(pattern).pattern[: -len(r"\Z")]
    anchored = {"/#": rf"\A(?:{body})", "/%": rf"(?:{body})\Z"}.get(op, body)
    return re.sub(anchored, lambda _: replacement, value, count=0 if op == "//" else 1)


def _cased(value: str, pattern: str, change: Callable[[str], str], everywhere: bool) -> str:
    regex = _regex(pattern or "?")
    head = len(value) if everywhere else 1
    return "".join(change(c) if at < head and regex.match(c) else c for at, c in enumerate(value))


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
    "@Q": lambda value: "'" + value.replace("'", "'\\''") + "'",
    "@E": ansi_c,
}
