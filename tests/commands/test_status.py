"""``sentinel-guard status``: what the guarded sessions are doing. A fake daemon on a real socket."""

from __future__ import annotations

import json

import pytest

from sentinel_guard.commands.status import WATCH, status, watch
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.session import Session, State
from sentinel_guard.core.session.session_health import status as metrics
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


@pytest.fixture
def daemon(where):
    fake = FakeDaemon(where)
    yield fake
    fake.close()


def session(**fields) -> dict:
    return metrics(Session("s1", **{"root": "/r", "command": ("agent",)} | fields), Policy(), 100.0)


def said(where, capsys, *, as_json=False) -> str:
    assert status(where, as_json=as_json) == 0
    return capsys.readouterr().out


def test_without_a_daemon_nothing_is_started(where, capsys):
    assert "No guard daemon runs" in said(where, capsys)
    assert json.loads(said(where, capsys, as_json=True)) == {"running": False, "sessions": []}
    assert not where.state.exists() and not where.runtime.exists()


def test_without_a_session(where, daemon, capsys):
    daemon.replies["status"] = {"sessions": []}
    assert "No session is live" in said(where, capsys)
    assert json.loads(said(where, capsys, as_json=True)) == {"running": True, "sessions": []}


def test_for_programs_it_is_what_the_daemon_says(where, daemon, capsys):
    daemon.replies["status"] = {"sessions": [session()]}
    assert json.loads(said(where, capsys, as_json=True))["sessions"] == [session()]


SHOWN = (
    ({"state": State.PAUSED, "until": 142.0}, ("PAUSED", "42 s"), "a pause with its seconds"),
    ({"state": State.KILLED}, ("KILLED",), "a dead one"),
    ({"command": ("agent", "[/red]", "[x]")}, ("agent [/red] [x]",), "brackets in a command are no markup"),
    ({"command": ("agent", "\x1b]0;x\x07")}, (r"agent \x1b]0;x\x07",), "nor does a terminal obey it"),
    ({"root": "/work/[bold]/x"}, ("[bold]",), "nor in a path"),
)


@pytest.mark.parametrize("row", SHOWN, ids=[s[2] for s in SHOWN])
def test_for_people(where, daemon, capsys, monkeypatch, row):
    fields, words, _ = row
    monkeypatch.setenv("COLUMNS", "200")
    daemon.replies["status"] = {"sessions": [session(**fields)]}
    shown = said(where, capsys)
    for word in words:
        assert word in shown


def test_a_narrow_terminal_keeps_names_and_headings_whole(where, daemon, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ident = "20261121-140322-a1b2"
    busy = session(command=("/opt/node/bin/agent", "--model", "large", "--print", "words"), root="/home/user/work/x")
    waits = session(state=State.AWAITING_HUMAN)
    daemon.replies["status"] = {"sessions": [busy | {"session": ident}, waits | {"session": ident}]}
    lines = said(where, capsys).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["session", "state", "calls", "loop", "errors", "tok/min", "agent", "repo"]
    assert sum(line.startswith(ident) for line in lines) == 2
    assert "AWAITING_HUMAN" in "".join(lines) and "/opt" not in "".join(lines)


def test_what_holds_for_a_while_stands_below(where, daemon, capsys):
    grant = {"grant": "g1", "action": "DEPLOY", "target": "PROD\x1b[2J", "seconds_left": 65.0}
    daemon.replies["status"] = {"sessions": [session() | {"grants": [grant]}]}
    out = " ".join(said(where, capsys).split())
    assert r"yes to DEPLOY PROD\x1b[2J for 65 s more in s1: sentinel-guard revoke g1" in out


def test_watch_needs_a_terminal(where):
    with pytest.raises(SentinelError, match="needs a terminal"):
        watch(where)


def test_watch_shows_them_anew_until_it_is_interrupted(where, daemon, monkeypatch, capsys):
    daemon.replies["status"] = {"sessions": [session()]}
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    waited = []

    def pause(seconds):
        waited.append(seconds)
        daemon.replies["status"] = {"sessions": [session(state=State.PAUSED)]}
        if len(waited) == 2:
            raise KeyboardInterrupt

    assert watch(where, pause) == 0
    out = capsys.readouterr().out
    assert out.index("ACTIVE") < out.index("PAUSED") and waited == [WATCH, WATCH]
    assert out.startswith("\x1b[?1049h") and "\x1b[?1049l" in out, "the screen is as before"
