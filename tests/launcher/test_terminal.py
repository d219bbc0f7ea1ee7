"""On a terminal: job control, window sizes, editors, pagers, and the guard's question."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pexpect
import pytest

from tests.support.launcher_guard import exit_code, real, supervises, value, values, wanted
from tests.support.time_limits import limit
from tests.support.wait_until import until

PROMPT = "%%% "


@pytest.fixture
def console(guard, tmp_path):
    """``console(handler)``: an interactive bash on a pty, the shims first on its PATH."""
    opened = []

    def make(handler=supervises, shims=("bash",), shell=None, **environ):
        g = guard(handler)
        for name in shims:
            g.shim(name)
        env = g.environ(PS1=PROMPT, GIT_CONFIG_GLOBAL=str(tmp_path / "gitconfig"), **environ)
        argv = ["--norc", "--noprofile", "--noediting", "-i"]
        shell = g.shim("bash") if shell == "shim" else real("bash")
        c = pexpect.spawn(
            shell, argv, env=env, cwd=str(tmp_path), timeout=limit(10), encoding="utf-8", dimensions=(24, 80)
        )
        c.guard = g
        c.delaybeforesend = 0
        opened.append(c)
        c.expect_exact(PROMPT)
        return c

    yield make
    for c in opened:
        c.close(force=True)


def type_line(c, line):
    c.sendline(line)
    c.expect_exact("\n")


def result(c, line):
    """What a line prints."""
    type_line(c, line)
    c.expect_exact(PROMPT)
    return c.before.replace("\r\n", "\n")


def test_interrupt_from_the_keyboard_reaches_the_program_once(console):
    c = console()
    type_line(
        c, r"""bash -c 'n=0; trap "n=\$((n+1))" INT; echo ready; for i in 1 2 3 4; do sleep 0.05; done; echo got $n'"""
    )
    c.expect_exact("ready")
    c.sendintr()
    c.expect(r"got (\d)")
    assert c.match[1] == "1"
    c.expect_exact(PROMPT)


def test_interrupt_ends_a_program_and_the_shell_says_130(console):
    c = console(shims=("bash",))
    run_ready(c)
    c.sendintr()
    c.expect_exact(PROMPT)
    assert result(c, "echo $?") == "130\n"
    assert value(c.guard.outcomes[0], "X") == (256 + signal.SIGINT).to_bytes(4, "little")


def run_ready(c, then="sleep 20"):
    """A program that has begun when this returns."""
    type_line(c, f"bash -c 'echo ready; exec {then}'")
    c.expect_exact("ready")


def test_stop_and_go_on_from_the_keyboard(console):
    c = console(shims=("bash",))
    type_line(c, "bash -c 'echo ready; read x; echo got $x; exit 4'")
    c.expect_exact("ready")
    c.sendcontrol("z")
    c.expect_exact("Stopped")
    c.expect_exact(PROMPT)
    assert result(c, "echo $?") == "148\n"
    assert "Stopped" in result(c, "jobs")
    type_line(c, "fg")
    type_line(c, "hello")
    c.expect_exact("got hello")
    c.expect_exact(PROMPT)
    assert result(c, "echo $?") == "4\n"


def test_in_the_background_and_back(console):
    c = console(shims=("bash",))
    run_ready(c, "sleep 0.3")
    c.sendcontrol("z")
    c.expect_exact(PROMPT)
    assert "sleep 0.3' &" in result(c, "bg")
    assert result(c, "wait; echo $?").endswith("0\n")


def test_reading_in_the_background_stops(console):
    c = console(shims=("cat",))
    result(c, "cat &")
    assert until(lambda: "Stopped" in result(c, "jobs"))
    type_line(c, "fg")
    type_line(c, "line")
    c.expect_exact("line\r\n")
    c.sendeof()
    c.expect_exact(PROMPT)


def test_a_new_window_size_reaches_the_program(console):
    c = console(shims=("bash",))
    type_line(c, """bash -c 'trap "stty size; exit" WINCH; stty size; while :; do sleep 0.02; done'""")
    c.expect_exact("24 80")
    c.setwinsize(40, 100)
    c.expect_exact("40 100")
    c.expect_exact(PROMPT)


def test_quit_from_the_keyboard(console):
    c = console(shims=("cat",))
    type_line(c, "cat")
    type_line(c, "hello")
    c.expect_exact("hello\r\n")
    c.sendcontrol("\\")
    c.expect_exact(PROMPT)
    assert result(c, "echo $?") == "131\n"


def test_a_terminal_is_a_terminal(console):
    c = console(shims=("bash",))
    assert result(c, "bash -c '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty' | sed s/[0-9].*//") == ""
    assert result(c, "bash -c '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo yes'") == "yes\n"
    assert [values(o, "1") + values(o, "2") for o in c.guard.outcomes][1] == []
    assert value(c.guard.requests[1], "T") == b"012t"


def test_an_interactive_shell_with_job_control_of_its_own(console):
    c = console(shims=("bash",), shell="shim")
    inner = os.tcgetpgrp(c.child_fd)
    run_ready(c)
    c.sendcontrol("z")
    c.expect_exact("Stopped")
    c.expect_exact(PROMPT)
    type_line(c, "fg")
    assert until(lambda: os.tcgetpgrp(c.child_fd) != inner)
    c.sendintr()
    c.expect_exact(PROMPT)
    assert result(c, "echo $?") == "130\n"
    c.sendline("exit 5")
    c.expect(pexpect.EOF)
    c.wait()
    assert c.exitstatus == 5


def test_a_shell_within_a_shell_gives_the_terminal_back(console):
    c = console(shims=("bash",))
    type_line(c, "bash --norc --noprofile --noediting -i")
    c.expect_exact(PROMPT)
    assert result(c, "echo $((20+2))") == "22\n"
    type_line(c, "suspend")
    c.expect_exact("Stopped")
    c.expect_exact(PROMPT)
    type_line(c, "fg")
    c.expect_exact(PROMPT)
    assert result(c, "echo $((30+3))") == "33\n"
    type_line(c, "exit 6")
    c.expect_exact(PROMPT)
    assert "6\n" in result(c, "echo $?")


def test_hanging_up_ends_a_shell(console):
    c = console(shims=("bash",), shell="shim")
    type_line(c, "echo $$")
    c.expect(r"(\d+)\r\n")
    shell = int(c.match[1])
    c.expect_exact(PROMPT)
    run_ready(c)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, c.child_fd)  # in one step: the number must not become another thread's
    os.close(null)
    assert until(lambda: not Path(f"/proc/{shell}").exists())


def test_commit_opens_an_editor(console, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text(
        '#!/bin/sh\n[ -t 0 ] && [ -t 1 ] || exit 1\nprintf "message: "; read m < /dev/tty; echo "$m" > "$1"\n'
    )
    editor.chmod(0o755)
    c = console(shims=("git",), GIT_EDITOR=str(editor))
    result(c, "git init -q . && git config user.email a@b.c && git config user.name n")
    type_line(c, "git commit --allow-empty")
    c.expect_exact("message: ")
    type_line(c, "from the editor")
    c.expect_exact(PROMPT)
    assert "from the editor" in result(c, "git log --format=%s | cat")


def test_log_opens_a_pager(console, tmp_path):
    c = console(shims=("git",), GIT_PAGER="less", LESS="")
    env = {
        **os.environ,
        "GIT_AUTHOR_NAME": "n",
        "GIT_AUTHOR_EMAIL": "e",
        "GIT_COMMITTER_NAME": "n",
        "GIT_COMMITTER_EMAIL": "e",
    }
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    for i in range(3):
        message = "\n".join(f"line {i} {n}" for n in range(30))
        subprocess.run(
            ["git", "commit", "-q", "--allow-empty", "-m", f"c{i}\n\n{message}"], cwd=tmp_path, env=env, check=True
        )
    type_line(c, "git log")
    c.expect_exact("line 2 5")
    c.expect_exact(":")
    c.send(" ")
    c.expect_exact("line 1 1")
    c.send("q")
    c.expect_exact(PROMPT)
    assert result(c, "echo $?") == "0\n"


def asks(connection):
    """The gate: a yes runs the program, a no does not."""
    connection.guard.replies = getattr(connection.guard, "replies", [])
    request = connection.read()
    connection.send((b"P", b"2before\n"), (b"Q", b"[SENTINEL SECURITY]\r\nConfirm? (Y/N): "))
    connection.guard.replies.append(value(connection.read(), "R"))
    if connection.guard.replies[-1] == b"Y":
        connection.send((b"X", wanted(request)))
    else:
        connection.send((b"P", b"2UserDenied: Authorization refused.\n"), exit_code(126))


HUMAN = 0.1
"""Seconds: nobody answers between the words and the end of what throws earlier keys away, a moment later."""
REPLIES = [
    ("Y\n", b"Y", "yes"),
    ("y\n", b"Y", "a small yes"),
    ("N\n", b"N", "no"),
    ("\n", b"N", "an empty line"),
    ("yes\n", b"N", "a word"),
    (" Y\n", b"N", "a space before"),
    ("Y \n", b"N", "a space after"),
    ("YY\n", b"N", "twice"),
    ("Y\x04", b"N", "a yes without its end of line"),
    ("\x04", b"N", "end of input"),
]


@pytest.mark.parametrize(("typed", "reply", "why"), REPLIES, ids=[row[-1] for row in REPLIES])
def test_the_question(console, typed, reply, why):
    c = console(asks, shims=("seq",))
    type_line(c, "seq 77701 77701 </dev/null 2>&1 | cat")
    c.expect_exact("Confirm? (Y/N): ")
    time.sleep(HUMAN)
    c.send(typed)
    c.expect_exact(PROMPT)
    assert c.guard.replies == [reply]
    assert ("77701\r\n" in c.before) == (reply == b"Y")
    assert ("UserDenied" in c.before) == (reply == b"N")


def test_what_was_typed_before_the_question_is_thrown_away(console):
    typed = threading.Event()

    def handler(connection):
        connection.read()
        typed.wait(limit(5))
        connection.send((b"Q", b"Confirm? (Y/N): "))
        connection.guard.replies = [value(connection.read(), "R")]
        connection.send(exit_code(126))

    c = console(handler, shims=("seq",))
    type_line(c, "seq 1")
    assert until(lambda: c.guard.requests)
    c.send("Y\n")
    typed.set()
    c.expect_exact("Confirm? (Y/N): ")
    c.send("N\n")
    c.expect_exact(PROMPT)
    assert c.guard.replies == [b"N"]


def test_the_guard_may_answer_before_the_person(console):
    """Another terminal said yes, or the time was over."""

    def handler(connection):
        request = connection.read()
        connection.send((b"Q", b"Confirm? (Y/N): "))
        connection.send((b"X", wanted(request)))

    c = console(handler, shims=("seq",))
    assert "\n5\n" in result(c, "seq 5 5")


def test_a_raw_terminal_is_not_asked(console):
    c = console(asks, shims=("seq",))
    assert "UserDenied" in result(c, "stty raw; seq 1; stty sane")
    assert c.guard.replies == [b"-"]
    assert value(c.guard.requests[0], "T") == b"012"


def test_a_background_job_does_not_ask(console):
    c = console(asks, shims=("seq",))
    assert "UserDenied" in result(c, "seq 1 & wait")
    assert c.guard.replies == [b"-"]
