"""An agent that answers its own question: each way ends without a yes. Real daemon, runner, terminals.

The agent is the attacker's own program, so that what is met is the prompt, not the analysis of a command. All of it
runs without root's capabilities: with them one may write into every terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.support.guarded_repository import BIN, Stage
from tests.support.wait_until import settled, until

ATTACKER = Path(__file__).with_name("prompt_attacker.py")
DROPPED = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] if os.geteuid() == 0 else []
"""Takes from root what root may do beyond others: then it is a user who owns these files."""
PROMPT = "Confirm? (Y/N):"
GATE = '[confirm]\ndeploy = ["deploy"]\n[gate]\nseconds = 60\n'


@pytest.fixture(scope="module")
def guard():
    """Its daemon, which the first session starts, has no more rights than what attacks it."""
    guard = Stage()
    yield guard
    guard.close()


@pytest.fixture
def target(stage):
    """A stage with a gated command."""
    stage.commit()
    stage.policy(GATE)
    return stage


def command(stage, name):
    out = str(stage.folder / "out.json")
    run = [
        str(BIN / "sentinel-guard"),
        "run",
        "--",
        sys.executable,
        str(ATTACKER),
        name,
        out,
        str(stage.guard),
        str(BIN),
    ]
    return [*DROPPED, *run]


def refuse(stage, send):
    """A person says no, to each question, until the command is over: a key that comes too soon counts for nothing."""
    out = stage.folder / "out.json"
    for _ in range(60):
        if out.exists():
            return
        settled()
        send()
        if until(out.exists, seconds=1):
            return
    raise AssertionError("the command never ended")


def no_yes(stage):
    """What is on record of a person's word, and what the command came to; the session is over."""
    told = json.loads((stage.folder / "out.json").read_text())
    assert "stub deploy" not in told["out"] and told["code"] != 0, told
    words = [e["data"] for e in stage.log(kind="human")]
    assert not [w for w in words if w.get("yes") or w.get("authorized_by") == "user"], words


ALONE = [
    "TIOCSTI into each terminal of the session",
    "a y written to each terminal of the session",
    "the operator's message of another terminal",
    "our own command, on a terminal of the agent's",
    "our own command without the session's marks",
    "our own command below script",
    "our own command, set apart by setsid -f",
    "65 processes deep with an empty environment",
    "the runner's descriptors, by pidfd_getfd",
]


@pytest.mark.parametrize("name", ALONE)
def test_without_the_kernel_layer_no_yes_comes_of(target, name):
    words = command(target, name)
    person = target.terminal(words[0], *words[1:])
    person.expect_exact(PROMPT)
    tried = target.folder / "out.json.tried"
    # What it starts may have to wait behind the question: then there is nothing more to wait for here.
    until(lambda: tried.exists() or not person.isalive(), seconds=5)
    refuse(target, lambda: person.send("n"))
    person.expect(pexpect.EOF)
    no_yes(target)
    if "each terminal" in name:
        names = {line for line in json.loads(tried.read_text()) if line.startswith("/dev/") and ":" not in line}
        assert len(names) == 3, names  # /dev/tty, the agent's, the person's


def test_a_daemon_of_the_agents_own_gives_no_yes():
    with contextlib.closing(Stage()) as alone:  # its daemon is ended
        alone.commit()
        alone.policy(GATE)
        words = command(alone, "a daemon of the agent's own")
        person = alone.terminal(words[0], *words[1:])
        person.expect_exact(PROMPT)
        assert until((alone.folder / "out.json").exists, seconds=30)
        person.expect(pexpect.EOF)
        tried = json.loads((alone.folder / "out.json.tried").read_text())
        assert [what for what in tried if what.startswith("ended ")] and "asked" in tried, tried
        no_yes(alone)


def test_what_was_typed_ahead_for_seconds_is_no_yes(target):
    words = command(target, "a y written to each terminal of the session")
    person = target.terminal(words[0], *words[1:])
    for _ in range(20):
        person.send("y")
    person.expect_exact(PROMPT)
    refuse(target, lambda: person.send("n"))
    person.expect(pexpect.EOF)
    no_yes(target)


# --- through the program that shows the terminal: the kernel layer keeps it out ---


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize("name", ["tmux send-keys into the runner's pane", "the terminal's master, by pidfd_getfd"])
def test_with_the_kernel_layer_no_yes_comes_of(held, name):
    held.policy('[kernel]\nmode = "require"\n' + GATE)
    place = str(held.folder / "mux")

    def tmux(*words):
        line = [*DROPPED, "tmux", "-S", place, "-f", "/dev/null", *words]
        return subprocess.run(line, cwd=held.repo, env=held.environ, check=False, capture_output=True, text=True)

    def screen():
        return tmux("capture-pane", "-p").stdout

    out, tried = held.folder / "out.json", held.folder / "out.json.tried"
    tmux("new-session", "-d", "-x", "80", "-y", "24", *command(held, name)[len(DROPPED) :])
    try:
        assert until(lambda: PROMPT in screen(), seconds=40), screen()
        until(lambda: tried.exists() or out.exists(), seconds=5)
        refuse(held, lambda: tmux("send-keys", "n"))
    finally:
        tmux("kill-server")
    no_yes(held)
