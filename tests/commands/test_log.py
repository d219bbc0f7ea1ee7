"""``sentinel-guard log``: what is shown of a log, and what is said of a broken one."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.sqlite import SqliteReader, SqliteStore
from sentinel_guard.commands import log
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import SentinelError, StoreError
from sentinel_guard.host import audit_witness
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.audit.test_sqlite import DROP, raw

ROOT = Path(__file__).parent.parent.parent
FOUND = {"rule": "paths.restricted", "check": "rules", "response": "deny", "what": ".env is restricted"}
HINT = {"rule": "", "check": "hint", "response": "hint", "what": "look"}
REFUSED = {"response": "deny", "arguments": {"argv": ["tee", "a b"]}, "findings": [HINT, FOUND]}
ENTRIES = [
    Entry(1000.5, "s1", "session", {"root": "/r", "command": ["agent"], "start_hash": ""}),
    Entry(1001.0, "s1", "verdict", {"response": "allow", "tool": "shell", "arguments": {"command": "ls -l"}}),
    Entry(1002.0, "s2", "verdict", REFUSED, "L2"),
    Entry(1003.0, "s1", "outcome", {"id": "a1", "code": 2, "duration": 0.1, "excerpt": "no such file\nmore"}),
]


@pytest.fixture
def places(tmp_path):
    return StatePaths(tmp_path / "state", tmp_path / "run", tmp_path / "config")


@pytest.fixture
def store(places):
    with closing(SqliteStore(places.database)) as made:
        for entry in ENTRIES:
            made.append(entry)
        yield made


def show(places, *, as_json=False, session="", follow=False, limit=0):
    return log.show(places, as_json=as_json, session=session, follow=follow, limit=limit)


def test_a_line_an_entry(places, store, capsys):
    assert show(places) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(f[0], f[2], f[3], f[4], f[5]) for f in lines] == [
        ("1", "s1", "-", "session", "agent in /r from no commit"),
        ("2", "s1", "-", "verdict", "allow: ls -l"),
        ("3", "s2", "L2", "verdict", "deny: tee 'a b' [paths.restricted] .env is restricted"),
        ("4", "s1", "-", "outcome", "exit 2 after 0.1 s: no such file"),
    ]
    assert lines[0][1].startswith(("1970-01-01 ", "1969-12-31 "))
    assert ".500 " in lines[0][1]


ASKED = [
    ("one session", {"session": "s1"}, [1, 2, 4]),
    ("the newest", {"limit": 2}, [3, 4]),
    ("the newest of one session", {"session": "s1", "limit": 1}, [4]),
    ("an unknown session", {"session": "s9"}, []),
]


@pytest.mark.parametrize(("asked", "seqs"), [row[1:] for row in ASKED], ids=[row[0] for row in ASKED])
def test_json_lines_hold_the_whole_entry(places, store, capsys, asked, seqs):
    assert show(places, as_json=True, **asked) == 0
    out, err = capsys.readouterr()
    found = [json.loads(line) for line in out.splitlines()]
    assert [e["seq"] for e in found] == seqs
    assert all(set(e) == {"seq", "at", "session", "kind", "level", "data", "prev", "hash"} for e in found)
    assert bool(err) == (not seqs)


def test_what_an_agent_wrote_cannot_steer_the_terminal(places, store, capsys):
    store.append(
        Entry(1.0, "s\x1b[2J", "verdict", {"response": "allow", "arguments": {"command": "a\x1b]0;x\x07\n\udcff"}})
    )
    show(places, limit=1)
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert "\x1b" not in out
    assert r"a\x1b]0;x\x07\n\xff" in out


@pytest.mark.parametrize("at", [1e300, -1e300, 1e18])
def test_a_time_that_no_calendar_holds_is_shown_as_a_number(at):
    assert log.when(at) == repr(at)


def test_follow_shows_what_comes_and_waits_for_a_log(places, monkeypatch):
    # A real reader of a growing file: the writer appends from another thread while the loop polls.
    monkeypatch.setattr(log, "POLL_SECONDS", 0.001)
    entries = log._entries(places.database, "s1", 1, follow=True)

    def write():
        with closing(SqliteStore(places.database)) as store:
            for entry in ENTRIES:
                store.append(entry)

    thread = threading.Thread(target=write)
    thread.start()
    seen = [next(entries).seq]
    while seen[-1] != 4:
        seen.append(next(entries).seq)
    thread.join()
    assert 3 not in seen


def test_no_log_is_said_and_is_no_fault(places, capsys):
    assert show(places) == 0
    assert "Nothing is on record yet" in capsys.readouterr().err


def test_a_terminal_gets_a_table_that_fits(places, store):
    inner, outer = pty.openpty()
    code = "from sentinel_guard.commands import log; from sentinel_guard.host.machine.state_paths import places as p; "
    code += "log.show(p(), as_json=False, session='', follow=False, limit=0)"
    home = places.state.parent
    env = {**os.environ, "SENTINEL_HOME": str(home), "TERM": "xterm", "COLUMNS": "90"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, stdout=outer, check=True)
    os.close(outer)
    shown = read_all(inner)
    rows = shown.replace("\r", "").splitlines()
    assert "seq" in rows[0]
    assert "what" in rows[0]
    assert any(".env is restricted" in " ".join(row.split()) for row in rows)
    assert "\x1b[33m" in shown


def read_all(descriptor: int) -> str:
    data = b""
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    os.close(descriptor)
    return data.decode()


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
        assert [e.data["event"] for e in reader.entries()] == ["log-archived"]
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


def test_an_empty_log_where_sessions_were_is_said(places, store, capsys):
    store.append(Entry(1004.0, "s3", "end", {"code": -1, "reason": "it could not begin"}))
    store.close()
    killed_as_it_began = "20261123-041836-beef"
    for session in ("s1", "s3", killed_as_it_began):
        places.shims(session).mkdir(parents=True)
    assert log.verify(places) == 0
    places.shims("s2").mkdir(parents=True)
    assert log.verify(places) == 1, "it has a folder, and no entry of its beginning"
    assert "BROKEN: 1 session left a folder and no entry (s2): the log is not theirs." in capsys.readouterr().out
    for path in places.state.glob("audit.*"):
        path.unlink()
    SqliteStore(places.database).close()
    assert log.verify(places) == 1
    out = capsys.readouterr().out
    assert "4 sessions left a folder and no entry (20261123-041836-beef, s1, s2, ...)" in out
    assert "The chain holds" not in out
    assert log.archive(places) == 0
    assert log.verify(places) == 0, "the new log names those of before"


def test_a_log_that_is_being_written_is_not_archived(places, store):
    with pytest.raises(StoreError, match="Another guard is writing"):
        log.archive(places)
    assert [e.seq for e in store.entries()] == [1, 2, 3, 4]


def test_no_session_archives_the_log(places, store, monkeypatch):
    store.close()
    monkeypatch.setenv("SENTINEL_SESSION", "s1")
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


def test_a_witness_that_is_gone_is_said(places, store, tmp_path, capsys):
    store.close()
    places.config.mkdir()
    places.policy.write_text(f'version = 1\n[audit]\nwitness = ["file:{tmp_path}/gone"]\n')
    assert log.verify(places) == 1
    assert "A witness cannot be asked" in capsys.readouterr().out


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
