"""Agents whose servers precede a session, or would outlive it. Stand-ins for the agents; all else is real."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentinel_guard.host.machine import processes
from tests.support.agents import stand_ins
from tests.support.guarded_repository import BIN, Stage
from tests.support.wait_until import until

NOTE = "sentinel-guard: codex is started with --no-daemon, so that its tools run inside the session"


@pytest.fixture
def repo(stage) -> Stage:
    stage.commit(a__txt="one\n")
    return stage


@pytest.fixture
def codex(repo) -> Iterator[Path]:
    """An agent by its path, past the shims: it leaves a server."""
    folder = repo.folder / "opt"
    yield stand_ins.agent(folder, "codex")
    for pid in stand_ins.left(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def server(program: Path) -> int:
    """The pid of the server that the agent has left."""
    assert until(lambda: stand_ins.left(program.parent))
    [pid] = stand_ins.left(program.parent)
    return pid


def gone(pid: int) -> bool:
    peer = processes.identify(pid)
    return peer is None or not processes.alive(peer)


def test_a_server_that_an_agent_left_ends_with_its_session_and_all_else_is_named(repo, codex):
    done, _ = repo.agent(str(codex), "nohup sleep 3.14 >/dev/null 2>&1 &", 0.3)
    assert gone(server(codex))
    assert "still running, and no longer watched: sleep (pid " in done.stderr and "codex" not in done.stderr
    [end] = repo.log(kind="end")
    assert end["data"] == {"code": 0, "servers": ["codex"]}


def test_a_server_lives_as_long_as_its_session(repo, codex):
    alive = f"kill -0 $(cat {codex.parent}/pids) && echo it lives"
    _, seen = repo.agent(str(codex), alive)
    assert seen[1]["out"] == "it lives\n"


def test_a_server_ends_with_a_killed_session(repo, codex):
    done, _ = repo.agent(str(codex), f"rm -r {repo.repo}/.git", "echo never")
    assert done.returncode == 137
    assert until(lambda: gone(server(codex)))


def test_a_server_ends_with_a_runner_that_was_shot(repo, codex):
    command = [str(BIN / "sentinel-guard"), "run", "--", *repo.tasks(str(codex), 60)]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=repo.repo, env=repo.environ, **quiet) as runner:
        pid = server(codex)
        runner.kill()
    assert until(lambda: gone(pid))


def test_a_server_ends_with_the_shell_that_was_guarded(repo, codex):
    script = f'eval "$(sentinel-guard shell-init --shell bash --pid $$)" && {codex} && echo "$SENTINEL_SESSION"'
    done = subprocess.run(
        ["bash", "-c", script], cwd=repo.repo, env=repo.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "started with" in done.stdout, done
    assert until(lambda: gone(server(codex)), seconds=30)


def test_an_agent_that_is_typed_inside_a_session_works_by_itself(repo):
    stand_ins.agent(repo.folder / "bin", "codex")
    _, [seen] = repo.agent("codex 'fix it'")
    assert (seen["code"], seen["out"]) == (0, "started with --no-daemon fix it\n")
    assert seen["err"] == f"{NOTE}\n"
    [step] = [e["data"] for e in repo.log(kind="verdict") if e["data"]["tool"] == "codex"]
    assert step["parent"], "it is on record, and no call of its own"


def test_what_an_agent_runs_inside_a_call_is_seen_by_whatever_path_its_shell_is_called(repo):
    agent = repo.folder / "bin" / "claude"
    agent.write_text("#!/bin/sh\n/bin/bash -c 'echo inside'\n")
    agent.chmod(0o755)
    _, [seen] = repo.agent("claude -p 'do it'")
    assert (seen["out"], seen["err"]) == ("inside\n", "")
    [inside] = [e["data"] for e in repo.log(kind="verdict") if e["data"]["arguments"] == {"command": "echo inside"}]
    assert inside["parent"], "a step of the call"


def test_what_works_elsewhere_is_refused_inside_a_session(repo):
    stand_ins.agent(repo.folder / "bin", "codex")
    _, [seen] = repo.agent("codex --remote ws://h")
    assert (seen["code"], seen["out"]) == (126, "")
    assert seen["err"].startswith("403 SENTINEL BLOCKED: 'codex --remote' works outside of this session")
    assert "Instead: start codex without it" in seen["err"]
    assert [e["data"]["tool"] for e in repo.log(kind="verdict", level="L2")] == ["codex"]


def test_variables_keep_agents_from_servers_that_precede_the_session(repo):
    _, [seen] = repo.agent("echo $CLAUDE_CODE_DISABLE_AGENT_VIEW $CLINE_HUB_DISCOVERY_PATH $SENTINEL_SESSION")
    flag, path, session = seen["out"].split()
    assert flag == "1"
    assert path == f"{repo.guard}/state/sessions/{session}/cline/hub.json"


def test_the_person_is_told_what_was_added(repo):
    program = stand_ins.agent(repo.folder / "opt", "codex")
    done = repo.sentinel("run", "--", str(program), "fix it")
    assert (done.returncode, done.stdout, done.stderr) == (0, "started with --no-daemon fix it\n", f"{NOTE}\n")
    [begun] = repo.log(kind="session")
    assert begun["data"]["command"] == [str(program), "--no-daemon", "fix it"]
