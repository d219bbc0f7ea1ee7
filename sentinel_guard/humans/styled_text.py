"""Text with colours, and the stream that a person reads it on.

Rules of this file:
1. A text is shown as it is: no markup in it counts. Who shows words of an agent makes them visible first.
2. Colours are for terminals alone, and not where the person wants none (``NO_COLOR``, ``TERM=dumb``).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from sentinel_guard.humans.terminal_prompts import columns

PLAIN_COLUMNS = 80
"""Columns where the output is no terminal, and nothing says another number."""
_CODES = {
    "bold": "1", "dim": "2", "underline": "4", "red": "31", "green": "32", "yellow": "33", "magenta": "35",
    "cyan": "36", "white": "37", "on_red": "41",
}  # fmt: skip
"""Word of a style -> SGR parameter. A style is words with a space between: ``bold red``."""


@dataclass(frozen=True, slots=True)
class Styled:
    """Pieces of text, each with its style."""

    pieces: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, *said: str | tuple[str, str] | Styled) -> Styled:
        """One text of many: plain, ``(text, style)``, or styled already."""
        return cls(tuple(piece for one in said for piece in _pieces(one)))

    @classmethod
    def joined(cls, between: str, parts: Iterable[Styled]) -> Styled:
        """Texts with another between each two."""
        return cls.of(*(said for n, part in enumerate(parts) for said in ((between if n else ""), part)))

    @property
    def plain(self) -> str:
        return "".join(text for text, _ in self.pieces)

    @property
    def columns(self) -> int:
        return columns(self.plain)

    def within(self, start: int, end: int) -> Styled:
        """The characters from ``start`` to ``end``."""
        found, at = [], 0
        for text, style in self.pieces:
            part = text[max(0, start - at) : max(0, end - at)]
            at += len(text)
            if part:
                found.append((part, style))
        return Styled(tuple(found))

    def over(self, style: str, start: int = 0, end: int | None = None) -> Styled:
        """The text with a style more for some of its characters."""
        last = len(self.plain) if end is None else end
        middle = ((text, f"{own} {style}".strip()) for text, own in self.within(start, last).pieces)
        return Styled.of(self.within(0, start), *middle, self.within(last, len(self.plain)))

    def lines(self) -> Iterator[Styled]:
        """Its lines, without their ends."""
        at = 0
        for line in self.plain.split("\n"):
            yield self.within(at, at + len(line))
            at += len(line) + 1

    def coded(self) -> str:
        """With the sequences of its colours."""
        return "".join(f"\x1b[{_code(style)}m{text}\x1b[0m" if _code(style) else text for text, style in self.pieces)


def fold(text: Styled, width: int) -> list[Styled]:
    """Lines of at most so many columns, broken at spaces where there are any; at least one."""
    return [part for line in text.lines() for part in _folded(line, max(1, width))]


def cut(text: Styled, width: int) -> Styled:
    """The text in one line of at most so many columns, the cut marked."""
    if text.columns <= width:
        return text
    kept = text.within(0, _fits(text.plain, width - 1)) if width > 1 else ""
    return Styled.of(kept, "…" if width > 0 else "")


def padded(text: Styled, width: int, *, right: bool = False) -> Styled:
    """Filled with spaces up to so many columns; ``right``: it stands at their end."""
    room = " " * max(0, width - text.columns)
    return Styled.of(room, text) if right else Styled.of(text, room)


class Printer:
    """Prints styled text for a person."""

    def __init__(self, out: TextIO | None = None, *, width: int = 0, coloured: bool | None = None) -> None:
        """By default on standard output, as wide as it is, with colours where it is a terminal that takes them."""
        self.out = out or sys.stdout
        self.terminal = self.out.isatty()
        self.width = width or shutil.get_terminal_size((PLAIN_COLUMNS, 24)).columns
        self.coloured = self.terminal and _wants_colours() if coloured is None else coloured

    def put(self, *said: str | tuple[str, str] | Styled) -> None:
        """One text, in lines that fit."""
        self.lines(fold(Styled.of(*said), self.width))

    def whole(self, *said: str | tuple[str, str] | Styled) -> None:
        """One text, its lines left whole: a path can be copied that is longer than the terminal is wide."""
        self.lines(Styled.of(*said).lines())

    def lines(self, lines: Iterable[Styled]) -> None:
        for line in lines:
            self.out.write(f"{self.shown(line)}\n")

    def shown(self, line: Styled) -> str:
        """A line as it is written."""
        return line.coded().rstrip(" ") if self.coloured else line.plain.rstrip(" ")


@contextlib.contextmanager
def own_screen() -> Iterator[Callable[[Sequence[Styled]], None]]:
    """A screen of its own on standard output, which shows other lines at each call; at the end the screen is as before.

    What does not fit is left out below.
    """

    def show(lines: Sequence[Styled]) -> None:
        size, printer = shutil.get_terminal_size(), Printer()
        shown = "\x1b[K\r\n".join(map(printer.shown, lines[: size.lines]))
        sys.stdout.write(f"\x1b[H{shown}\x1b[K\x1b[J")
        sys.stdout.flush()

    sys.stdout.write("\x1b[?1049h\x1b[?25l")
    try:
        yield show
    finally:
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()


def _pieces(said: str | tuple[str, str] | Styled) -> tuple[tuple[str, str], ...]:
    if isinstance(said, Styled):
        return said.pieces
    return ((said, ""),) if isinstance(said, str) else (said,)


def _code(style: str) -> str:
    return ";".join(sorted({_CODES[word] for word in style.split()}, key=int))


def _wants_colours() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _folded(line: Styled, width: int) -> Iterator[Styled]:
    while line.columns > width and (most := _fits(line.plain, width)) < len(line.plain):
        space = line.plain.rfind(" ", 0, most + 1)
        # A line that would begin with what indents it is not broken there.
        at = space if space > 0 and line.plain[:space].strip() else most
        yield line.within(0, at)
        rest = line.plain[at:]
        line = line.within(at + len(rest) - len(rest.lstrip(" ")), len(line.plain))
    yield line


def _fits(text: str, width: int) -> int:
    """How many of its characters stand in so many columns; at least one."""
    count = min(len(text), width)
    while count > 1 and columns(text[:count]) > width:
        count -= 1
    while count < len(text) and columns(text[: count + 1]) <= width:
        count += 1
    return max(1, count)
