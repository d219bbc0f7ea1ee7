"""Job control: what stops, continues and ends an agent in the person's shell is the same with and without ``run``."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

import pexpect
import pytest

from tests.support.job_control_shell import Shell
from tests.support.run_on_pty import ASK, ended, plain, settled
from tests.support.wait_until import until

STOPS = [
    (signal.SIGTSTP, "Stopped", "the stop key's"),
    (signal.SIGSTOP, "Stopped", "the one that cannot be caught"),
    (signal.SIGTTIN, "Stopped", "what a reader in the background gets"),
    (signal.SIGTTOU, "Stopped", "what a writer in the background gets"),
]
# Raw mode and a second screen, as full-screen clients have it: the stop key comes as a byte.
FULL_SCREEN = """
import os, signal, sys, termios, tty
before = termios.tcgetattr(0)
def enter():
    tty.setraw(0)
    os.write(1, b"\\x1b[?1049h<screen>")
enter()
while (key := os.read(0, 1)) != b"q":
    if key == b"\\x1a":
        os.write(1, b"\\x1b[?1049l<left>")
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        os.kill(WHOM, signal.SIGTSTP)
        enter()
    else:
        os.write(1, b"<" + key + b">")
termios.tcsetattr(0, termios.TCSADRAIN, before)
os.write(1, b"\\x1b[?1049l")
sys.exit(4)
"""


@pytest.fixture(params=["bare", "guarded"])
def shell(daemon, tmp_path, request):
    """What holds for a program by itself holds for it under ``run``."""
    opened = Shell(tmp_path, guarded=request.param == "guarded")
    yield opened
    opened.close(force=True)


@pytest.fixture
def guarded(daemon, tmp_path):
    opened = Shell(tmp_path)
    yield opened
    opened.close(force=True)


def script(folder: Path, text: str) -> str:
    """The command line of a python script."""
    file = folder / "script.py"
    file.write_text(text)
    return f"{sys.executable} {file}"


def test_the_stop_key_gives_the_shell_back_and_fg_the_agent(shell):
    before = shell.line("stty -a")
    shell.type("agent cat")
    shell.send("a\n")
    shell.expect_exact("a\r\na\r\n")
    assert "Stopped" in shell.stop()
    assert shell.code() == 128 + signal.SIGTSTP
    assert shell.line("stty -a") == before
    assert shell.line("echo $((40+2))") == "42\n"
    shell.fg()
    shell.send("b\n")
    shell.expect_exact("b\r\nb\r\n")
    assert "Stopped" in shell.stop(), "a second time"
    shell.fg()
    shell.send("\x04")
    shell.prompt()
    assert shell.code() == 0


@pytest.mark.parametrize(("number", "words"), [row[:2] for row in STOPS], ids=[row[2] for row in STOPS])
def test_an_agent_that_stops_itself(shell, tmp_path, number, words):
    text = f"import os, sys\nprint('ready', flush=True)\nos.kill(os.getpid(), {number:d})\nprint('on')\nsys.exit(5)"
    shell.type(f"agent {script(tmp_path, text)}")
    shell.expect_exact("ready")
    assert words in shell.prompt()
    assert shell.code() == 128 + number
    assert "\non\n" in shell.line("fg")
    assert shell.code() == 5


@pytest.mark.parametrize("whom", ["0", "os.getpid()"], ids=["its group", "itself alone"])
def test_a_full_screen_program_leaves_its_screen_and_comes_back(shell, tmp_path, whom):
    before = shell.line("stty -a")
    shell.type(f"agent {script(tmp_path, FULL_SCREEN.replace('WHOM', whom))}")
    shell.expect_exact("\x1b[?1049h<screen>")
    shell.send("x")
    shell.expect_exact("<x>")
    said = shell.stop()
    assert said.startswith("\x1b[?1049l<left>\n[1]+  Stopped"), said
    assert shell.line("stty -a") == before
    shell.fg()
    shell.expect_exact("\x1b[?1049h<screen>")
    shell.send("yq")
    assert "<y>\x1b[?1049l" in shell.prompt()
    assert shell.code() == 4
    assert shell.line("stty -a") == before


def test_all_of_the_agents_group_stops(shell):
    shell.type("agent bash -c 'cat; exit 3'")
    shell.send("a\n")
    shell.expect_exact("a\r\na\r\n")
    assert "Stopped" in shell.stop()
    shell.fg()
    shell.send("b\n")
    shell.expect_exact("b\r\nb\r\n")
    shell.send("\x04")
    shell.prompt()
    assert shell.code() == 3


def test_whoever_waits_for_the_runner_in_its_job_stops_with_it(shell):
    shell.type("(agent cat; exit 9)")
    shell.send("a\n")
    shell.expect_exact("a\r\na\r\n")
    assert "Stopped" in shell.stop()
    shell.fg()
    shell.send("\x04")
    shell.prompt()
    assert shell.code() == 9


def test_in_the_background_it_goes_on_to_its_end(shell, tmp_path):
    shell.type(f"agent bash -c 'echo ready; while [ ! -e {tmp_path}/go ]; do :; done; echo done; exit 7'")
    shell.expect_exact("ready")
    shell.stop()
    shell.line("bg")
    shell.jobs_say("Running")
    shell.type("wait %1; echo code $?")
    (tmp_path / "go").touch()
    said = shell.prompt()
    assert said.startswith("done\n") and said.endswith("\ncode 7\n"), said


WANTS = [
    ("cat", "a\n", "a\r\na\r\n", "keys"),
    ("bash -c 'stty -echo; read x; echo got $x'", "a\n", "got a\r\n", "another mode of the terminal"),
]


@pytest.mark.parametrize(("command", "typed", "seen"), [row[:3] for row in WANTS], ids=[row[3] for row in WANTS])
@pytest.mark.parametrize("begin", ["&", "bg"])
def test_in_the_background_it_stops_when_it_wants_the_terminal(shell, command, typed, seen, begin):
    if begin == "&":
        shell.line(f"agent {command} &")
    else:
        shell.type(f"agent bash -c {shlex.quote('kill -STOP $$; exec ' + command)}")
        shell.prompt()
        shell.line("bg")
    shell.jobs_say("Stopped")
    assert shell.line("echo $((40+2))") == "42\n", "the keys are the shell's"
    shell.fg()
    shell.send(typed)
    shell.expect_exact(seen)
    shell.send("\x03")
    shell.prompt()


def test_fg_of_a_job_that_runs_gives_it_the_keys(shell, tmp_path):
    """Bash sends it no signal then."""
    shell.type(f"agent bash -c 'echo ready; while [ ! -e {tmp_path}/go ]; do :; done; echo now; cat'")
    shell.expect_exact("ready")
    shell.stop()
    shell.line("bg")
    shell.jobs_say("Running")
    shell.fg()
    (tmp_path / "go").touch()
    shell.expect_exact("now")
    shell.send("a\n")
    shell.expect_exact("a\r\na\r\n")
    assert "Stopped" in shell.stop()


def test_a_stop_that_is_sent_to_the_job(shell):
    shell.type("agent bash -c 'echo ready; exec sleep 30' &")
    shell.expect_exact("ready\r\n")
    shell.line("kill -TSTP %1")
    shell.jobs_say("Stopped")
    shell.line("kill -CONT %1")
    shell.jobs_say("Running")
    shell.line("kill -TERM %1; wait %1")
    assert shell.code() == 128 + signal.SIGTERM


def test_it_stops_with_the_rest_of_its_pipeline(shell):
    """Its output is a pipe: it has no terminal of its own, and the stop key's signal is the kernel's."""
    shell.type("agent bash -c 'echo ready; read x; echo got $x; exit 3' | cat")
    shell.expect_exact("ready\r\n")
    assert "Stopped" in shell.stop()
    shell.type("fg")
    shell.send("a\n")
    shell.expect_exact("got a\r\n")
    shell.prompt()


def test_a_terminal_that_stops_background_output(shell):
    shell.line("stty tostop")
    shell.line("agent echo hello &")
    shell.jobs_say("Stopped")
    assert "hello" in shell.line("stty -tostop; fg")


def test_death_by_a_signal_after_fg(shell):
    shell.type("agent bash -c 'kill -TSTP $$; kill -KILL $$'")
    shell.prompt()
    shell.line("fg")
    assert shell.code() == 128 + signal.SIGKILL


def test_the_interrupt_key_after_fg(shell):
    shell.type("agent bash -c 'kill -TSTP $$; echo on; sleep 30'")
    shell.prompt()
    shell.fg()
    shell.expect_exact("on")
    shell.send("\x03")
    shell.prompt()
    assert shell.code() == 128 + signal.SIGINT


def test_a_shell_as_agent_keeps_its_own_jobs(shell):
    shell.type("agent bash --norc --noprofile --noediting -i")
    shell.expect("[$#] ")
    shell.line("PS1='%%% '; echo $((20+3))")
    shell.type("cat")
    shell.send("a\n")
    shell.expect_exact("a\r\na\r\n")
    assert "Stopped" in shell.stop()
    shell.fg()
    shell.send("\x03")
    shell.prompt()
    assert shell.line("echo inner $SHLVL") == f"inner {int(os.environ.get('SHLVL', '0')) + 2}\n"
    assert "Stopped" in shell.line("suspend"), "the outer shell is back"
    shell.fg()
    shell.prompt()
    assert shell.line("echo still $((20+4))") == "still 24\n"
    shell.line("exit 6")
    assert shell.code() == 6


@pytest.mark.skipif(not shutil.which("vim"), reason="vim is not installed")
def test_vim_as_agent_and_in_a_shell_as_agent(shell):
    for inside, command in ((False, "agent vim"), (True, "vim")):
        if inside:
            shell.type("agent bash --norc --noprofile --noediting -i")
            shell.expect("[$#] ")
            shell.line("PS1='%%% '; true")
        shell.sendline(f"{command} -u NONE -N --not-a-term")
        shell.expect_exact("~")
        time.sleep(0.3)
        assert "Stopped" in shell.stop()
        shell.sendline("fg")
        shell.expect_exact("~")
        time.sleep(0.3)
        shell.send(":q!\r")
        shell.prompt()
        assert shell.code() == 0
    shell.line("exit 6")
    assert shell.code() == 6


# --- what there is only under ``run`` ---


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


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_without_a_terminal_the_runner_stops_with_the_agent(daemon, number):
    process = plain(
        "bash", "-c", f"echo ready; kill -{number:d} $$; echo on; exit 3", start_new_session=False, process_group=0
    )
    assert process.stdout.readline() == b"ready\n"
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == number
    process.send_signal(signal.SIGCONT)
    assert process.communicate()[0] == b"on\n"
    assert process.returncode == 3


def test_without_a_terminal_a_stop_of_the_runner_is_one_of_the_agent(daemon):
    process = plain("sh", "-c", "echo ready; read x; exit 3", start_new_session=False, process_group=0)
    assert process.stdout.readline() == b"ready\n"
    agent = agent_of(process.pid)
    process.send_signal(signal.SIGTSTP)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    assert state(agent) == "T"
    process.send_signal(signal.SIGCONT)
    process.communicate(b"x\n")
    assert process.returncode == 3
