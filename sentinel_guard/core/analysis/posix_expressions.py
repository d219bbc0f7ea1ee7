"""Translates regular expressions of POSIX tools (regex(7)) for Python, and searches with them in a bounded time.

An agent writes the expression and may choose the text: what could take long by going back and forth is not compiled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

MAX_LENGTH = 300
"""Characters of an expression."""
MAX_TEXT = 4096
"""Characters of a text that are searched."""
MAX_SHORT = 45
"""Characters of what counts as a short text."""
MAX_STEPS = 1 << 27
"""Of a search for one piece: for a repeat that begins and ends anywhere in MAX_TEXT, with 16 choices."""
MAX_SHORT_STEPS = 1 << 23
"""The same of a whole expression in a short text, of which there are several."""
_OFTEN = 20
"""Repetitions of a group, for which two choices each time are too many."""

_THEIRS = re.compile(r"\[:(\w+):\]|\\([<>`'])")
"""What only a POSIX expression has (regex(7), and GNU's): a class of characters, the ends of a word or a text."""
_OURS = {
    "alpha": "A-Za-z",
    "lower": "a-z",
    "upper": "A-Z",
    "alnum": "A-Za-z0-9",
    "digit": "0-9",
    "xdigit": "0-9A-Fa-f",
    "space": r"\s",
    "blank": r" \t",
    "punct": "!-/:-@[-`{-~",
    "graph": "!-~",
    "print": " -~",
    "cntrl": r"\0-\x1f",
    "<": r"\b",
    ">": r"\b",
    "`": r"\A",
    "'": r"\Z",
}
"""The same in Python's words."""
_NESTED = re.compile(r"\[[^\]]*\[")
"""An expression in brackets that holds another bracket, as in ``[[=a=]]``."""
_TOKEN = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\{\d*,?\d*\}|.", re.DOTALL)
_REPEATS = re.compile(r"[*+]|\{.*\}")
_BASIC = re.compile(r"\\([|(){}+?])|([|(){}+?])|\[\^?\]?[^\]]*\]|\\.", re.DOTALL)


def translated(expression: str) -> str | None:
    """The expression as Python has it; None where it cannot be read here (``s**``, ``[[=a=]]``)."""
    try:
        told = _THEIRS.sub(lambda m: _OURS[m[1] or m[2]], expression)
        if _NESTED.search(told):
            return None
        re.compile(told)
    except (re.error, KeyError):
        return None
    return told


def for_short_texts(expression: str, *, ignores_case: bool) -> re.Pattern[str] | None:
    """An extended expression for texts of MAX_SHORT characters; None for one that is not searched for here."""
    told = translated(expression) if len(expression) <= MAX_LENGTH else None
    parts: list[str] = _TOKEN.findall(told or "")
    if told is None or _steps(parts, MAX_SHORT) > MAX_SHORT_STEPS or _refers(parts):
        return None
    return re.compile(told, re.IGNORECASE if ignores_case else re.NOFLAG)


def extended(expression: str) -> str:
    """A basic expression, as grep reads one, in the words of an extended one."""
    return _BASIC.sub(lambda m: m[1] or (f"\\{m[2]}" if m[2] else m[0]), expression)


@dataclass(frozen=True, slots=True)
class Expression:
    """One that is searched for in a time that grows with the square of a text at most."""

    ways: Sequence[Sequence[re.Pattern[str]]]
    """Of each alternative the pieces between ``.*``, which are found one behind the other."""

    def is_in(self, text: str) -> bool:
        text = text[:MAX_TEXT]
        return any(_follow(pieces, text) for pieces in self.ways)


def _follow(pieces: Sequence[re.Pattern[str]], text: str) -> bool:
    at = 0
    for piece in pieces:
        found = piece.search(text, at)
        if found is None:
            return False
        at = found.end()
    return True


def compiled(expression: str, *, whole: bool = False, ignores_case: bool = False) -> Expression | None:
    """An extended expression; ``whole``: nothing may stand beside it. None for one that is not searched for here."""
    told = translated(expression) if len(expression) <= MAX_LENGTH else None
    ways = _pieces(f"^(?:{told})$" if whole and "|" in told else f"^{told}$" if whole else told) if told else None
    if ways is None:
        return None
    case = re.IGNORECASE if ignores_case else re.NOFLAG
    try:
        return Expression([[re.compile(_shortest(piece), case | re.DOTALL) for piece in pieces] for pieces in ways])
    except re.error:
        return None


def _pieces(expression: str) -> list[list[str]] | None:
    """Its alternatives, each parted at its ``.*``; None where a piece of one could take long."""
    parts: list[str] = _TOKEN.findall(expression)
    ways, depth, at = [[""]], 0, 0
    while at < len(parts):
        part, behind = parts[at], parts[at + 1] if at + 1 < len(parts) else ""
        depth += {"(": 1, ")": -1}.get(part, 0)
        if part == "|" and not depth:
            ways.append([""])
        elif part == "." and behind in ("*", "+") and not depth:
            ways[-1].append("." if behind == "+" else "")
            at += 1
        else:
            ways[-1][-1] += part
        at += 1
    return ways if all(_is_quick(piece) for way in ways for piece in way) else None


def _is_quick(piece: str) -> bool:
    parts: list[str] = _TOKEN.findall(piece)
    return _steps(parts, MAX_TEXT) <= MAX_STEPS and not _refers(parts)


def _steps(parts: Sequence[str], length: int) -> int:
    """How many a search may take in a text of this length: for each place where it begins and where a repeat without a
    bound ends, how often what has one is there, which alternative of a group it is; where that is repeated, each time.
    """
    groups = [[0, 1, 1]]  # of each that is open: repeats, choices, alternatives
    for before, part, behind in zip(("", *parts), parts, (*parts[1:], ""), strict=False):
        if part == "(":
            groups.append([0, 1, 1])
        elif part == "|":
            groups[-1][2] += 1
        elif part == ")" and len(groups) > 1:
            (repeats, choices, either), times = groups.pop(), min(_times(behind), _OFTEN)
            groups[-1][0] += repeats * times
            groups[-1][1] *= (choices * either) ** times
        elif _is_optional(before, part):
            groups[-1][1] *= 2
        elif _REPEATS.fullmatch(part):
            bounded = _times(part) < length
            groups[-1][0] += not bounded
            groups[-1][1] *= _times(part) if bounded else 1
    return math.comb(length + groups[0][0] + 1, groups[0][0] + 1) * groups[0][1]


def _times(part: str) -> int:
    """How often at the most what stands before is there."""
    if not _REPEATS.fullmatch(part):
        return 1
    most = part[1:-1].rpartition(",")[2]
    return int(most) if most else MAX_TEXT


def _shortest(piece: str) -> str:
    """The piece, taking no more than it needs: what it takes, the next one cannot have."""
    parts: list[str] = _TOKEN.findall(piece)
    return "".join(
        f"{part}?" if _is_optional(before, part) or _REPEATS.fullmatch(part) else part
        for before, part in pairwise(("", *parts))
    )


def _is_optional(before: str, part: str) -> bool:
    """Not so in ``(?:``."""
    return part == "?" and before != "("


def _refers(parts: Sequence[str]) -> bool:
    """Whether it asks for what a group has found."""
    return any(part[0] == "\\" and part[1:].isdigit() for part in parts)
