"""While a session runs, its shims or the whole state folder are deleted or changed: it is ended, with words."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import until

# A child in a terminal session of its own goes on with what the program was about to do.
PROGRAM = """
import os, shutil, signal, sys, time
state, session, how = sys.argv[1], os.environ["SENTINEL_SESSION"], sys.argv[2].split("+")
seconds = float(sys.argv[4])
shims = f"{state}/sessions/{session}/shims"
if "daemon" in how:
    os.kill(int(sys.argv[3]), signal.SIGKILL)
if "state" in how:
    while os.path.exists(state):  # the daemon may write there meanwhile
        shutil.rmtree(state, ignore_errors=True)
if "folder" in how:
    os.rename(shims, shims + ".old")
if "one" in how:
    os.unlink(f"{shims}/git")
if "bytes" in how:
    os.chmod(f"{shims}/git", 0o700)
    with open(f"{shims}/git", "r+b") as file:
        file.seek(1000)
        file.write(b"x")
if "ends" in how:
    sys.exit(0)
name = "free" if os.fork() else os.setsid() or "child"
time.sleep(seconds)
open(f"{sys.argv[5]}/{name}", "w").close()  # outside of what is rolled back
"""
SOON = 0.4
"""Seconds after the harm at which nothing goes on any more: the kernel tells the runner."""
HARMS = (
    ("state", "the whole state folder"),
    ("folder", "the folder of the shims"),
    ("one", "one shim"),
    ("bytes", "the bytes that all of them share"),
    ("one+ends", "one shim, by an agent that ends before anybody looked"),
    ("daemon+one", "one shim, once the daemon was killed"),
    ("daemon+folder+ends", "the folder, once the daemon was killed, by an agent that ends at once"),
    ("daemon+state", "the whole state folder, once the daemon was killed"),
)


@pytest.fixture
def stage(alone):
    return alone


def daemon_pid(stage) -> int:
    assert stage.sentinel("daemon", "start").returncode == 0
    return json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"]


def agent(stage, how, daemon):
    """The command of one that does this harm, and goes on for longer than the guard needs to see it: the kernel tells
    the runner of it.
    """
    script, state = str(stage.folder / "harm.py"), str(stage.guard / "state")
    seconds = limit(SOON if how in ("folder", "one", "bytes") else 8)
    return [sys.executable, script, state, how, str(daemon), str(seconds), str(stage.folder)]


@pytest.mark.parametrize("how", [row[0] for row in HARMS], ids=[row[1] for row in HARMS])
def test_a_session_whose_shims_are_harmed_is_ended(stage, how):
    stage.commit()
    (stage.folder / "harm.py").write_text(PROGRAM)
    done = stage.sentinel("run", "--", *agent(stage, how, daemon_pid(stage)))
    assert done.returncode == 137, done
    assert "KILL SWITCH" in done.stderr and "deleted or changed" in done.stderr
    # Whatever had lived on would hold our end of its output.
    assert not (stage.folder / "free").exists() and not (stage.folder / "child").exists()
    if "state" not in how:
        assert until(lambda: len(stage.log(kind="incident")) == 1, seconds=20)
        (entry,) = [e for e in stage.log(kind="verdict") if e["level"] == "L4"]
        assert entry["data"]["findings"][0]["check"] == "shims"
        assert stage.sentinel("log", "verify").returncode == 0


# Each does to the shims of its own session what other programs may do, and goes on for two looks.
HONEST = """
import os, shutil, sys, tarfile, time
shims = os.environ["PATH"].split(":")[0]
for name in os.listdir(shims):
    os.utime(f"{shims}/{name}")
    os.chmod(f"{shims}/{name}", os.stat(f"{shims}/{name}").st_mode | 0o200)
with tarfile.open(sys.argv[1], "w") as tar:
    tar.add(shims)
shutil.copy2(f"{shims}/git", f"{shims}/aside")
os.replace(f"{shims}/aside", f"{shims}/git")
open(f"{shims}/new", "w").close()
time.sleep(3.5)
print("done")
"""


def run(stage, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", *arguments], cwd=stage.repo, env=stage.environ, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def begun(stage, count: int = 1) -> bool:
    return until(lambda: len([*(stage.guard / "state" / "sessions").glob("*/shims/aside")]) >= count, seconds=20)


def test_shims_that_are_read_touched_or_put_back_are_left_alone(stage):
    stage.commit()
    (stage.folder / "honest.py").write_text(HONEST)
    done = stage.sentinel("run", "--", sys.executable, str(stage.folder / "honest.py"), str(stage.folder / "copy.tar"))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


STAYS = 'import os, time; open(os.environ["PATH"].split(":")[0] + "/aside", "w").close(); time.sleep(5); print("done")'


def stop_by_force(stage, _pid):
    assert stage.sentinel("daemon", "stop", "--force").returncode == 0


def stop_for_a_while(_stage, pid):
    """As a laptop that is suspended: the looks come late."""
    os.kill(pid, signal.SIGSTOP)
    time.sleep(2.5)
    os.kill(pid, signal.SIGCONT)


def begin_and_end_others(stage, _pid):
    for _ in range(12):  # more than are kept: what is old is pruned
        assert stage.sentinel("run", "--", "/bin/true").returncode == 0


MEANWHILE = (
    (stop_by_force, "daemon stop --force"),
    (lambda _, pid: os.kill(pid, signal.SIGKILL), "kill -9 of the daemon: another one takes it up"),
    (stop_for_a_while, "the look comes late"),
    (begin_and_end_others, "sessions beside it begin, end and are pruned"),
)


@pytest.mark.parametrize("happens", [row[0] for row in MEANWHILE], ids=[row[1] for row in MEANWHILE])
def test_a_session_lives_on_whatever_happens_beside_it(stage, happens):
    stage.commit()
    pid = daemon_pid(stage)
    session = run(stage, sys.executable, "-c", STAYS)
    assert begun(stage)
    happens(stage, pid)
    out, err = session.communicate(timeout=limit(60))
    assert (session.returncode, out) == (0, "done\n"), err
    assert not [e for e in stage.log() if e["level"] == "L4"]


def test_of_two_sessions_only_that_whose_shims_are_harmed_is_ended(stage):
    stage.commit()
    (stage.folder / "harm.py").write_text(PROGRAM)
    other = run(stage, sys.executable, "-c", STAYS)
    with contextlib.ExitStack() as ended:
        ended.callback(other.communicate, timeout=limit(60))
        assert begun(stage)
        assert stage.sentinel("run", "--", *agent(stage, "bytes", 0)).returncode == 137
    assert other.returncode == 0
