"""Looks through a work tree for names that are new in it, and reads only the folders in which there may be any.

Rules of this file:
1. Whatever name comes, goes or changes in a folder sets the folder's change time, and nobody but the kernel sets one
   (inode(7)). A folder with the inode and change time of the session's start holds the names of the start.
2. Where that proves nothing the folder is read: changed a moment before the start, or since; a mount; a file system
   that is not known to keep these times.
3. What git alone can tell (repositories in this one, folders of generated files that it does not ignore) is said.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

KEEP_TIMES = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"})
"""Linux file systems on which rule 1 holds. Network and FUSE file systems answer from a cache, or make times up."""
MOUNTS = "/proc/self/mounts"


_OWNER = 0o700
Place = tuple[str, bool]
"""A folder, relative to the root (empty for the root itself), and whether it is covered: git was not to look into it at
the start, as it is ignored as a whole, or a repository of its own."""


@dataclass(slots=True)
class Survey:
    """What was found; names relative to the root. Folders of generated files (HEAVY) are not looked into."""

    modes: dict[str, int] = field(default_factory=dict)
    """Of every folder that is there, as it was before anybody opened it."""
    new: list[str] = field(default_factory=list)
    """Folders that the start did not know, from the top down."""
    files: list[str] = field(default_factory=list)
    """What is no folder, in the folders that were read."""
    shown: list[str] = field(default_factory=list)
    """Those of them that git may show: files and links, not in what is covered."""
    special: list[str] = field(default_factory=list)
    """What is none of files, links and folders, in all folders."""
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
        self._found = Survey()
        self._below = defaultdict[str, list[str]](list)
        for name in self._stamps:
            self._below[name.rpartition("/")[0]] += [name] if name else []
        self._special = defaultdict[str, list[str]](list)
        for name in baseline.rest.special:
            self._special[name.rpartition("/")[0]].append(name)

    def run(self) -> Survey:
        try:
            device = os.lstat(self._root).st_dev
        except OSError:
            return self._found
        todo: list[Place] = [("", False)]
        while todo:
            self._look(todo.pop(), device, todo)
        self._found.special.sort()
        return self._found

    def _look(self, at: Place, device: int, todo: list[Place]) -> None:
        name, covered = at
        path = f"{self._root}/{name}" if name else self._root
        try:
            seen = os.lstat(path)
        except OSError:
            return
        if not stat.S_ISDIR(seen.st_mode):
            return
        self._found.modes[name] = mode = stat.S_IMODE(seen.st_mode)
        if name and name not in self._folders:
            self._found.new.append(name)
        inode, changed = self._stamps.get(name, (0, 0))
        as_it_was = (inode, changed) == (seen.st_ino, seen.st_ctime_ns) and seen.st_dev == device
        if name and not (as_it_was and mode & _OWNER == _OWNER) and not self._enter(path, mode):
            return
        if as_it_was:
            self._found.special += self._special.get(name, ())
            todo += [(n, covered or n in self._covered) for n in self._below.get(name, ())]
        else:
            self._read(at, path, todo)

    def _read(self, at: Place, path: str, todo: list[Place]) -> None:
        found, prefix, inside = self._found, f"{at[0]}/" if at[0] else "", at[1]
        try:
            entries = [*os.scandir(path)]
        except OSError:
            found.partial |= not inside
            return
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                covered = inside or name in self._covered
                if entry.name not in HEAVY:
                    todo.append((name, covered))
                elif not (covered or name == ".git"):
                    found.partial = True
                continue
            found.files.append(name)
            if not (entry.is_file(follow_symlinks=False) or entry.is_symlink()):
                found.special.append(name)
            elif not inside:
                found.shown.append(name)


def keeps_times(root: str) -> bool:
    """Whether rule 1 holds on the file system of the root."""
    return file_system(root) in KEEP_TIMES


def covered_folders(baseline: Baseline) -> frozenset[str]:
    """Folders into which git did not look at the start: ignored as a whole, and repositories of their own."""
    return frozenset((*(n[:-1] for n in baseline.ignored if n[-1] == "/"), *baseline.embedded))


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
