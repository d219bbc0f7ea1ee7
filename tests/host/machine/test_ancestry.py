"""What a process descends from: real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.errors import PeerError
from sentinel_guard.host.machine import ancestry, processes
from tests.support.process_family import NONE, family
from tests.support.wait_until import until


def test_lineage_goes_up_to_the_first(start):
    parent, (one, _) = family(start)
    line = [p.pid for p in ancestry.lineage(one)]
    assert line[:3] == [one, parent, os.getpid()]
    assert is_first(line[-1])
    assert ancestry.lineage(NONE) == []


def test_a_remembered_lineage_is_as_one_that_is_read(start):
    lineages, (parent, (one, two)) = ancestry.Lineages(), family(start)
    for pid in (one, two, one, parent, os.getpid(), one):
        assert lineages.of(pid) == ancestry.lineage(pid)
    assert lineages.of(NONE) == []


def test_a_remembered_process_whose_parent_ended_is_read_again(start):
    # What is left when its parent has ended must hold no pipe: who reads it would wait for it.
    inner = "sh -c 'sleep 60 > /dev/null & echo $!; echo $$; wait; :'"
    lineages, (leaf, middle) = ancestry.Lineages(), family(start, f"{inner} & wait; read x")[1]
    assert processes.identify(middle) in lineages.of(leaf)
    os.kill(middle, signal.SIGKILL)
    assert until(lambda: processes.identify(middle) not in lineages.of(leaf))
    assert lineages.of(leaf) == ancestry.lineage(leaf)
    os.kill(leaf, signal.SIGKILL)


def is_first(pid: int) -> bool:
    """Whether a process has no parent here: init, or one that came into this container from outside."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == "0"


def test_lineage_has_no_depth_limit(start):
    """An agent may start as many processes below each other as it likes: all are below its runner."""
    deep = "import os, sys\nfor _ in range(300):\n if os.fork(): os.wait(); os._exit(0)\nprint(os.getpid(), flush=True)"
    top = start(sys.executable, "-c", f"{deep}\ninput()", env={})
    pid = int(top.stdout.readline())
    line = [p.pid for p in ancestry.lineage(pid)]
    assert line.index(top.pid) == 300 and line.index(os.getpid()) == 301
    assert is_first(line[-1])


def test_lineage_is_never_cut_short_by_an_ancestor_that_ends(monkeypatch):
    """A process whose parent ends while it is read has another one: it is read again, up to the first."""
    read, stat, whole = [], processes.stat, ancestry.lineage(os.getpid())
    gone = whole[1].pid
    monkeypatch.setattr(
        processes, "stat", lambda pid: read.append(pid) or (stat(pid) if read != [os.getpid(), gone] else None)
    )
    assert ancestry.lineage(os.getpid()) == whole
    assert read.count(os.getpid()) == 2


@pytest.mark.skipif(os.getuid() != 0, reason="mounting /proc anew needs root")
def test_lineage_ends_where_proc_hides_the_processes_of_others():
    """With hidepid, what a person starts has no ancestor that they may see: that is no reason to refuse it."""
    seen = """
import os, sys
sys.path.insert(0, sys.argv[1])
from sentinel_guard.host.machine import ancestry, processes
os.setgroups([]), os.setgid(65534), os.setuid(65534)
print(processes.identify(1), len(ancestry.lineage(os.getpid())))
"""
    program = ["unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"]
    root = str(Path(processes.__file__).parents[3])
    done = subprocess.run([*program, sys.executable, "-c", seen, root], capture_output=True, text=True, check=False)
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.stdout == "None 1\n", done.stderr


def test_ancestors_that_cannot_be_read_are_said(monkeypatch):
    """Where each reading fails, nobody is told something that is only half true."""
    monkeypatch.setattr(ancestry, "READINGS", 3)
    read, stat = [], processes.stat
    gone = ancestry.lineage(os.getpid())[1].pid
    monkeypatch.setattr(processes, "stat", lambda pid: read.append(pid) or (None if pid == gone else stat(pid)))
    with pytest.raises(PeerError, match="cannot be read up to the first process"):
        ancestry.lineage(os.getpid())
    assert read.count(os.getpid()) == 3
