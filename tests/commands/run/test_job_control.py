"""Job control: what stops, continues and ends an agent in the person's shell is the same with and without ``run``."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.support.job_control_shell import HUMAN, Shell

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


def script(folder: Path, text: str) -> str:
    """The command line of a python script."""
    file = folder / "script.py"
    file.write_text(text)
    return f"{sys.executable} {file}"


def test_the_stop_key_gives_the_shell_back_and_fg_the_agent(shell):
    before = shell.line("stty -a")
    shell.start("agent cat")
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


def test_what_is_typed_too_early_reaches_the_agent(shell):
    """Before it has the terminal at all, and before it has it back."""
    shell.send("agent bash -c 'read x; echo got $x; kill -TSTP $$; read x; echo got $x'\nfirst\n")
    shell.expect_exact("got first\r\n")
    assert "Stopped" in shell.prompt()
    time.sleep(HUMAN)
    shell.send("fg\nsecond\n")
    shell.expect_exact("got second\r\n")
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
    shell.start("agent bash -c 'cat; exit 3'")
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
    shell.start("(agent cat; exit 9)")
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
    shell.send("b\n")
    shell.expect_exact("b\r\nb\r\n")  # read by cat: it has the terminal, so the key is its own
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
