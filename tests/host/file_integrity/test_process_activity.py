"""What is proved of processes: real ones, at rest and at work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from sentinel_guard.host.file_integrity.process_activity import TICK, Activity
from sentinel_guard.host.machine import processes
from tests.support.wait_until import until

ME = processes.identify(os.getpid())
WAITS = "import sys, subprocess; child = {child}; print('ready', flush=True); [exec(line) for line in sys.stdin]"


@pytest.fixture
def agent():
    """A process that does what it reads, and rests."""
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS.format(child="None")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    yield process
    process.stdin.close()
    process.wait()
    process.stdout.close()


def told(agent, line):
    agent.stdin.write(f"{line}\nprint('done', flush=True)\n")
    agent.stdin.flush()
    assert agent.stdout.readline() == "done\n"


def ran(activity, agent, between):
    """What a session below this process is seen to have done while ``between`` was played."""
    activity.look()
    time.sleep(TICK * 2)
    at = time.time()
    between()
    activity.look()
    return activity.since(at, agent.pid)


def nothing():
    time.sleep(TICK)


def test_rest_is_proved(agent):
    seen = ran(Activity(ME), agent, nothing)
    assert (seen.proved, seen.agent_ran, seen.others, seen.others_ran) == (True, False, False, False)


def test_whether_anything_ran_between_two_looks(agent):
    activity = Activity(ME)
    activity.look()
    assert activity.moved, "nothing is known before the second look"
    for between, moved in ((nothing, False), (lambda: told(agent, "open('/dev/null', 'w').close()"), True)):
        time.sleep(TICK * 2)
        activity.look()
        between()
        activity.look()
        assert activity.moved is moved


def test_the_least_work_of_the_agent_is_seen(agent):
    seen = ran(Activity(ME), agent, lambda: told(agent, "open('/dev/null', 'w').close()"))
    assert (seen.agent_ran, seen.others_ran) == (True, False) and 0 < seen.agent < 0.02


def test_another_process_counts_by_what_it_does(agent):
    activity = Activity(ME)
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(0.1)
    assert ran(activity, agent, nothing).others and not activity.since(0, agent.pid).proved

    def work():
        other.stdin.write(b"x")
        other.stdin.flush()
        other.stdout.read(1)

    assert ran(activity, agent, work).others_ran
    assert ran(activity, agent, other.communicate).others_ran, "one that has gone has run"


def test_the_leader_of_the_agents_session_counts_as_little_as_the_runner(agent):
    leader = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    activity = Activity(ME)
    activity.look(parts=frozenset({leader.pid}))
    time.sleep(TICK * 2)
    at = time.time()
    leader.communicate(b"x")
    activity.look(parts=frozenset({leader.pid}))
    seen = activity.since(at, agent.pid)
    assert (seen.proved, seen.others, seen.others_ran) == (True, False, False)


def test_nothing_is_proved_without_a_look_before(agent):
    activity = Activity(ME)
    activity.look()
    assert not activity.since(time.time(), agent.pid).proved
    assert not Activity(None).look() and not Activity(None).since(time.time(), 1).proved
    assert not activity.lately(agent.pid).proved


def test_a_process_is_described():
    process = subprocess.Popen(["sleep", "60"])
    time.sleep(0.05)
    seen = processes.describe(process.pid)
    process.kill()
    process.wait()
    assert (seen.name, seen.command) == ("sleep", ("sleep", "60"))
    assert processes.describe(process.pid) is None


LEAVES = "sleep 60 >/dev/null & echo $!; read line"


@pytest.mark.parametrize("listed", [True, False], ids=["the kernel's list of children", "all of /proc"])
@pytest.mark.parametrize("when", ["while it is read", "before it is read"])
def test_who_loses_the_owner_in_the_middle_of_a_look_is_not_forgotten(monkeypatch, when, listed):
    owner = subprocess.Popen(["sh", "-c", LEAVES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    orphan = processes.identify(int(owner.stdout.readline()))
    activity, children, exists = Activity(processes.identify(owner.pid)), processes._children, os.path.exists
    activity.look()
    assert activity.members == {orphan}

    def end():
        owner.kill()
        owner.wait()
        assert until(lambda: processes.stat(orphan.pid)[0] != owner.pid)

    def of(pid):
        found = children(pid) if when == "while it is read" else []
        end()
        return found

    def all_pids():
        if when == "while it is read":
            yield owner.pid
        end()
        yield orphan.pid

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(processes, "_children", lambda pid: of(pid) if pid == owner.pid else children(pid))
        meanwhile.setattr(processes, "_pids", all_pids)
        if not listed:
            meanwhile.setattr(os.path, "exists", lambda path: not path.endswith("/children") and exists(path))
        activity.look()
    assert owner.returncode is not None, "it ended meanwhile"
    assert activity.members == {orphan}
    os.kill(orphan.pid, signal.SIGKILL)
    assert until(lambda: not processes.alive(orphan))
    activity.look()
    assert not activity.members, "who has ended belongs to nobody"
    owner.stdin.close()
    owner.stdout.close()
