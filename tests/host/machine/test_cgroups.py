"""The control group of a session: real groups, where this machine lets us make one."""

from __future__ import annotations

import os
import sys

import pytest

from sentinel_guard.host.machine import cgroups, processes
from tests.support.process_family import NONE
from tests.support.time_limits import limit
from tests.support.wait_until import until

SESSION = f"of-test-cgroups-{os.getpid()}"  # groups are the machine's: another checkout's tests may run
GONE = """
import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execve("/bin/sleep", ["sleep", "60"], {})
"""


@pytest.fixture
def group(start):
    """A process in a group of the session, which waits for a line; the group."""
    script = f"import subprocess, sys\ninput()\nsubprocess.run([sys.executable, '-c', {GONE!r}])"
    waiting = start(sys.executable, "-c", script)
    folder = cgroups.enter(waiting.pid, SESSION)
    if folder is None:
        pytest.skip("no control group of version 2 can be made here")
    yield waiting, folder
    processes.kill((), frozenset({os.getpid()}), f"SENTINEL_SESSION={SESSION}")
    assert until(lambda: cgroups.leave(folder) or not folder.exists())


def test_what_left_its_parents_its_terminal_and_its_environment_is_found_by_its_group(group):
    waiting, folder = group
    assert cgroups.session_of(waiting.pid) == SESSION and cgroups.session_of(os.getpid()) == ""
    waiting.stdin.write("go\n")
    waiting.stdin.flush()
    waiting.wait(limit(10))
    assert until(lambda: len((folder / "cgroup.procs").read_text().split()) == 1)
    (orphan,) = map(int, (folder / "cgroup.procs").read_text().split())
    assert until(lambda: processes.environ(orphan) == {})
    assert processes.tree((), frozenset(), f"SENTINEL_SESSION={SESSION}") == {orphan}
    assert processes.tree((orphan,), frozenset(), f"SENTINEL_SESSION={SESSION}") == set(), "a root is none of them"
    assert processes.kill((), frozenset(), f"SENTINEL_SESSION={SESSION}") == set()
    assert not processes.identify(orphan) or processes.stat(orphan)[2] in "ZX"


TAKES = """
import sys, time
from pathlib import Path
from sentinel_guard.host.machine import cgroups
print("begins", flush=True)
while True:
    cgroups.leave(Path(sys.argv[1]))
    time.sleep(0.0005)
"""


def test_a_group_that_another_daemon_takes_away_while_it_is_empty_is_made_again(start, group):
    _, folder = group
    other = folder.with_name(f"{folder.name}-2")
    taker = start(sys.executable, "-c", TAKES, str(other))
    assert taker.stdout.readline() == "begins\n"
    for _ in range(60):
        process = start("sleep", "3600")
        assert cgroups.enter(process.pid, f"{SESSION}-2") == other
        assert cgroups.session_of(process.pid) == f"{SESSION}-2"
        process.kill()
        process.wait()


OWNER = """
import subprocess, sys
from sentinel_guard.host.machine.process_control import become_subreaper
become_subreaper()
agent = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
print(agent.pid, flush=True)
agent.wait()
"""
AT_ONCE = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.execve("/bin/sleep", ["sleep", "60"], {})
    os._exit(0)
os.wait()
sys.stdin.readline()
"""


def test_what_was_started_before_its_parent_was_put_there_follows(start):
    owner = start(sys.executable, "-c", OWNER, AT_ONCE)
    agent, orphan = int(owner.stdout.readline()), int(owner.stdout.readline())
    assert until(lambda: processes.stat(orphan)[0] == owner.pid), "no parent leads from it to the agent"
    folder = cgroups.enter(agent, SESSION)
    if folder is None:
        pytest.skip("no control group of version 2 can be made here")
    processes.join_group(processes.identify(owner.pid), frozenset(), folder, SESSION)
    assert [*map(cgroups.session_of, (agent, orphan, owner.pid))] == [SESSION, SESSION, ""]
    assert processes.kill((), frozenset(), f"SENTINEL_SESSION={SESSION}") == set()
    assert until(lambda: cgroups.leave(folder) or not folder.exists())


def test_a_group_in_which_something_runs_stays_and_goes_with_the_next_session(group, start):
    waiting, folder = group
    cgroups.leave(folder)
    assert folder.exists()
    waiting.kill()
    waiting.wait(limit(10))
    other = start("sleep", "60")
    again = cgroups.enter(other.pid, f"{SESSION}-2")
    assert again and not folder.exists()
    other.kill()
    other.wait(limit(10))
    assert until(lambda: cgroups.leave(again) or not again.exists())


GROUPS = (
    ("0::/\n", ("/", ""), "the first group"),
    ("0::/user.slice/a.scope\n", ("/user.slice/a.scope", ""), "none of ours"),
    ("0::/a/sentinel-s1\n", ("/a", "s1"), "ours"),
    ("0::/sentinel-s1/below/b\n", ("/", "s1"), "one that the agent made in ours"),
    ("3:cpuset:/sentinel-s1\n0::/b\n", ("/b", ""), "version 1 is not asked"),
    ("9:name=systemd:/a\n", ("", ""), "version 1 alone"),
)


@pytest.mark.parametrize(("said", "group_", "why"), GROUPS, ids=[row[-1] for row in GROUPS])
def test_what_the_kernel_says_of_a_group(said, group_, why):
    assert cgroups._told(said) == group_


def test_where_none_can_be_made_there_is_none():
    assert cgroups.enter(NONE, SESSION) is None, "no such process"
