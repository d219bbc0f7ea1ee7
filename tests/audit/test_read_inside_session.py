"""Reading the log inside of a guarded session: a copy, since SQLite opens what lies beside it for writing."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from sentinel_guard.audit.opening import SESSION
from sentinel_guard.audit.sqlite import SqliteReader, SqliteStore
from sentinel_guard.core.hash_chain import find_breaks
from sentinel_guard.core.model import Entry


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv(SESSION, "s1")
    return tmp_path / "state" / "audit.sqlite3"


def entry(number: int) -> Entry:
    return Entry(float(number), "s1", "note", {"n": number, "text": "x" * 500})


def read(path) -> list[Entry]:
    with closing(SqliteReader(path)) as reader:
        return [*reader.entries()]


def beside(path):
    """All but when each was read last."""
    found = {p.name: p.stat() for p in path.parent.iterdir()}
    return {
        n: (f.st_ino, f.st_mode, f.st_uid, f.st_gid, f.st_size, f.st_mtime_ns, f.st_ctime_ns) for n, f in found.items()
    }


def test_what_lies_beside_the_log_is_not_touched(path):
    with closing(SqliteStore(path)) as store:
        for number in range(3):
            store.append(entry(number))
        before = beside(path)
        assert [e.data["n"] for e in read(path)] == [0, 1, 2]
        assert beside(path) == before, "neither written nor given to its owner anew"


def test_a_reader_sees_a_whole_log_while_it_is_written(path):
    with closing(SqliteStore(path)) as store:
        store.append(entry(0))
        stop = threading.Event()

        def write() -> None:
            number = 1
            while not stop.is_set() and number < 20_000:
                store.append(entry(number))  # the journal begins anew every thousand pages
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            counts = []
            for _ in range(20):
                found = read(path)
                assert list(find_breaks(iter(found), None)) == []
                assert [e.data["n"] for e in found] == [*range(len(found))]
                counts.append(len(found))
        finally:
            stop.set()
            writer.join()
    assert counts == sorted(counts) and counts[-1] > counts[0]


def test_nothing_of_a_copy_is_left(path, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "t").mkdir()
    with closing(SqliteStore(path)) as store:
        store.append(entry(0))
        assert len(read(path)) == 1
    assert not [*(tmp_path / "t").iterdir()]
