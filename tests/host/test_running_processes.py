"""Which running processes are neither a session's nor its repository's. Real ones, all started here."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import string
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentinel_guard.core.analysis.posix_expressions import compiled
from sentinel_guard.core.analysis.running_processes import By, Criterion, Selection
from sentinel_guard.host.machine import processes
from sentinel_guard.host.running_processes import RunningProcesses
from tests.support.time_limits import limit
from tests.support.wait_until import until

NAME = "sg" + "".join(secrets.choice(string.ascii_lowercase) for _ in range(10))
"""Nobody else's process is called so; another test's neither, and no number is in it."""
LATER, BEFORE = 3600.0, -3600.0


@pytest.fixture
def start(tmp_path: Path) -> Iterator:
    """Starts a copy of sleep under a name of its own; ends what was started."""
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    program = tmp_path / "repo" / NAME
    shutil.copy(shutil.which("sleep"), program)
    running = []

    def run(cwd: str, *argv: str, **environ: str) -> int:
        words = argv or (str(program), "60")
        running.append(subprocess.Popen(words, cwd=tmp_path / cwd, process_group=0, env={**os.environ, **environ}))
        assert until(lambda: processes.name(running[-1].pid) == Path(words[0]).name[:15])
        return running[-1].pid

    yield run
    for process in running:
        process.kill()
        process.wait()


def look(tmp_path: Path, began: float = LATER, **more: object) -> RunningProcesses:
    """The processes as a session sees them that began then, seconds from now."""
    known = {
        "caller": os.getpid(), "session": "S1", "started": time.time() + began, "root": str(tmp_path / "repo"),
        "trees": lambda: (str(tmp_path / "repo"), str(tmp_path / "tree")), "home": "/home/ann",
    }  # fmt: skip
    return RunningProcesses(**{**known, **more})


def by(pattern: str, by: By = By.NAME, **more: object) -> Selection:
    return Selection((Criterion(compiled(pattern, **more), by),))


PLACES = [
    ("other", LATER, True, "another project's, from before"),
    ("other", BEFORE, False, "begun after the session"),
    ("repo", LATER, False, "of the repository, from before"),
    ("repo/sub", LATER, False, "below it"),
    ("tree", LATER, False, "of a work tree"),
    ("/tmp", LATER, False, "a temporary folder"),
    ("/", LATER, True, "a service's"),
]


@pytest.mark.parametrize(("cwd", "began", "others", "why"), PLACES, ids=[row[-1] for row in PLACES])
def test_whose_it_is(start, tmp_path, *, cwd, began, others, why):
    (tmp_path / "tree").mkdir()
    pid = start(cwd)
    found = look(tmp_path, began).select(by(NAME))
    assert [one.pid for one in found] == [pid] * others, why
    assert [(one.name, one.folder) for one in found] == [(NAME, str(tmp_path / cwd).rstrip("/") or "/")] * others


PATTERNS = [
    (by(NAME), 1, "its name"),
    (by(NAME[:-1]), 1, "a part of it"),
    (by(NAME[:-1], whole=True), 0, "no whole name"),
    (by(NAME.upper(), ignores_case=True), 1, "either case"),
    (by(f"{NAME}.*60", By.LINE), 1, "its command line"),
    (by("60", By.NAME), 0, "which is not its name"),
    (by(NAME, By.PROGRAM, whole=True), 1, "its program"),
    (Selection((*by(NAME).criteria, Criterion(compiled("60"), By.LINE, meant=False))), 0, "left out again"),
]


@pytest.mark.parametrize(("chosen", "times", "why"), PATTERNS, ids=[row[-1] for row in PATTERNS])
def test_by_what_it_is_found(start, tmp_path, chosen, times, why):
    start("other")
    assert len(look(tmp_path).select(chosen)) == times, why


def test_the_newest_alone(start, tmp_path):
    old = start("other")
    time.sleep(0.05)
    new = start("repo")
    assert look(tmp_path).select(by(NAME)._replace(one="newest")) == (), f"{new} is the repository's"
    assert [one.pid for one in look(tmp_path).select(by(NAME)._replace(one="oldest"))] == [old]


def test_a_process_of_another_live_session_is_its_own(start, tmp_path):
    start("repo", SENTINEL_SESSION="S2")
    assert look(tmp_path, BEFORE).select(by(NAME)) == ()
    assert len(look(tmp_path, BEFORE, others=lambda: ("S1", "S2")).select(by(NAME))) == 1
    assert look(tmp_path, BEFORE, others=lambda: ("S1", "S2"), session="S2").select(by(NAME)) == ()


def test_the_guards_own_are_left_to_their_check(start, tmp_path):
    assert look(tmp_path, spare=(start("other"),)).select(by(NAME)) == ()


def test_who_listens_and_who_is_connected(start, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    code = (
        "import socket, sys, time\n"
        f"a = socket.create_server(('127.0.0.1', {port})) if sys.argv[1] == 'serve'"
        f" else socket.create_connection(('127.0.0.1', {port}))\n"
        "time.sleep(60)"
    )
    server = start("other", sys.executable, "-c", code, "serve")

    def found(*, peers: bool) -> set[int]:
        return {one.pid for one in look(tmp_path).select(Selection(port=port, peers=peers))}

    assert until(lambda: found(peers=False) == {server})
    client = start("other", sys.executable, "-c", code, "connect")
    assert until(lambda: found(peers=True) == {server, client}), "lsof -i tells of whoever is connected, too"
    assert found(peers=False) == {server}


def test_the_agent_and_what_it_runs_in(tmp_path, start):
    """An agent in the repository, begun after the session, calls a shell; the shell is no agent."""
    agent = tmp_path / "repo" / f"{NAME}a"
    shutil.copy(os.path.realpath(sys.executable), agent)
    code = "import subprocess, time; subprocess.run(['/bin/sh', '-c', 'sleep 60; true'])"
    pid = start("repo", str(agent), "-I", "-S", "-c", code)
    shell = next(peer.pid for peer in iter_children(pid))
    caller = next(peer.pid for peer in iter_children(shell))
    found = look(tmp_path, BEFORE, caller=caller).select(by(NAME))
    assert [(one.pid, one.above) for one in found] == [(pid, True)]
    assert look(tmp_path, BEFORE, caller=caller).select(by("^/bin/sh -c sleep 60", By.LINE)) == ()
    below = look(tmp_path, BEFORE, caller=caller, calls=(pid,)).select(by(NAME))
    assert below == (), "a step of a call is the session's"


@pytest.mark.parametrize(("leads", "others", "why"), [("repo", 0, "of its job"), ("other", 1, "of another's job")])
def test_who_leads_a_job_says_whose_it_is(start, tmp_path, leads, others, why):
    """As with a browser that a test run left: its children lock themselves in elsewhere."""
    text = f"(cd / && exec {tmp_path}/repo/{NAME} 60); true"
    with subprocess.Popen(["/bin/sh", "-c", text], cwd=tmp_path / leads, process_group=0) as leader:
        assert until(lambda: [p for p in processes.descendants(processes.identify(leader.pid)) if _is_named(p.pid)])
        found = look(tmp_path).select(by(NAME))
        os.killpg(leader.pid, signal.SIGKILL)
    assert len(found) == others, why


def _is_named(pid: int) -> bool:
    return processes.name(pid) == NAME


def iter_children(pid: int):
    assert until(lambda: len(processes.descendants(processes.identify(pid)) or ()) > 0)
    return processes.descendants(processes.identify(pid))


def test_a_process_that_cannot_be_read_holds_up_nobody(start, tmp_path, monkeypatch):
    """As one does that waits for a disk which does not answer."""
    stuck, other = start("other"), start("other")
    goes_on, read, asked = threading.Event(), processes.command_line, []

    def command_line(pid: int) -> tuple[str, ...]:
        asked.append(pid)
        return ((pid == stuck and goes_on.wait(60)) or True) and read(pid)

    monkeypatch.setattr(processes, "command_line", command_line)
    began = time.monotonic()
    assert [one.pid for one in look(tmp_path).select(by(f"{NAME}.*60", By.LINE))] == [other]
    assert time.monotonic() - began < limit(2)
    assert asked.count(stuck) == 1
    assert len(look(tmp_path).select(by(NAME))) == 2, "by its name"
    assert asked.count(stuck) == 1, "and it is left alone"
    goes_on.set()
    assert until(lambda: len(look(tmp_path).select(by(f"{NAME}.*60", By.LINE))) == 2)


def test_it_is_quick(tmp_path):
    began = time.process_time()
    for pattern in ("uvicorn.*8000", "vite"):
        look(tmp_path).select(by(pattern, By.LINE))
    assert time.process_time() - began < 0.2
