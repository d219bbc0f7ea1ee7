"""The SQLite log against tampering, crashes, a full disk and a second writer."""

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
from sentinel_guard.core.hash_chain import GENESIS, Head, find_breaks
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import StoreError
from tests.support.time_limits import limit
from tests.support.wait_until import until

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "audit.sqlite3"


def fill(path: Path, count: int) -> None:
    store = SqliteStore(path, clock=lambda: 50.0)
    for n in range(count):
        store.append(Entry(100.0 + n, "s1", "verdict", {"id": f"a{n}"}))
    store.close()


def raw(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def found(path: Path) -> list[tuple[int, str]]:
    reader = SqliteReader(path)
    try:
        return [(b.seq, b.how) for b in find_breaks(reader.entries(), head_file.read(head_file.path_of(path)))]
    finally:
        reader.close()


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


DROP = ("DROP TRIGGER log_no_update", "DROP TRIGGER log_no_delete", "DROP TRIGGER log_no_replace")
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


def test_the_head_file_is_there_from_the_beginning_and_keeps_up(path):
    store = SqliteStore(path)
    head = head_file.path_of(path)
    assert head_file.read(head) == Head(0, GENESIS)
    durable = store.append(Entry(1.0, "s1", "verdict"), durable=True)
    assert head_file.read(head) == Head(1, durable.hash)
    for _ in range(HEAD_EVERY):
        store.append(Entry(1.0, "s1", "verdict"))
    assert head_file.read(head).seq == HEAD_EVERY
    store.close()
    assert head_file.read(head).seq == HEAD_EVERY + 1


DAMAGE = [
    ("the first page overwritten", lambda p: p.write_bytes(b"no database" * 1000)),
    ("pages in the middle overwritten", lambda p: overwrite(p, 4096 * 2, b"\xa5" * 4096 * 4)),
    ("the file cut in half", lambda p: os.truncate(p, p.stat().st_size // 2 // 4096 * 4096)),
]


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


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


READ_AS_A_WHOLE = [
    (lambda _: None, False, "it was closed"),
    (lambda p: Path(f"{p}-wal").write_bytes(b"of one that was killed"), True, "it was not closed"),
    (lambda p: Path(f"{p}.doubt").touch(), True, "damage was met in it"),
    (None, True, "a small one"),
]


@pytest.mark.parametrize(
    ("last", "whole"), [row[:2] for row in READ_AS_A_WHOLE], ids=[row[2] for row in READ_AS_A_WHOLE]
)
def test_a_large_log_is_read_as_a_whole_only_after_a_crash(path, monkeypatch, last, whole):
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


def test_the_entry_that_the_head_file_names_by_its_number_is_synced(path, written):
    fill(path, HEAD_EVERY + 1)
    assert [n for n, (_, synced) in enumerate(written, 1) if synced] == [HEAD_EVERY]


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
        if isinstance(threading.current_thread(), threading.Timer):
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
