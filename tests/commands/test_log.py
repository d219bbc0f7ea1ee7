"""``sentinel-guard log``: what is shown of a log, and what is said of a broken one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.commands import log
from sentinel_guard.commands.log_filter import LogFilter, since
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine.state_paths import StatePaths

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


ASK = Entry(1004.0, "20261125-1-ab", "human", {"yes": False, "action": "DEPLOY", "target": "x", "assurance": "none"})
MORE = [
    Entry(1003.5, "20261125-1-ab", "session", {"root": "/r", "command": ["agent"], "start_hash": ""}),
    ASK,
    Entry(1005.0, "20261125-1-ab", "watch", {"path": ".env", "check": "unannounced"}, "L2"),
]
FILTERS = (
    (LogFilter(), "", [1, 2, 3, 4, 5, 6, 7], "no filter"),
    (LogFilter(blocked=True), "", [3, 7], "what was refused or put back"),
    (LogFilter(asked=True), "", [6], "what a person was asked"),
    (LogFilter(blocked=True, asked=True), "", [3, 6, 7], "both"),
    (LogFilter(rule="paths.*"), "", [3], "a rule's pattern"),
    (LogFilter(rule="unannounced"), "", [7], "a check that is no rule"),
    (LogFilter(since=1003.0), "", [4, 5, 6, 7], "since a time"),
    (LogFilter(blocked=True), "ab", [7], "the last part of a session's name"),
    (LogFilter(rule="nothing"), "", [], "no such rule"),
)


@pytest.mark.parametrize("row", FILTERS, ids=[row[3] for row in FILTERS])
def test_what_is_wanted_is_shown(places, store, capsys, row):
    wanted, session, seqs, _ = row
    for entry in MORE:
        store.append(entry)
    log.show(places, as_json=True, session=session, follow=False, limit=0, wanted=wanted)
    assert [json.loads(line)["seq"] for line in capsys.readouterr().out.splitlines()] == seqs


def test_the_newest_of_what_is_wanted_may_be_far_back(places, store, capsys):
    log.show(places, as_json=True, session="", follow=False, limit=1, wanted=LogFilter(blocked=True))
    assert json.loads(capsys.readouterr().out)["seq"] == 3


NOW = 1_764_000_000.0
SINCE = (
    ("", 0.0, "none"),
    ("30m", NOW - 1800, "minutes"),
    ("2h", NOW - 7200, "hours"),
    ("1d", NOW - 86_400, "days"),
    ("2026-11-25T14:00+00:00", 1_795_615_200.0, "a time with its zone"),
    ("yesterday", None, "a word"),
    ("5", None, "a number without a unit"),
)


@pytest.mark.parametrize(("text", "at"), [row[:2] for row in SINCE], ids=[row[2] for row in SINCE])
def test_since_when(text, at):
    if at is None:
        with pytest.raises(ConfigError, match="is no time"):
            since(text, NOW)
    else:
        assert since(text, NOW) == at
