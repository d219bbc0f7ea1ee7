"""Watches a work tree for file changes: a watchdog observer, and an inotify reader for a few folders (watching.md).

Rules of this file:
1. watchdog's own thread only queues; what it tells is looked at in one worker thread.
2. Nothing is taken for complete: after an overflow the whole tree is searched for restricted names, and ``tick``
   comes whatever the events say: at a steady pace while anything happens, ever slower while nothing does.
3. ``.git`` and folders of generated files at the top of the tree are not watched; restricted names that come in such
   folders elsewhere (packages bring certificates of their own) are left alone.
4. The folders ``near`` restricted files are read apart, on Linux, and what is ``known`` there is looked at by that
   reader itself: no burst holds it up.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from sentinel_guard.errors import HostError
from sentinel_guard.host.file_integrity.inotify_reader import Batch, Folders
from sentinel_guard.host.machine.deep_folders import HEAVY

EVERY = 0.25
"""Seconds from tick to tick."""
SLOWEST = 30.0
"""Seconds from tick to tick where nothing has happened for long."""
SLOWER = 1.25
"""Each tick without anything puts the next one off by so much more: by about a fifth of the time that was quiet."""
SHARE = 20
"""A tick may take one part in so many of the time: a slow one is followed by a longer wait."""
SEARCH, REST = 2.0, 3
"""Seconds from one search of the whole tree to the next, and how many times as long as it took it rests besides."""
BATCH = 512
"""Events that are looked at together: the same path then counts once."""
CHANGES = frozenset({"created", "modified", "moved", "deleted", "closed", "attrib"})
"""watchdog's names of events that change something; opened and closed_no_write do not."""
_NAMES: list[type[FileSystemEvent]] = [
    *(DirCreatedEvent, DirDeletedEvent, DirMovedEvent),
    *(FileCreatedEvent, FileDeletedEvent, FileMovedEvent),
]
"""Events of names alone. Reading a tree gives none of them: who searches it does not keep the guard busy."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """Something happened to a restricted path."""

    path: str
    """Absolute."""
    kind: str
    """One of CHANGES, as the last event told."""
    at: float
    """When the event was received (epoch seconds)."""


class Watcher:
    """Watches one work tree from ``start`` to ``stop``.

    ``restricts`` is asked with absolute paths. The callbacks are called in two threads of the watcher; what they raise
    is logged and does not end it.
    """

    def __init__(
        self,
        root: str,
        restricts: Callable[[str], bool],
        on_change: Callable[[Change], object],
        on_overflow: Callable[[], object],
        *,
        on_gone: Callable[[str], object] = lambda _: None,
        near: Callable[[], Iterable[str]] | None = None,
        known: Callable[[str], bool] = lambda _: False,
        explored: Callable[[str], bool] = lambda _: True,
        search: bool = False,
        tick: Callable[[], bool] = lambda: True,
        every: float = EVERY,
    ) -> None:
        """``on_overflow``: look at every restricted file that is known. ``on_gone``: a folder near them went away.

        ``near``: the folders that hold restricted files, and those above them, absolute. ``known``: whether a path is
        one of those files. ``explored``: whether a new folder near them may hold some. ``search``: something may have
        changed before, so the whole tree is looked at once. ``tick``: whether whoever is watched does anything.
        """
        self._root = root
        self._restricts = restricts
        self._on_change = on_change
        self._on_overflow = on_overflow
        self._on_gone = on_gone
        self._near, self._known, self._explored = near, known, explored
        self._tick = tick
        self._every = every
        self.others = 0
        """Changes of paths that are not restricted."""
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._observer = _observer()
        self._watches: dict[str, ObservedWatch] = {}
        self._quick: Folders | None = None
        self._top_seen: tuple[int, int] | None = None
        self._pace, self._due = every, 0.0
        """Seconds between two ticks as things are, and when the next one comes (``time.monotonic``)."""
        self._search = threading.Event()
        if search:
            self._search.set()
        self._search_at = 0.0
        self._thread = threading.Thread(target=self._work, name="sentinel-watcher", daemon=True)
        self._overflow = _Overflow(lambda: self._events.put(_Event("", "overflow", time.time())))

    def start(self) -> None:
        """Raises HostError where the tree cannot be watched."""
        logging.getLogger("watchdog.observers").addHandler(self._overflow)
        # A folder that appears while it is being scheduled is added twice; the second time changes nothing.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        try:
            self._quick = self._reader()
            self._observer.start()
            self._schedule_all()
        except OSError as e:
            self.stop()
            hint = "Raise fs.inotify.max_user_watches and max_user_instances (sysctl)."
            raise HostError(f"{self._root} cannot be watched: {e.strerror}.", hint) from e
        if self._quick:
            self._quick.start()
        self._thread.start()

    def hurry(self) -> None:
        """Something is about to happen: the next tick comes at the steady pace."""
        # A tick that is due already may be under way: the next one may be far.
        if self._pace > self._every or not 0 < self._due - time.monotonic() <= self._every:
            self._events.put(_Event("", "hurry", 0))

    def stop(self) -> None:
        """Safe to call twice."""
        self._events.put(_Event("", "stop", 0))
        if self._quick:
            self._quick.stop()
        if self._observer.is_alive():
            # It takes some 10 ms to end; what it would still tell is behind the last event.
            threading.Thread(target=self._observer.stop, name="sentinel-observer-stop", daemon=True).start()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        logging.getLogger("watchdog.observers").removeHandler(self._overflow)

    def _reader(self) -> Folders | None:
        if self._near is None or sys.platform != "linux":
            return None
        return Folders(self._near, self._read, self._explored)

    def _read(self, batch: Batch) -> None:
        """What happened near the restricted files."""
        for path in batch.files:
            if self._known(path):
                self._call(self._on_change, Change(path, "modified", time.time()))
            elif self._restricts(path):
                self._events.put(_Event(path, "modified", time.time()))
        for folder in batch.folders:
            self._call(self._on_gone, folder)
        if batch.overflow:
            self._search.set()
        if self._quick and (batch.overflow or batch.lost or batch.folders):
            self._call(self._on_overflow)
            self._arm()

    def _arm(self) -> None:
        if self._quick and self._quick.arm():
            self._call(self._on_overflow)

    def _schedule_all(self) -> None:
        self._top_seen = _identity(self._root)
        self._schedule(self._root, recursive=False)
        for entry in list(os.scandir(self._root)):
            if entry.is_dir(follow_symlinks=False) and entry.name not in HEAVY:
                self._schedule(entry.path, recursive=True)

    def _schedule(self, folder: str, *, recursive: bool) -> None:
        self._unschedule(folder)
        wanted = _NAMES if self._quick else None
        self._watches[folder] = self._observer.schedule(
            _Handler(self._events), folder, recursive=recursive, event_filter=wanted
        )

    def _unschedule(self, folder: str) -> None:
        watch = self._watches.pop(folder, None)
        if watch is not None:
            with contextlib.suppress(KeyError, OSError):
                self._observer.unschedule(watch)

    def _work(self) -> None:
        self._due = time.monotonic() + self._pace
        while True:
            batch = self._batch(max(0.0, self._due - time.monotonic()))
            if any(e.kind == "stop" for e in batch):
                return
            if batch:
                self._pace = self._every
                self._due = min(self._due, time.monotonic() + self._pace)
            for event in batch:
                if event.path.rpartition("/")[0] == self._root:
                    self._call(self._top, event)
            for event in {e.path: e for e in batch}.values():
                self._call(self._handle, event)
            if time.monotonic() < self._due:
                continue
            began = time.monotonic()
            self._call(self._stand)
            quiet = self._call(self._tick) is False and not self._search.is_set()
            self._pace = max(self._every, min(self._pace * SLOWER, SLOWEST)) if quiet else self._every
            ended = time.monotonic()
            self._due = ended + max(self._pace, SHARE * (ended - began))

    def _batch(self, wait: float) -> list[_Event]:
        batch = []
        with contextlib.suppress(queue.Empty):
            batch.append(self._events.get(timeout=wait))
            while len(batch) < BATCH:
                batch.append(self._events.get_nowait())
        return batch

    def _call(self, function: Callable[..., object], *args: object) -> object:
        try:
            return function(*args)
        except Exception:  # noqa: BLE001 - one callback's failure must not blind the guard
            _log.exception("the watcher of %s failed on %s", self._root, args)
        return None

    def _stand(self) -> None:
        """Watch what stands there now: another folder may have taken the place of a watched one."""
        self._arm()
        if self._top_seen != _identity(self._root):
            self._top_seen = None
            with contextlib.suppress(OSError):
                self._schedule_all()
                self._search.set()
        if self._search.is_set() and time.monotonic() >= self._search_at:
            self._search.clear()
            began = time.monotonic()
            self._search_all()
            self._search_at = began + SEARCH + REST * (time.monotonic() - began)

    def _search_all(self) -> None:
        """Look at every restricted name in the tree: one may have come while events were lost."""
        for folder, below, names in os.walk(self._root):
            below[:] = [name for name in below if name not in HEAVY]
            for name in names:
                if self._restricts(path := f"{folder}/{name}"):
                    self._call(self._on_change, Change(path, "created", time.time()))

    def _handle(self, event: _Event) -> None:
        if event.kind == "hurry":
            return
        if event.kind == "overflow":
            self._search.set()
            self._on_overflow()
            return
        if self._restricts(event.path) and (self._known(event.path) or not self._generated(event.path)):
            self._on_change(Change(event.path, event.kind, event.at))
        else:
            self.others += 1

    def _generated(self, path: str) -> bool:
        folder = path.removeprefix(f"{self._root}/").rpartition("/")[0]
        return not HEAVY.isdisjoint(folder.split("/"))

    def _top(self, event: _Event) -> None:
        """A folder at the top came or went: watch it, and look at what was put into it before the watch stood."""
        name = event.path.rpartition("/")[2]
        if name in HEAVY or not (event.folder or event.path in self._watches):
            return
        if event.kind not in ("created", "moved", "deleted"):
            return
        try:
            self._schedule(event.path, recursive=True)
        except OSError:
            self._unschedule(event.path)
            return
        for folder, _, names in os.walk(event.path):
            for found in names:
                self._events.put(_Event(f"{folder}/{found}", "created", event.at))


def _observer() -> BaseObserver:
    """One whose emitters share one instance of inotify in this process, where watchdog can do that (from 7 on): a user
    has some hundred, and an observer of its own kind takes one.
    """
    if sys.platform != "linux":
        return Observer()
    from watchdog.observers.inotify import InotifyEmitter  # noqa: PLC0415 - there on Linux alone

    return BaseObserver(InotifyEmitter)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        seen = os.stat(path)  # noqa: PTH116 - text with surrogates
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


@dataclass(frozen=True, slots=True)
class _Event:
    path: str
    kind: str
    at: float
    folder: bool = False


class _Handler(FileSystemEventHandler):
    """Rule 1."""

    def __init__(self, events: queue.SimpleQueue[_Event]) -> None:
        self._events = events

    def dispatch(self, event: FileSystemEvent) -> None:
        if event.event_type not in CHANGES:
            return
        now = time.time()
        for path in (event.src_path, event.dest_path):
            if path:
                self._events.put(_Event(os.fsdecode(path), event.event_type, now, event.is_directory))


class _Overflow(logging.Handler):
    """watchdog tells of an overflow in its log only."""

    def __init__(self, tell: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage():
            self._tell()
