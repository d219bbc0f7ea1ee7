"""Keeps what a git directory holds besides git's own objects: large files (git-lfs, git-annex) and the repositories of
submodules that are not checked out.

Rules of this file:
1. They are kept as objects are: hard links outside of the repository; what is small, or written to in place, is copied.
2. What is missing or altered comes back; what came meanwhile stays.
3. A hard link shares its content with the repository's file: what was overwritten in place is found by the hash that
   its name tells.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from sentinel_guard.host.machine import deep_folders
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline import object_backup

STORES = ("lfs", "annex", "modules")
"""Folders of the common directory."""
PASSING = frozenset({"tmp", "incomplete"})
"""Folders in them that hold nothing that lasts."""
COPIED = 64 << 20
"""Bytes that are copied at most, of files that could be linked."""
_BY_HASH = re.compile(r"lfs/objects/.*/([0-9a-f]{64})|annex/objects/.*/SHA256E?-[^/]*--([0-9a-f]{64})[^/]*")


def keep(common_dir: str, folder: Path, apart: Collection[str], since: int) -> list[str]:
    """Returns what is not kept, in words. Raises OSError where the disk is full.

    ``apart``: git directories, absolute, that are kept on their own. ``since``: nanoseconds of the epoch; what was
    changed after is not kept.
    """
    left, room = list[str](), COPIED
    for name in _names(common_dir, apart):
        source, to = f"{common_dir}/{name}", folder / name
        try:
            seen = os.lstat(source)
            if not stat.S_ISREG(seen.st_mode) or seen.st_ctime_ns >= since:
                continue
            if seen.st_size <= room and (seen.st_size <= object_backup.SMALL or "/objects/" not in name):
                object_backup.copy(source, to)
                room -= seen.st_size
            else:
                object_backup.link(source, to)
        except FileNotFoundError:
            continue
        except OSError as e:
            if e.errno == errno.ENOSPC:
                raise
            left.append(f".git/{name} was not kept: {e.strerror}.")
    return left


def missing_or_changed(folder: Path, common_dir: str, since: int) -> list[str]:
    """Names of what is not in the repository as it was kept. ``since``: nanoseconds of the epoch; see ``keep``."""
    return [
        n
        for n in object_backup.names(str(folder))
        if not object_backup.same(f"{folder}/{n}", f"{common_dir}/{n}", since)
    ]


def restore(folder: Path, common: SymlinkSafeFolder, since: int) -> None:
    """Bring it back; what stands there is moved away. Raises HostError, OSError."""
    for name in missing_or_changed(folder, common.root, since):
        common.make_way(name)
        to = Path(common.root, name)
        if "/objects/" in name:
            object_backup.link(str(folder / name), to)
        else:
            object_backup.copy(str(folder / name), to)


def damaged(folder: Path, since: int) -> list[str]:
    """What was overwritten in place since, in the kept copy too."""
    return [
        n
        for n in object_backup.names(str(folder))
        if object_backup.changed(f"{folder}/{n}", since) and not _sound(folder / n, n)
    ]


def _sound(path: Path, name: str) -> bool:
    if told := _BY_HASH.fullmatch(name):
        with path.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest() == (told[1] or told[2])
    return object_backup.is_intact(path, name.rpartition("/objects/")[2])


def _names(common_dir: str, apart: Collection[str]) -> Iterator[str]:
    for store in STORES:
        for folder, below, files in deep_folders.walk(f"{common_dir}/{store}"):
            below[:] = [b for b in below if b not in PASSING and f"{folder}/{b}" not in apart]
            yield from (f"{folder[len(common_dir) + 1 :]}/{name}" for name in files if not name.endswith(".lock"))
