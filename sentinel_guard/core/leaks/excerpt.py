"""A line as it may be shown: every secret in it masked, nothing in it that a terminal would obey."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from sentinel_guard.core.leaks.base import Leak
from sentinel_guard.core.leaks.mask import mask
from sentinel_guard.core.redact import redact
from sentinel_guard.core.visible import visible

MOST = 160
"""Characters of an excerpt."""
LEAD = 60
"""Characters that stand before the mask."""
_WIDE = 400
"""Characters round a find that are read, so that a name is still seen whose value the cut would leave alone."""
_TELLING = 8
"""A shorter value may be part of an ordinary word: it is masked in its own place only."""


class Page:
    """A text, its lines, and all that was found in it."""

    def __init__(self, text: str, leaks: Sequence[Leak]) -> None:
        self._text = text
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._hidden = _merged(leaks)
        self._places = [start for start, _, _ in self._hidden]
        self._values = sorted({leak.value for leak in leaks if len(leak.value) >= _TELLING}, key=len, reverse=True)

    def place(self, leak: Leak) -> tuple[int, int]:
        """Line and column of its first character, both from 1."""
        line = bisect_right(self._starts, leak.start)
        return line, leak.start - self._starts[line - 1] + 1

    def lines(self, leak: Leak) -> str:
        """The whole lines in which it stands."""
        first, last = (bisect_right(self._starts, at) for at in (leak.start, max(leak.end - 1, leak.start)))
        return self._text[self._starts[first - 1] : self._starts[last] - 1]

    def line(self, number: int) -> str:
        """A line (from 1; empty for one that is not there), all that was found masked, at most MOST characters."""
        if not 0 < number < len(self._starts):
            return ""
        start, end = self._starts[number - 1], self._starts[number] - 1
        return self._shown(start, min(end, start + _WIDE))[:MOST]

    def excerpt(self, leak: Leak) -> str:
        """The find's line round it, at most MOST characters."""
        index = bisect_right(self._places, leak.start) - 1
        start, end, hidden = self._hidden[index]
        line = bisect_right(self._starts, start)
        left = self._shown(max(self._starts[line - 1], start - _WIDE), start).lstrip()
        right = self._shown(end, min(self._starts[line] - 1, end + _WIDE)).rstrip()
        left = left if len(left) <= LEAD else f"…{left[1 - LEAD :]}"
        whole = f"{left}{hidden}{right}"
        return whole if len(whole) <= MOST else f"{whole[: MOST - 1]}…"

    def _shown(self, lo: int, hi: int) -> str:
        """A stretch of a line, what was found in it masked."""
        parts, at = [], lo
        for start, end, hidden in self._hidden[
            max(bisect_left(self._places, lo) - 1, 0) : bisect_left(self._places, hi)
        ]:
            if end > at:
                parts += [self._plain(at, start), hidden]
                at = end
        return "".join([*parts, self._plain(at, hi)])

    def _plain(self, lo: int, hi: int) -> str:
        text = self._text[lo:hi]
        for value in self._values:
            text = text.replace(value, mask(value))
        return visible(redact(text))


def _merged(leaks: Sequence[Leak]) -> list[tuple[int, int, str]]:
    """What is hidden: start, end, and what stands for it; finds that overlap are hidden as one."""
    hidden: list[tuple[int, int, str]] = []
    for leak in sorted(leaks, key=lambda leak: (leak.start, -leak.end)):
        if hidden and leak.start < hidden[-1][1]:
            start, end, shown = hidden[-1]
            hidden[-1] = (start, max(end, leak.end), shown)
        else:
            hidden.append((leak.start, leak.end, mask(leak.value, leak.rule)))
    return hidden
