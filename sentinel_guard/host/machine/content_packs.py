"""Files that hold many small contents each, by their SHA-256: a file of its own for each of twenty thousand costs
seconds.

Rules of this file:
1. A record is a mark, the digest, the length, their checksum, and the bytes. What is cut short or damaged costs itself
   only: the next mark that fits is looked for.
2. Each writer has a file of its own, and never writes into another's.
3. A later folder shares whole files with an earlier one, by hard links.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import mmap
import os
import secrets
import struct
import threading
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

SMALL = 64 << 10
"""Bytes of the largest content that goes into one."""
AHEAD = 1 << 20
"""Bytes that are gathered before they are written: a system call for each content costs as much as to hash it."""
SHARED = 16
"""Files of an earlier folder that are shared, the largest first: what lies in others is kept anew."""
MOST = 64
"""Files of an earlier folder up to which all are shared, as they are."""
SUFFIX = ".pack"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MARK = b"SGp1"
_HEAD = struct.Struct(">4s32sQI")
_SUM = 4
"""Bytes of the checksum, which stands last in it."""


class ContentPacks:
    """The packs of one folder, which exists."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock, self._fd, self._end = folder, threading.Lock(), -1, 0
        self._path = folder / f"{secrets.token_hex(8)}{SUFFIX}"
        self._waiting: list[bytes] = []
        """What stands before ``_end`` and is not written yet."""
        self._ahead = 0
        """Bytes of it."""
        self._known: dict[str, tuple[Path, int, int]] = {}
        self._read: dict[Path, int] = {}
        """Packs of others, and the bytes that they had when they were read."""

    def add(self, digest: str, data: bytes) -> None:
        """On the disk with ``flush``, or before. Raises OSError."""
        with self._lock:
            if digest in self._known:
                return
            if self._fd < 0:
                self._fd = os.open(self._path, _NEW, 0o600)
                weakref.finalize(self, os.close, self._fd)
            head = _head(digest, len(data))
            self._waiting += head, data
            self._known[digest] = self._path, self._end + len(head), len(data)
            self._end += len(head) + len(data)
            self._ahead += len(head) + len(data)
            if self._ahead > AHEAD:
                self._write()

    def flush(self) -> None:
        """Write what was added. Raises OSError."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        data, at = b"".join(self._waiting), self._end - self._ahead
        if os.pwrite(self._fd, data, at) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        self._waiting.clear()
        self._ahead = 0

    def find(self, digest: str) -> bytes | None:
        """The bytes as they lie there; None where no pack names the digest. Raises OSError."""
        place = self.place(digest)
        if place is None:
            return None
        path, at, size = place
        if path == self._path:
            self.flush()
        with path.open("rb") as f:
            return os.pread(f.fileno(), size, at)

    def place(self, digest: str) -> tuple[Path, int, int] | None:
        """The pack, and where and how many the bytes are; None where no pack names the digest."""
        if digest not in self._known:
            self._look()
        return self._known.get(digest)

    def share(self, earlier: ContentPacks, digest: str, size: int) -> bool:
        """Take the earlier folder's pack that holds a content of that size; False where none does, or it cannot be."""
        if mine := self._known.get(digest):
            return mine[2] == size
        place = earlier.place(digest)
        if place is None or place[2] != size or place[0] not in earlier.largest:
            return False
        with self._lock:
            to = self._folder / place[0].name
            if to not in self._read:
                with contextlib.suppress(FileExistsError):
                    to.hardlink_to(place[0])
                self._read[to] = to.stat().st_size
                self._known |= {d: (to, at, held) for d, (path, at, held) in earlier.all() if path == place[0]}
        return True

    def share_all(self, earlier: ContentPacks, states: Mapping[str, Sequence[int]]) -> bool:
        """Take all of the earlier folder's packs, without a look at what is in them; False where one is not as it was.

        ``states``: as ``states`` of the earlier folder said when all was in it.
        """
        if not 0 < len(states) <= MOST:
            return False
        try:
            for name, state in states.items():
                if [*state] != [*_state(source := earlier._folder / name)]:
                    return False
                with contextlib.suppress(FileExistsError):
                    (self._folder / name).hardlink_to(source)
        except OSError:
            return False
        return True

    def states(self) -> dict[str, tuple[int, int]]:
        """The names of all packs, their bytes and times (ns)."""
        return {path.name: _state(path) for path in self._folder.glob(f"*{SUFFIX}")}

    def all(self) -> Iterable[tuple[str, tuple[Path, int, int]]]:
        """Each digest, and its place."""
        self._look()
        return self._known.items()

    @functools.cached_property
    def largest(self) -> frozenset[Path]:
        """Those packs that a later folder shares."""
        sizes = {path: path.stat().st_size for path in self._folder.glob(f"*{SUFFIX}")}
        return frozenset(sorted(sizes, key=sizes.__getitem__, reverse=True)[:SHARED])

    def _look(self) -> None:
        """Read what packs were added since by whom ever."""
        with self._lock:
            for path in self._folder.glob(f"*{SUFFIX}"):
                size = path.stat().st_size
                if path != self._path and self._read.get(path) != size:
                    self._known = dict(_records(path)) | self._known
                    self._read[path] = size


def _state(path: Path) -> tuple[int, int]:
    seen = path.stat()
    return seen.st_size, seen.st_mtime_ns


def _head(digest: str, size: int) -> bytes:
    raw = bytes.fromhex(digest)
    return _HEAD.pack(_MARK, raw, size, zlib.crc32(raw + size.to_bytes(8, "big")))


def _records(path: Path) -> Iterator[tuple[str, tuple[Path, int, int]]]:
    try:
        with path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at, end = 0, len(data)
            while 0 <= at <= end - _HEAD.size:
                mark, found, size, told = _HEAD.unpack_from(data, at)
                begin = at + _HEAD.size
                if mark == _MARK and begin + size <= end and zlib.crc32(data[at + len(_MARK) : begin - _SUM]) == told:
                    yield found.hex(), (path, begin, size)
                    at = begin + size
                else:
                    at = data.find(_MARK, at + 1)
    except (OSError, ValueError):  # gone, or empty
        return
