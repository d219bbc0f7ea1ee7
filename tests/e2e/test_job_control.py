"""Job control with the whole guard: an agent is stopped in the person's shell, and its session goes on afterwards."""

from __future__ import annotations

import shlex
import sys

import pytest

from tests.support.guarded_repository import BIN
from tests.support.job_control_shell import Shell
from tests.support.wait_until import settled, until

STOPS_BETWEEN = """
import os, signal, subprocess
subprocess.run(["bash", "-c", "echo one > one.txt"])
os.kill(os.getpid(), signal.SIGTSTP)
subprocess.run(["bash", "-c", "cat one.txt > two.txt"])
"""
# What is left at work while the agent is stopped: it waits for a file, and does what stands there.
LEAVES_A_HELPER = """
import os, pathlib, signal, subprocess, sys, time
if sys.argv[1:] == ["helper"]:
    while not pathlib.Path("go").exists() or not pathlib.Path("go").read_text():
        time.sleep(0.02)
    sys.exit(subprocess.run(["bash", "-c", open("go").read()]).returncode)
helper = subprocess.Popen([sys.executable, __file__, "helper"], start_new_session=True)
os.kill(os.getpid(), signal.SIGTSTP)
helper.wait()
"""
ENDS_A_SESSION = "rm -rf /"
"""Stubs are in the place of both."""
IS_ASKED_ABOUT = "deploy production"


@pytest.fixture
def shell(stage):
    opened = Shell(stage.folder, runner=[str(BIN / "sentinel-guard"), "run", "--"], cwd=stage.repo, env=stage.environ)
    yield opened
    opened.close(force=True)


def script(stage, text: str) -> str:
    file = stage.folder / "agent.py"
    file.write_text(text)
    return shlex.join([sys.executable, str(file)])


def test_a_session_goes_on_after_a_stop(stage, shell):
    stage.commit()
    shell.type(f"agent {script(stage, STOPS_BETWEEN)}")
    assert "Stopped" in shell.prompt()
    assert (stage.repo / "one.txt").exists() and not (stage.repo / "two.txt").exists()
    assert "1 stopped" in shell.line("jobs | sed 's/.*Stopped.*/1 stopped/'")
    shell.line("fg")
    assert shell.code() == 0
    assert (stage.repo / "two.txt").read_text() == "one\n"
    calls = [e["data"]["arguments"] for e in stage.log(kind="verdict") if e["data"]["call"]]
    assert [call["command"] for call in calls] == ["echo one > one.txt", "cat one.txt > two.txt"]


def test_the_kill_switch_reaches_the_person_while_the_agent_is_stopped(stage, shell):
    stage.commit()
    shell.type(f"agent {script(stage, LEAVES_A_HELPER)}")
    assert "Stopped" in shell.prompt()
    stage.write("go", ENDS_A_SESSION)
    shell.expect_exact("SENTINEL KILL SWITCH")
    shell.jobs_say("Exit 137")
    assert until(lambda: stage.log(kind="recovery"))


def test_the_person_is_told_of_a_question_while_the_agent_is_stopped(stage, shell):
    stage.commit()
    stage.policy('[confirm]\ndeploy = ["deploy"]\n')
    shell.type(f"agent {script(stage, LEAVES_A_HELPER)}")
    assert "Stopped" in shell.prompt()
    stage.write("go", IS_ASKED_ABOUT)
    shell.expect_exact("SENTINEL asks: DEPLOY PRODUCTION? It waits for you: fg.")
    shell.jobs_say("Stopped")
    shell.sendline("fg")
    shell.expect_exact("Confirm? (Y/N): ")
    settled()
    shell.send("y")
    shell.prompt()
    [answer] = stage.log(kind="human")
    assert answer["data"]["authorized_by"] == "user"
