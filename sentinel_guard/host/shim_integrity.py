"""Whether a session's shims stand as they were made: without them PATH leads to the real programs.

Rules of this file:
1. Harm is what was seen: a shim that is not there, that cannot be reached or run, or that has other bytes.
2. A look that fails for want of descriptors, memory or time says nothing. What else a disk may refuse for a moment is
   harm where it is refused again half a second later.
3. Times, names that came later and permissions that were added are no harm; nor is a copy that has the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Collection
from pathlib import Path
from typing import Self

from sentinel_guard.errors import HostError

Look = dict[str, os.stat_result]
GONE = "the folder is gone"
UNSHIMMED = "the guard's own programs of this session were deleted or changed ({})"
OTHERS = "they are not those that were made"
_OUT_OF_REACH = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES})
_OURS = frozenset({errno.EINTR, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
WHOLE = 10.0
"""Seconds from one look at every name to the next; between them the folder and each file tell of what was changed."""
SETTLED = 1_000_000_000
"""Nanoseconds after which a change has a time of its own."""
AGAIN = 0.5
"""Seconds after which a second refusal of the disk counts: two looks may run at the same time."""
_USED = stat.S_IRUSR | stat.S_IXUSR


class ShimIntegrity:
    """The shims of one session, and what they were when they were made."""

    def __init__(self, folder: Path, record: str = "") -> None:
        """``record``: what was recorded of them; without it they count as the first look finds them."""
        self._folder, self._record = folder, record
        self._seen: Look = {}
        self._few: dict[str, tuple[int, ...]] = {}
        """The folder (an empty name), and one name of each file: what they were at the last look at every name."""
        self._whole_at = 0.0
        self._contents: dict[str, tuple[int, str]] = {}
        self._refused_at = 0.0
        self.unseen = False
        """Whether the last look could not be made, and says nothing."""

    @classmethod
    def of(cls, folder: Path, record: str = "") -> Self:
        """As they are now. Raises HostError where they are not those, or cannot be read."""
        found = cls(folder, record)
        hint = "Start the agent again."
        try:
            harm = found._look()
        except OSError as e:
            raise HostError(f"The shims in {folder} cannot be read: {e.strerror}.", hint) from e
        if harm:
            raise HostError(f"The shims in {folder} cannot be used: {harm}.", hint)
        return found

    @property
    def record(self) -> str:
        """As the first look found them: their common hash and their names, with slashes in between."""
        return self._record

    @property
    def paths(self) -> tuple[str, ...]:
        """The folder, and one name of each file in it, absolute: what is done to them is done to one of these."""
        names = {(s.st_dev, s.st_ino): name for name, s in self._seen.items()}.values()
        return (str(self._folder), *(f"{self._folder}/{name}" for name in names))

    def harm(self) -> str:
        """What has happened to them, in words; empty while they stand. Contents are read only where a file's identity,
        size or times have changed (0.1 ms for 40 shims else).
        """
        try:
            words = self._look()
        except OSError as e:
            words = self._unreadable(e)
            self.unseen = not words
            return words
        self._refused_at, self.unseen = 0.0, False
        return words

    def _unreadable(self, error: OSError) -> str:
        if error.errno in _OURS:
            return ""
        words = f"they cannot be read: {error.strerror}"
        if error.errno == errno.ENOENT:
            return f"{os.path.basename(error.filename)} is gone" if os.path.lexists(self._folder) else GONE  # noqa: PTH119 - text as it came
        if error.errno in _OUT_OF_REACH:
            return words
        now = time.monotonic()
        self._refused_at = self._refused_at or now
        return words if now - self._refused_at >= AGAIN else ""

    def _look(self) -> str:
        if not self._contents:
            return self._first_look()
        if time.monotonic() - self._whole_at < WHOLE and self._few == self._identities():
            return ""
        return self._whole_look()

    def _identities(self) -> dict[str, tuple[int, ...]]:
        # Who deletes or replaces a name changes its folder; who writes to a file, or changes its mode, the file.
        return {name: _identity(os.lstat(f"{self._folder}/{name}" if name else self._folder)) for name in self._few}

    def _whole_look(self) -> str:
        self._few = dict.fromkeys(("", *{(s.st_dev, s.st_ino): name for name, s in self._seen.items()}.values()), ())
        few = self._identities()
        seen = _stats(self._folder, self._seen)
        if all(_identity(seen[name]) == _identity(before) for name, before in self._seen.items()):
            # What is changed within the same tick of the file system's clock has the same times.
            if max(identity[-1] for identity in few.values()) < time.time_ns() - SETTLED:
                self._few, self._whole_at = few, time.monotonic()
            return ""
        for name, before in self._seen.items():
            if _use(seen[name]) != _use(before) or seen[name].st_size != before.st_size:
                return f"{name} was changed"
        contents = _contents(self._folder, seen)
        for name, content in self._contents.items():
            if contents[name] != content:
                return f"{name} was changed"
        self._seen = seen
        return ""

    def _first_look(self) -> str:
        names = self._record.split("/")[1:] or sorted(os.listdir(self._folder))  # noqa: PTH208 - names only
        seen = _stats(self._folder, names)
        contents = _contents(self._folder, seen)
        digest = hashlib.sha256(repr([*contents.items()]).encode(errors="surrogateescape")).hexdigest()
        record = "/".join((digest, *names))
        if self._record not in ("", record):
            return OTHERS
        self._seen, self._contents, self._record = seen, contents, record
        return ""


def _stats(folder: Path, names: Collection[str]) -> Look:
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    return {name: os.lstat(f"{folder}/{name}") for name in names}


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _use(found: os.stat_result) -> int:
    """What a file is, and whether it can be read and run."""
    return stat.S_IFMT(found.st_mode) | found.st_mode & _USED


def _contents(folder: Path, seen: Look) -> dict[str, tuple[int, str]]:
    """Name -> use and hash; a file is read once, whatever number of names it has."""
    known: dict[tuple[int, int], str] = {}
    found = {}
    for name, status in seen.items():
        file = status.st_dev, status.st_ino
        if file not in known:
            known[file] = _hash(f"{folder}/{name}", status.st_size) if stat.S_ISREG(status.st_mode) else ""
        found[name] = _use(status), known[file]
    return found


def _hash(path: str, size: int) -> str:
    # What was put in its place since may be a pipe, or a file without end.
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        return hashlib.sha256(file.read(size + 1)).hexdigest()
