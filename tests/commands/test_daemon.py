"""``sentinel-guard daemon``: start, status, stop. One real daemon; the rest against a fake one."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from sentinel_guard import __version__
from sentinel_guard.commands import daemon as command
from sentinel_guard.errors import DaemonError, SentinelError
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon
from tests.support.time_limits import limit


@pytest.fixture
def where():
    # Short, because a Unix socket path holds 107 bytes.
    with tempfile.TemporaryDirectory(prefix="sg-") as home:
        yield places({"SENTINEL_HOME": home})


def sentinel(where, *arguments: str) -> subprocess.CompletedProcess:
    environ = {"HOME": where.home, "SENTINEL_HOME": where.home, "PATH": os.environ["PATH"]}
    program = [sys.executable, "-I", "-m", "sentinel_guard", "daemon", *arguments]
    return subprocess.run(program, env=environ, capture_output=True, text=True, check=False, timeout=limit(30))


def test_its_life_from_start_to_stop(where):
    assert sentinel(where, "status").returncode == 1
    try:
        assert sentinel(where, "start").returncode == 0
        [first] = json.loads(sentinel(where, "status", "--json").stdout)["daemons"]
        assert first["version"] == __version__ and first["sessions"] == 0
        assert sentinel(where, "start").returncode == 0
        assert json.loads(sentinel(where, "status", "--json").stdout)["daemons"][0]["pid"] == first["pid"], (
            "twice is once"
        )
        second = sentinel(where, "run")
        assert second.returncode == 1 and "runs already" in second.stderr
        parent = Path(f"/proc/{first['pid']}/stat").read_text().rpartition(")")[2].split()[1]
        assert int(parent) != os.getpid(), "it is nobody's child"
    finally:
        stopped = sentinel(where, "stop")
    assert stopped.returncode == 0 and "has stopped" in stopped.stdout
    assert not where.agent_socket.exists() and not where.operator_socket.exists()
    assert sentinel(where, "stop").stdout == "No guard daemon runs.\n"


def environ_of(where) -> dict[str, str]:
    return processes.environ(json.loads(sentinel(where, "status", "--json").stdout)["daemons"][0]["pid"])


def test_a_daemon_gets_nothing_that_was_not_allowed(where):
    program = [sys.executable, "-I", "-m", "sentinel_guard", "daemon", "start"]
    given = {"HOME": where.home, "SENTINEL_HOME": where.home, "PATH": "/usr/bin:/bin", "GIT_DIR": "/evil", "IFS": "x"}
    try:
        assert subprocess.run(program, env=given, check=False).returncode == 0
        told = environ_of(where)
        assert told == {name: given[name] for name in ("HOME", "SENTINEL_HOME", "PATH")}
    finally:
        sentinel(where, "stop")


def test_a_daemon_that_a_session_starts_gets_the_environment_in_which_that_began(where):
    where.shims("begun").mkdir(parents=True)
    begun = {"HOME": where.home, "SENTINEL_HOME": where.home, "PATH": "/usr/bin:/bin", "LC_CTYPE": "C.UTF-8"}
    lines = "".join(f"environ.{name}={value}\n" for name, value in begun.items())
    (where.shims("begun") / ".sentinel").write_text(f"socket={where.agent_socket}\n{lines}")
    program = [sys.executable, "-I", "-m", "sentinel_guard", "daemon", "start"]
    given = {"HOME": "/evil", "SENTINEL_HOME": where.home, "PATH": "/evil:/usr/bin:/bin", "XDG_CONFIG_HOME": "/evil"}
    shell = ["/bin/sh", "-c", 'unset SENTINEL_SESSION; "$@"; exit $?', "sh", *program]
    try:
        done = subprocess.run(shell, env={**given, "SENTINEL_SESSION": "begun"}, check=False)
        assert done.returncode == 0
        assert environ_of(where) == begun, "though the command itself has dropped the mark"
    finally:
        sentinel(where, "stop")


def test_a_daemon_that_still_ends_its_work_is_waited_for(where):
    """A restart: the new one finds the lock held, and gives up; the next one does not."""
    where.make()
    with where.lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        later = threading.Timer(2, lambda: fcntl.flock(held, fcntl.LOCK_UN))
        later.start()
        try:
            assert sentinel(where, "start").returncode == 0
            assert "runs already" in where.daemon_log.read_text()
        finally:
            later.join()
            sentinel(where, "stop")


def test_status_in_words(where, capsys):
    assert command.status(where, as_json=False) == 1
    assert "No guard daemon runs" in capsys.readouterr().out
    fake = FakeDaemon(where, sessions=2)
    try:
        assert command.status(where, as_json=False) == 0
    finally:
        fake.close()
    assert f"process {os.getpid()} with 2 sessions." in capsys.readouterr().out


def test_stop_passes_force_on_and_a_refusal_has_words(where):
    def refuse(asked):
        forced.append(asked["force"])
        return {"ok": False, "error": "2 sessions are alive", "hint": "use --force"}

    forced: list[bool] = []
    fake = FakeDaemon(where)
    fake.replies["stop"] = refuse
    try:
        for force in (False, True):
            with pytest.raises(SentinelError, match="2 sessions are alive"):
                command.stop(where, force=force)
    finally:
        fake.close()
    assert forced == [False, True]


def test_only_one_serves(where):
    where.make()
    with where.lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DaemonError, match="runs already"):
            command.run(where)
