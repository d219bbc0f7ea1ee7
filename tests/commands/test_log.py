"""``sentinel-guard log``: what is shown of a log, and what is said of a broken one."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.commands.log import log
from sentinel_guard.commands.log.log import Shown
from sentinel_guard.commands.log.log_filter import LogFilter, since
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


def show(places, **asked):
    return log.show(places, Shown(**asked))


def entries_of(out: str) -> list[dict]:
    """Of ``--json``."""
    [(name, entries)] = json.loads(out).items()
    assert name == "entries"
    return entries


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
def test_json_holds_the_whole_entry(places, store, capsys, asked, seqs):
    assert show(places, as_json=True, **asked) == 0
    out, err = capsys.readouterr()
    found = entries_of(out)
    assert [e["seq"] for e in found] == seqs
    assert all(set(e) == {"seq", "at", "session", "kind", "level", "data", "prev", "hash"} for e in found)
    assert bool(err) == (not seqs)


def test_json_of_a_log_that_is_followed_is_a_line_an_entry(capsys):
    put = log._printer(as_json=True, follow=True, details=False, why={})
    for entry in ENTRIES:
        put(entry)
    assert [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()] == [e.kind for e in ENTRIES]


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
    entries = log._entries(places.database, "s1", Shown(limit=1, follow=True), {})

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


def on_a_terminal(places, columns: int, asked: str = "") -> str:
    inner, outer = pty.openpty()
    code = (
        "from sentinel_guard.commands.log import log; from sentinel_guard.host.machine.state_paths import places as p; "
    )
    code += f"log.show(p(), log.Shown({asked}))"
    home = places.state.parent
    env = {**os.environ, "SENTINEL_HOME": str(home), "TERM": "xterm", "COLUMNS": str(columns), "TZ": "UTC"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, stdout=outer, check=True)
    os.close(outer)
    return read_all(inner).replace("\r", "")


COLUMNS = (
    (120, ["seq", "time", "kind", "what"], "all of them"),
    (80, ["seq", "time", "what"], "the kind goes first, which the words tell, too"),
    (50, ["seq", "time", "what"], "then the level, which the colour tells, too"),
    (40, ["seq", "what"], "then the time; the number by which others name it never"),
)


@pytest.mark.parametrize(("columns", "headings", "why"), COLUMNS, ids=[c[2] for c in COLUMNS])
def test_a_terminal_gets_a_table_that_fits(places, store, columns, headings, why):
    shown = on_a_terminal(places, columns)
    assert "\x1b[33m" in shown, "what was refused is yellow"
    rows = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert rows[0].split() == headings, why
    assert max(map(len, rows)) <= columns
    assert rows[1].startswith("1970-01-01 +00:00  session s1: agent in /r"[:columns][:-1])
    assert sum("session s1" in row for row in rows) == 2, "again after the other session, and not in each row"
    whole = " ".join(" ".join(row.split()) for row in rows)
    for words in ("deny: tee 'a b'", ".env is restricted" if columns > 40 else "paths.restricted"):
        assert words in whole


def test_all_fields_of_an_entry(places, store, capsys):
    show(places, details=True, limit=1)
    line = capsys.readouterr().out.rstrip("\n").split("\t")
    assert json.loads(line[-1])["data"] == ENTRIES[3].data
    shown = on_a_terminal(places, 100, "details=True, limit=1")
    assert "duration: 0.1" in shown and "hash: " in shown and "1970-01-01 00:16:43.000 +00:00" in shown


def call(at, response, operation, **data):
    what = {"response": response, "operation": operation, "arguments": {"command": operation}, **data}
    return Entry(at, "s1", "verdict", what, "L2" if response == "deny" else "")


def answered(at, yes):
    return Entry(at, "s1", "human", {"yes": yes, "action": "A", "target": "t", "assurance": "terminal"})


POLICY = Entry(1000.0, "", "daemon", {"event": "policy-changed", "what": "changed"})
SUSPECTS = (
    ([answered(1, True)], ["you said yes"], "a question in vain"),
    ([answered(1, False)], [], "a question that was worth it"),
    ([call(1, "deny", "x"), call(2, "allow", "x", call=True)], ["it ran later"], "done after all"),
    ([call(1, "deny", "x"), call(2, "allow", "y", call=True)], [], "something else was done"),
    ([call(1, "deny", "x"), call(2, "deny", "x")], [], "tried again and refused again"),
    ([call(900, "deny", "x"), POLICY], ["you changed your policy then"], "the person had it changed"),
    ([call(300, "deny", "x"), POLICY], [], "a change of policy much later"),
    ([call(900, "break", "x"), POLICY], ["you changed your policy then"], "a breaker that tripped on work"),
)


@pytest.mark.parametrize(("entries", "why", "reason"), SUSPECTS, ids=[s[2] for s in SUSPECTS])
def test_stops_that_were_probably_false(places, capsys, entries, why, reason):
    with closing(SqliteStore(places.database)) as store:
        for entry in entries:
            store.append(entry)
    show(places, suspect=True)
    out, err = capsys.readouterr()
    assert [line.split("\t")[6] for line in out.splitlines()] == [f"suspect: {w}" for w in why], reason
    assert bool(err) is not bool(why)


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
    show(places, as_json=True, session=session, wanted=wanted)
    assert [e["seq"] for e in entries_of(capsys.readouterr().out)] == seqs


def test_the_newest_of_what_is_wanted_may_be_far_back(places, store, capsys):
    show(places, as_json=True, limit=1, wanted=LogFilter(blocked=True))
    assert [e["seq"] for e in entries_of(capsys.readouterr().out)] == [3]


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
