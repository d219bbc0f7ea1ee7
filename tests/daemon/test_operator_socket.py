"""The operator socket: a person's power, and that nothing inside a session has it. Real links, real descent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Ask, Entry, Question
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon import operator_socket
from sentinel_guard.daemon.operator_socket import POWER, Operators
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.host.machine import ancestry, processes
from tests.daemon.test_verdict_reactions import Reports, Vault
from tests.support.guard_in_memory import Stand, linked
from tests.support.time_limits import limit
from tests.support.wait_until import until

ME = processes.identify(os.getpid())


class Begun:
    """Beginnings without a repository."""

    def __init__(self, stand) -> None:
        self.stand, self.tokens = stand, TokenRecords(stand.sessions, stand.now)

    def group(self, live):
        """A test moves nobody to another control group."""

    async def leave(self, live):
        self.stand.sessions.live.pop(live.id, None)

    def end_orphan(self, live):
        self.stand.sessions.note(live, [Entry(self.stand.now(), live.id, "end", {"code": -1})])
        self.stand.sessions.live.pop(live.id, None)

    async def begin(self, message, owner, _environ):
        live = self.stand.begin(message.get("name", "new"), owner=owner)
        live.runner = None
        return live, {"session": live.id, "environ": {}, "notes": []}


class Office:
    def __init__(self) -> None:
        self.stand, self.stopped = Stand(), []
        self.reports, self.vault = Reports(), Vault()
        reactions = Reactions(
            sessions=self.stand.sessions, recovery=self.vault, incidents=self.reports, now=self.stand.now
        )
        self.operators = Operators(
            sessions=self.stand.sessions, beginnings=Begun(self.stand), reactions=reactions, now=self.stand.now,
            stop=lambda: self.stopped.append(True),
        )  # fmt: skip
        self.said: list[dict] = []

    def talk(self, *messages, pid=None, linger=None) -> list[dict]:
        """Say these on one connection, as a process; the replies. ``linger`` is played before it closes."""
        return asyncio.run(self.converse(*messages, pid=pid, linger=linger))

    async def converse(self, *messages, pid=None, linger=None) -> list[dict]:
        replies = []
        async with linked() as (ours, theirs):
            ours.pid = pid or os.getpid()
            serving = asyncio.create_task(self.operators.serve(ours))
            for message in messages:
                theirs.send_json(message)
                while "ok" not in (said := await asyncio.wait_for(theirs.receive_json(), limit(5))):
                    self.said.append(said)
                replies.append(said)
            if linger:
                await linger(theirs)
            await theirs.close()
            await asyncio.wait_for(serving, limit(5))
        return replies


START = {"op": "start", "cwd": "/r", "command": ["agent"], "pid": os.getpid(), "interactive": True, "path": "/bin"}


@pytest.fixture
def office():
    return Office()


@pytest.fixture
def child():
    """A process below this one."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    yield process.pid
    process.communicate()


POWERS = sorted(POWER)


@pytest.mark.parametrize("op", POWERS)
def test_rule_1_power_is_refused_from_inside_recorded_and_a_strike(office, child, op):
    live = office.stand.begin("s2", owner=ME)
    message = {"op": op, "session": "s2", "question": "q1", "yes": True, "text": "", "pid": child, "code": 0}
    asyncio.run(asyncio.wait_for(office.converse(message, pid=child), limit(5)))
    refused = [e for e in office.stand.store.log if e.kind == "verdict"]
    assert [(e.level, e.data["tool"]) for e in refused] == [("L2", f"operator:{op}")]
    assert live.session.state is State.ACTIVE and not office.stopped
    assert live.session.strikes == ("guard.operator",)


def test_who_says_nothing_is_not_waited_for(office, monkeypatch):
    async def silent():
        async with linked() as (ours, theirs):
            await asyncio.wait_for(office.operators.serve(ours), limit(5))
            await ours.close()
            with pytest.raises(EOFError):
                await theirs.receive(5)

    monkeypatch.setattr(operator_socket, "FIRST_WORD", 0.01)
    asyncio.run(silent())
    assert office.talk({"op": "hello"}), "and others are served"


def test_rule_1_the_second_try_is_a_kill(office):
    script = "/bin/sh -c 'echo $$; read x'; :"
    owner = subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    inside = int(owner.stdout.readline())
    live = office.stand.begin("s2", owner=processes.identify(owner.pid))
    stop = {"op": "stop", "force": True}
    replies = office.talk(stop, stop, pid=inside)
    owner.communicate()
    assert [r["ok"] for r in replies] == [False, False]
    assert all(r["error"].startswith("403 SENTINEL BLOCKED: ") for r in replies)
    assert live.session.state is State.KILLED and not office.stopped
    assert live.buried.is_set() and len(office.reports.written) == 1


def test_looking_is_no_power(office, child):
    office.stand.begin("s2", owner=ME)
    hello, status = office.talk({"op": "hello"}, {"op": "status"}, pid=child)
    assert hello["ok"] and hello["sessions"] == 2
    assert [s["session"] for s in status["sessions"]] == ["s1", "s2"]
    assert not [e for e in office.stand.store.log if e.kind == "verdict"]


def test_a_session_is_begun_by_its_owner_or_one_of_its_children(office, child):
    [begun] = office.talk(START)
    assert begun["ok"] and begun["session"] == "new"
    [foreign] = office.talk(START | {"pid": child, "name": "other"})
    assert not foreign["ok"] and "owner" in foreign["error"]
    [nobody] = office.talk(START | {"pid": 2**22 - 1, "name": "other"})
    assert not nobody["ok"]


def test_a_shells_session_has_no_runner(office):
    office.talk(START | {"kind": "shell"})
    assert office.stand.sessions.live["new"].runner is None


def test_attach_is_idempotent_and_the_last_connection_counts(office):
    live = office.stand.begin("s2", owner=ME)
    attach = {"op": "attach", "session": "s2", "pid": os.getpid()}
    runners = []

    async def look(_):
        runners.append(live.runner)

    replies = office.talk(attach, attach, linger=look)
    assert [r["state"] for r in replies] == ["ACTIVE", "ACTIVE"]
    office.talk(attach, linger=look)
    assert runners[0] is not runners[1] is not None
    assert live.session.state is State.ACTIVE, "its runner's process lives: it may come back"


def test_a_foreign_runner_cannot_attach(office, child):
    live = office.stand.begin("s2", owner=processes.identify(child))
    before = live.runner
    [reply] = office.talk({"op": "attach", "session": "s2"})
    assert (reply["ok"], live.runner) == (False, before)
    [reply] = office.talk({"op": "attach", "session": "s1"})
    assert not reply["ok"], "a session without an owner has no runner either"


SPEAKS_FOR = (
    {"op": "resume", "session": "s1"},
    {"op": "say", "session": "s1", "text": "x"},
    {"op": "agent", "session": "s1", "pid": 1},
)


@pytest.mark.parametrize("message", SPEAKS_FOR, ids=[m["op"] for m in SPEAKS_FOR])
def test_rule_2_a_runner_speaks_for_its_own_session_only(office, message):
    office.stand.sessions.note(office.stand.live, [encode_entries.state("s1", 1.0, Event.HELP)])
    begun, refused = office.talk(START, message)
    assert begun["ok"] and not refused["ok"]
    assert office.stand.live.session.state is State.AWAITING_HUMAN
    if message["op"] == "agent":  # any terminal of the person's may talk to the agent, and give autonomy back
        [refused] = office.talk(message)
        assert not refused["ok"], "nor does a connection that began none"


def test_rule_2_what_a_runner_says_in_its_own_session(office):
    async def look(_):
        live = office.stand.sessions.live["new"]
        assert live.agent == 77
        assert live.dialogue.take_unheard() == ["hello"]
        said = [e.data for e in office.stand.store.log if e.kind == "chat"]
        assert [(d["text"], d["assurance"]) for d in said] == [("hello", "terminal")]

    own = {"session": "new"}
    replies = office.talk(
        START, {"op": "agent", "pid": 77, **own}, {"op": "say", "text": "hello", "shared": False, **own},
        {"op": "pause", **own}, {"op": "resume", **own},
        linger=look,
    )  # fmt: skip
    assert all(r["ok"] for r in replies)


def test_the_leader_of_the_agents_session_is_the_process_between_it_and_the_runner(office):
    script = "sleep 60 & echo $!; read x; kill $!"
    leader = subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    agent = int(leader.stdout.readline())
    found = []

    async def look(_):
        found.append(office.stand.sessions.live["new"].leader)

    for pid in (agent, leader.pid):
        office.talk(START, {"op": "agent", "session": "new", "pid": pid}, linger=look)
    leader.communicate("\n")
    assert found == [leader.pid, 0], "without one, the agent is the runner's own child"


def test_rule_3_a_runner_that_vanishes_ends_its_session(office, child):
    gone = subprocess.Popen(["true"])
    dead = processes.identify(gone.pid)
    gone.wait()
    office.talk(START)
    live = office.stand.sessions.live["new"]
    assert live.session.state is State.ACTIVE, "while its process lives"
    live = office.stand.begin("s3", owner=dead)
    asyncio.run(office.operators.vanished(live))
    assert live.session.state is State.ENDED and "s3" not in office.stand.sessions.live


def test_an_end_waits_for_a_kill_to_be_carried_out(office):
    async def play():
        ending = asyncio.create_task(office.operators.end(office.stand.live, {"session": "s1", "code": 137}))
        await asyncio.sleep(0.01)
        waits = not ending.done()
        office.stand.live.buried.set()
        return waits, await ending

    office.stand.sessions.note(office.stand.live, [encode_entries.state("s1", 1.0, Event.KILL)])
    waited, reply = asyncio.run(play())
    assert waited and reply.pop("summary")["commands"] == 0 and reply == {"state": "KILLED"}


def test_stop_spares_live_sessions_unless_forced(office):
    [refused] = office.talk({"op": "stop"})
    assert not refused["ok"] and "--force" in refused["hint"] and not office.stopped
    [done] = office.talk({"op": "stop", "force": True})
    assert done["ok"] and office.stopped


BAD = (
    ({"op": "rule-the-world"}, "is no operation", "an unknown operation"),
    ({}, "is no operation", "none at all"),
    ({"op": "start"}, "docs/protocol.md", "a field is missing"),
    ({"op": "start", "pid": "x"}, "docs/protocol.md", "a pid that is no number"),
    ({"op": "end", "session": "never"}, "began no such session", "a session that is not there"),
    ({"op": "attach"}, "docs/protocol.md", "no session named"),
    ({"op": "end", "session": "s1", "code": 0}, "began no such session", "a session of another connection"),
    ({"op": "answer", "question": "q1"}, "docs/protocol.md", "an answer without a word"),
)


@pytest.mark.parametrize(("message", "words"), [b[:2] for b in BAD], ids=[b[2] for b in BAD])
def test_what_is_wrong_is_answered_and_the_connection_goes_on(office, message, words):
    wrong, hello = office.talk(message, {"op": "hello"})
    assert not wrong["ok"] and words in wrong["error"]
    assert hello["ok"]


def test_what_is_no_message_is_answered_and_closes():
    async def story(body):
        async with linked() as (ours, theirs):
            serving = asyncio.create_task(Office().operators.serve(ours))
            theirs.send([(b"J", body)])
            said = await asyncio.wait_for(theirs.receive_json(), limit(5))
            await asyncio.wait_for(serving, limit(5))
            return said

    for body in (b"{", b"[]", b"\xff"):
        assert asyncio.run(story(body))["ok"] is False


# The runner: a way to the person.

QUESTION = Question("q7", "s1", Ask("DEPLOY", "PROD"), "deploy prod", "policy", 10.0, 15.0)


def test_only_true_is_a_yes():
    async def story(theirs):
        live = office.stand.sessions.live["new"]
        for word in ("yes", 1, None, "true", {"yes": True}, True):
            asking = asyncio.create_task(live.runner.ask(QUESTION))
            while (await theirs.receive_json()).get("event") != "ask":
                pass
            theirs.send_json({"op": "answer", "question": "q7", "yes": word})
            answers.append((await asking).yes)

    office, answers = Office(), []
    office.talk(START, linger=story)
    assert answers == [False] * 5 + [True]


def test_rule_1_power_is_refused_from_a_session_that_was_set_aside(office):
    """Its owner is not known: its processes are told by their mark, or by that of one above."""
    inner = ["/bin/sh", "-c", "env -u SENTINEL_SESSION /bin/sh -c 'echo $$; read x; :'; :"]
    marked = subprocess.Popen(
        inner, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"SENTINEL_SESSION": "of-the-past"}
    )
    pid, stop = int(marked.stdout.readline()), {"op": "stop", "force": True}
    assert office.talk(stop, pid=pid)[0]["ok"], "nobody knows of such a session"
    office.stand.sessions.set_aside.add("of-the-past")
    (refused,) = office.talk(stop, pid=pid)
    marked.communicate()
    assert not refused["ok"] and "could not be read" in refused["error"] and len(office.stopped) == 1
    assert office.talk(stop)[0]["ok"], "the person outside of it"


def test_all_processes_of_a_session_are_counted_as_one(office, child):
    async def counted():
        async with linked() as (ours, _):
            ours.pid = child
            return office.operators.counted_as(ours)

    assert asyncio.run(counted()) == f"process {child}"
    office.stand.begin("s2", owner=ME)
    assert asyncio.run(counted()) == "session s2"


@pytest.fixture
def orphans():
    """Processes that were left by their parent, and bear no mark of a session."""
    command = ["sh", "-c", "for i in 1 2; do env -i setsid sleep 120 > /dev/null & echo $!; done"]
    said = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True)
    pids = [int(pid) for pid in said.stdout.split()]
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def test_orphans_of_nobody_knows_whom_are_counted_as_one(office, child, orphans, monkeypatch):
    async def counted(pid):
        async with linked() as (ours, _):
            ours.pid = pid
            return office.operators.counted_as(ours)

    assert until(lambda: all(processes.terminal(pid) == 0 for pid in orphans))
    reapers = {processes.name(processes.stat(pid)[0]) for pid in orphans}
    monkeypatch.setattr(ancestry, "_MANAGERS", (*ancestry._MANAGERS, *reapers))
    assert [asyncio.run(counted(pid)) for pid in orphans] == [f"process {pid}" for pid in orphans], "no session lives"
    office.stand.begin("s2", owner=processes.identify(child))
    assert {asyncio.run(counted(pid)) for pid in orphans} == {"those left without a parent and a terminal"}
    begun = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert asyncio.run(counted(begun.pid)) == f"process {begun.pid}", "its parent lives, and is older than the session"
    begun.communicate()


LINES = [
    # (a terminal's number, whether the session began before the process, whether it is a stray, why)
    (0, True, True, "an orphan without a terminal"),
    (34816, True, False, "in a pane of a tmux server, which was left by its parent, too"),
    (0, False, False, "it is older than every session"),
]


@pytest.mark.parametrize("row", LINES, ids=[row[3] for row in LINES])
def test_who_is_a_stray(orphans, monkeypatch, row):
    terminal, before, stray, _ = row
    monkeypatch.setattr(ancestry, "_MANAGERS", (processes.name(processes.stat(orphans[0])[0]),))
    monkeypatch.setattr(processes, "terminal", lambda _: terminal)
    began = processes.identify(orphans[0]).start
    assert ancestry.is_stray(orphans[0], began if before else began + 1) is stray
