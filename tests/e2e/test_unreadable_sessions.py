"""A daemon is started anew, and a bit of a live session's record has flipped: that session is set aside, alone."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing

import pytest

from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit

FLIPS = (
    ("a byte that is no UTF-8", "command", lambda at: at),
    ("a letter of its folder", "root", lambda at: at + 8),
    ("a digit of its owner, which would look dead", "owner", lambda at: at + 9),
)


@pytest.fixture
def stage(alone):
    return alone


def daemon_pid(stage) -> int:
    return json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"]


def started(stage, name: str) -> tuple[subprocess.Popen, str]:
    """An agent that begins a command once its gate is there; and its session."""
    agent = f'until [ -e {stage.folder / name} ]; do sleep 0.05; done; bash -c "echo free"; echo "code $?"'
    known = {e["session"] for e in stage.log(kind="session")}
    process = subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", "/bin/sh", "-c", agent],
        cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + limit(30)
    while not (new := {e["session"] for e in stage.log(kind="session")} - known):
        assert time.monotonic() < deadline, "the session did not begin"
        time.sleep(0.1)
    return process, new.pop()


def flip(stage, session: str, key: str, place, bit: int) -> None:
    """One bit of the row by which the session began."""
    with closing(sqlite3.connect(stage.guard / "state" / "audit.sqlite3")) as db:
        db.execute("DROP TRIGGER log_no_update")
        where = "WHERE kind = 'session' AND session = ?"
        (raw,) = db.execute(f"SELECT CAST(data AS BLOB) FROM log {where}", (session,)).fetchone()
        at = place(raw.index(f'"{key}"'.encode()) + 1)
        harmed = raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :]
        db.execute(f"UPDATE log SET data = CAST(? AS TEXT) {where}", (harmed, session))
        db.commit()


@pytest.mark.parametrize(("why", "key", "place"), FLIPS, ids=[row[0] for row in FLIPS])
def test_a_flipped_bit_stops_one_session_and_frees_none(stage, why, key, place):
    stage.commit()
    stage.sentinel("daemon", "start")
    harmed, session = started(stage, "first")
    whole, other = started(stage, "second")
    os.kill(daemon_pid(stage), signal.SIGKILL)
    flip(stage, session, key, place, 0x80 if "UTF-8" in why else 0x01)
    done = stage.sentinel("run", "--", "echo", "a later one begins")
    assert (done.returncode, done.stdout) == (0, "a later one begins\n"), done.stderr
    for gate in ("first", "second"):
        (stage.folder / gate).touch()
    out, err = harmed.communicate(timeout=limit(30))
    assert out == b"code 126\n", "what was set aside is not free"
    assert b"could not be read" in err
    assert whole.communicate(timeout=limit(30))[0] == b"free\ncode 0\n"
    notes = [e for e in stage.log(kind="daemon") if e["data"].get("event") == "session-set-aside"]
    assert [e["level"] for e in notes] == ["L2"] and session in notes[0]["data"]["what"]
    deadline = time.monotonic() + limit(10)
    while other not in (ended := {e["session"] for e in stage.log(kind="end")}):
        assert time.monotonic() < deadline, "the session that was taken up did not end"
        time.sleep(0.2)
    assert session not in ended
    verified = stage.sentinel("log", "verify")
    assert verified.returncode == 1 and "was edited" in verified.stdout
