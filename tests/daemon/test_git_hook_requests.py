"""What a git hook is answered: inside of a session a step on record, outside of one a finding or nothing."""

from __future__ import annotations

import asyncio
import os
import struct

import pytest

from sentinel_guard import __version__
from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Ask, Entry, Finding, Response
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon import git_hook_requests
from sentinel_guard.daemon.git_hook_requests import Githooks
from sentinel_guard.daemon.wire_messages import Request
from sentinel_guard.errors import HostError, PeerError
from sentinel_guard.host.githooks.hook_request import Judged
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.state_paths import places
from tests.support.fakes import FullStore
from tests.support.guard_in_memory import Stand, linked

A, B, ZEROS = "a" * 40, "b" * 40, "0" * 40
NO = Finding("rules", Response.DENY, "this commit adds .env", instead="leave it out", rule="paths.restricted")
LEAK = Finding("leak", Response.BREAK, "commit 1234 adds a token", rule="leak.secret")
HINT = Finding("leak", Response.HINT, "this may be a password", rule="leak.secret")
SENT = f"refs/heads/main {'1' * 40} refs/heads/main {'2' * 40}\n"
GONE = Finding("rules", Response.DENY, "this deletes refs/heads/main", rule=git_hook_requests.PROTECTED)


class Known:
    """Judging (daemon/git_hook_worker.py) that gives what is known beforehand, or raises it."""

    def __init__(self, found) -> None:
        self.found, self.asked = found, []
        self.lines: list[str] = []
        """What was told to be no news any more."""
        self.known = True
        """Whether a commit builds upon what is known."""

    async def learn(self, asked, pid, live, git):
        """Nothing is fetched here (tests/e2e/test_githooks_fetched.py does)."""

    def passed(self, asked, live, lines):
        self.lines += lines

    def goes_on(self, asked, live, line):
        return self.known

    async def judge(self, asked, pid, live, slow):
        self.asked.append(asked.argv[1])
        if self.found == "slow":
            slow()
            await asyncio.sleep(0)
            return Judged((NO,))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found if isinstance(self.found, Judged) else Judged(tuple(self.found))


class Quiet:
    """Reactions that keep what they were told."""

    def __init__(self) -> None:
        self.responses: list[Response] = []

    async def after(self, _live, verdict) -> None:
        self.responses.append(verdict.response)


class Desk:
    """The face of git hooks before a link whose other end is this process: a session's if ``inside``."""

    def __init__(self, found=(), *, inside=True, store=None, replies=()) -> None:
        self.stand = stand = Stand(*replies, store=store)
        mine = processes.identify(os.getpid())
        stand.live = stand.begin("s2", owner=mine if inside else Peer(1, 1))
        self.judging, self.reactions = Known(found), Quiet()
        self.hooks = Githooks(
            sessions=stand.sessions, guard=stand.guard, reactions=self.reactions, judging=self.judging,
            store=stand.store, places=places(processes.environ(os.getpid())), now=stand.now,
        )  # fmt: skip

    def ask(self, *argv, stdin="", version=__version__, cwd="/nowhere") -> list:
        return asyncio.run(self._ask(Request("githook", ("sentinel-githook", *argv), cwd, {}, "", stdin, version)))

    async def _ask(self, request: Request) -> list:
        async with linked() as (ours, theirs):
            await self.hooks.serve(request, ours)
            said: list = []
            while not said or said[-1][0] != b"Z":
                said += await theirs.receive(5)
            return said


def code(said) -> int:
    return struct.unpack("<I", said[-1][1])[0]


def words(said) -> str:
    return "".join(body[1:].decode() for tag, body in said if tag == b"P")


# Outside of a session


def test_outside_what_passes_leaves_no_trace():
    desk = Desk(inside=False)
    said = desk.ask("pre-commit")
    assert (code(said), words(said)) == (0, "")
    assert [e.kind for e in desk.stand.store.log] == ["session", "session"]


def test_outside_a_refusal_is_said_and_on_record():
    desk = Desk([HINT, NO], inside=False)
    said = desk.ask("pre-commit")
    assert code(said) == 1
    assert words(said).splitlines() == [
        "SENTINEL WARNING: this may be a password",
        "403 SENTINEL BLOCKED: this commit adds .env.",
        "  Leave it out",
    ]
    entry = desk.stand.store.log[-1]
    assert (entry.kind, entry.session, entry.level) == ("watch", "", "L2")
    assert entry.data["what"] == "pre-commit refused: this commit adds .env"


def test_outside_a_hint_refuses_nothing():
    said = Desk([HINT], inside=False).ask("pre-commit")
    assert code(said) == 0 and words(said) == "SENTINEL WARNING: this may be a password\n"


def test_outside_a_full_disk_changes_no_answer():
    desk = Desk([NO], inside=False, store=FullStore(2))
    assert code(desk.ask("pre-commit")) == 1


OTHERS = [
    (HostError("git is not there"), {}, "what cannot be judged"),
    (TimeoutError(), {}, "what takes too long"),
    ((), {"version": "0.0.1"}, "a hook of another version"),
    ((), {"version": ""}, "of none"),
]


@pytest.mark.parametrize(("found", "more", "why"), OTHERS, ids=[row[-1] for row in OTHERS])
def test_outside_the_hook_is_left_to_judge_by_itself(found, more, why):
    """The server answers what is raised here with 126, which is no verdict (docs/protocol.md)."""
    with pytest.raises((PeerError, HostError, TimeoutError)):
        Desk(found, inside=False).ask("pre-commit", **more)


def test_outside_a_transaction_passes_unjudged():
    desk = Desk([NO], inside=False)
    assert code(desk.ask("reference-transaction", "prepared", stdin=f"{A} {B} refs/heads/main\n")) == 0
    assert desk.judging.asked == []


SKIPPED = [
    (["git", "commit", "--no-verify", "-m", "x"], True, "the long word"),
    (["git", "-C", "sub", "commit", "-anm", "x"], True, "a letter among others"),
    (["git", "commit", "-m", "-n --no-verify"], False, "words of a message"),
    (["git", "rebase", "-n", "main"], False, "another command's letter"),
    ([], False, "no git above it"),
]


@pytest.mark.parametrize(("command", "seen", "why"), SKIPPED, ids=[row[-1] for row in SKIPPED])
def test_outside_a_commit_that_passes_the_hooks_by_is_on_record(monkeypatch, command, seen, why):
    monkeypatch.setattr(git_hook_requests, "_command", lambda _gits: command)
    desk = Desk(inside=False)
    assert code(desk.ask("reference-transaction", "prepared", stdin=f"{A} {B} refs/heads/main\n")) == 0
    entries = [e.data["what"] for e in desk.stand.store.log if e.kind == "watch"]
    assert entries == (["`git commit` passed the hooks by (--no-verify)"] if seen else [])


# Inside of a session


def test_inside_a_pass_is_a_step_on_record():
    desk = Desk()
    assert code(desk.ask("pre-commit")) == 0
    data = desk.stand.store.log[-1].data
    assert (data["layer"], data["tool"], data["response"]) == ("git", "git hook", "allow")
    assert data["arguments"] == {"hook": "pre-commit"} and data["parent"] and "call" not in data
    assert desk.stand.live.session.calls == ()


@pytest.mark.parametrize("inside", [True, False])
def test_a_push_that_sends_nothing_is_not_judged(inside):
    desk = Desk([NO], inside=inside)
    assert [code(desk.ask("pre-push", "origin", "url", stdin=lines)) for lines in ("", "\n", SENT)] == [0, 0, 1]
    assert desk.judging.asked == ["pre-push"]


def test_inside_every_refusal_is_told_and_the_strictest_first():
    desk = Desk([HINT, NO, LEAK])
    said = desk.ask("pre-push", "origin", "url", stdin=SENT)
    assert code(said) == 1
    assert words(said).splitlines() == [
        "SYSTEM INTERVENTION: commit 1234 adds a token.",
        "SENTINEL WARNING: this may be a password",
        "403 SENTINEL BLOCKED: this commit adds .env.",
        "  Leave it out",
    ]
    assert desk.stand.live.session.state is State.PAUSED
    assert desk.reactions.responses == [Response.BREAK], "the incident is reported"


def test_inside_a_breaker_is_keyed_to_the_running_call():
    desk = Desk([LEAK])
    call = asyncio.run(desk.stand.propose("git push origin main")).verdict.action.id
    live = desk.stand.live
    live.calls[os.getpid()] = call
    assert code(desk.ask("pre-push", "origin", "url", stdin=SENT)) == 1
    assert live.session.tripped == {c.operation for c in live.session.calls}


UNJUDGED = [
    (HostError("git is not there", "install git"), "git is not there", "an error with words"),
    (TimeoutError(), "took longer than 60 s", "too slow"),
    (ZeroDivisionError(), "daemon.log", "a fault of ours"),
]


@pytest.mark.parametrize(("error", "said", "why"), UNJUDGED, ids=[row[-1] for row in UNJUDGED])
def test_inside_what_cannot_be_judged_is_refused_on_record(error, said, why):
    desk = Desk(error)
    answer = desk.ask("pre-commit")
    assert code(answer) == 1 and said in words(answer)
    [finding] = desk.stand.store.log[-1].data["findings"]
    assert (finding["rule"], desk.stand.store.log[-1].level) == ("git.unjudged", "L2")


def test_inside_what_cannot_be_recorded_is_refused():
    said = Desk(store=FullStore(2)).ask("pre-commit")
    assert code(said) == 1 and "full. Nothing runs unrecorded. Instead" in words(said)


def test_a_slow_judgement_is_waited_for():
    said = Desk("slow").ask("pre-commit")
    assert said[0] == (b"H", struct.pack("<I", 62_000))
    assert code(said) == 1


@pytest.mark.parametrize("event", [Event.BREAK, Event.KILL, Event.HELP], ids=["paused", "killed", "awaiting a person"])
@pytest.mark.parametrize("hook", [("pre-commit",), ("reference-transaction", "prepared")], ids=["commit", "any ref"])
def test_inside_a_session_that_is_stopped_nothing_passes(event, hook):
    desk = Desk()
    state = encode_entries.state("s2", desk.stand.now(), event, until=desk.stand.now() + 60, reason="it is stopped")
    desk.stand.sessions.note(desk.stand.live, [state])
    assert code(desk.ask(*hook, stdin=f"{A} {B} refs/remotes/o/x\n")) == 1


LINES = [
    ("refs/heads/x", A, B, True, "a branch comes to hold something"),
    ("refs/heads/x", A, ZEROS, False, "an ordinary branch goes"),
    ("refs/heads/main", A, ZEROS, True, "a protected branch goes"),
    ("refs/sentinel/rescue/x", A, B, True, "the guard's own"),
    ("refs/remotes/origin/refs/heads/x", A, B, False, "a name that only looks like one"),
    ("refs/remotes/origin/main", A, B, False, "what was fetched"),
    ("refs/tags/v1", ZEROS, B, False, "a tag"),
    ("refs/stash", A, B, False, "the stash"),
    ("HEAD", A, B, False, "a commit of a rebase, on no branch"),
]


@pytest.mark.parametrize(("name", "old", "new", "judged", "why"), LINES, ids=[row[-1] for row in LINES])
def test_inside_only_what_matters_of_a_transaction_is_judged(name, old, new, judged, why):
    desk = Desk([NO])
    said = desk.ask("reference-transaction", "prepared", stdin=f"{ZEROS} {B} refs/tags/a\n{old} {new} {name}\n")
    assert (code(said), bool(desk.judging.asked)) == ((1, True) if judged else (0, False))
    assert desk.ask("reference-transaction", "committed", stdin=f"{old} {new} {name}\n")[-1][0] == b"Z"
    assert len(desk.judging.asked) == judged


@pytest.fixture
def own_git(monkeypatch):
    """The git process whose hooks ask, as which this process counts."""
    mine = processes.identify(os.getpid())
    monkeypatch.setattr(git_hook_requests, "_gits", lambda _lineage: [mine])
    monkeypatch.setattr(git_hook_requests, "_command", lambda _gits: ["git", "commit", "-m", "x"])
    monkeypatch.setattr(git_hook_requests.run_git, "program", lambda: processes.executable(os.getpid()))
    return mine


MOVES = f"{A} {B} HEAD\n{A} {B} refs/heads/x\n"
PATHS = [
    (("pre-commit", "commit-msg"), MOVES, False, "its commit was judged by its hooks"),
    (("commit",), MOVES, False, "by one for both"),
    (("pre-commit",), MOVES, True, "its message was not"),
    (("commit-msg",), MOVES, True, "its content was not"),
    ((), MOVES, True, "nothing was: --no-verify"),
    (("pre-commit", "commit-msg"), f"{MOVES}{A} {B} refs/heads/y\n", True, "another branch moves, too"),
    (("pre-commit", "commit-msg"), f"{A} {B} refs/sentinel/x\n", True, "no branch"),
]


@pytest.mark.usefixtures("own_git")
@pytest.mark.parametrize(("asked", "lines", "judged", "why"), PATHS, ids=[row[-1] for row in PATHS])
def test_inside_a_commit_is_judged_once(asked, lines, judged, why):
    desk = Desk()
    for hook in asked:
        desk.ask(hook)
    desk.ask("reference-transaction", "prepared", stdin=lines)
    assert ("reference-transaction" in desk.judging.asked) is judged
    desk.ask("reference-transaction", "prepared", stdin=MOVES)
    assert "reference-transaction" in desk.judging.asked, "it counts for one commit"


@pytest.mark.usefixtures("own_git")
def test_inside_a_program_that_is_only_called_git_is_judged_each_time(monkeypatch):
    monkeypatch.setattr(git_hook_requests.run_git, "program", lambda: "/usr/bin/git")
    desk = Desk()
    for hook in ("pre-commit", "commit-msg"):
        desk.ask(hook)
    desk.ask("reference-transaction", "prepared", stdin=MOVES)
    assert desk.judging.asked[-1] == "reference-transaction"


def test_inside_a_git_that_no_shim_saw_is_judged_by_its_words(own_git, monkeypatch):
    monkeypatch.setattr(git_hook_requests, "_command", lambda _gits: ["git", "commit", "--no-verify", "-m", "x"])
    desk = Desk()
    said = desk.ask("reference-transaction", "prepared", stdin=MOVES)
    assert code(said) == 1 and "does not skip the repository's hooks" in words(said)
    assert desk.stand.store.log[-1].data["arguments"]["argv"][1] == "commit"
    desk.stand.live.let_git_run(own_git, "a1")
    assert code(desk.ask("reference-transaction", "prepared", stdin=MOVES)) == 0, "the shim has judged it"
    assert "argv" not in desk.stand.store.log[-1].data["arguments"]


def yes(rule: str) -> tuple[Finding, ...]:
    return (Finding("rules", Response.ASK, "x", rule=rule, ask=Ask("DELETE_BRANCH", "branch main")),)


GRANTS = [
    ("reference-transaction", True, (), 0, "the shim let it run"),
    ("reference-transaction", False, (), 1, "no shim saw it"),
    ("pre-push", True, (), 1, "what goes out is asked about"),
    ("pre-push", True, yes("git.push-force"), 0, "a person said yes to the push"),
    ("pre-push", True, yes("cloud.destroy"), 1, "a person said yes to something else"),
]


@pytest.mark.parametrize(("hook", "shim", "grants", "told", "why"), GRANTS, ids=[row[-1] for row in GRANTS])
def test_inside_what_was_let_run_is_not_refused_again(own_git, hook, shim, grants, told, why):  # noqa: PLR0917 - a row
    desk = Desk([GONE])
    desk.stand.live.grants["a1"] = grants
    if shim:
        desk.stand.live.let_git_run(own_git, "a1")
    assert code(desk.ask(hook, "prepared", stdin=f"{A} {ZEROS} refs/heads/main\n")) == told


def test_r7_inside_a_question_of_a_hook_is_asked_once():
    ask = Finding("rules", Response.ASK, "this push rewrites main", rule="git.protected", ask=Ask("FORCE_PUSH", "main"))
    for reply, told in ((True, 0), (False, 1)):
        desk = Desk([ask], replies=(reply,))
        assert code(desk.ask("pre-push", "origin", "url", stdin=SENT)) == told
        assert len(desk.stand.human.asked) == 1


def test_a_hook_without_a_name_or_a_place_is_no_question():
    with pytest.raises(PeerError, match="without a name"):
        Desk().ask()
    assert Desk([NO]).ask("pre-commit", cwd="")[-1] == (b"Z", struct.pack("<I", 1))


def test_only_so_many_git_processes_are_remembered():
    live = Desk().stand.live
    for n in range(1000):
        live.let_git_run(Peer(n, n), f"a{n}")
    assert len(live.gits) <= 256 and live.gits[Peer(999, 999)] == "a999"


def test_entries_of_no_session_fold_into_none():
    assert Stand().live.session.after(Entry(1.0, "", "watch", {"what": "x"}, "L2")).state is State.ACTIVE
