"""Processes: who they are, who begat them, and the end of a tree. Real ones, all started here."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pexpect
import pytest

from sentinel_guard.core.peer import Peer
from sentinel_guard.host.machine import ancestry, process_numbers, processes
from tests.support.process_family import NONE, family
from tests.support.time_limits import limit
from tests.support.wait_until import until


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def words_of(process: Path) -> list[str]:
    try:
        return (process / "cmdline").read_text().split("\0")
    except OSError:
        return []


def test_a_process_is_its_pid_and_its_start():
    me = processes.identify(os.getpid())
    assert me.pid == os.getpid() == processes.own_pid()
    assert processes.alive(me)
    assert not processes.alive(Peer(me.pid, me.start - 1)), "an earlier process of this pid"
    assert processes.identify(NONE) is None and not processes.alive(Peer(NONE, 1))


def test_a_zombie_does_not_run(start):
    process = start("true")
    peer = processes.identify(process.pid)
    assert until(lambda: state_of(process.pid) == "Z")
    assert not processes.alive(peer)


NAMES = ("plain", "a) S 1 (b", "two words", "((", ") ) )", "new\nline")


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_name_cannot_lie_about_its_parent(start, tmp_path, name):
    program = tmp_path / name
    shutil.copy(shutil.which("cat"), program)
    process = start(str(program))
    assert until(lambda: processes.executable(process.pid) == str(program))
    assert [p.pid for p in ancestry.lineage(process.pid)][:2] == [process.pid, os.getpid()]


def test_a_tree_is_all_that_descends_without_its_roots(start):
    parent, children = family(start)
    assert processes.tree((parent,), frozenset()) == set(children)
    assert processes.tree((NONE,), frozenset()) == set()


@pytest.mark.parametrize("listed", [True, False], ids=["by the kernel's list", "by all of /proc"])
def test_descendants_are_all_that_run_below_a_process(start, monkeypatch, listed):
    if not listed:
        monkeypatch.setattr(os.path, "exists", lambda _: False)
    pid, children = family(start)
    grand = start("/bin/sh", "-c", "true & exec sleep 60")  # with a child that has ended
    assert until(lambda: processes.stat(grand.pid)[2] == "S")
    assert {peer.pid for peer in processes.descendants(processes.identify(pid))} == {*children}
    here = {peer.pid for peer in processes.descendants(processes.identify(os.getpid()))}
    assert here >= {pid, *children, grand.pid} and all(processes.alive(processes.identify(p)) for p in here)


def test_who_is_gone_has_no_descendants(start):
    ended = start("true")
    peer = processes.identify(ended.pid)
    ended.wait()
    assert processes.descendants(peer) is None


def test_what_is_spared_is_spared_with_all_below_it(start):
    script = "/bin/sh -c 'echo $$; sleep 60 & echo $!; wait'; read x"
    grandparent, (parent, child) = family(start, script)
    assert processes.tree((grandparent,), frozenset()) == {parent, child}
    assert processes.tree((grandparent,), frozenset({parent})) == set()
    assert processes.tree((grandparent,), frozenset({child})) == {parent}


def orphan(start, **options) -> int:
    """A process that nobody's tree holds any more."""
    process = start("/bin/sh", "-c", "setsid sleep 60 >/dev/null & echo $!", **options)
    pid = int(process.stdout.readline())
    process.wait()
    return pid


def test_a_member_belongs_to_the_tree_wherever_it_is_and_whom_it_leads_does_too(start):
    process = start("/bin/sh", "-c", "setsid sh -c 'echo $$; sleep 60 & echo $!' >&1 & wait; read x", env={})
    leader, child = (int(process.stdout.readline()) for _ in range(2))
    seen = Peer(leader, processes.identify(child).start - 1)
    until(lambda: processes.identify(leader) is None)
    assert processes.tree((), frozenset()) == set(), "an orphan"
    assert processes.tree((), frozenset(), members=frozenset({processes.identify(child)})) == {child}
    assert processes.tree((), frozenset(), members=frozenset({seen})) == {child}, "the leader has ended"
    later = Peer(child, processes.identify(child).start - 1)
    assert processes.tree((), frozenset(), members=frozenset({later})) == set(), "another process of that number"
    assert processes.tree((), frozenset({child}), members=frozenset({seen})) == set()
    os.kill(child, signal.SIGKILL)


def test_what_carries_the_mark_belongs_to_the_tree_wherever_it_is(start):
    session = f"marked-{os.getpid()}"  # processes are the machine's: another checkout's tests may run
    environ, mark = {"PATH": os.environ["PATH"], "SENTINEL_SESSION": session}, f"SENTINEL_SESSION={session}"
    pid = orphan(start, env=environ)
    try:
        assert processes.tree((os.getpid(),), frozenset()) & {pid} == set(), "an orphan"
        assert processes.tree((), frozenset(), mark) == {pid}
        assert processes.tree((), frozenset({pid}), mark) == set()
        began = processes.identify(pid).start
        assert processes.tree((), frozenset(), mark, since=began) == {pid}
        assert processes.tree((), frozenset(), mark, since=began + 1) == set()
        assert processes.tree((), frozenset(), mark[:-1]) == set(), "the whole value counts"
        assert processes.kill((), frozenset(), mark) == set()
        assert not processes.identify(pid) or state_of(pid) == "Z"
    finally:
        if processes.identify(pid):
            os.kill(pid, signal.SIGKILL)


NEWEST_FIRST = [
    ([1, 20, 300], 300, [300, 20, 1], "as they count up"),
    ([1, 310, 900, 32000], 310, [310, 1, 32000, 900], "behind the highest they begin anew"),
    ([1, 310, 900], 0, [900, 310, 1], "where nobody tells which was the last"),
]


@pytest.mark.parametrize(("pids", "last", "order", "why"), NEWEST_FIRST)
def test_the_newest_processes_are_looked_at_first(pids, last, order, why):
    assert process_numbers.newest_first(pids, last) == order, why


def test_a_child_is_newer_than_its_parent(start):
    child = start("sleep", "60").pid
    order = process_numbers.newest_first([os.getpid(), child], process_numbers.last_given())
    assert order == [child, os.getpid()]


def test_freeze_stops_and_kill_ends_what_is_stopped(start):
    parent, children = family(start)
    assert processes.freeze((parent,), frozenset()) == set(children)
    assert until(lambda: [state_of(pid) for pid in children] == ["T", "T"])
    assert processes.kill((parent,), frozenset()) == set()
    assert until(lambda: all(processes.identify(pid) is None or state_of(pid) == "Z" for pid in children))
    assert processes.alive(processes.identify(parent)), "the root is left: the runner tells the person"


def test_who_descends_from_the_root_is_stopped_before_anybodys_environment_is_read(start, monkeypatch):
    """That takes ten times as long, while the session would go on."""
    parent, children = family(start)
    carries, seen = processes._carries, []

    def noted(pid, *mark):
        seen.append(until(lambda: [state_of(child) for child in children] == ["T", "T"]) if not seen else True)
        return carries(pid, *mark)

    monkeypatch.setattr(processes, "_carries", noted)
    assert processes.freeze((parent,), frozenset(), "SENTINEL_SESSION=none-of-this-name") == set(children)
    assert seen and all(seen)


def test_a_stopped_process_is_woken_and_no_other_of_its_pid(start):
    process = start("cat")
    peer = processes.identify(process.pid)
    process.send_signal(signal.SIGSTOP)
    assert until(lambda: state_of(peer.pid) == "T")
    processes.wake(Peer(peer.pid, peer.start - 1))
    processes.wake(Peer(NONE, 1))
    assert state_of(peer.pid) == "T", "an earlier process of this pid"
    processes.wake(peer)
    assert until(lambda: state_of(peer.pid) == "S")


def test_a_process_that_spawns_while_it_is_ended_is_ended_too(start):
    spawner = "while :; do sleep 29.25 >/dev/null & echo x; done"
    parent = start("/bin/sh", "-c", f"/bin/sh -c '{spawner}' & wait; read x")
    for _ in range(20):
        parent.stdout.readline()
    assert processes.kill((parent.pid,), frozenset()) == set()
    assert not [p for p in Path("/proc").iterdir() if p.name.isdigit() and "29.25" in words_of(p)], "no orphan"


def test_what_runs_for_this_user_is_listed(start):
    process = start("my-agent", "-c", "input()", "a b", executable=sys.executable)
    assert until(lambda: any(p.pid == process.pid for p in processes.of_user()))
    [found] = [p for p in processes.of_user() if p.pid == process.pid]
    assert found.command == ("my-agent", "-c", "input()", "a b")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
def test_what_runs_for_another_user_is_not(start):
    process = start("sleep", "60", user=65534)
    assert process.pid not in {p.pid for p in processes.of_user()}


ENDS = (
    ("trap 'echo ended; exit' TERM; echo ready; while :; do sleep 0.01; done", 5.0, "ended\n", "one that hears"),
    ("trap '' TERM; echo ready; while :; do sleep 0.01; done", 0.1, "", "one that does not"),
)


@pytest.mark.parametrize(("script", "seconds", "says"), [r[:3] for r in ENDS], ids=[r[3] for r in ENDS])
def test_a_process_ends_in_its_own_way_if_it_does_so_in_time(start, script, seconds, says):
    process = start("/bin/sh", "-c", script)
    process.stdout.readline()
    processes.end(frozenset({process.pid}), seconds)
    assert process.communicate(timeout=limit(5))[0] == says


def test_what_descends_from_a_process_ends_with_it_and_a_stranger_does_not(start):
    parent, children = family(start)
    stranger = start("sleep", "60")
    processes.end(frozenset({parent}), 5.0)
    assert until(lambda: all(processes.identify(pid) is None or state_of(pid) == "Z" for pid in children))
    assert processes.alive(processes.identify(stranger.pid))
    processes.end(frozenset({NONE}), 0.0)


def test_the_environment_that_a_process_began_with(start):
    process = start("cat", env={"A": "1", "B": "x=y", "C": "", "D": "\udcff"})
    assert until(lambda: processes.environ(process.pid))
    assert processes.environ(process.pid) == {"A": "1", "B": "x=y", "C": "", "D": "\udcff"}
    assert processes.environ(NONE) == {} and processes.executable(NONE) == ""


def test_the_executable_is_the_kernels_word_not_argv(start):
    process = start("i-am-bash", "-c", "input()", executable=sys.executable)
    assert until(lambda: processes.executable(process.pid) == os.path.realpath(sys.executable))


PRINTS = """
import os, pty, subprocess, sys
own = pty.openpty()[1]
for out, err in ((1, 2), (own, own), (1, own), (subprocess.PIPE, 2)):
    child = subprocess.Popen(["sleep", "60"], stdout=out, stderr=err)
    print(child.pid, flush=True)
sys.stdin.read()
"""


def test_whose_terminal_a_process_prints_on():
    client = pexpect.spawn(sys.executable, ["-c", PRINTS], echo=False, timeout=limit(10))
    pids = [int(client.readline()) for _ in range(4)]
    try:
        told = [processes.prints_on_terminal_of(pid, client.pid) for pid in pids]
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        client.close(force=True)
    assert told == [True, False, False, False], "its own, another, one of each, a pipe"


def test_without_a_terminal_there_is_none_to_print_on(start):
    alone = start("sleep", "60", start_new_session=True)
    assert not processes.prints_on_terminal_of(alone.pid, alone.pid), "pipes, and no controlling terminal"
    assert not processes.prints_on_terminal_of(alone.pid, NONE)
    assert not processes.prints_on_terminal_of(NONE, alone.pid)


OPENED = (
    ("open(path, 'w')", True, "a log that was begun anew"),
    ("open(path, 'a')", True, "a log that goes on"),
    ("open(path, 'r')", False, "a reader"),
    ("open(path, 'r+')", False, "a database: not at its end"),
    ("os.open(path, os.O_RDWR | os.O_APPEND)", True, "appended to, wherever it was read"),
)


@pytest.mark.parametrize(("how", "logs", "why"), OPENED, ids=[r[2] for r in OPENED])
def test_files_that_a_process_keeps_open_at_their_end(start, tmp_path, how, logs, why):
    path = tmp_path / "dev.log"
    path.write_text("old\n")
    code = f"import os, sys; path = {str(path)!r}; kept = {how}; print('open', flush=True); sys.stdin.read()"
    writer = start(sys.executable, "-c", code)
    assert writer.stdout.readline() == "open\n"
    assert processes.open_at_end({str(path), str(tmp_path / "other")}) == ({str(path)} if logs else set()), why
    writer.communicate()
    assert processes.open_at_end({str(path)}) == set(), "nobody has it open any more"


TERMINALS = """
import os, subprocess, sys
other = os.openpty()[1]
run = lambda stdin: print(subprocess.Popen(["sleep", "60"], stdin=stdin).pid, flush=True)
run(None), run(other), run(open("/dev/tty")), run(subprocess.PIPE)
sys.stdin.read()
"""


def test_which_terminal_controls_a_process_and_which_it_reads():
    client = pexpect.spawn(sys.executable, ["-c", TERMINALS], echo=False, timeout=limit(10))
    pids = [int(client.readline()) for _ in range(4)]
    try:
        controls = {processes.terminal(pid) for pid in (client.pid, *pids)}
        reads = [processes.input_terminal(pid) for pid in pids]
    finally:
        client.close(force=True)
    [one] = controls
    assert one, "all have the client's"
    assert reads[0] == one, "its own"
    assert reads[1] not in (0, one), "another"
    assert reads[2] == one, "by the name of whatever controls it"
    assert reads[3] != one, "none"


def test_who_is_not_there_has_no_terminal(start):
    alone = start("sleep", "60", start_new_session=True)
    assert processes.terminal(alone.pid) == 0
    assert (processes.terminal(NONE), processes.input_terminal(NONE)) == (0, 0)
