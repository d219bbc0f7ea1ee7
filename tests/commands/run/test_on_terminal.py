"""``run`` on a terminal: as if it were not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
import time

import pexpect

from tests.support.run_on_pty import DRIVER, by_shell, ended
from tests.support.time_limits import limit


def test_nothing_of_ours_is_written_when_nothing_happens(daemon, terminal):
    child = terminal("sh", "-c", "printf 'a\\033[31mb\\033[0m\\nc'; exit 5")
    assert ended(child) == 5
    assert child.before == b"a\x1b[31mb\x1b[0m\r\nc"
    assert daemon.wait("start")["interactive"] is True


def test_the_agent_has_a_terminal_of_its_own_with_the_same_size(daemon, terminal):
    child = terminal(
        "sh",
        "-c",
        "tty; stty size; test -t 0 -a -t 1 -a -t 2 && echo all; ps -o pgid=,tpgid=,sid= -p $$; echo $$ $PPID",
    )
    assert ended(child) == 0
    tty, size, every, ids, pids = child.before.decode().split("\r\n")[:5]
    assert tty.startswith("/dev/pts/")
    assert (size, every) == ("24 80", "all")
    group, foreground, session = ids.split()
    pid, leader = pids.split()
    assert (group, foreground, session) == (pid, pid, leader), "a job of a session of its own, as a shell has jobs"
    assert leader != str(child.pid), "the runner is in the person's session"


def test_keys_reach_the_agent_and_control_keys_act_there(daemon, terminal):
    child = terminal("sh", "-c", 'trap \'echo INT\' INT; read a; echo "<$a>"; read b; echo "[$b]"; exit 4')
    child.sendline("hello")
    child.expect_exact("<hello>")
    child.send("\x03")
    child.expect_exact("INT")
    child.sendline("more")
    assert ended(child) == 4


def test_a_stop_key_stops_a_job_of_the_inner_shell(daemon, terminal):
    child = terminal("bash", "--norc", "--noprofile", "-i")
    child.sendline("PS1='$ '; (echo rea''dy; exec sleep 30)")
    child.expect_exact("ready")
    child.send("\x1a")
    child.expect_exact("Stopped")
    child.sendline("kill -KILL %1; sleep 0.1")
    child.expect_exact("Killed")
    child.sendline("exit 6")
    assert ended(child) == 6


def test_an_agent_that_stops_itself_gives_the_shell_back(daemon, tmp_path):
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER)
    shell = pexpect.spawn("bash", ["--norc", "--noprofile", "-i"], timeout=limit(10), encoding="utf-8")
    shell.sendline("PS1='outer> '")
    agent = "echo ready; kill -STOP \\$\\$; echo resumed; read a; exit 3"
    shell.sendline(f'{sys.executable} {driver} sh -c "{agent}"')
    shell.expect_exact("ready")
    shell.expect_exact("Stopped")
    shell.sendline("fg")
    shell.expect_exact("resumed")
    shell.sendline("x")
    assert daemon.wait("end")["code"] == 3
    shell.sendline("exit")
    shell.expect(pexpect.EOF)
    shell.close()


def test_an_agent_that_a_kill_has_frozen_does_not_give_the_shell_back(daemon, terminal):
    daemon.replies["attach"] = {"state": "KILLED"}
    child = terminal("sh", "-c", "echo ready; kill -STOP $$")
    child.expect_exact("ready")
    daemon.wait("attach")
    daemon.tell("killed", text="SENTINEL KILL SWITCH: why", incident="")
    assert ended(child) == 137


def test_the_window_size_follows(daemon, terminal):
    child = terminal("sh", "-c", "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done")
    child.expect_exact("ready")
    child.setwinsize(30, 100)
    child.expect_exact("30 100")


def test_the_terminal_is_given_back_as_it_was(daemon):
    near, far = os.openpty()
    before = termios.tcgetattr(far)
    for number in (None, signal.SIGTERM):
        command = ["true"] if number is None else ["sleep", "5"]
        process = subprocess.Popen(
            ["setsid", "-c", "-w", sys.executable, "-c", DRIVER, *command], stdin=far, stdout=far, stderr=far
        )
        if number is not None:
            runner = daemon.wait("start", 2)["pid"]
            daemon.wait("agent", 2)
            deadline = time.monotonic() + limit(5)
            while termios.tcgetattr(far) == before and time.monotonic() < deadline:
                time.sleep(0.01)
            os.kill(runner, number)
        process.wait(limit(10))
        assert termios.tcgetattr(far) == before
    os.close(near)
    os.close(far)


def test_much_output_arrives_whole(daemon, terminal):
    child = terminal(sys.executable, "-c", "for n in range(40000): print('line', n)")
    assert ended(child) == 0
    assert child.before.count(b"\r\n") == 40000
    assert child.before.endswith(b"line 39999\r\n")


def test_output_into_a_file_stays_in_the_file(daemon, tmp_path):
    out = tmp_path / "out"
    assert by_shell(f'"$0" -c "$1" sh -c \'echo out; echo err >&2\' > {out}') == b"err\r\n"
    assert out.read_text() == "out\n"
    assert daemon.wait("start")["interactive"] is True


def test_into_a_pager_the_terminal_is_left_to_the_pager(daemon):
    assert by_shell('"$0" -c "$1" echo hi | cat') == b"hi\r\n"
    assert daemon.wait("start")["interactive"] is False


def test_a_terminal_that_hangs_up_ends_the_agent(daemon, terminal, tmp_path):
    mark = tmp_path / "mark"
    child = terminal("sh", "-c", f"trap 'echo HUP > {mark}; exit 3' HUP; echo ready; while :; do sleep 0.02; done")
    child.expect_exact("ready")
    child.close(force=False)
    assert daemon.wait("end")["code"] == 3
    assert mark.read_text() == "HUP\n"
