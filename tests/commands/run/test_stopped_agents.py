"""A stopped agent under ``run``: what the person is told, what a kill does, and who stops and continues with it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pexpect
import pytest

from tests.support.job_control_shell import Shell
from tests.support.run_on_pty import ASK, ended, plain
from tests.support.wait_until import settled, until


def agent_of(runner: int) -> int:
    """Pid of the agent's first process: the one child of the runner's one child."""
    (leader,) = children(runner)
    (agent,) = children(leader)
    return agent


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def state(pid: int) -> str:
    """The letter of its state, as ps(1) has it; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return ""


def stopped(guarded: Shell, command: str) -> tuple[int, int]:
    """Pids of the runner and of the agent, a command that has said ``ready`` and was stopped."""
    guarded.type(f"agent {command}")
    guarded.expect_exact("ready")
    assert "Stopped" in guarded.stop()
    runner = guarded.job()
    return runner, agent_of(runner)


READER = "bash -c 'echo ready; read line; echo got $line; exit 3'"


def test_a_question_waits_while_the_agent_is_stopped_or_in_the_background(guarded, daemon):
    stopped(guarded, "bash -c 'trap : CONT; echo ready; while :; do :; done'")
    guarded.line("bg")
    daemon.tell("ask", **ASK)
    guarded.expect_exact("SENTINEL asks: DEPLOY PRODUCTION? It waits for you: fg.")
    assert guarded.line("echo $((40+2))").endswith("42\n"), "the keys are the shell's"
    guarded.sendline("fg")
    guarded.expect_exact("Confirm? (Y/N): ")
    runner = daemon.wait("start")["pid"]
    os.kill(runner, signal.SIGTSTP)
    guarded.expect_exact("\x1b[?1049l")
    assert "Stopped" in guarded.prompt()
    guarded.sendline("fg")
    guarded.expect_exact("Confirm? (Y/N): ")
    settled()
    guarded.send("y")
    assert daemon.wait("answer") == {"op": "answer", "question": "q1", "yes": True}
    settled()
    guarded.send("\x03")
    guarded.prompt()


def test_a_question_is_told_of_while_the_agent_is_stopped(guarded, daemon):
    """The daemon continues a runner that is stopped, for the person to hear of it."""
    runner, agent = stopped(guarded, READER)
    daemon.tell("ask", **ASK)
    os.kill(runner, signal.SIGCONT)
    guarded.expect_exact("SENTINEL asks: DEPLOY PRODUCTION? It waits for you: fg.")
    assert until(lambda: state(runner) == "T")
    assert state(agent) == "T", "it was not for the agent"
    guarded.sendline("fg")
    guarded.expect_exact("Confirm? (Y/N): ")
    settled()
    guarded.send("n")
    assert daemon.wait("answer")["yes"] is False
    settled()
    guarded.send("x\n")
    guarded.expect_exact("got x")
    guarded.prompt()
    assert guarded.code() == 3


def test_a_kill_while_the_agent_is_stopped(guarded, daemon):
    _, agent = stopped(guarded, READER)
    daemon.replies["attach"] = {"state": "KILLED"}
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="")
    said = guarded.line("fg")
    assert "SENTINEL KILL SWITCH: why" in said
    assert "\ngot" not in said
    assert guarded.code() == 137
    assert state(agent) in {"", "Z"}


def test_what_a_kill_has_frozen_is_not_continued(guarded, daemon):
    _, agent = stopped(guarded, READER)
    daemon.replies["attach"] = {"state": "KILLED"}
    guarded.fg()
    daemon.wait("attach")
    time.sleep(0.1)
    assert state(agent) == "T"
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="")
    guarded.prompt()
    assert guarded.code() == 137


def test_the_stop_key_needs_no_daemon(guarded, daemon):
    guarded.type(f"agent {READER}")
    guarded.expect_exact("ready")
    daemon.close()
    assert "Stopped" in guarded.stop()
    guarded.fg()
    guarded.send("x\n")
    guarded.expect_exact("got x")
    guarded.prompt()
    assert guarded.code() == 3
    daemon.listen()


def test_a_daemon_that_went_while_the_agent_was_stopped_is_found_again(guarded, daemon):
    stopped(guarded, READER)
    daemon.close()
    daemon.listen()
    guarded.fg()
    daemon.wait("attach")
    guarded.send("x\n")
    guarded.expect_exact("got x")
    guarded.prompt()
    assert daemon.wait("end")["code"] == 3


def test_a_stop_that_may_be_a_kill_waits_for_the_daemon(guarded, daemon):
    guarded.type("agent bash -c 'echo ready; read line; kill -STOP $$; exit 3'")
    guarded.expect_exact("ready")
    daemon.close()
    guarded.send("\n")
    with pytest.raises(pexpect.TIMEOUT):
        guarded.expect_exact("Stopped", timeout=0.5)
    daemon.listen()
    assert "Stopped" in guarded.prompt()
    guarded.fg()
    guarded.prompt()
    assert guarded.code() == 3


def test_somebody_else_continues_the_agent(guarded, tmp_path):
    _, agent = stopped(guarded, f"bash -c 'echo ready; while [ ! -e {tmp_path}/go ]; do :; done; echo awake; exit 3'")
    os.kill(agent, signal.SIGCONT)
    guarded.jobs_say("Running")
    (tmp_path / "go").touch()
    guarded.expect_exact("awake\r\n")
    guarded.jobs_say("Exit 3")


def test_somebody_else_ends_the_agent_while_it_is_stopped(guarded, daemon):
    _, agent = stopped(guarded, READER)
    os.kill(agent, signal.SIGKILL)
    guarded.jobs_say("Exit 137")
    assert daemon.wait("end")["code"] == 137


def test_a_runner_that_is_killed_takes_a_stopped_agent_with_it(guarded):
    runner, agent = stopped(guarded, READER)
    (leader,) = children(runner)
    os.kill(runner, signal.SIGKILL)
    assert until(lambda: {state(agent), state(leader)} <= {"", "Z"})


def test_a_leader_that_is_killed_hangs_up_and_leaves_the_agent_to_the_runner(guarded, daemon):
    guarded.type("agent bash -c 'trap \"exit 5\" HUP; echo ready; while :; do :; done'")
    guarded.expect_exact("ready")
    (leader,) = children(daemon.wait("start")["pid"])
    os.kill(leader, signal.SIGKILL)
    guarded.prompt()
    assert guarded.code() == 5
    assert daemon.wait("end")["code"] == 5


def test_the_leader_is_the_runner_again_without_its_descriptors(guarded):
    """A shell that asks for its parent's command line finds the runner's (host/shims.py)."""
    runner, agent = stopped(guarded, READER)
    (leader,) = children(runner)
    line = Path(f"/proc/{runner}/cmdline").read_bytes()
    assert Path(f"/proc/{leader}/cmdline").read_bytes() == line
    assert int(Path(f"/proc/{agent}/stat").read_text().split()[3]) == leader
    held = [str(fd.readlink()) for fd in Path(f"/proc/{leader}/fd").iterdir()]
    assert sorted(name.split(":")[0].rstrip("0123456789") for name in held) == [
        "/dev/null", "/dev/null", "/dev/null", "/dev/pts/", "socket", "socket", "socket",
    ]  # fmt: skip
    assert str(Path(f"/proc/{agent}/fd/0").readlink()) in held, "the inner terminal"


def test_where_no_shell_could_continue_it_nothing_is_stopped(terminal):
    """The runner leads the person's session: the kernel lets nobody stop it, nor any program in its place."""
    child = terminal("bash", "-c", "kill -TSTP $$; echo on; read line; echo got $line; exit 3")
    child.expect_exact("on")
    child.send("\x1ax\r")
    child.expect_exact("got x")
    assert ended(child) == 3


def person_continues(pid: int) -> None:
    """As another process does: this one is the daemon, too, which continues a runner for a word to the person."""
    subprocess.run(["kill", "-CONT", str(pid)], check=True)


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_without_a_terminal_the_runner_stops_with_the_agent(daemon, number):
    process = plain(
        "bash", "-c", f"echo ready; kill -{number:d} $$; echo on; exit 3", start_new_session=False, process_group=0
    )
    assert process.stdout.readline() == b"ready\n"
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == number
    person_continues(process.pid)
    assert process.communicate()[0] == b"on\n"
    assert process.returncode == 3


def test_without_a_terminal_a_stop_of_the_runner_is_one_of_the_agent(daemon):
    process = plain("sh", "-c", "echo ready; read x; exit 3", start_new_session=False, process_group=0)
    assert process.stdout.readline() == b"ready\n"
    agent = agent_of(process.pid)
    process.send_signal(signal.SIGTSTP)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    assert state(agent) == "T"
    person_continues(process.pid)
    process.communicate(b"x\n")
    assert process.returncode == 3
