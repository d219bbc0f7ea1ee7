"""Who started a shell, and for how long they wait: a real process below a real agent's name, and files that its wrapper
loads.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_guard.agents import codex as codex_cli
from sentinel_guard.agents.base import PATIENCE
from sentinel_guard.core.model import Entry, Outcome
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session.session import Call, Session
from sentinel_guard.daemon import shell_origin
from sentinel_guard.daemon.live_sessions import Live, Place
from sentinel_guard.daemon.waiting_launcher import left
from sentinel_guard.host.machine import ancestry
from tests.agents.test_unwrap import of_claude, of_codex

SHOWS_CHILD = """import subprocess, sys
child = subprocess.Popen(["sleep", "60"])
print(child.pid, flush=True)
sys.stdin.read()
child.kill()
"""


def place(pid: int, live: Live | None = None, parent: str = "") -> Place:
    lineage = [*ancestry.lineage(pid)]
    return Place(live or Live(Session("s"), dict), lineage[0], parent, above=tuple(lineage[1:]))


@pytest.fixture
def child_of_claude(tmp_path: Path) -> Iterator[int]:
    """Pid of a process whose parent is called as Claude Code is, and keeps its snapshots in a folder of the test's."""
    args = ["claude", "-c", SHOWS_CHILD]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environ = {**os.environ, "HOME": str(tmp_path)}
    with subprocess.Popen(args, executable=sys.executable, env=environ, **pipes) as agent:
        assert agent.stdout and agent.stdin
        yield int(agent.stdout.readline())
        agent.stdin.close()


def argv(text: str) -> tuple[str, ...]:
    return ("bash", "-c", text)


def snapshot(home: Path) -> Path:
    file = home / ".claude" / "shell-snapshots" / "snapshot-bash-1-a.sh"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# Snapshot file\n")
    return file


def begun(pid: int, file: Path) -> Live:
    """A session in which the agent has taken its snapshot."""
    live = Live(Session("s"), dict)
    assert shell_origin.origin(place(pid, live), argv(f"SNAPSHOT_FILE={file}\n echo")).for_itself
    return live


def acted(live: Live) -> Live:
    """The same once a call of the model's has ended."""
    call = Call("1", "op", "shell", 0.0, outcome=Outcome("1", 0.0, 0))
    live.session = replace(live.session, calls=(call,))
    return live


def test_the_models_command_is_cut_out_of_its_agents_wrapper(child_of_claude, tmp_path):
    file = snapshot(tmp_path)
    live = acted(begun(child_of_claude, file))
    found = shell_origin.origin(place(child_of_claude, live), argv(of_claude("git status", str(file))))
    assert (found.agent, found.command, found.unknown_wrapper) == ("claude", "git status", False)
    assert found.around.startswith("eval 'git status'") and "pwd -P" in found.around


def test_a_snapshot_that_the_agent_did_not_take_at_its_start_is_not_believed(child_of_claude, tmp_path):
    file = snapshot(tmp_path)
    live = begun(child_of_claude, file)
    late, away = file.with_name("snapshot-bash-2-b.sh"), tmp_path / "x" / "shell-snapshots" / "snapshot-bash-1-a.sh"
    shell_origin.origin(place(child_of_claude, live), argv(f"SNAPSHOT_FILE={away}\n echo"))
    acted(live)
    shell_origin.origin(place(child_of_claude, live), argv(f"SNAPSHOT_FILE={late}\n echo"))
    for other in (late, away):
        found = shell_origin.origin(place(child_of_claude, live), argv(of_claude("git status", str(other))))
        assert found.command is None and found.unknown_wrapper


def test_a_process_that_is_no_agent_gets_nothing_cut_out(tmp_path):
    text = of_claude("git status", str(snapshot(tmp_path)))
    assert shell_origin.origin(place(os.getpid()), argv(text)) == shell_origin.UNKNOWN


def test_a_step_of_a_call_gets_nothing_cut_out(child_of_claude, tmp_path):
    text = of_claude("git status", str(snapshot(tmp_path)))
    assert shell_origin.origin(place(child_of_claude, parent="call"), argv(text)) == shell_origin.UNKNOWN


@pytest.mark.parametrize("change", ["written", "replaced", "made", "deleted"])
def test_a_snapshot_that_changed_since_it_was_first_loaded_is_judged(child_of_claude, tmp_path, change):
    file = snapshot(tmp_path)
    live = begun(child_of_claude, file)
    if change == "made":
        file.unlink()
    text = of_claude("git status", str(file))
    assert shell_origin.origin(place(child_of_claude, live), argv(text)).command == "git status"
    if change == "replaced":
        other = tmp_path / "other"
        other.write_text("# Snapshot file\n")
        os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
        other.replace(file)
    elif change == "deleted":
        file.unlink()
    else:
        file.write_text("# Snapshot file\n")
    found = shell_origin.origin(place(child_of_claude, live), argv(text))
    assert found.command is None and found.unknown_wrapper


def test_an_unknown_wrapper_is_named_and_stays(child_of_claude, tmp_path):
    text = of_claude("git status", str(snapshot(tmp_path))) + " && date"
    found = shell_origin.origin(place(child_of_claude), argv(text))
    assert (found.agent, found.command, found.unknown_wrapper) == ("claude", None, True)


def test_what_an_agent_runs_for_itself_is_no_call(child_of_claude):
    assert shell_origin.origin(place(child_of_claude), argv("env")).for_itself
    assert shell_origin.origin(place(child_of_claude, acted(Live(Session("s"), dict))), argv("env")).for_itself
    assert not shell_origin.origin(place(child_of_claude), ("bash", "script.sh")).for_itself


CODEX_FILE = "{home}/.codex/shell_snapshots/01a2.{number}.sh"
CODEX_TRIES = 'set -e; . "{home}/.codex/shell_snapshots/01a2.tmp-{number}"'


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Pid of a process that Codex has started, with such variables; Codex lies where it was installed."""
    program = tmp_path / "codex" / "bin" / "codex"
    program.parent.mkdir(parents=True)
    shutil.copy(Path(sys.executable).resolve(), program)
    environ = {**os.environ, "HOME": str(tmp_path), "PYTHONHOME": sys.base_prefix}
    with contextlib.ExitStack() as begun:

        def start(**variables: str) -> int:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            given = SHOWS_CHILD.replace('"60"]', f'"60"], env={variables!r}')
            agent = begun.enter_context(subprocess.Popen([str(program), "-c", given], env=environ, **pipes))
            assert agent.stdout and agent.stdin
            begun.callback(agent.stdin.close)
            return int(agent.stdout.readline())

        yield start


def test_a_models_text_that_looks_like_codexs_own_is_the_models(codex, tmp_path):
    """Codex runs a text as it is with ``login: false``: so a model could have a snapshot of its own believed."""
    live, text = Live(Session("s"), dict), CODEX_TRIES.format(home=tmp_path, number=1)
    models, own = codex(CODEX_CI="1"), codex()
    found = shell_origin.origin(place(models, live), argv(text))
    assert not found.for_itself and not live.sourced
    assert shell_origin.origin(place(own, live), argv(text)).for_itself
    assert [*live.sourced] == [CODEX_FILE.format(home=tmp_path, number=1)]
    later = acted(live)
    found = shell_origin.origin(place(own, later), argv(CODEX_TRIES.format(home=tmp_path, number=2)))
    assert found.for_itself and len(later.sourced) == 1, "of a conversation that begins later"


CODEX_TAKES = 'if [ -z "${BASH_ENV-}" ] && [ -r "$HOME/.bashrc" ]; then\n  :\nfi\necho "# Snapshot file"\ncompgen -e'


def test_a_first_call_waits_for_the_snapshot_that_codex_is_making(codex, tmp_path, monkeypatch):
    live, takes, calls = Live(Session("s"), dict), codex(), codex(CODEX_CI="1")
    monkeypatch.setattr(shell_origin, "LOADS_SECONDS", 0.0)
    shell_origin.origin(place(takes, live), argv(CODEX_TAKES))

    async def waited(*, until_held: int, then: Callable[[], object]) -> int:
        held = 0

        async def hold() -> None:
            nonlocal held
            held += 1
            if held == until_held:
                then()

        await shell_origin.await_snapshot(place(calls, live), hold)
        return held

    def tries() -> None:
        shell_origin.origin(place(takes, live), argv(CODEX_TRIES.format(home=tmp_path, number=1)))

    assert asyncio.run(waited(until_held=3, then=tries)) == 3
    assert asyncio.run(waited(until_held=1, then=tries)) == 0, "it is made"
    shell_origin.origin(place(takes, live), argv(CODEX_TAKES))
    assert asyncio.run(waited(until_held=2, then=lambda: os.kill(takes, signal.SIGKILL))) < 50, "it will not come"
    shell_origin.origin(place(codex(), live), argv(CODEX_TAKES))
    monkeypatch.setattr(shell_origin, "SNAPSHOT_SECONDS", 0.0)
    assert asyncio.run(waited(until_held=99, then=tries)) < 3, "it takes too long"
    monkeypatch.undo()
    assert asyncio.run(waited(until_held=1, then=tries)) == 0, "the next call does not wait for it again"
    shell_origin.origin(place(codex(), live), argv(CODEX_TAKES))
    assert asyncio.run(waited(until_held=1, then=lambda: acted(live))) == 1, "the model has acted: it is not believed"


def test_only_codexs_own_folder_of_programs_may_be_put_in_front(codex, tmp_path):
    live, shell = Live(Session("s"), dict), codex(CODEX_CI="1")
    file = CODEX_FILE.format(home=tmp_path, number=1)
    shell_origin.origin(place(codex(), live), argv(CODEX_TRIES.format(home=tmp_path, number=1)))
    own, models = tmp_path / "codex" / "codex-path", tmp_path / "repo" / "codex-path"
    found = shell_origin.origin(place(shell, live), argv(of_codex("git status", file, str(own))))
    assert found.command == "git status" and not found.unknown_wrapper
    found = shell_origin.origin(place(shell, live), argv(of_codex("git status", file, str(models))))
    assert found.command is None and found.unknown_wrapper


def test_a_peer_without_ancestors_has_no_agent():
    lonely = Place(Live(Session("s"), dict), Peer(1, 0))
    assert shell_origin.agent_of(lonely) is None


GRANDCHILD = """import subprocess, sys
shell = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
print(shell.stdout.readline(), end="", flush=True)
sys.stdin.read()
subprocess.run(["pkill", "-P", str(shell.pid)])
"""


@pytest.fixture
def below_codex() -> Iterator[int]:
    """Pid of a process that a shell of Codex's has started."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(["codex", "-c", GRANDCHILD], executable=sys.executable, **pipes) as agent:
        assert agent.stdout and agent.stdin
        yield int(agent.stdout.readline())
        agent.stdin.close()


PATIENT = codex_cli.AGENT.patience
CALL = Call("c1", "op", "shell", 100.0)
LEFT = (
    ("", 103.0, PATIENT, "a call of its own"),
    ("c1", 103.0, PATIENT - 3, "a step of a call that has run for a while"),
    ("c1", 300.0, PATIENT, "the agent has gone on long ago"),
    ("session", 103.0, PATIENT, "a step of none"),
)


@pytest.mark.parametrize(("parent", "now", "seconds"), [row[:3] for row in LEFT], ids=[row[3] for row in LEFT])
def test_the_agent_that_waits_is_the_one_above_and_waits_since_its_call_began(below_codex, parent, now, seconds):
    # The person's command line need not name it: it may be a shell.
    live = Live(replace(Session("s"), command=("bash",), calls=(CALL,)), dict)
    assert left(place(below_codex, live, parent), now) == seconds


def test_below_no_agent_it_is_a_moderate_time():
    assert left(place(1), 0.0) == PATIENCE


def verdict(at: float, text: str, **data: object) -> Entry:
    return Entry(at, "s", "verdict", {"agent": "claude", "arguments": {"command": text}, **data})


RESTARTS = (
    (0, False, True, "nothing has touched it"),
    (0, True, False, "it was written after the first call"),
    (-3600, False, False, "it was made after the first call"),
)


@pytest.mark.parametrize(("later", "touched", "believed"), [r[:3] for r in RESTARTS], ids=[r[3] for r in RESTARTS])
def test_after_a_restart_a_snapshot_is_believed_as_it_was_before_the_first_call(
    child_of_claude, tmp_path, later, touched, believed
):
    file, own = snapshot(tmp_path), {"for_itself": True, "parent": "session"}
    takes = verdict(1.0, f"SNAPSHOT_FILE={file}\n echo", **own)
    first = verdict(file.stat().st_ctime + 0.01 + later, "git status", call=True)
    if touched:
        time.sleep(0.02)
        file.write_text("# Snapshot file\n")
    live = acted(Live(Session("s"), dict))
    live.sourced = shell_origin.remembered([takes, first])
    found = shell_origin.origin(place(child_of_claude, live), argv(of_claude("git status", str(file))))
    assert (found.command == "git status") is believed


def test_after_a_restart_before_the_first_call_it_is_as_before(tmp_path):
    own = {"for_itself": True, "parent": "session"}
    mine = verdict(1.0, f"SNAPSHOT_FILE={tmp_path}/mine.sh\n echo", parent="session")
    takes = verdict(1.0, f"SNAPSHOT_FILE={tmp_path}/x.sh\n echo", **own)
    assert shell_origin.remembered([mine, takes]) == {f"{tmp_path}/x.sh": None}
    assert shell_origin.remembered([takes, verdict(2.0, "ls"), takes]) == {}
