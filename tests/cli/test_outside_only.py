"""Commands that steer the guard say inside of a session where they belong; what only reads is free."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from sentinel_guard.cli import outside_only as module
from sentinel_guard.cli.outside_only import MARK, live_session, outside_only

LIVE = [{"session": "s1", "state": "ACTIVE"}, {"session": "s2", "state": "KILLED"}]

SESSIONS = [
    ("s1", "s1", "one that lives"),
    ("s2", "", "one that is over: a terminal that outlived it"),
    ("s3", "", "one that nobody knows"),
    ("", "", "none"),
]


@pytest.mark.parametrize(("mark", "session"), [row[:2] for row in SESSIONS], ids=[row[2] for row in SESSIONS])
def test_only_a_live_session_counts(monkeypatch, mark, session):
    monkeypatch.setenv(MARK, mark)
    assert live_session(lambda: LIVE) == session


def made():
    @click.command()
    @click.option("--dry-run", is_flag=True)
    def steer(dry_run):
        click.echo(f"done {dry_run}")
        return 0

    outside_only(steer, "steer", spares="dry_run")
    return steer


ROWS = [
    (
        [],
        "s1",
        (126, ["in another terminal", "ends nothing", "`sentinel-guard steer`"]),
        "inside it is refused in words",
    ),
    (["--dry-run"], "s1", (0, ["done True"]), "what only reads is free"),
    ([], "", (0, ["done False"]), "outside nothing changes"),
]


@pytest.mark.parametrize(("words", "mark", "expected"), [row[:3] for row in ROWS], ids=[row[3] for row in ROWS])
def test_a_command_that_steers(monkeypatch, words, mark, expected):
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setattr(module, "_sessions", lambda: LIVE)
    done = CliRunner().invoke(made(), words, standalone_mode=False)
    code, said = expected
    assert done.return_value == code and done.exception is None
    assert all(part.lower() in done.output.lower() for part in said), done.output
