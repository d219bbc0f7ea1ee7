"""The baseline is whole before anything runs that could destroy it, whatever becomes of the daemon. Real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit

SCRIPT = """
import json, pathlib, sys
sys.path.insert(0, {folder!r})
whole = [str(p) for p in pathlib.Path({guard!r}).glob("state/sessions/*/baseline/completed.json")]
pathlib.Path({told!r}).write_text(json.dumps(whole))
import tidy
tidy.all()
"""
TIDY = """
import pathlib, shutil
def all():
    shutil.rmtree(pathlib.Path(__file__).with_name("what").read_text())
    pathlib.Path("a.txt").write_text("evil")
"""


@pytest.fixture
def stage(alone):
    return alone


def whole(stage) -> list:
    return list(stage.guard.glob("state/sessions/*/baseline/completed.json"))


def test_an_agent_whose_first_act_deletes_git_unseen(stage):
    names = {f"f{n}__txt": f"{n}\n" for n in range(400)}
    stage.commit(a__txt="mine\n", **names)
    stage.write("untracked.txt", "mine too\n")
    before = stage.git("log", "--format=%H", "--all"), stage.git("status", "--porcelain")
    told = stage.folder / "told.json"
    (stage.folder / "tidy.py").write_text(TIDY)
    (stage.folder / "what").write_text(str(stage.repo / ".git"))
    script = stage.folder / "first.py"
    script.write_text(SCRIPT.format(folder=str(stage.folder), guard=str(stage.guard), told=str(told)))
    done, seen = stage.agent(f"python3 {script}", "rm -rf /")
    assert seen[0]["code"] == 0 and done.returncode == 137
    assert json.loads(told.read_text()), "the baseline was whole when the first command ran"
    assert (stage.repo / "a.txt").read_text() == "mine\n"
    status = [line for line in stage.git("status", "--porcelain").splitlines() if "docs/" not in line]
    assert (stage.git("log", "--format=%H", "HEAD"), "\n".join(status) + "\n") == before
    stage.git("fsck")


def test_a_baseline_that_a_fallen_daemon_left_half_is_completed_by_the_next(stage):
    stage.commit(a__txt="mine\n")
    tasks = stage.tasks("echo one", 2.5, "echo two")
    agent = subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", *tasks],
        cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + limit(20)
    while not (stage.folder / "seen.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    (completed,) = whole(stage)
    os.kill(json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"], signal.SIGKILL)
    completed.unlink()
    agent.communicate(timeout=limit(40))
    assert [s["code"] for s in stage.seen()] == [0, 0]
    assert whole(stage) == [completed]
