"""Who belongs to which session, and that a restart loses nothing. Real processes where descent is the point."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Action, Ask, Entry, Finding, Layer, Outcome, Response, TestRun, Verdict
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.session import Event, Session, State
from sentinel_guard.daemon.agent_socket import located
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.errors import PeerError, StoreError
from sentinel_guard.host.machine import cgroups, processes
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.support.fakes import FullStore, MemoryStore
from tests.support.guard_in_memory import PLACES, Stand


@pytest.fixture
def family():
    """A process with a child: the owner of a session, and what runs in it."""
    owner = subprocess.Popen(["/bin/sh", "-c", "echo $$; /bin/sh -c 'echo $$; read x'; :"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    pids = int(owner.stdout.readline()), int(owner.stdout.readline())
    yield processes.identify(pids[0]), pids[1]
    owner.communicate()


def test_a_process_belongs_to_the_owner_among_its_ancestors_and_nobody_else_does(family):
    owner, child = family
    stand = Stand()
    live = stand.begin("s2", owner=owner)
    assert stand.sessions.locate(child).live is live
    assert stand.sessions.locate(child).peer == processes.identify(child)
    assert stand.sessions.locate(owner.pid).live is live
    assert stand.sessions.locate(os.getpid()) is None, "its parent"
    assert stand.sessions.locate(1) is None
    assert stand.sessions.locate(2**22 - 1) is None, "no such process"


def test_inside_is_below_the_owner(family):
    owner, child = family
    stand = Stand()
    live = stand.begin("s2", owner=owner)
    assert stand.sessions.inside(child) is live
    assert stand.sessions.inside(owner.pid) is None, "the runner itself has the person's power"
    assert stand.sessions.inside(os.getpid()) is None


def test_who_is_far_below_the_owner_is_inside_without_its_environment():
    forks = "import os\nfor _ in range(100):\n if os.fork(): os.wait(); os._exit(0)"
    deep = f"{forks}\nprint(os.getpid(), flush=True)\ninput()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", deep], env={}, text=True, **pipes) as top:
        bottom, stand = int(top.stdout.readline()), Stand()
        live = stand.begin("s2", owner=processes.identify(top.pid))
        assert stand.sessions.inside(bottom) is live
        assert stand.sessions.locate(bottom).live is live
        top.stdin.write("\n")


def test_an_orphan_that_was_seen_in_the_session_stays_inside_without_owner_and_mark(family):
    orphan, stand = family[1], Stand()
    live = stand.begin("s2", owner=Peer(2**22 - 1, 1))
    assert stand.sessions.inside(orphan) is None
    live.frozen = frozenset({processes.identify(orphan)})
    assert stand.sessions.inside(orphan) is live
    assert stand.sessions.inside(os.getpid()) is None


def test_who_is_in_a_sessions_control_group_is_inside_but_for_its_owner(family, monkeypatch):
    owner, _ = family
    stand = Stand()
    live = stand.begin("s2", owner=owner)
    monkeypatch.setattr(cgroups, "session_of", lambda _: "s2")
    assert stand.sessions.inside(os.getpid()) is live
    assert stand.sessions.inside(owner.pid) is None, "whoever moves the runner there takes no power from it"


def test_who_is_gone_is_no_person():
    with pytest.raises(PeerError, match="is gone"):
        Stand().sessions.inside(2**22 - 1)


def test_a_pid_that_was_given_anew_is_no_owner(family):
    owner, child = family
    stand = Stand()
    stand.begin("s2", owner=Peer(owner.pid, owner.start - 1))
    assert stand.sessions.locate(child) is None


def test_the_nearest_owner_counts(family):
    owner, child = family
    stand = Stand()
    stand.begin("outer", owner=processes.identify(os.getpid()))
    inner = stand.begin("inner", owner=owner)
    assert stand.sessions.locate(child).live is inner


CALLS = (
    ("a1", "a1", "a step says its call's id"),
    ("", "", "nothing said"),
    ("made-up", "", "an id that is none"),
    ("b1", "", "the id of another session's call"),
)


@pytest.mark.parametrize(("said", "parent"), [c[:2] for c in CALLS], ids=[c[2] for c in CALLS])
def test_a_forged_call_is_no_call(family, said, parent):
    owner, child = family
    stand = Stand()
    live, other = stand.begin("s2", owner=owner), stand.begin("s3")
    live.calls[2] = "a1"
    other.calls[3] = "b1"
    assert stand.sessions.locate(child, said).parent == parent


def test_what_descends_from_a_supervising_launcher_is_its_step_whatever_it_says(family):
    owner, child = family
    stand = Stand()
    live = stand.begin("s2", owner=processes.identify(os.getpid()))
    live.calls |= {2: "a1", owner.pid: "a2"}
    assert stand.sessions.locate(child, "a1").parent == "a2"


def test_what_descends_from_an_interactive_shell_is_a_step_of_its_newest_line(family):
    owner, child = family
    stand = Stand()
    live = stand.begin("s2", owner=processes.identify(os.getpid()))
    live.calls[2] = "a1"
    live.let_line_run(owner, "l1")
    live.grants["l1"] = ()
    live.let_line_run(owner, "l2")
    assert stand.sessions.locate(child, "a1").parent == "l2"
    assert "l1" not in live.grants, "what was said yes to there is over"


def test_a_shell_that_has_ended_runs_no_line(family):
    owner, child = family
    stand = Stand()
    live = stand.begin("s2", owner=processes.identify(os.getpid()))
    live.let_line_run(Peer(owner.pid, owner.start - 1), "l1")
    assert stand.sessions.locate(child).parent == "", "another process had its pid"
    live.let_line_run(owner, "l2")
    assert list(live.lines.values()) == ["l2"]


def test_the_agent_itself_is_known_by_its_pid(family):
    owner, child = family
    stand = Stand()
    live = stand.begin("s2", owner=owner)
    assert not stand.sessions.locate(child).is_agent
    live.agent = child
    assert stand.sessions.locate(child).is_agent


@pytest.fixture
def stray(tmp_path):
    """A program started from a session's shims by nobody of that session, as an orphan would look."""
    places = StatePaths(tmp_path / "state", tmp_path / "run", tmp_path / "config")
    shim = places.shims("s9") / "cat"
    shim.parent.mkdir(parents=True)
    shutil.copy(shutil.which("cat"), shim)
    process = subprocess.Popen([str(shim)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write("up\n")
    process.stdin.flush()
    process.stdout.readline()
    yield places, process.pid
    process.communicate()


def test_what_was_started_from_a_sessions_shims_is_its_even_as_an_orphan(stray):
    places, pid = stray
    store = MemoryStore()
    sessions = Sessions(store, places, lambda s: Live(s, Policy))
    assert sessions.locate(pid) is None, "an unknown session's shims"
    live = Live(Session("s9"), Policy)
    sessions.note(live, [Entry(1.0, "s9", "session", {"root": "/r"})])
    sessions.live["s9"] = live
    assert sessions.locate(pid).live is live


def test_a_killed_session_is_found_as_killed_for_ever(stray):
    places, pid = stray
    store = MemoryStore()
    sessions = Sessions(store, places, lambda s: Live(s, Policy))
    live = Live(Session("s9"), Policy)
    sessions.note(live, [Entry(1.0, "s9", "session", {"root": "/r"}), encode_entries.state("s9", 2.0, Event.KILL)])
    readers = []
    store.entries = lambda **asked: readers.append(threading.current_thread()) or MemoryStore.entries(store, **asked)
    assert asyncio.run(located(sessions, pid, "")).live.session.state is State.KILLED
    assert readers[0] is not threading.main_thread(), "its record may be long, and no other session waits for it"
    assert sessions.locate(pid, reads=False).live.session.state is State.KILLED
    assert sessions.find("s9").session == live.session
    assert sessions.find("never") is None


def test_store_first_then_advance_entry_by_entry():
    store = FullStore(room=2)
    sessions = Sessions(store, PLACES, lambda s: Live(s, Policy))
    live = Live(Session("s1"), Policy)
    entries = [
        Entry(1.0, "s1", "session", {"root": "/r"}),
        encode_entries.state("s1", 2.0, Event.HELP),
        encode_entries.state("s1", 3.0, Event.KILL),
    ]
    with pytest.raises(StoreError):
        sessions.note(live, entries)
    assert live.session.state is State.AWAITING_HUMAN, "as far as the store came"
    assert sessions.restore("s1") == live.session


def test_what_matters_is_kept_against_power_loss_too():
    class Noting(MemoryStore):
        def append(self, entry, *, durable=False):
            kept[entry.level] = durable
            return super().append(entry)

    kept: dict[str, bool] = {}
    sessions = Sessions(Noting(), PLACES, lambda s: Live(s, Policy))
    sessions.note(Live(Session("s1"), Policy), [Entry(1.0, "s1", "verdict", {"id": "a"}, level) for level in
                                                ("", "L1", "L2", "L3", "L4")])  # fmt: skip
    assert kept == {"": False, "L1": False, "L2": True, "L3": True, "L4": True}


def test_what_cannot_wait_for_the_disk_comes_between_commit_and_sync():
    class Noting(MemoryStore):
        def append(self, entry, *, durable=False):
            course.append((entry.level, durable))
            return super().append(entry)

        def sync(self):
            course.append("sync")

    course: list[object] = []
    live = Live(Session("s1"), Policy)
    kill = [Entry(1.0, "s1", "verdict", {"id": "a"}, "L4"), encode_entries.state("s1", 1.0, Event.KILL)]
    sessions = Sessions(Noting(), PLACES, lambda s: Live(s, Policy))
    sessions.note(live, kill, committed=lambda: course.append(live.session.state))
    assert course == [("L4", False), (kill[1].level, False), State.KILLED, "sync"]


# A session's life at random: what the guard notes, in any order, with any answers.

RULES = st.sampled_from(["", "guard.operator", "guard.settings", "git.push-force"])
RESPONSES = st.sampled_from(Response)
DEEDS = st.one_of(
    st.tuples(st.just("verdict"), st.integers(0, 9), RESPONSES, RULES, st.booleans()),
    st.tuples(st.just("outcome"), st.integers(0, 9), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("usage"), st.integers(0, 60_000)),
    st.tuples(st.just("state"), st.sampled_from(Event), st.floats(0, 100)),
    st.tuples(st.just("observation"), st.integers(0, 9), RESPONSES),
    st.tuples(st.just("human"), st.booleans()),
)


def verdict(number, response, rule, at, *, step=False) -> Verdict:
    act = Action(
        f"a{number}", "s1", Layer.SHELL, "shell", {"command": f"c{number}"}, "/r", at, "/r", "p" if step else ""
    )
    ask = Ask("X", "Y") if response is Response.ASK else None
    found = Finding("t", response, "what", rule=rule, ask=ask, operations=frozenset({f"o{number}"}))
    return Verdict(act, (), (found,) if response else ())


def entries(deed, at: float) -> list[Entry]:
    match deed:
        case ("verdict", number, response, rule, step):
            judged = verdict(number, response, rule, at, step=step)
            return encode_entries.of_verdict(judged, f"o{number}", poll=step, policy=Policy())
        case ("outcome", number, code, tested):
            run = TestRun("pytest", frozenset({"t1"}), code) if tested else None
            done = Outcome(f"a{number}", at, code, error="e" if code else "", tests=run, duration=0.25)
            return [encode_entries.of_outcome(verdict(number, Response.ALLOW, "", at).action, done)]
        case ("usage", tokens):
            return [Entry(at, "s1", "usage", {"output": tokens})]
        case ("state", event, left):
            return [encode_entries.state("s1", at, event, until=at + left, operations=["o1"], reason="r")]
        case ("observation", number, response):
            return encode_entries.of_observation(verdict(number, response, "", at), "told", at, Policy())
        case _:
            return [Entry(at, "s1", "human", {"yes": deed[1]})]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(DEEDS, st.floats(0.001, 400)), max_size=40))
def test_a_restart_gives_back_the_session_that_was_live(deeds):
    sessions = Sessions(MemoryStore(), PLACES, lambda s: Live(s, Policy))
    live = Live(Session("s1"), Policy)
    sessions.note(live, [Entry(0.5, "s1", "session", {"root": "/r", "owner": [7, 8], "interactive": True})])
    at = 1.0
    for deed, gap in deeds:
        at = round(at + gap, 3)
        sessions.note(live, entries(deed, at))
        sessions.note(Live(Session("s2"), Policy), [Entry(at, "s2", "state", {"event": "kill"})])
        assert sessions.restore("s1") == live.session, "also of one that is asked for again and again"
    assert Sessions(sessions.store, PLACES, lambda s: Live(s, Policy)).restore("s1") == live.session


def test_a_long_session_loses_nothing_by_a_restart():
    sessions = Sessions(MemoryStore(), PLACES, lambda s: Live(s, Policy))
    live = Live(Session("s1"), Policy)
    sessions.note(live, [Entry(0.5, "s1", "session", {"root": "/r"})])
    sessions.note(live, entries(("verdict", 1, Response.DENY, "guard.settings", False), 1.0))
    sessions.note(live, entries(("verdict", 2, Response.ALLOW, "", False), 2.0))
    for n in range(700):
        # One build of many steps.
        sessions.note(live, entries(("verdict", n, Response.ALLOW, "", True), 3.0 + n / 100))
    assert sessions.restore("s1") == live.session


def test_the_guards_own_belongings():
    stand = Stand()
    owner = Peer(4321, 1)
    stand.begin("s2", owner=owner).leader = 4322
    guarded = stand.sessions.guarded()
    assert set(guarded.folders) == {"/state", "/run/sg"}
    assert {str(PLACES.config), "/home/ann/work/sentinel.toml", "/home/ann/work/.git/hooks"} <= set(guarded.settings)
    assert {os.getpid(), 4321, 4322} <= set(guarded.pids)
    assert 0 not in guarded.pids, "a signal to one's own group is no attack"


def test_a_path_without_shims():
    stand = Stand()
    shims = Path(PLACES.shims("s1"))
    assert stand.sessions.outside(f"{shims}:/usr/bin:/bin") == "/usr/bin:/bin"
