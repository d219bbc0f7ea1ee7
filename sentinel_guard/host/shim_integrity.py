"""Whether a session's shims stand as they were made: without them PATH leads to the real programs.

Names that came later are not looked at; what counts is that each shim is there with the bytes that it had.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

Look = dict[str, tuple[int, ...]]
GONE = "the folder is gone"


class ShimIntegrity:
    """The shims of one session, as they are now."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError where they cannot be read."""
        self._folder = folder
        self._seen = _look(folder)
        self._contents = _contents(folder, self._seen)

    @property
    def digest(self) -> str:
        """The same for the same names, modes and bytes."""
        return hashlib.sha256(repr(sorted(self._contents.items())).encode(errors="surrogateescape")).hexdigest()

    def harm(self) -> str:
        """What has happened to them, in words; empty while they stand. Contents are read only where a file's identity,
        size or times have changed (0.3 ms for 100 shims else).
        """
        try:
            seen = _look(self._folder)
            if all(seen.get(name) == look for name, look in self._seen.items()):
                return ""
            contents = _contents(self._folder, seen)
        except OSError:
            return GONE
        for name, content in self._contents.items():
            if name not in contents:
                return f"{name} is gone"
            if contents[name] != content:
                return f"{name} was changed"
        self._seen = seen
        return ""


def _look(folder: Path) -> Look:
    with os.scandir(folder) as found:
        seen = [(entry.name, entry.stat(follow_symlinks=False)) for entry in found]
    return {n: (s.st_ino, s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for n, s in seen}


def _contents(folder: Path, seen: Look) -> dict[str, tuple[int, str]]:
    """Name -> mode and hash; a file is read once, whatever number of names it has."""
    known: dict[int, str] = {}
    found = {}
    for name, (inode, mode, *_) in seen.items():
        if inode not in known:
            data = (folder / name).read_bytes() if stat.S_ISREG(mode) else b""
            known[inode] = hashlib.sha256(data).hexdigest()
        found[name] = mode, known[inode]
    return found
