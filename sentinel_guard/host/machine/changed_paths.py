"""Tells that something happened to a few paths, by inotify(7), or that something was mounted; what, it does not say:
whoever asks looks at them.

``inotify_simple``, which the daemon uses, starts processes to find libc: too much for a runner.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
from collections.abc import Iterable
from pathlib import Path

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200
_GONE = 0x400 | 0x800  # IN_DELETE_SELF, IN_MOVE_SELF
_ANYTHING = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _GONE
_DONT_FOLLOW = 0x02000000
_CHUNK = 1 << 16


class ChangedPaths:
    """Watches paths, and that no folder above them is moved or deleted. What a mount hides is not told."""

    def __init__(self, paths: Iterable[str], *, spare: int = 0) -> None:
        """``spare``: inotify instances that must be left for others of this user. Raises OSError where they are not."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        others = [self._libc.inotify_init1(os.O_CLOEXEC) for _ in range(spare)]
        for fd in filter(lambda fd: fd >= 0, others):
            os.close(fd)
        if min(self._fd, *others, 0) < 0:
            self.close()
            raise OSError(errno.EMFILE, "no inotify instance is left")
        named = [*paths]
        above = {str(folder) for path in named for folder in Path(path).parents}
        self._masks = dict.fromkeys(above, _GONE) | dict.fromkeys(named, _ANYTHING)
        self.complete = True
        """Whether all of them are watched. An agent of the same user can use up the watches that there are."""
        self.arm()

    def fileno(self) -> int:
        return self._fd

    def arm(self) -> None:
        """Watch what stands at the paths now; a watch that stands already stays."""
        added = [
            self._libc.inotify_add_watch(self._fd, os.fsencode(path), ctypes.c_uint32(mask | _DONT_FOLLOW))
            for path, mask in self._masks.items()
        ]
        self.complete = min(added, default=0) >= 0

    def take(self) -> bool:
        """Whether anything was told since the last time; what stands there now is watched."""
        told = False
        with contextlib.suppress(BlockingIOError):
            while os.read(self._fd, _CHUNK):
                told = True
        if told:
            self.arm()
        return told

    def close(self) -> None:
        """The second call does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class ChangedMounts:
    """Tells that something was mounted or unmounted where this process sees it (proc_pid_mounts(5))."""

    def __init__(self) -> None:
        """Raises OSError."""
        self._list = os.open("/proc/self/mounts", os.O_RDONLY | os.O_CLOEXEC)
        # The list itself can be read at any time: what is polled for is that it has changed.
        self._changed = select.epoll()
        self._changed.register(self._list, select.EPOLLPRI)

    def fileno(self) -> int:
        """What can be read when something was mounted since the last time."""
        return self._changed.fileno()

    def take(self) -> None:
        """What was told is known."""
        self._changed.poll(0)

    def close(self) -> None:
        """The second call does nothing."""
        if self._list >= 0:
            self._changed.close()
            os.close(self._list)
            self._list = -1
