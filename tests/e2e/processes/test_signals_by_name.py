"""A signal by name that would also end what is not the session's. The real programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agents.hook_client import HookClient

NAME = f"sgv{os.getpid()}"


@pytest.fixture
def servers(stage) -> Iterator:
    """Starts servers that were there before the session: copies of sleep, by a name that nobody else has."""
    program, running = stage.folder / NAME, []
    shutil.copy(shutil.which("sleep"), program)

    def run(cwd: Path) -> subprocess.Popen:
        running.append(subprocess.Popen([program, "300"], cwd=cwd, process_group=0))
        return running[-1]

    yield run
    for process in running:
        process.kill()
        process.wait()


TEXTS = (
    "pkill NAME",
    "pkill -f 'NAME.300'",
    "kill $(pgrep NAME)",
    "ps aux | grep NAME | awk '{print $2}' | xargs kill",
)


@pytest.mark.parametrize("text", TEXTS)
def test_somebody_elses_server_is_asked_about(stage, servers, text):
    stage.commit()
    other = servers(Path("/"))
    _, seen = stage.agent(text.replace("NAME", NAME))
    assert seen[0]["code"] == 126 and f"also end {NAME} (pid {other.pid}, in /)" in seen[0]["err"]
    assert other.poll() is None


def test_the_repositorys_and_the_sessions_own_are_ended_unasked(stage, servers):
    stage.commit()
    own = servers(stage.repo)
    started = f"(cd / && {stage.folder}/{NAME} 300 >/dev/null 2>&1 &) ; sleep 0.1; pkill -f '{NAME} 300'"
    _, seen = stage.agent(started, f"pkill -f '[n]obody.{NAME}' || true")
    assert [(s["code"], s["err"]) for s in seen] == [(0, ""), (0, "")]
    assert own.wait(10) < 0


def test_the_agent_itself_is_asked_about_wherever_it_works(stage):
    stage.commit()
    agent = stage.folder / f"{NAME}a"
    agent.symlink_to(sys.executable)
    _, *words = stage.tasks("echo 1", f"pkill {NAME}a", "echo it lives")
    stage.sentinel("run", "--", str(agent), *words)
    _, refused, lives = stage.seen()
    assert refused["code"] == 126 and f"{NAME}a (pid " in refused["err"]
    assert "which this agent is or runs in" in refused["err"] and lives["code"] == 0


def test_a_client_whose_hooks_ask_is_asked_about_too(stage):
    stage.commit()
    assert stage.sentinel("install", "--agent", "claude").returncode == 0
    client = HookClient(stage)
    try:
        assert not client.call("Bash", command="echo 1").stdout, "the client is told as what runs its last call"
        said = client.call("Bash", command="pkill -f 'import json, subprocess, sys.for line in sys'")
        assert f"(pid {client.process.pid}, which this agent is or runs in)" in said.stdout
    finally:
        client.close()
