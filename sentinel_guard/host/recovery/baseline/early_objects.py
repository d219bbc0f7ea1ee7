"""What a session's start knows of git's objects at once: they are kept while the agent works already, and ``git gc
--prune=now`` takes a moment.

Rules of this file:
1. Packs get a second name at the start: they are few, and a pack that goes may come back. Where one can have none (on
   another file system), its name is written down: if it is gone when all are kept, the objects were not all kept.
2. Of loose objects the names are written down. One that is gone when all are kept, and in no pack, is named.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.recovery.baseline import object_backup
from sentinel_guard.host.recovery.baseline.backup_pack import existing

HELD, NAMES = "early", "early.txt"
_PACK = "pack/"


def hold(objects: str, folder: Path) -> None:
    """At the start, before its time is taken: a second name is a change of the file. ``folder``: the baseline's.

    Raises OSError where the disk is full.
    """
    noted = list[str]()
    for name in object_backup.names(objects):
        if name.startswith(_PACK):
            noted += [] if _is_linked(f"{objects}/{name}", folder / HELD / name) else [name]
        elif object_backup.is_loose(name):
            noted.append(name.replace("/", ""))
    (folder / NAMES).write_bytes(os.fsencode("\n".join(noted)))


def _is_linked(source: str, to: Path) -> bool:
    try:
        object_backup.link(source, to)
    except OSError as e:
        if e.errno == errno.ENOSPC:
            raise
        return False
    return True


def take_over(objects: str, folder: Path, farm: Path) -> bool:
    """Packs that went since are the farm's all the same. False where one was not sound, or is lost. Raises OSError."""

    def is_gone(name: str) -> bool:
        return not (os.path.lexists(f"{objects}/{name}") or os.path.lexists(farm / name))

    held, sound = folder / HELD, True
    for name in filter(is_gone, object_backup.names(str(held))):
        if object_backup.is_intact(held / name, name):
            object_backup.link(str(held / name), farm / name)
        else:
            sound = False
    return sound and not any(is_gone(name) for name in _noted(folder) if name.startswith(_PACK))


def lost(git: Git, folder: Path, farm: Path) -> list[str]:
    """The hashes of loose objects that were there at the start and are nowhere now. Raises HostError."""
    kept = object_backup.loose(farm)
    gone = [name for name in _noted(folder) if name not in kept and not name.startswith(_PACK)]
    there = existing(git, gone)
    return [digest for digest in gone if digest not in there]


def _noted(folder: Path) -> list[str]:
    """Names of packs that have no second name, and hashes of loose objects; nothing once all are kept."""
    try:
        return os.fsdecode((folder / NAMES).read_bytes()).splitlines()
    except FileNotFoundError:
        return []


def release(folder: Path) -> None:
    """The farm has the packs. Before a baseline is whole, for it is a change of each: what changed after is read again
    at every rollback. Raises OSError.
    """
    for name in [*object_backup.names(str(folder / HELD))]:
        (folder / HELD / name).unlink()


def forget(folder: Path) -> None:
    """All is kept, and that is written down. Raises OSError."""
    (folder / NAMES).unlink(missing_ok=True)
