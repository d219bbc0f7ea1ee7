"""Texts that a pipe or a here-text gives, of which more is known than that they are not known whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


class PartlyKnownText(str):
    """A here-text of which not all is known: what is seen of it counts as code, and not as data."""

    __slots__ = ()


class NothingPrinted(str):
    """What a command gives to the next one of a pipe where it is certain to print nothing."""

    __slots__ = ()


class PossibleLines(str):
    """What a command gives to the next one of a pipe where only this is known: some of these lines, in any order.

    As a text it is one that is not known.
    """

    __slots__ = ("lines",)
    lines: tuple[str, ...]

    def __new__(cls, lines: Iterable[str]) -> Self:
        made = super().__new__(cls, "\0")
        made.lines = tuple(lines)
        return made


class ToBeLoaded(str):
    """What a program says to be loaded into a shell: a text that is not known, and the same as no other one."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return super().__new__(cls, "\0")

    __eq__ = object.__eq__
    __hash__ = str.__hash__
