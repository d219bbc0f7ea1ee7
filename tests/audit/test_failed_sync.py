"""A disk that fails once: a later sync that succeeds proves nothing of what was appended before."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit import sqlite as sqlite_store
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import StoreError
from tests.audit.harmed_log import in_database
from tests.support.wait_until import until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.sqlite3"


@pytest.fixture
def named(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What the head file comes to name, and the newest entry in the database at that moment."""
    rows: list[tuple[int, int]] = []
    write = head_file.write

    def seen(place: Path, head: head_file.Head) -> None:
        rows.append((head.seq, in_database(path)))
        write(place, head)

    monkeypatch.setattr(head_file, "write", seen)
    return rows


def test_the_head_follows_a_failed_renewal_only_when_all_was_written_anew(path, monkeypatch, named):
    failed = threading.Event()
    sync = os.fsync

    def fails_once(file: int) -> None:
        if threading.current_thread() is not threading.main_thread() and not failed.is_set():
            failed.set()
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(file)

    monkeypatch.setattr(sqlite_store, "HEAD_SECONDS", 0.01)
    with closing(SqliteStore(path)) as store:
        monkeypatch.setattr(os, "fsync", fails_once)
        store.append(Entry(1.0, "s1", "verdict"))
        assert until(failed.is_set)
        store.append(Entry(2.0, "s1", "verdict"))
        assert until(lambda: named and named[-1][0] == 2)
        assert named[-1] == (2, 2), "named, and in the database"


def test_nor_a_failed_sync_of_what_did_not_wait_for_the_disk(path, monkeypatch, named):
    def fails(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with closing(SqliteStore(path)) as store:
        store.append(Entry(1.0, "s1", "verdict"))
        store.sync()
        assert named[-1] == (1, 0)
        store.append(Entry(2.0, "s1", "verdict"))
        with monkeypatch.context() as disk:
            disk.setattr(os, "fsync", fails)
            store.sync()
        assert named[-1] == (1, 0)
        store.append(Entry(3.0, "s1", "verdict"), durable=True)
        assert named[-1] == (3, 3), "named, and in the database"


def test_nor_after_an_append_that_failed(path, monkeypatch, named):
    insert = SqliteStore._insert

    def fails_at_two(store: SqliteStore, entry: Entry, data: str, *, durable: bool) -> None:
        if entry.at == 2.0:
            raise sqlite3.OperationalError("disk I/O error")
        insert(store, entry, data, durable=durable)

    monkeypatch.setattr(SqliteStore, "_insert", fails_at_two)
    with closing(SqliteStore(path)) as store:
        store.append(Entry(1.0, "s1", "verdict"))
        with pytest.raises(StoreError):
            store.append(Entry(2.0, "s1", "verdict"), durable=True)
        store.append(Entry(3.0, "s1", "verdict"), durable=True)
        assert named[-1] == (2, 2)


def test_nor_after_the_journal_could_not_be_put_into_the_database(path, monkeypatch, named):
    def fails(_: sqlite3.Connection) -> bool:
        raise sqlite3.OperationalError("disk I/O error")

    with closing(SqliteStore(path)) as store:
        store.append(Entry(1.0, "s1", "verdict"))
        with monkeypatch.context() as disk:
            disk.setattr(sqlite_store, "_checkpointed", fails)
            store._checkpoint()
        store.append(Entry(2.0, "s1", "verdict"), durable=True)
        assert named[-1] == (2, 2)


def test_a_reader_that_holds_the_log_back_leaves_the_head_where_it_was(path, named):
    with closing(SqliteStore(path)) as store:
        store.append(Entry(1.0, "s1", "verdict"), durable=True)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM log").fetchone()
            store.append(Entry(2.0, "s1", "verdict"))
            store._unproved = True
            store.append(Entry(3.0, "s1", "verdict"), durable=True)
            assert named[-1][0] == 1
        store.append(Entry(4.0, "s1", "verdict"), durable=True)
        assert named[-1] == (4, 4)
