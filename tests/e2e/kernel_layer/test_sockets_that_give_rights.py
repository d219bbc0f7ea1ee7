"""The session bus and an ssh agent that were there before the session: programs that say to them whatever they like are
asked about; those that use them all day, and what the session starts for itself, are not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

import pexpect
import pytest

SPEAK = """
import os, socket, sys
name = sys.argv[1]
path = os.environ[name].removeprefix("unix:path=").split(",")[0]
try: socket.socket(socket.AF_UNIX).connect(path)
except OSError as e: print(type(e).__name__)
else: print("reached")
"""
AGENT, BUS = "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"
NEEDED = ("ssh-agent", "ssh-add", "dbus-daemon", "dbus-send", "busctl", "dbus-monitor", "dbus-run-session")
NAME = "org.freedesktop.DBus"
GET_ID = f"dbus-send --session --print-reply --dest={NAME} /org/freedesktop/DBus {NAME}.GetId"


@pytest.fixture
def stage_with_sockets(held):
    if missing := [name for name in NEEDED if not shutil.which(name)]:
        pytest.skip(f"not here: {missing}")
    agent, bus = held.folder / "agent.sock", held.folder / "bus.sock"
    words = ("dbus-daemon", "--session", "--nofork", f"--address=unix:path={bus}")
    started = [subprocess.Popen(["ssh-agent", "-D", "-a", str(agent)], stdout=subprocess.DEVNULL)]
    started.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    try:
        end = time.monotonic() + 10
        while not (agent.exists() and bus.exists()) and time.monotonic() < end:
            time.sleep(0.01)
        held.environ |= {AGENT: str(agent), BUS: f"unix:path={bus}"}
        held.write("speak.py", SPEAK)
        time.sleep(0.02)  # a file system's clock may lag behind
        yield held
    finally:
        for process in started:
            process.terminate()
            process.wait()


ROWS = (
    (f"{sys.executable} speak.py {AGENT}", "PermissionError", "a script that could have anything signed"),
    (f"{sys.executable} speak.py {BUS}", "PermissionError", "a script that could have anything started"),
    (f"bash -c '{GET_ID}; echo $?'", "connect session bus", "a program that says to the bus what it is told"),
    ("busctl --user --no-pager list", NAME, "a program that only looks"),
    (f"busctl --user call {NAME} / {NAME} GetId; true", "connect session bus", "the same program, when it calls"),
    ("ssh-add -l; true", "no identities", "the agent's own client"),
    (f"ssh-agent {sys.executable} speak.py {AGENT}", "reached", "an agent of the session's own"),
    (f"dbus-run-session -- {GET_ID}", "method return", "a bus of the session's own"),
    ("timeout 0.5 dbus-monitor --session; echo", "NameAcquired", "a program that does what its name says"),
)


@pytest.mark.parametrize(("task", "said"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_where_nobody_can_be_asked(stage_with_sockets, task, said):
    _, seen = stage_with_sockets.agent(task)
    assert said in seen[-1]["out"] + seen[-1]["err"], seen


def test_a_yes_is_for_the_program(stage_with_sockets):
    child = stage_with_sockets.on_terminal(*[f"{sys.executable} speak.py {AGENT}"] * 2)
    child.expect("Action: USE_SSH_AGENT")
    time.sleep(0.4)  # a key that comes sooner was meant for something else
    child.send("y")
    child.expect(pexpect.EOF)
    assert [task["out"].strip() for task in stage_with_sockets.seen()] == ["reached"] * 2
    assert [e["data"]["authorized_by"] for e in stage_with_sockets.log(kind="human")] == ["user"]
