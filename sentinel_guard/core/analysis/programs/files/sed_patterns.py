"""Regular expressions of ``sed``, basic and extended, as Python's: only those that mean the same in both.

POSIX takes the longest match and Python the first that it finds, so that neither alternatives of which one begins
another nor repeated groups are taken over. https://pubs.opengroup.org/onlinepubs/9799919799/basedefs/V1_chap09.html
"""

from __future__ import annotations

import re
from functools import lru_cache

MOST = 500
"""Characters of an expression."""
_PART = re.compile(r"\\.|\[\^?\]?(?:\[:[a-z]+:\]|[^\]\[\\])*\]|.", re.DOTALL)
_COUNT = re.compile(r"(\d+)(,?)(\d*)")
_SPACE = r" \t\n\v\f\r"
"""Python's own takes separators of records in, too."""
_CLASSES = {
    "space": _SPACE, "blank": r" \t", "digit": "0-9", "alpha": "a-zA-Z", "alnum": "a-zA-Z0-9", "upper": "A-Z",
    "lower": "a-z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_CLASS = re.compile(r"\[:([a-z]+):\]")
_ESCAPES = {
    **{name: f"\\{name}" for name in "wWbB"}, "s": f"[{_SPACE}]", "S": f"[^{_SPACE}]",
    "n": r"\n", "t": r"\t", "<": r"\b", ">": r"\b",
}  # fmt: skip
_ENDS_OF_BUFFER = "`'"
_WORD = re.compile(r"\w")
_NO_WIDTH = frozenset("bB<>")
_OPERATORS = "(){}|+?"
_PLAIN = re.compile(r"[\w ./:\"'=,;@#%&<>~!-]+")
"""An alternative of which each character stands for itself."""


@lru_cache(maxsize=256)
def compiled(text: str, mark: str, *, extended: bool, flags: str) -> re.Pattern[str] | None:
    """The pattern between these marks; None where it may mean something else, or is none."""
    if mark in _OPERATORS and f"\\{mark}" in text:
        return None
    bar = "|" if extended else r"\|"
    alternatives = text.split(bar)
    if len(alternatives) > 1:
        found = "|".join(map(re.escape, alternatives)) if _differ(alternatives) else None
    else:
        found = _Translation(text, extended=extended).whole() if 0 < len(text) <= MOST else None
    try:
        return (
            None if found is None else re.compile(found, re.DOTALL | (re.IGNORECASE if set("iI") & set(flags) else 0))
        )
    except (re.error, OverflowError):
        return None


def _differ(alternatives: list[str]) -> bool:
    """Whether they are plain, and none begins another."""
    plain = all(map(_PLAIN.fullmatch, alternatives))
    return plain and not any(a is not b and b.startswith(a) for a in alternatives for b in alternatives)


class _Translation:
    def __init__(self, text: str, *, extended: bool) -> None:
        self._parts, self._extended = _PART.findall(text), extended
        self._out: list[str] = []
        self._repeatable = False
        """Whether what came last is one character, which may be repeated."""

    def whole(self) -> str | None:
        at = 0
        while at < len(self._parts):
            part = self._parts[at]
            operator = self._operator(part)
            if operator in ("*", "+", "?", "{"):
                end = self._parts.index(self._close, at) if operator == "{" and self._close in self._parts[at:] else at
                if not self._repeat(operator, "".join(self._parts[at + 1 : end])):
                    return None
                at = end
            elif operator in ("(", ")"):
                self._add(operator, repeatable=False)
            elif operator or not self._one(part, at):
                return None
            at += 1
        return "".join(self._out)

    @property
    def _close(self) -> str:
        return "}" if self._extended else r"\}"

    def _operator(self, part: str) -> str:
        if part == "*":
            return part
        bare = part if self._extended else part[1:] if part[0] == "\\" else ""
        return bare if bare and bare in _OPERATORS else ""

    def _repeat(self, operator: str, count: str) -> bool:
        """A repetition of one character; what POSIX leaves open, and all of groups, is not taken over."""
        found = _COUNT.fullmatch(count) if operator == "{" else None
        if not self._repeatable or (operator == "{" and not found):
            return False
        self._add(f"{{{count}}}" if operator == "{" else operator, repeatable=False)
        return True

    def _one(self, part: str, at: int) -> bool:
        """An anchor, or what stands for one character."""
        if part[0] == "[":
            return self._bracket(part)
        if part[0] == "\\":
            sign = part[1:]
            beside = self._parts[at + 1 : at + 2] if sign == "<" else self._parts[at - 1 : at] if at else []
            unknown = sign in _ENDS_OF_BUFFER or (sign.isalnum() and sign not in _ESCAPES)
            if unknown or (sign in "<>" and not _WORD.fullmatch("".join(beside))):
                return False
            self._add(_ESCAPES.get(sign, re.escape(sign)), repeatable=sign not in _NO_WIDTH)
        elif part == "^" and (self._extended or not self._out or self._out[-1] == "("):
            self._add(r"\A", repeatable=False)
        elif part == "$" and (self._extended or self._ends(at)):
            self._add(r"\Z", repeatable=False)
        else:
            self._add("." if part == "." else re.escape(part), repeatable=True)
        return True

    def _ends(self, at: int) -> bool:
        return at + 1 == len(self._parts) or self._operator(self._parts[at + 1]) == ")"

    def _bracket(self, part: str) -> bool:
        names = _CLASS.findall(part)
        if len(part) < 2 or not all(name in _CLASSES for name in names):
            return False
        inner = re.sub(r"([&~|])(?=\1)", r"\\\1", part[1:-1])  # sets of sets, some day
        self._add(f"[{_CLASS.sub(lambda m: _CLASSES[m[1]], inner)}]", repeatable=True)
        return True

    def _add(self, text: str, *, repeatable: bool) -> None:
        self._out.append(text)
        self._repeatable = repeatable
