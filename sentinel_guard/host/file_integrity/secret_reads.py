"""Tells which files of secrets other programs have opened, with fanotify(7), which needs no rights since Linux 5.13.

Rules of this file:
1. What is opened is known before the open returns: whoever is asked afterwards has not missed it.
2. This process does not count; which other one it was, the kernel tells to root alone. An open by a git of the guard's
   own, or by the person's editor, counts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_FLAGS = 0x200 | 0x1 | 0x2
"""FAN_REPORT_FID, FAN_CLOEXEC, FAN_NONBLOCK."""
_ADD, _OPEN, _OVERFLOW = 0x1, 0x20, 0x4000
_EVENT = struct.Struct("=IBBHQii")
"""fanotify_event_metadata: size, version, reserved, size of the metadata, mask, descriptor, pid."""
_HEADER = struct.Struct("=BxH8x")
"""fanotify_event_info_fid, without the handle: its kind, its size."""
_FID = 1
_AT_FDCWD = -100
_CHUNK = 1 << 16
MOST = 64
"""Files that are watched."""


@dataclass(slots=True)
class _File:
    path: str
    announced: float = 0.0
    """Until when (time.monotonic) it is read by a command that said so."""


class SecretReads:
    """Safe to call from several threads. Raises OSError where the kernel does not tell."""

    def __init__(self, paths: Callable[[], Iterable[str]]) -> None:
        """``paths``: the files, absolute; asked again at each look, since files are replaced."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.fanotify_mark.argtypes = (
            *(ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p),
        )
        self._fd: int = self._libc.fanotify_init(_FLAGS, os.O_RDONLY | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "fanotify_init")
        self._paths, self._lock = paths, threading.Lock()
        self._files: dict[bytes, _File] = {}
        self.seen: dict[str, float] = {}
        """What was opened without being announced -> when that was seen first, seconds of the epoch."""
        self.look()

    def look(self) -> list[str]:
        """Take in what was opened, and watch what has come since; the files that were not in ``seen`` before."""
        with self._lock:
            fresh = self._take()
            self._arm()
            return fresh

    def announce(self, paths: Iterable[str], seconds: float) -> None:
        """For so long these files are read by a command that was let run."""
        announced = {*paths}
        with self._lock:
            if announced.isdisjoint(file.path for file in self._files.values()):
                return
            self._take()
            for file in self._files.values():
                if file.path in announced:
                    file.announced = time.monotonic() + seconds

    def fileno(self) -> int:
        """What can be read when one of them was opened; -1 once it is closed."""
        return self._fd

    def close(self) -> None:
        """Safe to call twice."""
        with self._lock:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)

    def _take(self) -> list[str]:
        fresh, now = [], time.monotonic()
        with contextlib.suppress(OSError):
            while data := os.read(self._fd, _CHUNK) if self._fd >= 0 else b"":
                for file in self._opened(data):
                    if now > file.announced and file.path not in self.seen:
                        self.seen[file.path] = time.time()
                        fresh.append(file.path)
        return fresh

    def _opened(self, data: bytes) -> Iterable[_File]:
        while data:
            size, _, _, at, mask, _, pid = _EVENT.unpack_from(data)
            if mask & _OVERFLOW:
                yield from self._files.values()  # any of them may have been
            elif pid != os.getpid():
                kind, length = _HEADER.unpack_from(data, at)
                file = self._files.get(data[at + _HEADER.size : at + length]) if kind == _FID else None
                yield from (file,) if file else self._files.values()
            data = data[size:]

    def _arm(self) -> None:
        """Watch the files that are there now; who is watched already stays so."""
        for path in [*self._paths()][:MOST]:
            with contextlib.suppress(OSError):
                handle = self._handle(path)
                known = self._files.get(handle)
                if known is None and self._mark(path):
                    self._files[handle] = _File(path)
                elif known:
                    known.path = path

    def _mark(self, path: str) -> bool:
        if self._fd < 0:
            return False
        return not self._libc.fanotify_mark(self._fd, _ADD, _OPEN, _AT_FDCWD, os.fsencode(path))

    def _handle(self, path: str) -> bytes:
        """The file as an event names it: struct file_handle of name_to_handle_at(2). Raises OSError."""
        room, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 8 + 128), ctypes.c_int()
        if self._libc.name_to_handle_at(_AT_FDCWD, os.fsencode(path), room, ctypes.byref(mount), 0):
            raise OSError(ctypes.get_errno(), "name_to_handle_at", path)
        size = struct.unpack_from("I", room.raw)[0]
        return room.raw[: 8 + size]
