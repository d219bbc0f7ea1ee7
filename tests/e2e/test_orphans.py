"""What an agent leaves behind whose runner was killed: it is found, ended, and what it changed is put back."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sentinel_guard.host.machine import cgroups, processes
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import until

# Leaves a process without environment, parent and terminal, and goes on.
AGENT = """
import os, sys, time
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(3600)"
    os.execve(sys.executable, [sys.executable, "-I", "-c", code, sys.argv[1]], {})
time.sleep(60)
"""

HIDE = 'awk \'$3 == "cgroup2" {print $2}\' /proc/mounts | xargs -r umount -l; exec "$@"'
ORDINARY = (
    *("unshare", "--mount", "sh", "-c", HIDE, "sh"),
    *("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"),
)  # fmt: skip
"""Takes from root what root may do beyond others, and the control groups of this machine. An ordinary user has neither,
or a group, too.
"""
# Kills the runner before anybody has looked, and from then on is another process each time that it has left a byte.
RENEWS = """
import os, signal, sys, time
runner, told, pause = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
os.kill(runner, signal.SIGKILL)
until = time.monotonic() + 60  # where it was not ended, the machine is not its for ever
while time.monotonic() < until:
    with open(told, "a") as file:
        file.write("x")
    time.sleep(pause)
    if os.fork():
        os._exit(0)
    os.setsid()
"""
# Leaves it behind without environment and terminal.
LEAVES = """
import os, sys, time
if not os.fork():
    os.setsid()
    os.execve(sys.executable, [sys.executable, "-I", "-c", *sys.argv[1:]], {})
time.sleep(60)
"""
# Becomes the runner.
RUN = """
import os, sys
program, script, code, *rest = sys.argv[1:]
os.execv(program, [program, "run", "--", sys.executable, script, code, str(os.getpid()), *rest])
"""

A_DAY_LATER = """
from sentinel_guard.daemon import assembly, begin_session
from sentinel_guard.host.machine.state_paths import places
begin_session.LATER = -3600.0
assembly.serve(places())
"""


DIES = """
import os, signal
from sentinel_guard.daemon import assembly
from sentinel_guard.host.machine import cgroups
from sentinel_guard.host.machine.state_paths import places
cgroups.enter = lambda pid, session: os.kill(os.getpid(), signal.SIGKILL)
where = places()
where.make()
assembly.serve(where)
"""


@pytest.fixture
def stage(alone):
    return alone


@pytest.fixture
def orphan(stage):
    """A running session's runner, and the pid of what its agent has left behind."""
    stage.commit()
    (stage.folder / "agent.py").write_text(AGENT)
    told = stage.folder / "pid"
    runner = subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", sys.executable, str(stage.folder / "agent.py"), str(told)],
        cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert until(lambda: told.exists() and told.read_text(), seconds=20)
    yield runner, int(told.read_text())
    for pid in (runner.pid, int(told.read_text())):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    runner.wait()


def test_an_orphan_without_environment_ends_with_its_killed_runner(stage, orphan):
    runner, pid = orphan
    peer = processes.identify(pid)
    assert processes.environ(pid) == {}
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    assert until(lambda: not processes.alive(peer), seconds=20)


def test_an_orphan_ends_with_a_runner_that_was_killed_before_it_had_a_daemon_again(stage, orphan):
    runner, pid = orphan
    peer = processes.identify(pid)
    os.kill(runner.pid, signal.SIGSTOP)
    os.kill(json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"], signal.SIGKILL)
    assert stage.sentinel("daemon", "start").returncode == 0
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    assert until(lambda: not processes.alive(peer), seconds=20)
    assert until(lambda: [e["data"]["reason"] for e in stage.log(kind="end")] == ["its owner has gone"])


def renewing(told: Path) -> bool:
    before = told.stat().st_size
    time.sleep(0.7)
    listed = Path("/proc").glob("[0-9]*")
    return told.stat().st_size > before or any(str(told) in processes.command_line(int(p.name)) for p in listed)


@pytest.mark.parametrize("pause", ["0.3", "0"], ids=["some times a second", "as often as it can"])
def test_an_orphan_that_kills_its_runner_and_is_another_process_all_the_time_ends(stage, pause):
    stage.commit()
    script, told = stage.folder / "leaves.py", stage.folder / "told"
    script.write_text(LEAVES)
    told.touch()
    run = [sys.executable, "-c", RUN, str(BIN / "sentinel-guard"), str(script), RENEWS, str(told), pause]
    done = subprocess.run(
        [*(ORDINARY if os.geteuid() == 0 else ()), *run], cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=limit(30),
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done
    assert until(lambda: not renewing(told), seconds=20), "neither seen nor grouped, it is known by its limit"
    assert told.stat().st_size > 0


def test_what_changed_while_nobody_watched_is_put_back_at_the_burial(stage, orphan):
    runner, pid = orphan
    left, grouped = processes.identify(pid), cgroups.session_of(pid)
    daemon = json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"]
    agent = next(pid for pid, words in stage.processes().items() if str(stage.folder / "agent.py") in words[:3])
    marked = processes.identify(agent)
    for pid in (daemon, runner.pid):
        os.kill(pid, signal.SIGKILL)
    runner.wait()
    stage.write(".env", "MODE=evil\n")
    assert stage.sentinel("daemon", "start").returncode == 0
    assert until(lambda: (stage.repo / ".env").read_text() == "MODE=debug\n", seconds=10)
    assert not processes.alive(marked), "what still carried the session's mark"
    assert not (grouped and processes.alive(left)), "no daemon that lives has ever seen it: its control group tells"
    assert until(lambda: [e for e in stage.log(kind="watch") if e["data"]["path"].endswith(".env")])
    assert [e["data"]["reason"] for e in stage.log(kind="end")] == ["its owner has gone"]


def test_what_a_person_changed_long_after_the_end_stays(stage, orphan):
    runner, _ = orphan
    daemon = json.loads(stage.sentinel("daemon", "status", "--json").stdout)["daemons"][0]["pid"]
    for pid in (daemon, runner.pid):
        os.kill(pid, signal.SIGKILL)
    runner.wait()
    stage.write(".env", "MODE=mine\n")
    # A change in the future of the session's last entry, as it is a day later.
    served = subprocess.Popen([sys.executable, "-c", A_DAY_LATER], env=stage.environ)
    try:
        assert until(lambda: stage.sentinel("daemon", "status").returncode == 0, seconds=20)
        assert until(lambda: stage.log(kind="end"))
        assert (stage.repo / ".env").read_text() == "MODE=mine\n"
    finally:
        served.terminate()
        served.wait(limit(20))


@pytest.fixture
def groups():
    """Skips where no control group can be made."""
    with subprocess.Popen(["sleep", "3600"]) as process:
        folder = cgroups.enter(process.pid, f"of-test-orphans-{os.getpid()}")
        process.kill()
    if folder is None:
        pytest.skip("no control group of version 2 can be made here")
    assert until(lambda: cgroups.leave(folder) or not folder.exists())


def test_an_agent_whose_daemon_was_killed_before_it_had_its_group_is_put_there_by_the_next(stage, groups):
    stage.commit()
    served = subprocess.Popen([sys.executable, "-c", DIES], env=stage.environ)
    assert until(lambda: stage.sentinel("daemon", "status").returncode == 0, seconds=20)
    runner = subprocess.Popen(
        [str(BIN / "sentinel-guard"), "run", "--", "sleep", "3600"], cwd=stage.repo, env=stage.environ,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert served.wait(limit(20)) == -signal.SIGKILL
        assert stage.sentinel("daemon", "start").returncode == 0
        [session] = [entry["session"] for entry in stage.log(kind="session")]
        agents = lambda: [pid for pid, words in stage.processes().items() if words[:2] == ["sleep", "3600"]]  # noqa: E731
        assert until(lambda: [cgroups.session_of(pid) for pid in agents()] == [session], seconds=20)
    finally:
        runner.kill()
        runner.wait()
