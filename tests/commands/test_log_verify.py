"""``sentinel-guard log verify`` and ``log archive``: what is said of a broken log, and the way out of it."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.sqlite import SqliteReader, SqliteStore
from sentinel_guard.commands.log import log
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import SentinelError, StoreError
from sentinel_guard.host import audit_witness
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.audit.harmed_log import DROP, raw
from tests.commands.test_log import ENTRIES, places, store

__all__ = ["places", "store"]


def test_a_whole_chain_holds(places, store, capsys):
    store.close()
    assert log.verify(places) == 0
    assert capsys.readouterr().out.startswith("The chain holds: 4 entries. The newest is 4, hash ")


def test_a_chain_holds_while_it_grows(places, store, capsys):
    assert log.verify(places) == 0


BROKEN = [
    ("edited", "UPDATE log SET data = '{}' WHERE seq = 2", "BROKEN at entry 2: Entry 2 was edited"),
    ("cut", "DELETE FROM log WHERE seq = 2", "BROKEN at entry 2: The log is cut: entry 2 is missing."),
    ("truncated", "DELETE FROM log WHERE seq = 4", "BROKEN at entry 4: The log is truncated"),
    ("unreadable", "UPDATE log SET data = '{' WHERE seq = 3", "BROKEN at entry 3: Entry 3 was edited"),
]


@pytest.mark.parametrize(("statement", "words"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_chain_is_exit_1_with_the_place(places, store, capsys, statement, words):
    store.close()
    raw(places.database, *DROP, statement)
    assert log.verify(places) == 1
    assert capsys.readouterr().out.startswith(words)


def test_a_missing_head_file_is_not_a_yes(places, store, capsys):
    store.close()
    head_file.path_of(places.database).unlink()
    assert log.verify(places) == 1
    assert "BROKEN at entry 5: The head file" in capsys.readouterr().out


def test_what_the_guard_found_itself_is_said_too(places, store, capsys):
    store.close()
    places.database.write_bytes(b"x" * 10_000)
    SqliteStore(places.database).close()
    assert log.verify(places) == 1
    out = capsys.readouterr().out
    assert "entries 1 to 4 are missing" in out
    assert "BROKEN at entry 5: It says: " in out and "The log could not be read. It is kept as" in out


HARMED = (
    ("its head was missing", lambda p: head_file.path_of(p).unlink(), "head-missing", False),
    ("its head could not be read", lambda p: head_file.path_of(p).write_bytes(b"\xff"), "head-missing", True),
    ("its head named another", lambda p: head_file.write(head_file.path_of(p), Head(4, "f" * 64)), "log-edited", True),
    ("it was cut", lambda p: raw(p, *DROP, "DELETE FROM log WHERE seq = 4"), "log-truncated", True),
)  # fmt: skip


@pytest.mark.parametrize("row", HARMED, ids=[row[0] for row in HARMED])
def test_what_was_wrong_once_is_said_until_the_log_is_archived(places, store, capsys, row):
    _, harm, event, kept = row
    store.close()
    harm(places.database)
    for _ in range(3):
        SqliteStore(places.database).close()
        assert log.verify(places) == 1
    out = capsys.readouterr().out
    assert out.count("BROKEN at entry") >= 3 and "sentinel-guard log archive" in out
    assert ("audit.head.broken-1 is a head file that did not fit" in out) is kept
    with closing(SqliteReader(places.database)) as reader:
        assert [e.data["event"] for e in reader.entries(kinds=("daemon",))] == [event], "once, whatever comes after"
    assert log.archive(places) == 0
    assert log.verify(places) == 0
    with closing(SqliteReader(places.database)) as reader:
        assert [e.data["event"] for e in reader.entries()] == ["log-archived"], "no folder, no incident"
    (folder,) = places.state.glob("audit-*")
    assert (folder / "audit.sqlite3").exists() and (folder / "audit.head").exists()


def test_a_log_that_lags_behind_its_rows_is_whole(places, store):
    """Killed, or without power, between rows and head file: nobody has changed anything."""
    store.close()
    head_file.write(head_file.path_of(places.database), Head(2, ""))
    with closing(SqliteReader(places.database)) as reader:
        second = next(reader.entries(after=1))
    head_file.write(head_file.path_of(places.database), Head(2, second.hash))
    SqliteStore(places.database).close()
    assert log.verify(places) == 0


EARLIER, OTHER, NEVER = "19691231-235900-0001", "19691231-235901-0002", "19691231-235902-0003"
"""Sessions of before the entries above."""


def test_an_empty_log_where_sessions_were_is_said(places, store, capsys):
    store.append(Entry(1004.0, EARLIER, "session", {"root": "/r", "owner": [1, 1]}))
    store.append(Entry(1004.0, NEVER, "end", {"code": -1, "reason": "it could not begin"}))
    store.close()
    killed_as_it_began = "20261123-041836-beef"
    for name in (EARLIER, NEVER, killed_as_it_began, "no session's"):
        places.shims(name).mkdir(parents=True)
    assert log.verify(places) == 0
    places.shims(OTHER).mkdir(parents=True)
    assert log.verify(places) == 1, "it has a folder, and no entry of its beginning"
    out = capsys.readouterr().out
    assert f"BROKEN: 1 session left a folder and no entry ({OTHER}): the log is not theirs." in out
    for path in places.state.glob("audit.*"):
        path.unlink()
    SqliteStore(places.database).close()
    assert log.verify(places) == 1
    out = capsys.readouterr().out
    assert f"4 sessions left a folder and no entry ({EARLIER}, {OTHER}, {NEVER}, ...)" in out
    assert "The chain holds" not in out
    assert log.archive(places) == 0
    assert log.verify(places) == 0, "the new log names those of before"


def test_what_later_work_asks_for_goes_into_the_new_log(places, store, capsys):
    incident = Entry(1005.0, EARLIER, "incident", {"id": "INCIDENT-1", "event": "signed-off"})
    for entry in (Entry(1004.0, EARLIER, "session", {"root": "/r", "owner": [1, 1]}), incident):
        store.append(entry)
    store.close()
    places.shims(EARLIER).mkdir(parents=True)
    assert log.archive(places) == 0
    with closing(SqliteReader(places.database)) as reader:
        assert reader.ended_sessions() == {EARLIER}, "so that its folder is cleared away when its time comes"
        assert [(e.session, e.data) for e in reader.entries(kinds=("incident",))] == [(EARLIER, incident.data)]
    assert log.verify(places) == 0
    assert "Entry 1 says: The log up to entry 6 is kept in" in capsys.readouterr().out, "whoever did it"
    assert [*places.state.glob("**/new")] == []


def test_the_log_of_a_session_that_lives_is_not_archived(places, store):
    me = processes.identify(os.getpid())
    store.append(Entry(1004.0, "s9", "session", {"root": "/r", "owner": [me.pid, me.start]}))
    store.close()
    with pytest.raises(StoreError, match="s9 is still running"):
        log.archive(places)
    assert places.database.exists() and not [*places.state.glob("audit-*")]


def test_a_log_that_is_being_written_is_not_archived(places, store):
    with pytest.raises(StoreError, match="Another guard is writing"):
        log.archive(places)
    assert [e.seq for e in store.entries()] == [1, 2, 3, 4]


def test_no_session_archives_the_log(places, store, monkeypatch):
    store.close()
    monkeypatch.setenv("SENTINEL_SESSION", "of-a-test")
    with pytest.raises(SentinelError, match="From inside a guarded session"):
        log.archive(places)
    assert places.database.exists()


def rewritten(places: StatePaths, folder: Path) -> None:
    """Another log of as many entries, with a head file that fits it."""
    for path in places.state.glob("audit.*"):
        path.unlink()
    with closing(SqliteStore(places.database)) as made:
        for entry in [*ENTRIES, *ENTRIES[1:]]:
            made.append(replace(entry, at=entry.at + 1))


def older(places: StatePaths, folder: Path) -> None:
    for path in places.state.glob("audit.*"):
        path.unlink()
    shutil.copytree(folder / "older", places.state, dirs_exist_ok=True)


SECOND = (
    ("as it was", lambda *_: None, ""),
    ("rewritten with its head", rewritten, "was told of entry 7 at 1970-01-01 "),
    ("put back from an older copy", older, "which is missing here."),
)


@pytest.mark.parametrize(("harm", "words"), [row[1:] for row in SECOND], ids=[row[0] for row in SECOND])
def test_a_witness_shows_what_log_and_head_together_hide(places, tmp_path, capsys, harm, words):
    places.config.mkdir()
    places.policy.write_text(f'version = 1\n[audit]\nwitness = ["file:{tmp_path}/heads", "syslog"]\n')
    with closing(SqliteStore(places.database)) as made:
        for entry in ENTRIES:
            made.append(entry)
    shutil.copytree(places.state, tmp_path / "older")
    with closing(SqliteStore(places.database)) as made:
        for entry in ENTRIES[1:]:
            last = made.append(entry)
    audit_witness.tell(f"file:{tmp_path}/heads", Head(last.seq, last.hash), 5000.0)
    harm(places, tmp_path)
    assert log.verify(places) == (1 if words else 0)
    assert words in capsys.readouterr().out
    log.archive(places)
    assert log.verify(places) == 0, "the witness was told of the log that was put away"


FORGED = (
    ("a note that is not the first entry", 2, 1, "is missing"),
    ("one that knows of fewer lines", 0, 0, "is missing"),
    ("one that knows of more lines than there are", 0, 9, "has lost what it was told"),
)


@pytest.mark.parametrize("row", FORGED, ids=[row[0] for row in FORGED])
def test_a_forged_note_of_an_archive_silences_no_witness(places, tmp_path, capsys, row):
    _, before, known, words = row
    witness = f"file:{tmp_path}/heads"
    places.config.mkdir()
    places.policy.write_text(f'version = 1\n[audit]\nwitness = ["{witness}"]\n')
    audit_witness.tell(witness, Head(9, "a" * 64), 5000.0)
    told = {witness: known}
    with closing(SqliteStore(places.database)) as made:
        for entry in ENTRIES[:before]:
            made.append(entry)
        made.append(Entry(9e9, "", "daemon", {"event": "log-archived", "what": "x", "told": told}, "L2"))
    assert log.verify(places) == 1
    assert words in capsys.readouterr().out


def test_a_line_from_the_future_is_of_no_more_weight_than_another(places, store, tmp_path):
    store.close()
    witness = f"file:{tmp_path}/heads"
    places.config.mkdir()
    places.policy.write_text(f'version = 1\n[audit]\nwitness = ["{witness}"]\n')
    audit_witness.tell(witness, Head(3, "f" * 64), 99_999_999_999.0)
    assert log.verify(places) == 1
    assert log.archive(places) == 0
    assert log.verify(places) == 0


def test_a_witness_that_is_gone_is_said(places, store, tmp_path, capsys):
    store.close()
    places.config.mkdir()
    places.policy.write_text(f'version = 1\n[audit]\nwitness = ["file:{tmp_path}/gone"]\n')
    assert log.verify(places) == 1
    out = capsys.readouterr().out
    assert out.startswith("A witness was told nothing yet, or is gone.")
    assert "The chain holds" not in out and "BROKEN" not in out and "archive" not in out


def test_no_log_cannot_be_verified(places, store, capsys):
    store.close()
    places.database.unlink()
    assert log.verify(places) == 1
    assert "its head file names entry 4" in capsys.readouterr().out


def test_a_damaged_log_is_an_error_with_words(places):
    places.database.parent.mkdir()
    places.database.write_bytes(b"x" * 10_000)
    with pytest.raises(StoreError, match="is damaged"):
        log.verify(places)
