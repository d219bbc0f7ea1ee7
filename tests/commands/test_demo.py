"""``sentinel-guard demo``: the whole protocol, once, as a user sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sentinel_guard.core.response_phrases import INTERVENTION
from tests.support.time_limits import limit

SHOWN = (
    ("SENTINEL HINT: ", "R1, L1"),
    ("403 SENTINEL BLOCKED: ", "R2, L2"),
    (INTERVENTION, "R3, R5, L3"),
    ("SENTINEL COOL DOWN: ", "R6"),
    ("[SENTINEL SECURITY]\nAction: FORCE_PUSH\nTarget: ORIGIN\nRisk: HIGH\nConfirm? (Y/N):", "R7"),
    ("SENTINEL KILL SWITCH: ", "R4, L4"),
    ("# INCIDENT-", "R9"),
    ("every file of the person's is as it was, bit for bit: yes", "R10"),
    ("the agent's session ended with exit code 137", "the agent was killed"),
)


@pytest.fixture(scope="module")
def told():
    """The demo, played to its end, and what it left in its home and in the folder for throw-away files."""
    program = str(Path(sys.executable).parent / "sentinel-guard")
    # Short, because a Unix socket path holds 107 bytes.
    with tempfile.TemporaryDirectory(prefix="sg-") as home, tempfile.TemporaryDirectory(prefix="sg-") as scrap:
        environ = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "TMPDIR": scrap}
        done = subprocess.run(
            [program, "demo"], cwd=home, env=environ, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=limit(60),
        )  # fmt: skip
        yield done, [*Path(home).iterdir(), *Path(scrap).iterdir()]


def test_it_ends_well_and_leaves_nothing_behind(told):
    done, left = told
    assert done.returncode == 0, done.stdout + done.stderr
    assert not left
    assert done.stderr == "" and "sentinel_guard/commands/" not in done.stdout, "no traceback of ours"


@pytest.mark.parametrize("words", [s[0] for s in SHOWN], ids=[s[1] for s in SHOWN])
def test_every_level_is_shown(told, words):
    shown = " ".join(told[0].stdout.split())
    assert " ".join(words.split()).lower() in shown.lower()


def test_what_comes_after_the_kill_is_never_reached(told):
    after = told[0].stdout.split("SENTINEL KILL SWITCH: ")[1]
    assert "this line is never reached" not in after
