"""Search for the paths that a shell pattern means: folder by folder, with a budget of steps and of time."""

from __future__ import annotations

import contextlib
import fnmatch
import itertools
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

MAX_MATCHES = 1000
"""Paths that a glob gives; of more only those that matter by their own name."""
MAX_ENTRIES, ENTRIES_IN_ALL = 10_000, 20_000
"""Steps of one glob, an entry of a directory or a part of the pattern each, so that ``/**/x`` ends; and of all globs of
a text, each of which may take half of what is left.
"""
MAX_PART = 1024
"""Characters of one part of a pattern; no name is longer (NAME_MAX), so more is a riddle and matches every name."""
MAX_DEPTH = 100
"""Folders below each other that a glob enters, and parts of its pattern."""
SECONDS = 1.0
"""For all globs of a text together, where folders answer slowly."""
CLOCKED = 16
"""Steps after which the clock is read once."""
AT_LEAST = 200
"""Steps of one glob where either is spent: of a folder's own names some are always looked at."""


class SeenFolders(NamedTuple):
    """What has been seen of folders: one look for all globs of a text."""

    listed: dict[str, tuple[list[os.DirEntry[str]], list[str]]]
    """Folder -> what is in it, and the names of its folders (links and ``.git`` apart)."""
    names: dict[str, list[str]]
    """Folder -> the names in it."""


class GlobSearch:
    """One glob, with its budget."""

    def __init__(
        self, matters: Callable[[str], bool], seen: SeenFolders, *, only_folders: bool, steps: int, until: float
    ) -> None:
        self._matters = matters
        self._listed, self._names = seen
        self._only_folders = only_folders
        self._most = steps
        self._until = until
        self._found: set[str] = set()
        self._depth = 0
        self.steps = 0
        self.cut = False
        """True once something was not looked at."""

    def run(self, top: str, parts: list[str]) -> set[str]:
        self._match(top, parts)
        return self._found

    def _match(self, folder: str, parts: list[str]) -> None:
        if self._over():
            return
        if not parts:
            self._add(folder)
            return
        first, rest = parts[0], parts[1:]
        if first == "**":
            self._match_deep(folder, rest)
        elif not _is_pattern(first.rpartition("/")[2]):
            path = _below(folder, first)
            if os.path.lexists(path):
                self._match(path, rest)
        elif rest:
            self._match_among(folder, self._entries(folder), first, rest)
        else:
            for name in filter(_matcher(first), self._names_in(folder)):
                self._add(_below(folder, name))

    def _add(self, path: str) -> None:
        given = len(self._found) < MAX_MATCHES or self._matters(path)
        if path and given and not (self._only_folders and not Path(path).is_dir()):
            self._found.add(path)

    def _match_among(self, folder: str, entries: Iterable[os.DirEntry[str]], first: str, rest: list[str]) -> None:
        wanted = _matcher(first)
        for entry in entries:
            if wanted(entry.name) and (not rest or is_folder(entry)):
                self._match(_below(folder, entry.name), rest)

    def _match_deep(self, folder: str, rest: list[str]) -> None:
        entries, folders = self._listing(folder)
        if rest and rest[0] != "**" and _is_pattern(rest[0].rpartition("/")[2]):
            self._match_among(folder, entries, rest[0], rest[1:])
        else:
            self._match(folder, rest)
        if self._depth >= MAX_DEPTH:
            self.cut = True
            return
        self._depth += 1
        for name in folders:
            self._match_deep(_below(folder, name), rest)
        self._depth -= 1

    def _listing(self, folder: str) -> tuple[list[os.DirEntry[str]], list[str]]:
        """All in a folder; each counts a step, each time."""
        if (known := self._listed.get(folder)) is not None:
            self.steps += len(known[0])
            return ([], []) if self._over() else known
        entries = [*self._entries(folder)]
        found = entries, [entry.name for entry in entries if entry.name != ".git" and is_folder(entry, follow=False)]
        if not self.cut:
            self._listed[folder] = found
        return found

    def _names_in(self, folder: str) -> list[str]:
        """The names in a folder; each counts a step, each time."""
        known = self._names.get(folder)
        if known is not None and self.steps + len(known) < self._most:
            self.steps += len(known)
            return known
        names: list[str] = []
        with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
            while not self.cut and (some := list(itertools.islice(entries, CLOCKED))):
                room = self._most - 1 - self.steps
                names += [entry.name for entry in some[:room]]
                self.steps += len(some)
                self.cut = len(some) > room or (self.steps > AT_LEAST and self._is_late())
        if not self.cut:
            self._names[folder] = names
        return names

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder or ".") as entries:
                for entry in entries:
                    if self._over():
                        return
                    yield entry
        except OSError:
            return

    def _over(self) -> bool:
        """Counts a step."""
        self.steps += 1
        if self.steps >= self._most or (self.steps > AT_LEAST and not self.steps % CLOCKED and self._is_late()):
            self.cut = True
        return self.cut

    def _is_late(self) -> bool:
        return time.monotonic() > self._until


def is_folder(entry: os.DirEntry[str], *, follow: bool = True) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:
        return False


def parts_of(pattern: str) -> list[str]:
    """The parts of a pattern, names without wildcards joined into one."""
    head, _, last = pattern.rpartition("/")
    if not (last in ("", ".") or "//" in head or "/./" in f"{head}/" or _is_pattern(head)):  # as most are
        return [head.strip("/"), last] if head.strip("/") else [last]
    groups = itertools.groupby((p for p in pattern.split("/") if p not in ("", ".")), _is_pattern)
    return [part for magic, run in groups for part in (run if magic else ["/".join(run)])]


def _is_pattern(part: str) -> bool:
    return "*" in part or "?" in part or part.rfind("]") > part.find("[") >= 0


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], object]:
    """True for names that it takes in; of hidden ones only where it begins with a dot."""
    if len(pattern) > MAX_PART:
        return lambda _: True
    # A bracket that nothing closes is itself; fnmatch would look for its end at each one.
    last = pattern.rfind("]") + 1
    closed = pattern[:last].replace("[^", "[!") + pattern[last:].replace("[", "[[]")
    return re.compile(("" if pattern.startswith(".") else r"(?!\.)") + fnmatch.translate(closed)).match


def _below(folder: str, name: str) -> str:
    return folder + name if folder in ("", "/") else f"{folder}/{name}"
