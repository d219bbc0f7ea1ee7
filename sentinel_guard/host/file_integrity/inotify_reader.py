"""Watches a few folders with inotify and reports changes in them within a millisecond (watching.md).

Rules of this file:
1. A folder is listed after its watch stands: what was put into it before is told, too.
2. Nothing is taken for complete: an overflow is told, and so is a watched folder that moved or went.
3. A watch stands on a path, not on a folder: where another folder stands there now, ``arm`` watches that one.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import select
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from inotify_simple import Event, INotify, flags, parse_events

from sentinel_guard.host.machine.deep_folders import HEAVY

CHUNK = 1 << 16
"""Bytes of events (some 1,500) that are looked at together: in a burst the first are not told after the last."""
MAX_FOLDERS = 4096
"""Watches of one reader; folders made later are then seen by watchdog alone."""
REST = 0.002
"""Seconds of rest after each batch: what is written without end does not take a whole processor."""
_CHANGED = flags.MODIFY | flags.ATTRIB | flags.CLOSE_WRITE | flags.CREATE | flags.DELETE
_MOVED = flags.MOVED_FROM | flags.MOVED_TO | flags.MOVE_SELF | flags.DELETE_SELF
_MASK = _CHANGED | _MOVED | flags.ONLYDIR | flags.DONT_FOLLOW | flags.EXCL_UNLINK
# Plain numbers: events come by the thousand, and an operation on a member of an enumeration takes ten times as long.
_APPEARED = int(flags.CREATE | flags.MOVED_TO)
_VANISHED = int(flags.DELETE | flags.MOVED_FROM)
_LOST = int(flags.DELETE_SELF | flags.MOVE_SELF | flags.UNMOUNT | flags.IGNORED)
_IGNORED, _OVERFLOW, _FOLDER = int(flags.IGNORED), int(flags.Q_OVERFLOW), int(flags.ISDIR)
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Batch:
    """What happened together, each once; absolute paths."""

    files: dict[str, None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    """Folders that went away."""
    lost: bool = False
    """A watched folder moved or went: what it held must be looked at."""
    overflow: bool = False
    """Events were dropped: anything may have happened."""


class Folders:
    """Tells of changes in the wanted folders, and in those that are made in them, in a thread of its own."""

    def __init__(
        self,
        wanted: Callable[[], Iterable[str]],
        on_batch: Callable[[Batch], object],
        explored: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """``explored``: whether a folder that is made in a watched one is watched, too.

        Raises OSError where there is no inotify instance left.
        """
        self._wanted, self._on_batch, self._explored = wanted, on_batch, explored
        self._inotify = INotify()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._path: dict[int, str] = {}
        self._watch: dict[str, int] = {}
        self._lock = threading.Lock()
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="sentinel-inotify", daemon=True)

    def start(self) -> None:
        self.arm()
        self._thread.start()

    def stop(self) -> None:
        """Safe to call twice."""
        if self._stopping:
            return
        self._stopping = True
        os.eventfd_write(self._wake, 1)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        os.close(self._wake)
        # The kernel takes some 10 ms to let it go; nothing is read from it any more.
        threading.Thread(target=self._inotify.close, name="sentinel-inotify-close", daemon=True).start()

    def arm(self) -> bool:
        """Watch the wanted folders as they stand now; what lies in one that was not watched is told. True where there
        was such a one: what went from it before its watch stood, nobody tells.
        """
        batch = Batch()
        with self._lock:
            added = [folder for folder in self._wanted() if self._add(folder)]
            for folder in added:
                self._list(folder, batch, [])
        self._hand_over(batch)
        return bool(added)

    def _work(self) -> None:
        poll = select.poll()
        poll.register(self._inotify.fileno(), select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while not self._stopping:
            poll.poll()
            if self._stopping:
                return
            batch = Batch()
            with self._lock:
                for event in parse_events(os.read(self._inotify.fileno(), CHUNK)):
                    self._take(event, batch)
            self._hand_over(batch)
            time.sleep(REST)

    def _hand_over(self, batch: Batch) -> None:
        if not (batch.files or batch.folders or batch.lost or batch.overflow):
            return
        try:
            self._on_batch(batch)
        except Exception:  # noqa: BLE001 - one callback's failure must not blind the guard
            _log.exception("changes could not be looked at: %s", list(batch.files)[:5])

    def _take(self, event: Event, batch: Batch) -> None:
        folder = self._path.get(event.wd, "")
        if event.mask & _OVERFLOW:
            batch.overflow = True
        if event.mask & _IGNORED:
            self._forget(event.wd)
        if not folder:
            return
        if event.mask & _LOST:
            batch.lost = True
        if not event.name:
            return
        path = f"{folder}/{event.name}"
        if not event.mask & _FOLDER:
            batch.files[path] = None
        elif event.mask & _APPEARED and event.name not in HEAVY:
            if self._explored(path):
                self._explore(path, batch)
        elif event.mask & _VANISHED:
            batch.folders[path] = None

    def _explore(self, top: str, batch: Batch) -> None:
        """A folder appeared: watch it and what is in it; a name of a restricted file may come up in any of them."""
        todo = [top]
        while todo and len(self._path) < MAX_FOLDERS:
            folder = todo.pop()
            self._add(folder)
            self._list(folder, batch, todo)

    def _list(self, folder: str, batch: Batch, below: list[str]) -> None:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    batch.files[entry.path] = None
                elif entry.name not in HEAVY and self._explored(entry.path):
                    below.append(entry.path)

    def _add(self, folder: str) -> bool:
        """True where the folder that stands there now was not watched yet."""
        try:
            watch = self._inotify.add_watch(folder, _MASK)
        except OSError as e:
            if e.errno == errno.ENOSPC:
                _log.warning("no inotify watch is left for %s: raise fs.inotify.max_user_watches", folder)
            return False
        old = self._watch.get(folder)
        if old == watch:
            return False
        if old is not None:
            with contextlib.suppress(OSError):
                self._inotify.rm_watch(old)
            self._path.pop(old, None)
        # A folder that was renamed keeps its watch: it now stands for the new name alone.
        self._watch.pop(self._path.get(watch, ""), None)
        self._path[watch], self._watch[folder] = folder, watch
        return True

    def _forget(self, watch: int) -> None:
        folder = self._path.pop(watch, "")
        if self._watch.get(folder) == watch:
            del self._watch[folder]
