"""The daemon and the terminal that the tests of ``run`` stand on."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pexpect
import pytest

from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon
from tests.support.job_control_shell import Shell
from tests.support.run_on_pty import DRIVER
from tests.support.time_limits import limit


@pytest.fixture
def daemon(monkeypatch):
    home = tempfile.mkdtemp(prefix="sg-")
    monkeypatch.setenv("SENTINEL_HOME", home)
    fake = FakeDaemon(places({"SENTINEL_HOME": home}))
    yield fake
    fake.close()
    shutil.rmtree(home)


@pytest.fixture
def terminal(daemon):
    """Starts a command under ``run`` on a pty of its own."""
    started = []

    def start(*command: str, cwd: Path | None = None) -> pexpect.spawn:
        child = pexpect.spawn(sys.executable, ["-c", DRIVER, *command], dimensions=(24, 80), timeout=limit(10), cwd=cwd)
        child.delaybeforesend = None
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


@pytest.fixture
def guarded(daemon, tmp_path):
    opened = Shell(tmp_path)
    yield opened
    opened.close(force=True)
