"""Translates regular expressions of POSIX tools (regex(7)) for Python, and searches with them in a bounded time.

An agent writes the expression and may choose the text: what could take long by going back and forth is not compiled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_LENGTH = 300
"""Characters of an expression."""
MAX_TEXT = 4096
"""Characters of a text that are searched."""
MAX_OPTIONAL = 4
"""``?`` in one piece."""

_THEIRS = re.compile(r"\[:(\w+):\]|\\([<>`'])")
"""What only a POSIX expression has (regex(7), and GNU's): a class of characters, the ends of a word or a text."""
_OURS = {
    "alpha": "a-z",
    "lower": "a-z",
    "upper": "a-z",
    "alnum": "a-z0-9",
    "digit": "0-9",
    "xdigit": "0-9a-f",
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
"""The same in Python's words; upper and lower case are not told apart."""
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
        return Expression([[re.compile(piece, case | re.DOTALL) for piece in pieces] for pieces in ways])
    except re.error:
        return None


def _pieces(expression: str) -> list[list[str]] | None:
    """Its alternatives, each parted at its ``.*``; None where a piece of one could take long."""
    parts: list[str] = _TOKEN.findall(expression)
    ways, depth, at = [[""]], 0, 0
    while at < len(parts):
        part, behind = parts[at], parts[at + 1] if at + 1 < len(parts) else ""
        depth += {"(": 1, ")": -1}.get(part, 0)
        if part == ")" and _REPEATS.fullmatch(behind):
            return None
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
    repeats = sum(_REPEATS.fullmatch(part) is not None for part in parts)
    refers = any(part[0] == "\\" and part[1:].isdigit() for part in parts)
    return repeats <= 1 and parts.count("?") <= MAX_OPTIONAL and not refers
