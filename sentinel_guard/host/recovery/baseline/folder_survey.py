"""Looks through a work tree for names that are new in it, and reads only the folders in which there may be any.

Rules of this file:
1. Whatever name comes, goes or changes in a folder sets the folder's change time, and nobody but the kernel sets one
   (inode(7)). A folder with the inode and change time of the session's start holds the names of the start.
2. Where that proves nothing the folder is read: changed a moment before the start, or since; a mount; a file system
   that is not known to keep these times.
3. What git alone can tell (repositories in this one, folders of generated files that it does not ignore) is said.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections import defaultdict
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field

from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

KEEP_TIMES = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
"""Linux file systems on which rule 1 holds. Network and FUSE file systems answer from a cache, or make times up."""
MOUNTS = "/proc/self/mounts"


_OPEN = stat.S_IFDIR | 0o700
"""Type and mode of a folder that its owner can list and change."""


@dataclass(slots=True)
class Survey:
    """What was found; names relative to the root. Folders of generated files (HEAVY) are not looked into, but for those
    that git did not ignore at the start.
    """

    modes: dict[str, int] = field(default_factory=dict)
    """Of the folders that something was done to since the start, as they were before anybody opened them: whoever sets
    a mode sets the change time."""
    new: list[str] = field(default_factory=list)
    """Folders that the start did not know, from the top down."""
    files: list[str] = field(default_factory=list)
    """What is no folder, in the folders that were read."""
    shown: list[str] = field(default_factory=list)
    """Those of them that git may show: files and links, not in what is covered."""
    special: list[str] = field(default_factory=list)
    """What is none of files, links and folders, in all folders."""
    git_folders: list[str] = field(default_factory=list)
    """Folders called ``.git`` in those that were read, but for those of the root and of what is covered."""
    partial: bool = False
    """True where git may show more than ``shown``."""


def survey(baseline: Baseline, enter: Callable[[str, int], bool] = lambda *_: True) -> Survey:
    """``enter`` is asked before a folder (absolute path, mode) is looked into, and may open it."""
    return _Surveying(baseline, enter).run()


class _Surveying:
    def __init__(self, baseline: Baseline, enter: Callable[[str, int], bool]) -> None:
        self._root, self._stamps, self._enter = baseline.root, baseline.rest.stamps, enter
        self._folders = baseline.rest.folders
        self._covered = covered_folders(baseline)
        """Folders into which git was not to look at the start, and all that is in them."""
        self._found = Survey()
        self._special = defaultdict[str, list[str]](list)
        for name in baseline.rest.special:
            self._special[name.rpartition("/")[0]].append(name)
        self._todo: list[str] = []
        """Folders without a stamp."""

    def run(self) -> Survey:
        try:
            seen = os.lstat(self._root)
        except OSError:
            return self._found
        if "" in self._stamps:
            self._look_at_known(seen.st_dev)
        else:
            self._look("", self._root, seen)
        while self._todo:
            path = f"{self._root}/{(name := self._todo.pop())}"
            try:
                seen = os.lstat(path)
            except OSError:
                continue
            self._look(name, path, seen)
        self._found.special.sort()
        return self._found

    def _look_at_known(self, device: int) -> None:
        """Folders with a stamp, from the top down. Thousands of them pass here, and most are as they were."""
        root, known, special, lost = self._root, self._folders, self._special, set[str]()
        for name, (inode, changed) in self._stamps.items():
            if lost and ("" in lost or is_covered(name, lost)):
                continue
            path = f"{root}/{name}" if name else root
            try:
                seen = os.lstat(path)
            except OSError:
                lost.add(name)
                continue
            as_it_was = seen.st_ctime_ns == changed and seen.st_ino == inode and seen.st_dev == device
            if as_it_was and seen.st_mode & _OPEN == _OPEN and name in known:
                if name in special:
                    self._found.special += special[name]
            elif not self._look(name, path, seen, as_it_was=as_it_was):
                lost.add(name)

    def _look(self, name: str, path: str, seen: os.stat_result, *, as_it_was: bool = False) -> bool:
        """One folder; whether what is below it may be looked at."""
        if not stat.S_ISDIR(seen.st_mode):
            return False
        mode = stat.S_IMODE(seen.st_mode)
        if not as_it_was:
            self._found.modes[name] = mode
        if name and name not in self._folders:
            self._found.new.append(name)
        if name and not (as_it_was and seen.st_mode & _OPEN == _OPEN) and not self._enter(path, mode):
            return False
        if as_it_was:
            self._found.special += self._special.get(name, ())
            return True
        return self._read(name, path)

    def _read(self, folder: str, path: str) -> bool:
        found, prefix, inside = self._found, f"{folder}/" if folder else "", is_covered(folder, self._covered)
        try:
            entries = [*os.scandir(path)]
        except OSError:
            found.partial |= not inside
            return False
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in HEAVY or name in self._folders:
                    self._todo += [] if name in self._stamps else [name]
                elif not (inside or name in self._covered or name == ".git"):
                    found.partial = True
                    if entry.name == ".git":
                        found.git_folders.append(name)
                continue
            found.files.append(name)
            if not (entry.is_file(follow_symlinks=False) or entry.is_symlink()):
                found.special.append(name)
            elif not inside:
                found.shown.append(name)
        return True


def names_of_the_start(baseline: Baseline, folders: Iterable[str]) -> frozenset[str]:
    """All names in those of the folders that hold what they held at the start: nothing was done to them until now.

    Raises OSError where the root is gone.
    """
    found, device = set[str](), os.lstat(baseline.root).st_dev
    for folder in folders:
        path = f"{baseline.root}/{folder}" if folder else baseline.root
        with contextlib.suppress(OSError):
            inside, seen = [*os.scandir(path)], os.lstat(path)
            if (seen.st_ino, seen.st_ctime_ns) == baseline.rest.stamps.get(folder) and seen.st_dev == device:
                found.update(f"{folder}/{entry.name}" if folder else entry.name for entry in inside)
    return frozenset(found)


def keeps_times(root: str) -> bool:
    """Whether rule 1 holds on the file system of the root."""
    return file_system(root) in KEEP_TIMES


def covered_folders(baseline: Baseline) -> frozenset[str]:
    """Folders into which git did not look at the start: ignored as a whole, and repositories of their own."""
    return frozenset((*(n[:-1] for n in baseline.ignored if n[-1] == "/"), *baseline.embedded))


def is_covered(folder: str, covered: Container[str]) -> bool:
    """Whether a folder is one of them, or lies in one."""
    while folder and folder not in covered:
        folder = folder.rpartition("/")[0]
    return bool(folder)


def file_system(path: str) -> str:
    """The kind of file system that a path lies on; empty where that cannot be told."""
    best = kind = ""
    try:
        with open(MOUNTS, "rb") as f:  # noqa: PTH123 - one look
            rows = [os.fsdecode(line).split(" ") for line in f]
    except OSError:
        return ""
    for row in rows:
        point = row[1].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
        if f"{path}/".startswith(f"{point.rstrip('/')}/") and len(point) >= len(best):
            best, kind = point, row[2]
    return kind
