"""Multi-pattern string search (Aho-Corasick, in C): all places of many words in a text, in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

import ahocorasick

Row = TypeVar("Row")


class KeywordSearch(Generic[Row]):
    """Words, each with what its finder wants to know of it."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self._automaton = ahocorasick.Automaton()
        for word, row in rows.items():
            self._automaton.add_word(word, (len(word), row))
        self._automaton.make_automaton()

    def places(self, text: str) -> Iterator[tuple[int, int, Row]]:
        """Start, end and row of every occurrence, overlapping ones too, in the order of their ends."""
        if len(self._automaton):
            for last, (length, row) in self._automaton.iter(text):
                yield last - length + 1, last + 1, row

    def holds_any(self, text: str) -> bool:
        """Whether the text holds one of the words."""
        return bool(len(self._automaton)) and next(self._automaton.iter(text), None) is not None

    def present(self, text: str) -> set[Row]:
        """The rows of all words that the text holds."""
        return {row for _, (_, row) in self._automaton.iter(text)} if len(self._automaton) else set()


def lowered(text: str) -> str:
    """The text in small letters, each character in its place (the one that would become two is made one)."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()
