"""What a session's start knows of git's objects at once: they are kept while the agent works already, and ``git gc
--prune=now`` takes a moment.

Rules of this file:
1. Packs get a second name at the start: they are few, and a pack that goes may come back.
2. Of loose objects the names are written down. One that is gone when all are kept, and in no pack, is named.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.recovery.baseline import object_backup
from sentinel_guard.host.recovery.baseline.backup_pack import existing

HELD, NAMES = "early", "early.txt"


def hold(objects: str, folder: Path) -> None:
    """At the start, before its time is taken: a second name is a change of the file. ``folder``: the baseline's.

    Raises OSError where the disk is full.
    """
    loose = list[str]()
    for name in object_backup.names(objects):
        if name.startswith("pack/"):
            with contextlib.suppress(OSError):  # on another file system, or gone
                object_backup.link(f"{objects}/{name}", folder / HELD / name)
        elif object_backup.is_loose(name):
            loose.append(name.replace("/", ""))
    (folder / NAMES).write_text("\n".join(loose))


def take_over(objects: str, folder: Path, farm: Path) -> bool:
    """Packs that went since are the farm's all the same. False where one was not sound. Raises OSError."""
    held, sound = folder / HELD, True
    for name in object_backup.names(str(held)):
        if not os.path.lexists(f"{objects}/{name}"):
            if object_backup.is_intact(held / name, name):
                object_backup.link(str(held / name), farm / name)
            else:
                sound = False
    return sound


def lost(git: Git, folder: Path, farm: Path) -> list[str]:
    """The hashes of loose objects that were there at the start and are nowhere now. Raises HostError."""
    try:
        told = (folder / NAMES).read_text().split()
    except FileNotFoundError:
        return []
    kept = object_backup.loose(farm)
    gone = [digest for digest in told if digest not in kept]
    there = existing(git, gone)
    return [digest for digest in gone if digest not in there]


def forget(folder: Path) -> None:
    """All is kept. Raises OSError."""
    for name in [*object_backup.names(str(folder / HELD))]:
        (folder / HELD / name).unlink()
    (folder / NAMES).unlink(missing_ok=True)
