"""Keeps tampered versions of restricted files within a size limit: of each file the first ones and the last."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

FIRST, LAST = 5, 20
"""Versions of one file that are kept: the first, which tell how it began, and the last."""
MOST = 256 << 20
"""Bytes of the versions of one file beyond which the middle ones go; the newest one stays whatever its size."""
_AGAIN = ".again-"


class Quarantine:
    """Counts what is moved into an attic (``symlink_safe_folder.py``). Not safe to call from several threads."""

    def __init__(self, attic: Path) -> None:
        self._attic = attic
        self.dropped: dict[str, int] = {}
        """Name -> versions that were not kept."""
        self._kept: dict[str, list[Path]] = {}
        for path in sorted(_files(attic), key=_age):
            inside = path.relative_to(attic)
            name = Path(*inside.parts[1:]) if inside.parts[0].startswith(_AGAIN) else inside
            self._kept.setdefault(str(name), []).append(path)

    def add(self, name: str, path: str) -> None:
        """A version of this file was moved to this path; older ones may go for it."""
        if not path:
            return
        kept = self._kept.setdefault(name, [])
        kept.append(Path(path))
        while len(kept) > FIRST + LAST or (len(kept) > 1 and sum(map(_size, kept)) > MOST):
            self._drop(name, kept.pop(min(FIRST, len(kept) - 2)))

    def _drop(self, name: str, path: Path) -> None:
        self.dropped[name] = self.dropped.get(name, 0) + 1
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            while (path := path.parent) != self._attic and self._attic in path.parents:
                path.rmdir()


def _files(attic: Path) -> list[Path]:
    return [Path(folder, name) for folder, _, names in os.walk(attic) for name in names]


def _age(path: Path) -> int:
    try:
        return path.lstat().st_ctime_ns
    except OSError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def content(path: Path) -> bytes | None:
    """The bytes of a version; None for what is no file or cannot be read."""
    try:
        return path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None
    except OSError:
        return None
