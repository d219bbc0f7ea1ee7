"""Agents that are started by name inside a session, and servers of theirs at its end. Real processes, real shells."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentinel_guard.core.model import Response
from sentinel_guard.core.session.session import Session
from sentinel_guard.daemon import agent_programs
from sentinel_guard.daemon.live_sessions import Live, Place
from sentinel_guard.daemon.wire_messages import Request
from sentinel_guard.host.machine import processes
from tests.support.agents import stand_ins
from tests.support.wait_until import until

LISTENS = ("app-server", "--listen", "unix://")


def asked(*argv: str, face: str = "shim") -> Request:
    return Request(face, argv, "/")


@pytest.fixture
def live(tmp_path, monkeypatch) -> Live:
    """A session without an owner: what carries its mark is inside. A home of its own: only its servers are found."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return Live(Session(f"s{tmp_path}"), dict)


@pytest.fixture
def place(live) -> Iterator[Place]:
    """Where an agent is started by its name."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        yield Place(live, processes.identify(process.pid))


@pytest.fixture
def begin(live) -> Iterator:
    """Starts stand-ins inside the session or outside, and ends them."""
    started = []

    def run(*words: str, inside: bool = True, **options) -> int:
        mark = {"SENTINEL_SESSION": live.id} if inside else {}
        environ = {k: v for k, v in os.environ.items() if k != "SENTINEL_SESSION"} | mark
        started.append(stand_ins.server(*words, env=environ, start_new_session=True, **options))
        return started[-1].pid

    yield run
    for process in started:
        processes.kill((process.pid,), frozenset())
        process.kill()
        process.communicate()


def gone(pid: int) -> bool:
    peer = processes.identify(pid)
    return peer is None or not processes.alive(peer)


def test_an_agent_by_its_name_is_known_and_other_programs_are_not():
    assert agent_programs.is_agent(asked("codex", "x"))
    assert not agent_programs.is_agent(asked("git", "status"))
    assert not agent_programs.is_agent(asked("codex", "x", face="shell")), "a shell that is called so"


def test_what_works_elsewhere_is_a_refusal_with_words():
    [finding] = agent_programs.objections(asked("claude", "--bg", "x"))
    assert finding.response is Response.DENY
    assert (finding.what, finding.instead) == ("'claude --bg' works outside of this session", "start claude without it")
    [unseen] = agent_programs.objections(asked("copilot", "-p", "x", "--bash-env", "off"))
    assert unseen.what == "'copilot --bash-env off' keeps its shell out of sight"
    assert agent_programs.objections(asked("claude", "-p", "x")) == ()
    assert agent_programs.objections(asked("git", "attach")) == ()
    assert agent_programs.objections(asked("claude", "--bg", face="shell")) == ()


def test_an_option_that_every_version_knows_is_given(place):
    path, argv, said = agent_programs.start(asked("copilot", "-p", "x"), place, "/opt/copilot")
    assert (path, argv) == ("/opt/copilot", ("copilot", "--bash-env=on", "-p", "x"))
    assert said.startswith("sentinel-guard: copilot is started with --bash-env")


def test_what_needs_no_option_runs_as_it_was_asked_for(place):
    assert agent_programs.start(asked("codex", "exec", "x"), place, "/opt/codex") == ("/opt/codex", (), "")


@pytest.fixture
def folder(tmp_path) -> Iterator[Path]:
    """Where agents stand that may leave servers."""
    yield tmp_path / "a b"
    for pid in stand_ins.left(tmp_path / "a b"):
        os.kill(pid, signal.SIGKILL)


def run(place: Place, program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What the launcher would become."""
    path, argv, said = agent_programs.start(asked("codex", *words), place, str(program))
    assert argv and said == ""
    return subprocess.run(argv, executable=path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


NOTE = "sentinel-guard: codex is started with --no-daemon, so that its tools run inside the session\n"


def test_an_option_that_newer_versions_know_is_asked_for_inside_the_session(place, folder):
    done = run(place, stand_ins.agent(folder, "codex"), "it's", "a $HOME `x`", "", "two\nlines")
    assert (done.stdout, done.stderr) == ("started with --no-daemon it's a $HOME `x`  two\nlines\n", NOTE)


def test_an_old_version_runs_as_it_is_where_no_server_is(place, folder):
    done = run(place, stand_ins.agent(folder, "codex", stand_ins.OLD), "--no-alt-screen")
    assert (done.stdout, done.stderr) == ("started with --no-alt-screen\n", "")


def test_an_old_version_is_refused_beside_a_server_of_nobodys(place, begin, folder):
    pid = begin(*LISTENS, inside=False)
    done = run(place, stand_ins.agent(folder, "codex", stand_ins.OLD), "x")
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr.startswith("403 SENTINEL BLOCKED: this codex has no --no-daemon")
    assert str(pid) in done.stderr and "update codex" in done.stderr


def test_a_server_of_another_home_is_no_reason_to_refuse(place, begin, folder, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", "/elsewhere")
    begin(*LISTENS, inside=False)
    assert run(place, stand_ins.agent(folder, "codex", stand_ins.OLD), "x").stdout == "started with x\n"


def test_a_server_of_this_session_is_no_reason_to_refuse(place, begin, folder):
    begin(*LISTENS)
    assert run(place, stand_ins.agent(folder, "codex", stand_ins.OLD), "x").stdout == "started with x\n"


def test_a_sessions_servers_end_and_all_else_stays(live, begin):
    server, hub = begin(*LISTENS), begin("--cline-hub-daemon", program="/opt/cline")
    outside, client = begin(*LISTENS, inside=False), begin("--no-daemon")
    own = begin("--port", "80", program="dev-server")
    assert agent_programs.end_servers(agent_programs.running(live)) == ["cline", "codex"]
    assert until(lambda: gone(server) and gone(hub))
    assert not any(map(gone, (outside, own, client)))
    assert agent_programs.end_servers(agent_programs.running(live)) == [], "nothing is left to end"


def test_a_server_that_does_not_hear_ends_all_the_same(live, begin):
    pid = begin(*LISTENS, does=stand_ins.STUBBORN)
    agent_programs.end_servers(agent_programs.running(live), 0.1)
    assert until(lambda: gone(pid))


def test_the_tools_of_a_server_end_with_it(live, begin):
    pid = begin(*LISTENS, does=stand_ins.PARENT)
    [tool] = processes.descendants(processes.identify(pid))
    agent_programs.end_servers(agent_programs.running(live), 0.1)
    assert until(lambda: gone(pid) and not processes.alive(tool))
