"""The audit log in one SQLite file: the reader, and the one writer.

Rules of this file:
1. ``append`` returns only after the commit (it survives kill -9); a durable one also after the sync to disk.
2. The head file never names an entry that a power loss could take away. A sync that failed is told to one who asks, and
   the next succeeds although nothing was written (fsync(2)): after one that failed all is put into the database first.
3. What was wrong with the log when it was opened (``audit.opening``) is the first entry that is appended. A head file
   that did not fit stays beside the new one: ``log verify`` goes on failing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.opening import (
    EDITED,
    FEW,
    MISFITS,
    OF_FEW,
    failure,
    hold,
    newest,
    open_log,
    read_only,
    remember_damage,
    size_of,
    writing,
)
from sentinel_guard.core import hash_chain
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.json_codec import entry_from, stored_with_text
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import StoreError

HEAD_SECONDS = 1.0
"""Seconds after which an entry is named in the head file; who appends does not wait for the disk."""
LOOKS = 60
"""Times in a row that nothing new is found to name, after which the thread that looks ends: an agent pauses for
seconds, and an entry waits for a thread to begin longer than for the log itself.
"""
HEAD_EVERY = 500
"""Entries after which that is begun at once, and the write-ahead log is put into the database."""
TRIES, MOST = 3, 8 * HEAD_EVERY
"""The write-ahead log begins anew where all of it is put there and nothing was appended meanwhile. So often that is
tried; with so many entries in it (some 40 MB) those that append then wait for it.
"""
PAGE = 1000
"""Entries read at once."""

_COLUMNS = ("seq", "at", "session", "kind", "level", "data", "prev", "hash")
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM log WHERE "  # noqa: S608 - constants
_INSERT = f"INSERT INTO log ({', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants
_LIVE = f"""
SELECT session FROM log WHERE {OF_FEW} AND kind IN ('session', 'end')
GROUP BY session HAVING max(kind = 'session') AND NOT max(kind = 'end') ORDER BY min(seq)
"""  # noqa: S608 - constants
_ENDED = f"SELECT session FROM log WHERE {OF_FEW} AND kind = 'end'"  # noqa: S608 - constants


class SqliteReader:
    """Reads a log without changing it, also while a writer appends. Needs no daemon."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError where there is no log, or none that can be read."""
        self._path, self._begun = path, False
        self._guard = threading.RLock()
        with self._words():
            self._db = read_only(path)
            self._db.text_factory = _text

    def entries(
        self, *, session: str = "", after: int = 0, kinds: tuple[str, ...] = (), last: int = 0
    ) -> Iterator[Entry]:
        """Entries in order, filtered; ``last`` keeps the newest so many. Raises StoreError, also on the way."""
        where = "seq > ?"
        where += " AND session = ?" if session else ""
        where += f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        where += f" AND {OF_FEW}" if kinds and set(kinds) <= set(FEW) else ""
        values = (*((session,) if session else ()), *kinds)
        if last:
            rows = self._query(f"{_SELECT} {where} ORDER BY seq DESC LIMIT ?", after, *values, last)
            yield from map(_entry, reversed(rows))
            return
        while rows := self._query(f"{_SELECT} {where} ORDER BY seq LIMIT ?", after, *values, PAGE):
            yield from map(_entry, rows)
            after = rows[-1][0]

    def live_sessions(self) -> tuple[str, ...]:
        """Sessions that have begun and not ended, in the order of their beginning."""
        return tuple(str(row[0]) for row in self._query(_LIVE))

    def ended_sessions(self) -> frozenset[str]:
        """Sessions whose end is on record."""
        return frozenset(str(row[0]) for row in self._query(_ENDED))

    def close(self) -> None:
        with self._guard, self._words():
            self._db.close()

    def _failed(self, error: sqlite3.Error) -> None:
        """A reader leaves the log's folder as it is."""

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._guard, self._words():
            if not self._begun:
                # A reader may come between a writer's making the file and its making the table.
                self._begun = bool(self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'log'").fetchone())
            return self._db.execute(sql, values).fetchall() if self._begun else []

    @contextlib.contextmanager
    def _words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as e:
            self._failed(e)
            raise failure(self._path, e) from e
        except OSError as e:
            hint = "Make its folder writable, or set SENTINEL_HOME to one that is."
            raise StoreError(f"The audit log {self._path} cannot be opened: {e.strerror}.", hint) from e


class SqliteStore(SqliteReader):
    """The one writer of a log; fulfils ``audit.base.Store``. Threads may share it."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        """Opens or begins the log. Raises StoreError: another writer, read-only, no room, a newer version."""
        self._path, self._begun = path, True
        self.seen: Callable[[Entry], None] = lambda _: None
        """Told what was appended; must not raise."""
        self._guard = threading.RLock()
        self._head_path = head_file.path_of(path)
        self._named, self._naming = -1, threading.Lock()
        self._unproved = False
        """Whether a sync failed, so that later ones say nothing of what was appended before."""
        self._renewal: threading.Thread | None = None
        self._sync_due, self._checkpoint_lock = threading.Event(), threading.Lock()
        with self._words(), contextlib.ExitStack() as undo:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = hold(path)
            undo.callback(os.close, self._lock)
            self._since = HEAD_EVERY - 1 if size_of(Path(f"{path}-wal")) else 0
            """Entries appended since all were put from the write-ahead log into the database; a writer that was killed
            has left there what it wrote last.
            """
            opened = open_log(path, head_file.read(self._head_path))
            undo.callback(opened.db.close)
            self._db, self._head = opened.db, opened.head
            self._db.text_factory = _text
            if opened.note:
                if opened.note["event"] in MISFITS:
                    head_file.set_aside(self._head_path)
                self.append(Entry(clock(), "", "daemon", opened.note, "L2"), durable=True)
            self._keep_head()
            undo.pop_all()

    def append(self, entry: Entry, *, durable: bool = False) -> Entry:
        """Puts an entry at the end and returns it as the log gives it back. Raises StoreError; then it was not added.

        On return it survives kill -9; with ``durable`` also power loss.
        """
        with self._guard:
            sealed, data = _sealed(entry, self._head)
            try:
                self._insert(sealed, data, durable=durable)
            except (sqlite3.Error, OSError):
                self._unproved = True
                self._look_again()
                with self._words():
                    raise
            self._head, self._since = Head(sealed.seq, sealed.hash), self._since + 1
            if durable:
                self._keep_head()
            self._renew_soon()
        self.seen(sealed)
        return sealed

    def sync(self) -> None:
        """What was appended survives power loss, too; where the disk fails, the next append tries it again."""
        with self._guard, contextlib.suppress(OSError):
            self._sync()
            self._keep_head()

    def close(self) -> None:
        """Syncs, renews the head file and lets another writer in. The second call does nothing."""
        with self._checkpoint_lock, self._guard:
            if self._lock < 0:
                return
            self._sync_due.set()
            try:
                with self._words(), contextlib.closing(self._db):
                    self._db.execute("PRAGMA synchronous = FULL")
                    self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    self._keep_head()
            finally:
                os.close(self._lock)
                self._lock = -1

    @property
    def named(self) -> Head | None:
        """The newest entry that is safely on disk and in the head file."""
        return head_file.read(self._head_path)

    def compare(self, head: Head, witness: str) -> bool:
        """Whether the log has the entry that a witness knows. Where not, that is on record, and ``log verify`` fails.

        Raises StoreError.
        """
        with self._guard:
            row = self._query("SELECT hash FROM log WHERE seq = ?", head.seq)
            if row and row[0][0] == head.hash:
                return True
            stands = "is another one" if row else "is missing"
            what = f"{witness} was told of entry {head.seq}, which {stands} here."
            self.append(Entry(time.time(), "", "daemon", {"event": EDITED, "what": what}, "L2"), durable=True)
            head_file.keep_broken(self._head_path, head)
            return False

    def _failed(self, error: sqlite3.Error) -> None:
        remember_damage(self._path, error)

    def _insert(self, entry: Entry, data: str, *, durable: bool) -> None:
        row = (entry.seq, entry.at, entry.session, entry.kind, entry.level, data, entry.prev, entry.hash)
        if not durable:
            self._db.execute(_INSERT, row)
            return
        self._db.execute("PRAGMA synchronous = FULL")
        try:
            self._db.execute(_INSERT, row)
        finally:
            self._db.execute("PRAGMA synchronous = NORMAL")

    def _look_again(self) -> None:
        # A commit that failed late, or a row that another program put there, must not block the place for ever.
        with contextlib.suppress(sqlite3.Error):
            self._head = max(self._head, newest(self._db), key=lambda h: h.seq)

    def _renew_soon(self) -> None:
        if self._since % HEAD_EVERY == 0:
            self._sync_due.set()
        if self._renewal is None:
            renewal = threading.Thread(target=self._renew, name="sentinel-log-sync", daemon=True)
            # Where no thread can be had now, a later entry has one.
            with contextlib.suppress(RuntimeError):
                renewal.start()
                self._renewal = renewal

    def _renew(self) -> None:
        """Sync what was appended, beside those who append, and name the newest; put into the database what is much."""
        seen, left = -1, LOOKS
        while left:
            self._sync_due.wait(HEAD_SECONDS)
            with self._guard:
                if self._lock < 0:
                    return
                self._sync_due.clear()
                head, since = self._head, self._since
                left = left - 1 if head.seq == seen else LOOKS
                if not left:
                    self._renewal = None
            if head.seq == seen:
                continue
            seen = head.seq
            with contextlib.suppress(OSError):
                if head.seq > self._named:
                    self._sync()
                    self._keep_head(head)
            if since >= HEAD_EVERY:
                self._checkpoint_often(since)

    def _checkpoint_often(self, since: int) -> None:
        with self._checkpoint_lock:
            if not any(self._checkpoint() for _ in range(1 if since >= MOST else TRIES)) and since >= MOST:
                with self._guard:
                    self._checkpoint()

    def _sync(self) -> None:
        """Raises OSError."""
        # What is in no write-ahead log any more was synced when it left it.
        log = os.open(f"{self._path}-wal", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(log)
        except OSError:
            self._unproved = True
            raise
        finally:
            os.close(log)

    def _checkpoint(self) -> bool:
        """Put what has been appended into the database, by a connection of its own: who appends meanwhile goes on.

        Whether nobody did, so that the write-ahead log begins anew.
        """
        with self._guard:
            if self._lock < 0:
                return True
            head = self._head
        try:
            with contextlib.closing(writing(self._path)) as db:
                moved = _checkpointed(db)
        except sqlite3.Error as e:
            self._unproved = True
            self._failed(e)
            return True
        with self._guard:
            done = moved and self._head == head
            self._since = 0 if done else self._since
            return done

    def _is_proved(self) -> bool:
        """Whether what was synced is on the disk; who has just been told that it is not has set that by now."""
        with self._guard:
            if self._unproved:
                with contextlib.suppress(sqlite3.Error):
                    self._unproved = not _checkpointed(self._db)
            return not self._unproved

    def _keep_head(self, head: Head | None = None) -> None:
        head = head or self._head
        if not self._is_proved():
            return
        # Where it cannot be renewed, the head file names an earlier entry, and that is still true.
        with self._naming, contextlib.suppress(OSError):
            if head.seq > self._named:
                head_file.write(self._head_path, head)
                self._named = head.seq


def _checkpointed(db: sqlite3.Connection) -> bool:
    """Puts what is in the write-ahead log into the database, on the disk; whether all of it is there then. Raises
    sqlite3.Error.
    """
    db.execute("SELECT 1 FROM log LIMIT 1").fetchone()  # a connection that has read nothing knows of no such log
    busy, frames, moved = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return not busy and frames == moved


def _text(raw: bytes) -> str:
    """A row in which a bit has flipped is read like any other; its hash shows it."""
    return raw.decode(errors="surrogateescape")


def _entry(row: tuple[object, ...]) -> Entry:
    return entry_from(dict(zip(_COLUMNS, row, strict=True)))


def _sealed(entry: Entry, head: Head) -> tuple[Entry, str]:
    """The entry, and its data as JSON."""
    try:
        for text in (entry.session, entry.kind, entry.level):
            text.encode()
        stored, data = stored_with_text(entry)
        return hash_chain.seal(stored, head, data), data
    except (TypeError, ValueError, RecursionError) as e:
        raise StoreError(f"An entry of the kind {entry.kind!r} cannot be written down: {e}.") from e
