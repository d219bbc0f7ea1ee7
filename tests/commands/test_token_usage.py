"""``sentinel-guard usage``: what is on record of tokens, for people and for programs."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.commands.token_usage import usage
from sentinel_guard.core.model import Entry, Usage
from sentinel_guard.core.session import token_ledger
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine.state_paths import StatePaths

ONE, TWO, THREE = "20261126-200805-aaaa", "20261126-200905-bbbb", "20261126-201005-cccc"


@pytest.fixture
def where(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    places = StatePaths(*(tmp_path / name for name in ("state", "run", "config")))
    places.state.mkdir()
    told = [
        (ONE, Usage(70.0, 1000, 200, 9000, 30, source="claude", key="a", model="opus")),
        (ONE, Usage(71.0, 1000, 300, 9000, 30, source="claude", key="a", model="opus")),
        (ONE, Usage(130.0, 10, 20, source="claude", key="b", model="haiku\x1b[2J")),
        (ONE, Usage(131.0, output=77, source="report")),
        (TWO, Usage(200.0, output=5, source="report")),
    ]
    with closing(SqliteStore(places.database)) as store:
        for ident, at in ((ONE, 60.0), (TWO, 190.0), (THREE, 300.0)):
            store.append(Entry(at, ident, "session", {"root": "/r", "command": ["claude"], "start_hash": ""}))
        trial = {"root": "/tmp/sentinel-doctor-x", "command": ["cat"], "start_hash": ""}
        store.append(Entry(305.0, "20261126-201105-dddd", "session", trial))  # nobody worked there
        for ident, one in told:
            store.append(token_ledger.entry(ident, one.at, one))
        store.append(token_ledger.unread_entry(THREE, 310.0, "codex", "codex has no record of this conversation"))
    return places


def test_rows_for_programs(where, capsys):
    assert usage(where, "", as_json=True) == 0
    said = json.loads(capsys.readouterr().out)
    rows = [(r["session"], r["source"], r["model"], r["work"], r["replies"], r["counted"]) for r in said["rows"]]
    assert rows == [
        (ONE, "claude", "haiku\x1b[2J", 30, 1, True),
        (ONE, "claude", "opus", 1330, 1, True),
        (ONE, "report", "", 77, 1, False),
        (TWO, "report", "", 5, 1, True),
    ]
    assert said["unknown"] == {THREE: "codex has no record of this conversation"}


def test_a_table_for_people(where, capsys):
    usage(where, "", as_json=False)
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown, "a model's name is an agent's word"
    [opus] = [line for line in shown.splitlines() if "opus" in line]
    assert opus.split()[:1] == ["aaaa"] and " 1,330 " in opus and "█" in opus
    assert "not added" in shown and "Not added: a better source tells of the same replies." in shown
    [total] = [line for line in shown.splitlines() if line.startswith("all")]
    assert total.split()[1:] == ["3", "1,010", "325", "30", "1,365", "9,000"], "what is not added is in no sum"
    assert f"{THREE}: tokens not known, or not all: codex has no record of this conversation" in shown


def test_one_session_with_a_chart(where, capsys):
    usage(where, "aaaa", as_json=False)
    shown = capsys.readouterr().out
    assert "bbbb" not in shown and THREE not in shown
    lines = shown[shown.index("work tokens a minute") :].splitlines()[1:]
    assert [line.split()[1] for line in lines] == ["1,330", "30"], "the report is not in it"


def test_that_a_record_was_written_anew_with_lower_counts_is_told(where, capsys):
    high = Usage(131.0, 10, 20, source="claude", key="b", model="haiku")
    usage(where, "", as_json=False)
    assert "lower counts" not in capsys.readouterr().out
    with closing(SqliteStore(where.database)) as store:
        store.append(token_ledger.entry(ONE, 132.0, high, Usage(132.0, source="claude", key="b")))
    usage(where, "", as_json=False)
    told = f"{ONE}: the record of 1 of its replies was written anew with lower counts, which do not count."
    shown = capsys.readouterr().out
    assert told in " ".join(shown.split()) and " 1,365 " in shown


def test_only_the_last_sessions(where, capsys):
    usage(where, "", as_json=True, last=1)
    assert json.loads(capsys.readouterr().out) == {
        "rows": [],
        "unknown": {THREE: "codex has no record of this conversation"},
    }


def test_a_session_of_which_nobody_told_is_unknown(where, capsys):
    with closing(SqliteStore(where.database)) as store:
        store.append(Entry(400.0, "s-dddd", "session", {"root": "/r", "command": ["aider"], "start_hash": ""}))
    usage(where, "dddd", as_json=True)
    assert "nobody told" in json.loads(capsys.readouterr().out)["unknown"]["s-dddd"]


def test_no_such_session_and_no_log(where, tmp_path, capsys):
    with pytest.raises(ConfigError, match="no session zzzz"):
        usage(where, "zzzz", as_json=True)
    usage(StatePaths(tmp_path / "no", tmp_path / "no", tmp_path / "no"), "", as_json=False)
    assert "No session is on record" in capsys.readouterr().out
