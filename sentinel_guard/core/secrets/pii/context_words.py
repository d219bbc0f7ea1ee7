"""Context words beside a number, or in the header of its column, that say what it is (``ssn``, ``phone``)."""

from __future__ import annotations

import re
from collections.abc import Iterable

REACH = 60
"""Characters before and behind a number in which such a word counts."""
HEAD = 500
"""Characters of a first line in which such a word counts for every cell below."""
_BESIDE = frozenset(",;\t|\"'\n")
"""What stands beside a cell."""


def around(text: str, places: Iterable[int]) -> str:
    """The first line, and what stands within reach of these offsets (in their order): for ``Words.anywhere``."""
    windows, end = [_head(text)], 0
    for place in places:
        windows.append(text[max(end, place - REACH) : place + 2 * REACH])
        end = max(end, place + 2 * REACH)
    return _squeeze("".join(windows))


def is_cell(text: str, start: int, end: int) -> bool:
    """Whether what lies between these offsets is a cell of its own: a field of CSV, a line."""
    return (start == 0 or text[start - 1] in _BESIDE) and (end >= len(text) or text[end] in _BESIDE)


def _head(text: str) -> str:
    return text[: text.find("\n", 0, HEAD) + 1]


def _squeeze(text: str) -> str:
    """In small letters and without what may stand between the words of a name."""
    return text.lower().replace(" ", "").replace("_", "").replace("-", "")


class Words:
    """A set of words, looked for whole: ``ssn`` is in ``user_ssn`` and ``userSsn``, not in ``classname``."""

    def __init__(self, words: Iterable[str]) -> None:
        """``words``: small letters; a blank stands for a blank, a dash, an underscore or nothing."""
        one_of = "|".join(re.escape(word).replace(r"\ ", r"[\s_-]?") for word in words)
        self._pattern = re.compile(rf"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?i:{one_of})(?![a-z])")
        self._squeezed = tuple(_squeeze(word) for word in words)

    def anywhere(self, squeezed: str) -> bool:
        """Whether what ``around`` gave may hold one: a quick no."""
        return any(word in squeezed for word in self._squeezed)

    def near(self, text: str, start: int, end: int) -> bool:
        """Whether one stands within reach of what lies between these offsets."""
        first, last = max(0, start - REACH), end + REACH
        return self.anywhere(_squeeze(text[first:last])) and self._pattern.search(text, first, last) is not None

    def heads(self, text: str) -> bool:
        """Whether one stands in the first line: then it says what the cells below are."""
        return self._pattern.search(_head(text)) is not None
