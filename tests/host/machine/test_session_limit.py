"""The limit by which a session's processes are known, on real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from sentinel_guard.host.machine import processes, session_limit
from tests.support.time_limits import limit
from tests.support.wait_until import until

SESSION = f"of-test-session-limit-{os.getpid()}"  # processes are the machine's: another checkout's tests may run
PRLIMIT = shutil.which("prlimit") or ""
ENTERS = """
import os, sys
from sentinel_guard.host.machine import session_limit
session_limit.enter(sys.argv[1])
print(os.getpid(), session_limit.of(os.getpid()), flush=True)
sys.stdin.readline()
os.execve(sys.argv[2], sys.argv[2:], {})
"""
GONE = """
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
print(os.getpid(), flush=True)
sys.stdin.close(); sys.stdout.close(); os.close(1)
os.execve("/bin/sleep", ["sleep", "60"], {})
"""


def test_what_left_its_parents_its_terminal_and_its_environment_is_known(start):
    process = start(sys.executable, "-c", ENTERS, SESSION, sys.executable, "-c", GONE)
    pid, number = map(int, process.stdout.readline().split())
    assert number == session_limit.of(pid) == session_limit.number(SESSION) > 1 << 59
    process.stdin.write("go\n")
    process.stdin.flush()
    orphan = int(process.stdout.readline())
    process.wait(limit(10))
    assert until(lambda: processes.name(orphan) == "sleep") and processes.environ(orphan) == {}
    assert session_limit.of(orphan) == number
    mark = f"SENTINEL_SESSION={SESSION}"
    assert processes.tree((), frozenset(), mark) == {orphan}
    assert processes.tree((), frozenset(), f"{mark}2") == processes.tree((), frozenset()) == set()
    assert processes.kill((), frozenset(), mark) == set()
    assert until(lambda: not processes.identify(orphan) or processes.stat(orphan)[2] in "ZX")


BEFORE = (
    ("--rttime=unlimited:unlimited", True, "none before"),
    ("--rttime=200000:200000", False, "a lower one that somebody has set, for real-time work"),
    (f"--rttime=200000:{(1 << 62) - 1}", True, "a higher one, of a session for instance"),
)


@pytest.mark.skipif(not PRLIMIT, reason="no prlimit(1)")
@pytest.mark.parametrize(("before", "entered"), [row[:2] for row in BEFORE], ids=[row[2] for row in BEFORE])
def test_a_limit_is_never_raised(start, before, entered):
    process = start(PRLIMIT, before, sys.executable, "-c", ENTERS, SESSION, "/bin/true")
    _, number = map(int, process.stdout.readline().split())
    assert number == (session_limit.number(SESSION) if entered else 0)


READS = "import sys; from sentinel_guard.host.machine import session_limit; print(session_limit.of(int(sys.argv[1])))"
ORDINARY = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root gets any group")
def test_one_that_has_got_another_group_is_known(start):
    process = start("setpriv", "--regid=12", "--clear-groups", sys.executable, "-c", ENTERS, SESSION, "/bin/true")
    pid, number = process.stdout.readline().split()
    read = subprocess.run([*ORDINARY, sys.executable, "-c", READS, pid], capture_output=True, text=True, check=True)
    assert read.stdout.strip() == number != "0"


def test_one_that_is_gone_has_none():
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    assert session_limit.of(gone.pid) == 0
