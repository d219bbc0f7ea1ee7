"""Lists of patterns that are asked of thousands of paths, of which most cannot be meant by any of them.

What a pattern has of plain text at its ends tells that at the price of a comparison; only the rest is matched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate

MAX_FOLDERS = 4096
"""Folders of which a list remembers what can be meant there."""
_WILD = re.compile(r"[*?\[\]]+")


class Anywhere:
    """Shell patterns (fnmatch) of whole texts, joined."""

    def __init__(self, patterns: Iterable[str]) -> None:
        given = tuple(patterns)
        ends, begins, middles = [], [], []
        for pattern in given:
            parts = _WILD.split(pattern)
            if parts[-1]:
                ends.append(parts[-1])
            elif parts[0]:
                begins.append(parts[0])
            else:
                middles.append("" if "[" in pattern else max(parts, key=len))
        self.patterns = given
        last = {end[-1] for end in ends}
        self._ends = {letter: tuple(end for end in ends if end[-1] == letter) for letter in last}
        """By their last letter: of hundreds a text can have one of a few."""
        self._begins, self._middles = tuple(begins), tuple(middles)
        self._joined = _union(map(translate, given))

    def match(self, text: str) -> bool:
        if not (text.endswith(self._ends.get(text[-1:], ())) or text.startswith(self._begins)):
            for part in self._middles:
                if part in text:
                    break
            else:
                return False
        return self._joined is not None and self._joined.match(text) is not None


class Below:
    """Patterns of paths below a folder, relative to it. Which of them a folder's paths can meet is found out once."""

    def __init__(self, patterns: Iterable[str], translated: Callable[[str], str] = translate) -> None:
        self._patterns = [(_WILD.split(pattern)[0], translated(pattern)) for pattern in patterns]
        self._near: dict[str, re.Pattern[str] | None] = {}

    def match(self, path: str, folder: str) -> bool:
        """Whether an absolute path is below this folder and one of the patterns takes it in, whole."""
        if not folder or not path.startswith(folder + "/"):
            return False
        base = len(folder) + 1
        within = path[base : path.rfind("/") + 1]
        try:
            near = self._near[within]
        except KeyError:
            near = self._find(within)
        return near is not None and near.fullmatch(path, base) is not None

    def _find(self, within: str) -> re.Pattern[str] | None:
        if len(self._near) >= MAX_FOLDERS:
            self._near.clear()
        found = _union(
            pattern for begins, pattern in self._patterns if within.startswith(begins) or begins.startswith(within)
        )
        self._near[within] = found
        return found


def _union(expressions: Iterable[str]) -> re.Pattern[str] | None:
    """One expression for all; None for none."""
    whole = "|".join(expressions)
    return re.compile(whole) if whole else None
