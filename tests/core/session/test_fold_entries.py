"""A session folded again: what was read before is not read anew, and the result is the same."""

from __future__ import annotations

from dataclasses import replace

from sentinel_guard.core.model import Entry
from sentinel_guard.core.session.fold_entries import MOST, Folds
from sentinel_guard.core.session.session import Session


class Log:
    def __init__(self, *entries: Entry) -> None:
        self.entries = [replace(entry, seq=at) for at, entry in enumerate(entries, 1)]
        self.read = 0

    def __call__(self, after: int) -> list[Entry]:
        found = [entry for entry in self.entries if entry.seq > after]
        self.read += len(found)
        return found

    def add(self, entry: Entry) -> None:
        self.entries.append(replace(entry, seq=len(self.entries) + 1))


BEGUN, KILLED = Entry(1.0, "s", "session", {"root": "/r"}), Entry(2.0, "s", "state", {"event": "kill"})


def folded(log: Log) -> Session:
    session = Session("s")
    for entry in log.entries:
        session = session.after(entry)
    return session


def test_what_was_folded_before_is_not_read_anew():
    log, folds = Log(BEGUN, Entry(1.5, "s", "usage", {"output": 7})), Folds()
    assert folds.of("s", log) == folded(log)
    log.add(KILLED)
    assert folds.of("s", log) == folded(log)
    assert log.read == 3


def test_what_no_entry_begins_is_no_session_and_is_not_remembered():
    log, folds = Log(KILLED), Folds()
    assert folds.of("s", log) is None
    log.add(BEGUN)
    assert folds.of("s", log) == folded(log)
    assert log.read == 3


def test_the_oldest_is_forgotten():
    log, folds = Log(BEGUN), Folds()
    for number in range(MOST + 1):
        folds.of(f"s{number}", log)
    folds.of("s1", log)
    assert log.read == MOST + 1
    folds.of("s0", log)
    assert log.read == MOST + 2
