"""Opening a log that was cut, damaged, left by a crash, is another's or cannot be had."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit import opening
from sentinel_guard.audit.sqlite import SqliteReader, SqliteStore
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import StoreError
from tests.audit.harmed_log import DROP, fill, found, overwrite, raw


def test_a_log_that_was_truncated_while_closed_says_so_when_it_goes_on(path):
    fill(path, 6)
    raw(path, *DROP, "DELETE FROM log WHERE seq > 4")
    fill(path, 1)
    with closing(SqliteReader(path)) as reader:
        note = next(reader.entries(kinds=("daemon",)))
    assert (note.seq, note.data["event"]) == (7, "log-truncated")
    assert note.data["what"] == "The log ended at entry 4, and its head file names entry 6."
    assert found(path) == [(5, "cut")]


def test_a_log_that_was_deleted_goes_on_after_the_gap(path):
    fill(path, 6)
    path.unlink()
    fill(path, 1)
    with closing(SqliteReader(path)) as reader:
        assert [(e.seq, e.kind) for e in reader.entries()] == [(7, "daemon"), (8, "verdict")]
    assert found(path) == [(1, "cut")]


def replace_last(head: Path) -> None:
    later = "INSERT INTO log SELECT 4, at, session, kind, level, data, prev, hash FROM log WHERE seq = 2"
    raw(head.with_suffix(".sqlite3"), *DROP, "DELETE FROM log WHERE seq = 3", later)


HEADS = [
    ("a missing head file is noted", lambda head: head.unlink(), "head-missing"),
    ("an unreadable head file is noted", lambda head: head.write_bytes(b"\xff"), "head-missing"),
    ("another hash in it is noted", lambda head: head_file.write(head, Head(2, "f" * 64)), "log-edited"),
    ("an entry cut that it names, and others after it, is noted", replace_last, "log-edited"),
]


@pytest.mark.parametrize(("harm", "event"), [row[1:] for row in HEADS], ids=[row[0] for row in HEADS])
def test_a_harmed_head_file_is_noted(path, harm, event):
    fill(path, 3)
    harm(head_file.path_of(path))
    fill(path, 0)
    with closing(SqliteReader(path)) as reader:
        assert [e.data["event"] for e in reader.entries(kinds=("daemon",))] == [event]


DAMAGE = [
    ("the first page overwritten", lambda p: p.write_bytes(b"no database" * 1000)),
    ("pages in the middle overwritten", lambda p: overwrite(p, 4096 * 2, b"\xa5" * 4096 * 4)),
    ("the file cut in half", lambda p: os.truncate(p, p.stat().st_size // 2 // 4096 * 4096)),
]


@pytest.mark.parametrize("harm", [row[1] for row in DAMAGE], ids=[row[0] for row in DAMAGE])
def test_a_damaged_log_is_kept_and_a_new_one_goes_on(path, harm):
    fill(path, 300)
    harm(path)
    harmed = path.read_bytes()
    fill(path, 2)
    kept = path.with_name("audit.sqlite3.damaged-1")
    with closing(SqliteReader(path)) as reader:
        note, *rest = reader.entries()
    assert kept.read_bytes() == harmed
    assert (note.seq, note.level, note.data["event"], note.data["kept"]) == (301, "L2", "log-damaged", str(kept))
    assert [e.seq for e in rest] == [302, 303]
    assert found(path) == [(1, "cut")]
    path.write_bytes(b"x" * 5000)
    fill(path, 0)
    assert path.with_name("audit.sqlite3.damaged-2").exists()


def power_loss(path: Path, boot: bytes) -> None:
    Path(f"{path}-wal").write_bytes(b"of one that fell with its machine")
    Path(f"{path}.lock").write_bytes(boot)


READ_AS_A_WHOLE = [
    (lambda _: None, False, "it was closed"),
    (lambda p: Path(f"{p}-wal").write_bytes(b"of one that was killed"), False, "its writer was killed"),
    (lambda p: power_loss(p, b"another boot"), True, "the machine fell"),
    (lambda p: power_loss(p, b"\xff"), True, "nobody knows when the machine was started"),
    (lambda p: power_loss(p, b""), True, "of an older version"),
    (lambda p: Path(f"{p}.doubt").touch(), True, "damage was met in it"),
    (None, True, "a small one"),
]


@pytest.mark.parametrize(
    ("last", "whole"), [row[:2] for row in READ_AS_A_WHOLE], ids=[row[2] for row in READ_AS_A_WHOLE]
)
def test_a_large_log_is_read_as_a_whole_only_after_a_crash_of_the_machine(path, monkeypatch, last, whole):
    fill(path, 3000)
    size = path.stat().st_size
    monkeypatch.setattr(opening, "SMALL", size - 1 if last else size)
    if last:
        last(path)
    overwrite(path, 4096 * 20, b"\xa5" * 4096 * 4)
    fill(path, 0)
    assert path.with_name("audit.sqlite3.damaged-1").exists() is whole


def test_damage_that_is_met_in_a_large_log_is_seen_to_at_the_next_start(path, monkeypatch):
    fill(path, 3000)
    monkeypatch.setattr(opening, "SMALL", 0)
    overwrite(path, 4096 * 20, b"\xa5" * 4096 * 4)
    with closing(SqliteStore(path)) as store, pytest.raises(StoreError, match="is damaged"):
        list(store.entries())
    fill(path, 1)
    assert path.with_name("audit.sqlite3.damaged-1").exists() and not Path(f"{path}.doubt").exists()
    fill(path, 1)
    assert not path.with_name("audit.sqlite3.damaged-2").exists()


@pytest.mark.parametrize("emptied", [False, True], ids=["gone", "emptied"])
def test_a_write_ahead_log_without_its_database_is_kept(path, emptied):
    path.parent.mkdir()
    if emptied:
        path.touch()
    Path(f"{path}-wal").write_bytes(b"entries that were never folded in")
    fill(path, 0)
    assert Path(f"{path}.damaged-1-wal").read_bytes() == b"entries that were never folded in"


def test_a_second_writer_is_refused_with_words(path):
    first = SqliteStore(path)
    with pytest.raises(StoreError, match=r"Another guard is writing") as e:
        SqliteStore(path)
    assert "daemon status" in e.value.hint
    first.append(Entry(1.0, "s1", "session"))
    first.close()
    SqliteStore(path).close()


def test_a_newer_log_is_left_alone(path):
    fill(path, 1)
    for newer in (opening.SCHEMA_VERSION + 1, 99):
        raw(path, f"PRAGMA user_version = {newer}")
        with pytest.raises(StoreError, match="newer sentinel-guard"):
            SqliteStore(path)
    raw(path, "PRAGMA user_version = 1")
    fill(path, 1)


def test_the_files_are_private(path):
    store = SqliteStore(path)
    store.append(Entry(1.0, "s1", "session"), durable=True)
    modes = {p.name: p.stat().st_mode & 0o777 for p in path.parent.iterdir()}
    store.close()
    assert set(modes.values()) == {0o600}
    assert {"audit.sqlite3", "audit.sqlite3-wal", "audit.sqlite3.lock", "audit.head"} <= modes.keys()
    assert path.parent.stat().st_mode & 0o777 == 0o700


UNOPENABLE = [
    ("a folder in its place", lambda p: p.mkdir(parents=True), "cannot be opened: Is a directory"),
    ("a file in its folder's place", lambda p: p.parent.write_text(""), "cannot be opened: File exists"),
    ("a lock file that is a folder", lambda p: Path(f"{p}.lock").mkdir(parents=True), "cannot be opened"),
]


@pytest.mark.parametrize(("harm", "words"), [row[1:] for row in UNOPENABLE], ids=[row[0] for row in UNOPENABLE])
def test_a_log_that_cannot_be_opened_is_an_error_with_words(path, harm, words):
    harm(path)
    with pytest.raises(StoreError, match=words) as e:
        SqliteStore(path)
    assert "SENTINEL_HOME" in e.value.hint
