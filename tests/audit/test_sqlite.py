"""The SQLite log against tampering, crashes and a full disk."""

from __future__ import annotations

import functools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit import opening
from sentinel_guard.audit import sqlite as sqlite_store
from sentinel_guard.audit.sqlite import HEAD_EVERY, SqliteReader, SqliteStore
from sentinel_guard.core.hash_chain import GENESIS, Head
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import StoreError
from tests.audit.harmed_log import DROP, fill, found, in_database, raw
from tests.support.time_limits import limit
from tests.support.wait_until import until

ROOT = Path(__file__).parent.parent.parent
APPEND_ONLY = [
    ("an update", "UPDATE log SET data = '{}' WHERE seq = 2"),
    ("a delete", "DELETE FROM log WHERE seq = 2"),
    ("a delete of everything", "DELETE FROM log"),
    ("a replace", "REPLACE INTO log SELECT seq, at, session, kind, level, '{}', prev, hash FROM log WHERE seq = 2"),
    ("an insert or ignore", "INSERT OR IGNORE INTO log SELECT * FROM log WHERE seq = 2"),
    ("an upsert", "INSERT INTO log SELECT * FROM log WHERE seq = 2 ON CONFLICT (seq) DO UPDATE SET data = '{}'"),
    (
        "an insert before the end",
        "INSERT INTO log SELECT 0, at, session, kind, level, data, prev, hash FROM log WHERE seq = 2",
    ),
    ("an update or replace of the number", "UPDATE OR REPLACE log SET seq = 2 WHERE seq = 3"),
]


@pytest.mark.parametrize("statement", [row[1] for row in APPEND_ONLY], ids=[row[0] for row in APPEND_ONLY])
def test_the_log_is_append_only(path, statement):
    fill(path, 3)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw(path, statement)
    assert found(path) == []


SWAP = (
    "CREATE TEMP TABLE t AS SELECT * FROM log WHERE seq IN (3, 4)",
    "DELETE FROM log WHERE seq IN (3, 4)",
    "INSERT INTO log SELECT 7 - seq, at, session, kind, level, data, prev, hash FROM t",
)
TAMPERED = [
    ("a row edited", ["UPDATE log SET data = '[]' WHERE seq = 3"], (3, "edited")),
    ("a row's data made unreadable", ["UPDATE log SET data = '{' WHERE seq = 3"], (3, "edited")),
    ("a time made text", ["UPDATE log SET at = 'noon' WHERE seq = 3"], (3, "edited")),
    ("a row cut", ["DELETE FROM log WHERE seq = 3"], (3, "cut")),
    ("two rows in each other's place", SWAP, (3, "reordered")),
    ("the end cut", ["DELETE FROM log WHERE seq > 4"], (5, "truncated")),
    ("everything cut", ["DELETE FROM log"], (1, "truncated")),
    ("a row put at the end", ["INSERT INTO log SELECT 9, 1, '', 'x', '', '{}', '', '' FROM log LIMIT 1"], (7, "cut")),
]


@pytest.mark.parametrize(("statements", "place"), [row[1:] for row in TAMPERED], ids=[row[0] for row in TAMPERED])
def test_tampering_with_dropped_triggers_is_found_at_its_place(path, statements, place):
    fill(path, 6)
    raw(path, *DROP, *statements)
    assert found(path)[0] == place


def test_the_head_file_is_there_from_the_beginning_and_keeps_up(path):
    store = SqliteStore(path)
    head = head_file.path_of(path)
    assert head_file.read(head) == Head(0, GENESIS)
    durable = store.append(Entry(1.0, "s1", "verdict"), durable=True)
    assert head_file.read(head) == Head(1, durable.hash)
    store.append(Entry(1.0, "s1", "verdict"))
    store.close()
    assert head_file.read(head).seq == 2


def test_a_row_that_another_program_put_at_the_end_does_not_block_the_log(path):
    store = SqliteStore(path)
    store.append(Entry(1.0, "s1", "session"))
    raw(path, "INSERT INTO log SELECT 2, at, session, 'forged', level, data, prev, hash FROM log")
    with pytest.raises(StoreError, match="append-only"):
        store.append(Entry(2.0, "s1", "verdict"))
    assert store.append(Entry(3.0, "s1", "verdict")).seq == 3
    store.close()
    assert found(path)[0] == (2, "edited")


def test_a_session_whose_name_is_no_text_is_an_error(path):
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="cannot be written down"):
        store.append(Entry(1.0, "\udcff", "session"))
    store.close()


def test_reading_needs_a_log(path):
    with pytest.raises(StoreError, match="cannot be opened"):
        SqliteReader(path)


def test_reading_a_log_that_is_just_being_made_gives_nothing(path):
    path.parent.mkdir()
    path.touch()
    with closing(SqliteReader(path)) as reader:
        assert list(reader.entries()) == []
        fill(path, 1)
        assert len(list(reader.entries())) == 1


def test_reading_what_is_no_log_is_an_error_with_words(path):
    path.parent.mkdir()
    path.write_bytes(b"no database" * 1000)
    with closing(SqliteReader(path)) as reader, pytest.raises(StoreError, match="is damaged"):
        list(reader.entries())


WRITER = """
import sys
from pathlib import Path
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.core.model import Entry
store = SqliteStore(Path(sys.argv[1]))
for n in range(int(sys.argv[2])):
    entry = store.append(Entry(float(n), "s1", "verdict", {"id": f"a{n}", "text": "x" * 200}))
    sys.stdout.write(f"{entry.seq}\\n")
    sys.stdout.flush()
sys.stdin.readline()
"""


def writer(path: Path, count: int, **more) -> subprocess.Popen:
    command = [sys.executable, "-c", WRITER, str(path), str(count)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, **more)


def test_kill_9_loses_no_acknowledged_entry(path):
    process = writer(path, 1_000_000)
    acknowledged = [int(process.stdout.readline()) for _ in range(700)]
    process.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in process.stdout]
    process.communicate()
    with closing(SqliteReader(path)) as reader:
        seqs = [e.seq for e in reader.entries()]
    assert seqs == list(range(1, len(seqs) + 1))
    assert acknowledged[-1] <= len(seqs)
    assert found(path) == []
    with closing(SqliteStore(path)) as store:
        assert store.append(Entry(1.0, "s1", "end")).seq == len(seqs) + 1
    assert found(path) == []


def test_what_a_killed_writer_left_in_the_journal_is_moved_by_the_next(path):
    for moved in (False, True):
        process = writer(path, 200, stdin=subprocess.PIPE)
        for _ in range(200):
            process.stdout.readline()
        assert until(lambda: path.stat().st_size > 50_000, limit(10)) if moved else path.stat().st_size < 50_000
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert found(path) == []


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_said_and_loses_nothing(small_disk):
    path = small_disk / "audit.sqlite3"
    store = SqliteStore(path)
    written = 0
    with pytest.raises(StoreError, match="the disk is full") as e:
        for n in range(10_000):
            written = store.append(Entry(float(n), "s1", "verdict", {"text": "x" * 500})).seq
    assert "Free some space" in e.value.hint
    with pytest.raises(StoreError):
        store.append(Entry(1.0, "s1", "verdict", {"text": "x" * 5000}), durable=True)
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    assert store.append(Entry(1.0, "s1", "end")).seq == written + 1
    store.close()
    assert found(path) == []


def test_a_read_only_disk_is_said(small_disk):
    fill(small_disk / "audit.sqlite3", 3)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(StoreError, match="Read-only file system"):
        SqliteStore(small_disk / "audit.sqlite3")


def test_a_file_that_may_not_grow_is_said(path):
    process = writer(path, 10_000, preexec_fn=limit_file_size)
    out, err = process.communicate(timeout=limit(30))
    acknowledged = [int(line) for line in out.split()]
    assert process.returncode == 1
    assert "StoreError: The audit log" in err
    with closing(SqliteReader(path)) as reader:
        assert len(list(reader.entries())) == len(acknowledged) > 20
    assert found(path) == []


def limit_file_size() -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))


def test_a_row_that_is_no_utf_8_is_read_and_found(path):
    fill(path, 3)
    raw(path, *DROP, "UPDATE log SET data = CAST(x'7b2261223a22ff227d' AS TEXT), session = 'x' WHERE seq = 2")
    with closing(SqliteReader(path)) as reader:
        assert next(reader.entries(session="x")).data == {"a": "\udcff"}
    assert found(path) == [(2, "edited")]
    fill(path, 1)
    with closing(SqliteReader(path)) as reader:
        assert len([*reader.entries()]) == 4


def test_the_head_follows_within_a_second_of_work_and_nobody_waits(path, monkeypatch):
    monkeypatch.setattr(sqlite_store, "HEAD_SECONDS", 0.05)
    store = SqliteStore(path)
    for _ in range(3):
        last = store.append(Entry(1.0, "s1", "verdict"))
    assert until(lambda: head_file.read(head_file.path_of(path)) == Head(last.seq, last.hash))
    last = store.append(Entry(1.0, "s1", "verdict"))
    assert until(lambda: head_file.read(head_file.path_of(path)) == Head(last.seq, last.hash)), "and again"
    store.close()


def test_one_thread_names_the_entries_of_an_agent_that_pauses_and_ends_when_nothing_comes(path, monkeypatch):
    monkeypatch.setattr(sqlite_store, "HEAD_SECONDS", 0.01)
    monkeypatch.setattr(sqlite_store, "LOOKS", 50)
    with closing(SqliteStore(path)) as store:
        threads = set()
        for seq in range(1, 4):
            store.append(Entry(1.0, "s1", "verdict"))
            threads.add(store._renewal)
            assert until(lambda seq=seq: head_file.read(head_file.path_of(path)).seq == seq)
            threading.Event().wait(0.05)  # some looks
        assert len(threads) == 1
        assert until(lambda: store._renewal is None)
        store.append(Entry(1.0, "s1", "verdict"))
        assert until(lambda: head_file.read(head_file.path_of(path)).seq == 4), "another one names the next"


@pytest.fixture
def written(monkeypatch):
    """The entries as they are written: their kinds, and whether each is on the disk before anything goes on."""

    class Watched(sqlite3.Connection):
        def execute(self, sql, *values):
            if sql.startswith("INSERT"):
                found.append((values[0][3], super().execute("PRAGMA synchronous").fetchone() == (2,)))
            return super().execute(sql, *values)

    found: list[tuple[str, bool]] = []
    monkeypatch.setattr(opening.sqlite3, "connect", functools.partial(sqlite3.connect, factory=Watched))
    return found


def test_a_durable_entry_is_synced_and_the_next_one_is_not_held_up(path, written):
    with closing(SqliteStore(path)) as store:
        for kind, durable in (("verdict", False), ("state", True), ("outcome", False)):
            store.append(Entry(1.0, "s1", kind), durable=durable)
    assert written == [("verdict", False), ("state", True), ("outcome", False)]


def test_after_so_many_entries_the_head_follows_at_once_and_nobody_waits(path, written, monkeypatch):
    monkeypatch.setattr(sqlite_store, "HEAD_SECONDS", limit(60))
    with closing(SqliteStore(path)) as store:
        for _ in range(HEAD_EVERY):
            store.append(Entry(1.0, "s1", "verdict"))
        assert until(lambda: head_file.read(head_file.path_of(path)).seq == HEAD_EVERY)
        assert until(lambda: in_database(path) == HEAD_EVERY), "put into the database, too"
    assert not any(synced for _, synced in written)


@pytest.mark.parametrize("most", [40, 1 << 30], ids=["who appends waits in the end", "nobody ever waits"])
def test_the_write_ahead_log_begins_anew(path, monkeypatch, most):
    monkeypatch.setattr(sqlite_store, "HEAD_EVERY", 20)
    monkeypatch.setattr(sqlite_store, "MOST", most)
    monkeypatch.setattr(sqlite_store, "TRIES", 0 if most == 40 else sqlite_store.TRIES)
    with closing(SqliteStore(path)) as store:
        for _ in range(10):
            for _ in range(40):
                store.append(Entry(1.0, "s1", "verdict"))
            assert until(lambda: store._since == 0)
        assert Path(f"{path}-wal").stat().st_size < 1 << 20
    assert found(path) == []


MUCH = (
    (sqlite_store.MOST - 1, [False] * sqlite_store.TRIES, "who appends goes on"),
    (sqlite_store.MOST, [False, True], "it is so much that who appends waits in the end"),
    (sqlite_store.MOST + 1, [False, True], "it is more"),
)


@pytest.mark.parametrize(("since", "waits", "why"), MUCH, ids=[row[-1] for row in MUCH])
def test_what_is_appended_meanwhile_waits_only_where_the_journal_holds_much(path, monkeypatch, since, waits, why):
    with closing(SqliteStore(path)) as store:
        monkeypatch.setattr(store, "_checkpoint", lambda: held.append(store._guard._is_owned()))
        held: list[bool] = []
        store._checkpoint_often(since)
    assert held == waits, why


def test_what_was_wrong_with_a_log_is_synced_before_the_head_file_names_it(path, written):
    fill(path, 2)
    head_file.path_of(path).unlink()
    fill(path, 0)
    assert written == [("verdict", False), ("verdict", False), ("daemon", True)]


def test_the_log_is_synced_before_the_head_file_follows(path, monkeypatch):
    def sync(file):
        synced.append(os.fstat(file).st_ino == Path(f"{path}-wal").stat().st_ino)

    synced: list[bool] = []
    monkeypatch.setattr(sqlite_store, "HEAD_SECONDS", 0.01)
    with closing(SqliteStore(path)) as store:
        monkeypatch.setattr(os, "fsync", sync)
        store.append(Entry(1.0, "s1", "verdict"))
        assert until(lambda: head_file.read(head_file.path_of(path)).seq == 1)
        assert synced == [True, False], "first the log, then the head file"


def test_a_head_that_comes_late_from_a_slow_disk_does_not_undo_a_newer_one(path, monkeypatch):
    def sync(_):
        if threading.current_thread() is not threading.main_thread():
            renewing.append(threading.current_thread())
            begun.set()
            assert go.wait(limit(5))

    begun, go, renewing = threading.Event(), threading.Event(), []
    monkeypatch.setattr(sqlite_store, "HEAD_SECONDS", 0.01)
    with closing(SqliteStore(path)) as store:
        monkeypatch.setattr(os, "fsync", sync)
        store.append(Entry(1.0, "s1", "verdict"))
        assert begun.wait(limit(5))
        store.append(Entry(2.0, "s1", "verdict"), durable=True)
        go.set()
        renewing[0].join()
        assert head_file.read(head_file.path_of(path)).seq == 2
