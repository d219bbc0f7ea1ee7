"""The line around a find, safe to display: secrets redacted, terminal control characters escaped."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from sentinel_guard.core.secrets.allow_comments import allows
from sentinel_guard.core.secrets.model import SecretFind
from sentinel_guard.core.secrets.redacted_value import mask
from sentinel_guard.core.text.aho_corasick import KeywordSearch
from sentinel_guard.core.text.control_characters import visible

MOST = 160
"""Characters of an excerpt."""
LEAD = 60
"""Characters that stand before the mask."""
_WIDE = 400
"""Characters round a find that are read, so that a name is still seen whose value the cut would leave alone."""
_OPENING = re.compile(
    r"""\s{0,4}(?:=>|:?=|:)?\s{0,8}(?i:(?<=[\s:])(?:bearer|basic|token)\s{1,4})?(?:(?<=[\s=:(,\[])[bBfFrRuU]{1,2}(?=["']))?[\\"'`]{0,6}"""
    r"(?:-----BEGIN [A-Z0-9 ]{0,40}-----)?(?:\\[nr]|\s)*$"
)
"""What opens a value, right before its mask: no value itself."""
_HEADING = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}-----\s*$")
_TELLING = 8
"""A shorter value may be part of an ordinary word: it is masked in its own place only."""


class ScannedText:
    """A text, its lines, and all that was found in it."""

    def __init__(self, text: str, leaks: Sequence[SecretFind]) -> None:
        self._text = text
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._commented: dict[tuple[int, ...], bool] = {}
        self._hidden = _merged(leaks)
        self._places = [start for start, _, _ in self._hidden]
        self._values = KeywordSearch({leak.value: mask(leak.value) for leak in leaks if len(leak.value) >= _TELLING})

    def place(self, leak: SecretFind) -> tuple[int, int]:
        """Line and column of its first character, both from 1."""
        line = bisect_right(self._starts, leak.start)
        return line, leak.start - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """A line, from 1, as it may be shown; empty where there is none."""
        if not 1 <= number < len(self._starts):
            return ""
        return self._shown(self._starts[number - 1], self._starts[number] - 1).rstrip()[:MOST]

    def commented(self, leak: SecretFind) -> bool:
        """Whether a comment on one of its lines allows it."""
        rows = tuple(bisect_right(self._starts, at) for at in (leak.start, max(leak.end - 1, leak.start)))
        if rows not in self._commented:
            self._commented[rows] = allows(self._text[self._starts[rows[0] - 1] : self._starts[rows[1]] - 1])
        return self._commented[rows]

    def excerpt(self, leak: SecretFind) -> str:
        """The find's line round it, at most MOST characters."""
        index = bisect_right(self._places, leak.start) - 1
        start, end, hidden = self._hidden[index]
        line = bisect_right(self._starts, start)
        lo, hi = max(self._starts[line - 1], start - _WIDE), min(self._starts[line] - 1, end + _WIDE)
        if not self._text[lo:start].strip():  # a key: a line above names it
            heading = _HEADING.search(self._text, max(start - _WIDE, 0), start)
            lo = max(self._text.rfind("\n", 0, heading.start()) + 1, start - _WIDE) if heading else start
        left = self._shown(start - len(self._text[lo:start].lstrip()), start, masked=True)
        right = self._shown(end, end + len(self._text[end:hi].rstrip()))
        left = left if len(left) <= LEAD else f"…{left[1 - LEAD :]}"
        whole = f"{left}{hidden}{right}"
        return whole if len(whole) <= MOST else f"{whole[: MOST - 1]}…"

    def _shown(self, lo: int, hi: int, *, masked: bool = False) -> str:
        """A stretch of a line, what was found in it masked. ``masked``: a mask comes next."""
        parts, at = [], lo
        for start, end, hidden in self._hidden[
            max(bisect_left(self._places, lo) - 1, 0) : bisect_left(self._places, hi)
        ]:
            if end > at:
                parts += [self._plain(at, start, masked=True), hidden]
                at = end
        return "".join([*parts, self._plain(at, hi, masked=masked)])

    def _plain(self, lo: int, hi: int, *, masked: bool) -> str:
        from sentinel_guard.core.text.redact_by_pattern import MARK, redact  # noqa: PLC0415 - most commits have nothing to show, and wait

        text, parts, at = self._text[lo:hi], list[str](), 0
        for start, end, hidden in sorted(self._values.places(text)):
            if start >= at:
                parts += [text[at:start], hidden]
            at = max(at, end)
        said = "".join([*parts, text[at:]])
        opening = _OPENING.search(said) if masked else None
        cut = opening.start() if opening else len(said)
        # The mask stands for the value that was found; what names it asks for no second one.
        head = redact(said[:cut]).removesuffix(MARK) if masked else redact(said)
        return visible(head + said[cut:])


def _merged(leaks: Sequence[SecretFind]) -> list[tuple[int, int, str]]:
    """What is hidden: start, end, and what stands for it; finds that overlap are hidden as one."""
    hidden: list[tuple[int, int, str]] = []
    for leak in sorted(leaks, key=lambda leak: (leak.start, -leak.end)):
        if hidden and leak.start < hidden[-1][1]:
            start, end, shown = hidden[-1]
            hidden[-1] = (start, max(end, leak.end), shown)
        else:
            hidden.append((leak.start, leak.end, mask(leak.value, leak.rule)))
    return hidden
