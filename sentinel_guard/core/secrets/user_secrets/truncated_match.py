"""Find the beginning or end of a known secret where a text was truncated in the middle of it."""

from __future__ import annotations

from collections.abc import Iterable

LEAST = 4
"""Characters of a value that are none of anybody's business."""
LONGEST = 4096
"""Characters of a piece that are looked at."""


class Edges:
    """How each of some values begins and ends."""

    def __init__(self, values: Iterable[str]) -> None:
        self._heads: dict[str, list[str]] = {}
        self._tails: dict[str, list[str]] = {}
        for value in values:
            if len(value) > LEAST:
                self._heads.setdefault(value[:LEAST], []).append(value)
                self._tails.setdefault(value[-LEAST:], []).append(value)

    def begun(self, text: str) -> int:
        """Characters at the end of a text with which a value begins that is not whole; 0 for fewer than LEAST."""
        end = text[-LONGEST:]
        places = range(len(end) - LEAST + 1)
        heads = self._heads
        lengths = (
            len(end) - at for at in places if (head := end[at : at + LEAST]) in heads and self._begins(end[at:], head)
        )
        return next(lengths, 0)

    def ended(self, text: str) -> int:
        """The same at its start, with which a value ends."""
        start = text[:LONGEST]
        tails = self._tails
        lengths = (
            at
            for at in range(len(start), LEAST - 1, -1)
            if (tail := start[at - LEAST : at]) in tails and self._ends(start[:at], tail)
        )
        return next(lengths, 0)

    def _begins(self, piece: str, head: str) -> bool:
        return any(len(value) > len(piece) and value.startswith(piece) for value in self._heads[head])

    def _ends(self, piece: str, tail: str) -> bool:
        return any(len(value) > len(piece) and value.endswith(piece) for value in self._tails[tail])
