"""The contract of a store: every table row holds for each of them."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest

from sentinel_guard.audit import sqlite
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.core.hash_chain import GENESIS, entry_hash, verify
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import StoreError
from tests.support.fakes import MemoryStore

STORES = {"sqlite": lambda folder: SqliteStore(folder / "audit.sqlite3"), "memory": lambda _folder: MemoryStore()}


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    made = STORES[request.param](tmp_path)
    yield made
    made.close()


def test_an_entry_comes_back_with_its_place_and_hash(store):
    first = store.append(Entry(1.0, "s1", "session", {"root": "/r"}))
    second = store.append(Entry(2.0, "s1", "verdict", {"id": "a1"}, "L2"), durable=True)
    assert (first.seq, first.prev) == (1, GENESIS)
    assert (second.seq, second.prev) == (2, first.hash)
    assert second.hash == entry_hash(first.hash, second)
    assert list(store.entries()) == [first, second]
    assert verify(store.entries()) is None


KEPT = [
    ("nothing in it", {}),
    ("bytes that are no UTF-8", {"argv": ["\udcff\udc80"]}),
    ("NUL, quotes and newlines", {"command": "a\0b'\"\n\\"}),
    ("big numbers", {"n": 2**80, "f": 0.1}),
    ("a megabyte", {"x": "y" * 2**20}),
    ("nested", {"a": [{"b": [None, True]}]}),
]


@pytest.mark.parametrize("data", [row[1] for row in KEPT], ids=[row[0] for row in KEPT])
def test_data_is_kept_as_it_is(store, data):
    appended = store.append(Entry(1.0, "s1", "verdict", data))
    assert next(store.entries()) == appended
    assert appended.data == data


def test_what_append_returns_is_what_the_log_gives_back(store):
    appended = store.append(Entry(1, "s1", "verdict", {"argv": ("ls",), "map": {1: frozenset({"b", "a"})}}))
    assert appended.data == {"argv": ["ls"], "map": {"1": ["a", "b"]}}
    assert next(store.entries()) == appended


REFUSED = [("bytes", {"x": b""}), ("an object", {"x": object()}), ("no finite number", {"x": float("inf")})]


@pytest.mark.parametrize("data", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_cannot_be_written_is_an_error_and_takes_no_place(store, data):
    with pytest.raises(StoreError, match="cannot be written down"):
        store.append(Entry(1.0, "s1", "verdict", data))
    assert store.append(Entry(1.0, "s1", "end")).seq == 1


FILTERS = [
    ("everything", {}, [1, 2, 3, 4, 5, 6]),
    ("one session", {"session": "s2"}, [2, 4]),
    ("an unknown session", {"session": "s9"}, []),
    ("after a place", {"after": 4}, [5, 6]),
    ("after the end", {"after": 6}, []),
    ("one kind", {"kinds": ("session",)}, [1, 2, 6]),
    ("two kinds", {"kinds": ("session", "end")}, [1, 2, 5, 6]),
    ("the newest", {"last": 2}, [5, 6]),
    ("more than there are", {"last": 99}, [1, 2, 3, 4, 5, 6]),
    ("all at once", {"session": "s1", "after": 1, "kinds": ("verdict", "end"), "last": 1}, [5]),
]


@pytest.mark.parametrize(("asked", "seqs"), [row[1:] for row in FILTERS], ids=[row[0] for row in FILTERS])
def test_entries_are_filtered_and_in_order(store, asked, seqs):
    for session, kind in (("s1", "session"), ("s2", "session"), ("s1", "verdict"), ("s2", "verdict"), ("s1", "end")):
        store.append(Entry(1.0, session, kind))
    store.append(Entry(1.0, "s3", "session"))
    assert [e.seq for e in store.entries(**asked)] == seqs


def test_a_session_lives_until_its_end(store):
    for session, kind in (("s2", "session"), ("s1", "session"), ("s3", "session"), ("s2", "end"), ("s4", "verdict")):
        store.append(Entry(1.0, session, kind))
    assert store.live_sessions() == ("s1", "s3")
    assert store.ended_sessions() == {"s2"}


@pytest.mark.parametrize("query", [sqlite._LIVE, sqlite._ENDED], ids=["live", "ended"])
def test_who_lives_is_told_without_reading_the_whole_log(tmp_path, query):
    store = SqliteStore(tmp_path / "log.sqlite3")
    assert "USING COVERING INDEX log_few" in str(store._query(f"EXPLAIN QUERY PLAN {query}"))
    store.close()


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ({"kinds": ("incident",)}, "log_few (kind=?)"),
        ({"session": "s1", "kinds": ("incident",)}, "log_few (kind=? AND session=? AND rowid>?)"),
        ({"session": "s1", "kinds": ("recovery",), "last": 1}, "log_few (kind=? AND session=? AND rowid>?)"),
        ({"kinds": ("session",), "last": 64}, "log_few (kind=?)"),
        ({"session": "s1", "kinds": ("verdict",)}, "log_session (session=? AND rowid>?)"),
        ({"session": "s1"}, "log_session (session=? AND rowid>?)"),
    ],
    ids=str,
)
def test_what_is_asked_often_is_found_without_reading_the_whole_log(tmp_path, monkeypatch, asked, index):
    plans, query = list[str](), SqliteStore._query
    monkeypatch.setattr(
        SqliteStore,
        "_query",
        lambda store, sql, *values: plans.append(str(query(store, f"EXPLAIN QUERY PLAN {sql}", *values))) or [],
    )
    store = SqliteStore(tmp_path / "log.sqlite3")
    assert not list(store.entries(**asked))
    assert index in plans[-1]
    store.close()


def test_a_log_of_an_older_version_has_the_newer_index(tmp_path):
    path = tmp_path / "log.sqlite3"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP INDEX log_few")
        db.execute("CREATE INDEX log_lives ON log (kind, session) WHERE kind IN ('session', 'end')")
    store = SqliteStore(path)
    assert store._query("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name") == [
        ("log_few",),
        ("log_session",),
    ]
    store.close()


def test_nothing_is_appended_after_close(store):
    store.append(Entry(1.0, "s1", "session"))
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.append(Entry(1.0, "s1", "end"))


def test_reading_goes_on_while_entries_are_appended(store):
    store.append(Entry(1.0, "s1", "verdict"))
    seen = []
    for entry in store.entries():
        seen.append(entry.seq)
        if entry.seq == 1:
            store.append(Entry(2.0, "s1", "verdict"))
    assert seen[0] == 1
    assert [e.seq for e in store.entries()] == [1, 2]


def test_threads_share_the_sqlite_store(tmp_path):
    store = SqliteStore(tmp_path / "audit.sqlite3")

    def work():
        for _ in range(50):
            store.append(Entry(1.0, "s1", "verdict"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [e.seq for e in store.entries()] == list(range(1, 201))
    assert verify(store.entries()) is None
    store.close()
