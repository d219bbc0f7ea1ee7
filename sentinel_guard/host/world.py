"""The file system and PATH for the command analysis (core/analysis/world.py): read-only, never blocking, bounded."""

from __future__ import annotations

import math
import os
import stat
import sys
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sentinel_guard.core.analysis.engine_facts import Engine
from sentinel_guard.core.analysis.running_processes import Running, Selection
from sentinel_guard.core.analysis.secret_names import KINDS, may_hold_secret
from sentinel_guard.core.analysis.world import MAX_READ, Peek
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.policy.target_placeholders import TargetContext, matches_target, meant_by_name
from sentinel_guard.host import glob_search
from sentinel_guard.host.machine.find_program import find_program
from sentinel_guard.host.machine.real_path import real_path

BEGINNING = 4096
"""Bytes that are read of a file before the rest, since most programs and pictures show there that they are no text."""

REMEMBERED = 1.0
"""Seconds for which a folder is taken as it was seen."""
WAITS = 1.0
"""Seconds in which files of commits may be asked for."""
LOOKS = 3.0
"""Seconds in which pushes may be looked at: a launcher waits 10 for its answer."""
MAX_PLAIN = 4096
"""Folders that are remembered to tell upper from lower case."""
Pushes = Callable[[str, str, Sequence[str], str, float], str | None]
"""Of a folder, a remote, its references and what is said, in so many seconds."""
_UNSEEN = (".git", "node_modules")
"""Folders full of files with several names, none of which is a person's."""

_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "link",
    stat.S_IFBLK: "device",
    stat.S_IFCHR: "device",
}


class FolderMemory:
    """What several worlds need not find out anew, for a second: where a HOME leads, and which folders are plain."""

    def __init__(self) -> None:
        self._since = -math.inf
        self.plain: set[str] = set()
        """Folders in which names that differ in case are different files."""
        self._homes: dict[str, str] = {}

    def home(self, path: str) -> str:
        now = time.monotonic()
        if now - self._since > REMEMBERED:
            self._since, self.plain, self._homes = now, set(), {}
        if path not in self._homes:
            self._homes[path] = os.path.realpath(path)
        return self._homes[path]


class HostWorld:
    """A World on the real file system, for one text.

    ``environ`` is the session's at its start; ``shims`` are folders that ``which`` passes by; ``policy`` and ``root``,
    the repository, say which paths matter by their own name; ``committed`` reads the history, ``engines`` asks one,
    ``others`` looks for processes that are not the session's, ``pushes`` at what one would send.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        shims: tuple[str, ...] = (),
        memory: FolderMemory | None = None,
        policy: Policy | None = None,
        root: str = "",
        committed: Callable[[str, str], str | None] | None = None,
        engines: Callable[[str], Engine | None] | None = None,
        others: Callable[[Selection], tuple[Running, ...]] | None = None,
        pushes: Pushes | None = None,
    ) -> None:
        self.cut = self.asks = self.wonders = self.doubts = False
        self._select, self._ask, self._pushes, self._engines = others, engines, pushes, dict[str, Engine | None]()
        self._policy, self._committed, self._waits, self._looks = policy or Policy(), committed, WAITS, LOOKS
        self._left, self._seconds = glob_search.ENTRIES_IN_ALL, glob_search.SECONDS
        self._seen = glob_search.SeenFolders({}, {})
        self.shims = shims
        self.environ: Mapping[str, str] = dict(environ)
        memory = memory or FolderMemory()
        self.home: str = memory.home(environ.get("HOME") or str(Path.home()))
        self._ground = TargetContext(self._policy, root, self.home)
        self._plain = memory.plain

    def resolve(self, path: str) -> str:
        try:
            real = real_path(path)
        except (OSError, ValueError):
            return os.path.normpath(path)
        above = real.rpartition("/")[0]
        return real if above in self._plain or not above else self._respelled(real)

    def _respelled(self, path: str) -> str:
        """Every name on the way as its folder lists it."""
        done = ""
        for part in path.split("/")[1:]:
            done = self.spelled(f"{done}/{part}")
        return done

    def kind(self, path: str) -> str:
        try:
            return _KINDS.get(stat.S_IFMT(os.lstat(path).st_mode), "other")
        except (OSError, ValueError):
            return ""

    def spelled(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        if folder in self._plain or name in ("", ".", ".."):
            return path
        twins = {name.swapcase(), unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)} - {name}
        try:
            seen = os.lstat(path)
            if any(_is_same(f"{folder}/{twin}", seen) for twin in twins):
                return _listed(folder, name, seen.st_ino) or path
        except (OSError, ValueError):
            return path
        if name.swapcase() in twins and name.isascii() and len(self._plain) < MAX_PLAIN:
            self._plain.add(folder)
        return path

    def names(self, paths: Iterable[str], top: str) -> Mapping[str, tuple[str, ...]]:
        several = {path: seen for path in dict.fromkeys(paths) if (seen := _with_several_names(path)) is not None}
        if not several:
            return {}
        found: dict[tuple[int, int], list[str]] = {(seen.st_dev, seen.st_ino): [] for seen in several.values()}
        for name, file in _linked(found.keys(), top):
            found[file].append(name)
        return {
            path: tuple(name for name in found[seen.st_dev, seen.st_ino] if name != path)
            for path, seen in several.items()
        }

    def glob(self, pattern: str) -> tuple[str, ...]:
        """``**`` is any depth, hidden folders included, ``.git`` apart; other wildcards leave hidden names alone."""
        self.cut = False
        if "\0" in pattern:
            return ()
        parts = glob_search.parts_of(pattern)
        self.cut = len(parts) > glob_search.MAX_DEPTH
        if self.cut:
            return ()
        began = time.monotonic()
        steps = max(glob_search.AT_LEAST, min(glob_search.MAX_ENTRIES, self._left // 2))
        until = began + max(self._seconds, 0.0)
        only_folders = pattern.endswith("/")
        search = glob_search.GlobSearch(self.matters, self._seen, only_folders=only_folders, steps=steps, until=until)
        found = search.run("/" if pattern.startswith("/") else "", parts)
        self.cut = search.cut
        self._left -= search.steps
        self._seconds -= time.monotonic() - began
        return tuple(sorted(found))

    def matters(self, path: str) -> bool:
        if may_hold_secret(path) or self._policy.restricts(path, self._ground.root):
            return True
        return matches_target(meant_by_name(self._policy.rules), path, self._ground)

    def kinds_that_matter(self, folder: str) -> tuple[tuple[str, ...], ...]:
        policy, root = self._policy, self._ground.root
        return (
            KINDS,
            _kinds((*policy.paths.restricted, *policy.project.restricted), folder, lambda p: policy.restricts(p, root)),
            _kinds((*policy.paths.hidden, *policy.project.hidden), folder, lambda p: policy.hides(p, root)),
        )

    def read(self, path: str) -> str | None:
        seen = self.peek(path)
        return seen.text if seen is not None and seen.whole else None

    def peek(self, path: str) -> Peek | None:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except (OSError, ValueError):
            return None
        try:
            data = os.read(fd, BEGINNING) if stat.S_ISREG(os.fstat(fd).st_mode) else b"\0"
            if len(data) == BEGINNING and b"\0" not in data:
                data += os.read(fd, MAX_READ + 1 - BEGINNING)
        except OSError:
            return None
        finally:
            os.close(fd)
        if b"\0" in data:
            return None
        return Peek(data[:MAX_READ].decode("utf-8", "surrogateescape"), whole=len(data) <= MAX_READ)

    def committed(self, folder: str, name: str) -> str | None:
        if self._committed is None or self._waits <= 0:
            return None
        began = time.monotonic()
        text = self._committed(folder, name)
        self._waits -= time.monotonic() - began
        return text

    def engine(self, program: str, *, at_stake: bool = False) -> Engine | None:
        if self._ask is None or not self._may_ask():
            self.doubts = self.doubts or (at_stake and self._ask is not None)
            return None
        if program not in self._engines:
            self._engines[program] = self._ask(program)
        return self._engines[program]

    def others(self, chosen: Selection) -> tuple[Running, ...]:
        return self._select(chosen) if self._select is not None else ()

    def push(self, folder: str, remote: str, refs: Sequence[str], said: str) -> str | None:
        if self._pushes is None or not self._may_ask() or self._looks <= 0:
            return None
        began = time.monotonic()
        found = self._pushes(folder, remote, refs, said, self._looks)
        self._looks -= time.monotonic() - began
        return found

    def _may_ask(self) -> bool:
        """Whether a person's answer is at stake; where not, it is kept that something would have been asked."""
        self.wonders = self.wonders or not self.asks
        return self.asks

    def which(self, name: str) -> str:
        """The guard's own program is found where it runs, if it is not on PATH."""
        own = Path(sys.executable).parent / name if name == "sentinel-guard" else None
        folders = (self.environ.get("PATH") or os.defpath).split(":")
        path = ":".join(f for f in folders if f and f not in self.shims)
        return find_program(name, path) or (str(own) if own is not None and own.exists() else "")


def _kinds(patterns: Iterable[str], folder: str, takes: Callable[[str], str]) -> tuple[str, ...]:
    """The last parts of gitignore patterns that take in, in this folder, what is called so."""
    names = (pattern.rstrip("/").rpartition("/")[2] for pattern in patterns if not pattern.startswith(("!", "#")))
    return tuple(name for name in names if name.strip("*") and takes(f"{folder}/{name}"))


def _is_same(path: str, seen: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), seen)
    except OSError:
        return False


def _listed(folder: str, name: str, inode: int) -> str:
    """The path with the name under which a folder lists a file; empty where it lists the name itself, or none."""
    with os.scandir(folder or "/") as entries:
        found = [entry.name for entry in entries if entry.inode() == inode]
    return "" if name in found or not found else f"{folder}/{found[0]}"


def _with_several_names(path: str) -> os.stat_result | None:
    """A regular file that has more than one name."""
    try:
        seen = os.lstat(path)
    except (OSError, ValueError):
        return None
    return seen if seen.st_nlink > 1 and stat.S_ISREG(seen.st_mode) else None


def _linked(files: Collection[tuple[int, int]], top: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names below a folder of files (device, inode), as far as glob_search.MAX_ENTRIES goes."""
    left, todo = glob_search.MAX_ENTRIES, [top]
    inodes = {inode for _, inode in files}
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if left <= 0:
                        return
                    if entry.inode() in inodes and (file := _file(entry.path)) in files:
                        yield entry.path, file
                    elif entry.name not in _UNSEEN and glob_search.is_folder(entry, follow=False):
                        todo.append(entry.path)
        except OSError:
            continue


def _file(path: str) -> tuple[int, int]:
    """Device and inode; of none that can be seen, none there is."""
    try:
        seen = os.lstat(path)
    except OSError:
        return -1, -1
    return seen.st_dev, seen.st_ino
