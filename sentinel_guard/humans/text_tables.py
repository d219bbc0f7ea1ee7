"""Tables and trees of styled text, in lines that fit a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from sentinel_guard.humans.styled_text import Styled, cut, fold, padded

LEAST = 8
"""Columns that a folding column of a table keeps, where there are so many."""


@dataclass(frozen=True, slots=True)
class Column:
    """One of a table. Where the table is too wide, folding columns go over several lines, then the others are cut."""

    heading: str = ""
    right: bool = False
    folds: bool = False
    width: int = 0
    """Fixed, in columns of the terminal; 0: as wide as its cells."""


Cell = str | Styled


def table(
    about: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int, *, gap: int = 1, headed: bool = True
) -> Iterator[Styled]:
    """The lines of a table in so many columns; ``gap``: spaces between its columns."""
    cells = [[Styled.of(cell) for cell in row] for row in rows]
    heading = [Styled.of((column.heading, "bold")) for column in about] if headed else []
    widths = _widths(about, [*cells, *([heading] if headed else [])], width - gap * (len(about) - 1))
    for row in (*([heading] if headed else []), *cells):
        yield from _row(about, row, widths, gap)


def _widths(about: Sequence[Column], rows: Sequence[Sequence[Styled]], room: int) -> list[int]:
    widths = [
        column.width or max((line.columns for row in rows for line in row[n].lines()), default=0)
        for n, column in enumerate(about)
    ]
    for least, folds in ((LEAST, True), (1, True), (1, False)):
        while sum(widths) > room:
            wide = [n for n, column in enumerate(about) if column.folds is folds and widths[n] > least]
            if not wide:
                break
            widest = max(wide, key=lambda n: widths[n])
            # As far as the next wide one, or as far as it has to.
            others = max((widths[n] for n in wide if n != widest), default=least)
            take = max(1, min(widths[widest] - others, sum(widths) - room))
            widths[widest] = max(least, widths[widest] - take)
    return widths


def _row(about: Sequence[Column], row: Sequence[Styled], widths: Sequence[int], gap: int) -> Iterator[Styled]:
    parts = [
        fold(cell, width) if column.folds else [cut(line, width) for line in cell.lines()]
        for column, cell, width in zip(about, row, widths, strict=True)
    ]
    for line in zip_longest(*parts, fillvalue=Styled()):
        cells = [padded(p, w, right=c.right) for c, p, w in zip(about, line, widths, strict=True)]
        yield Styled.of(*(part for n, cell in enumerate(cells) for part in ((" " * gap if n else ""), cell)))


@dataclass(slots=True)
class Tree:
    """A text, and those that belong to it."""

    label: Styled
    below: list[Tree] = field(default_factory=list)

    def add(self, *said: str | tuple[str, str] | Styled) -> Tree:
        """Puts a text below; that is a tree of its own."""
        self.below.append(Tree(Styled.of(*said)))
        return self.below[-1]

    def lines(self, width: int) -> Iterator[Styled]:
        """Drawn in so many columns."""
        yield from fold(self.label, width)
        for n, one in enumerate(self.below, 1):
            first, rest = ("└── ", "    ") if n == len(self.below) else ("├── ", "│   ")
            for k, line in enumerate(one.lines(width - len(first))):
                yield Styled.of((rest if k else first, "dim"), line)
