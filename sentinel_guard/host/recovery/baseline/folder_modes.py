"""Modes of folders: those of the root and of git's own directories at the start, in which a rollback must write.

Those of the work tree below the root are found by the walk, while the agent works already (``Completion.folders``).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from sentinel_guard.host.git.private_git_dir import Layout
from sentinel_guard.host.machine import deep_folders

WRITE, READ = 0o700, 0o500
"""What the owner of a folder needs to change and to see what is in it."""
_UNSEARCHED = frozenset({"objects", "lfs", "annex", "modules"})
"""Folders of a git directory whose own modes are kept, and not those of what is in them."""


def of_git_folders(where: Layout) -> dict[str, int]:
    """Absolute path -> mode of the root, the git directory, and the folders of its metadata."""
    tops = dict.fromkeys((where.git_dir, where.common_dir))
    paths = (where.root, *(path for top in tops for path in _folders(top)))
    return {path: mode for path in paths if (mode := folder_mode(path)) is not None}


def folder_mode(path: str) -> int | None:
    """The mode of a real folder; None where there is none, or it cannot be seen."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    return stat.S_IMODE(seen.st_mode) if stat.S_ISDIR(seen.st_mode) else None


def _folders(top: str) -> Iterator[str]:
    for folder, below, _ in deep_folders.walk(top):
        yield folder
        if folder == top:
            yield from (f"{top}/{b}" for b in below if b in _UNSEARCHED)
            below[:] = [b for b in below if b not in _UNSEARCHED]
    yield f"{top}/objects/pack"
