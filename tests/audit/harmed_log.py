"""A log on disk, written and read by the product, and harmed past it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.sqlite import SqliteReader, SqliteStore
from sentinel_guard.core.hash_chain import find_breaks
from sentinel_guard.core.model import Entry

DROP = ("DROP TRIGGER log_no_update", "DROP TRIGGER log_no_delete", "DROP TRIGGER log_no_replace")
"""They keep the log append-only."""


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


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def in_database(path: Path) -> int:
    """The newest entry that stands in the database itself, without the write-ahead log."""
    alone = path.with_name("alone.sqlite3")
    while True:
        alone.write_bytes(copied := path.read_bytes())
        try:
            with closing(sqlite3.connect(alone)) as db:
                made = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'log'").fetchone()
                return int((made and db.execute("SELECT max(seq) FROM log").fetchone()[0]) or 0)
        except sqlite3.DatabaseError:
            if path.read_bytes() == copied:
                raise  # else a checkpoint wrote pages amid the copy
