"""How a call ended: when the worktree is looked at, and what is said where it cannot be."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sentinel_guard.core.model import Usage
from sentinel_guard.core.policy.policy import Cost
from sentinel_guard.core.session import token_ledger
from sentinel_guard.core.text.normalize_output import BLANK, UNSEEN, digest
from sentinel_guard.daemon import call_outcomes
from sentinel_guard.daemon.call_outcomes import Outcomes
from sentinel_guard.daemon.token_usage import estimate
from sentinel_guard.daemon.wire_messages import Ended
from sentinel_guard.errors import HostError
from tests.support.guard_in_memory import ROOT, Stand


class Trees:
    """A worktree in memory: each look gives the next tree."""

    def __init__(self, *trees, why="", changed=("a.txt", "b.txt")) -> None:
        self.trees, self.why, self.looks, self.differing = list(trees), why, 0, changed

    def take(self):
        self.looks += 1
        return self.trees.pop(0) if self.trees else "t"

    def changed(self, old, new):
        if self.differing is None:
            raise HostError("no tree")
        return self.differing

    def complaint(self):
        why, self.why = self.why, ""
        return why


class NoReviews:
    """No incident is open: nothing is asked."""

    async def ask(self, live, action, code):
        return ""


def played(stand, trees, *calls):
    """Runs calls (command, exit code); the trees before and after each that are on record."""
    stand.live.trees = trees
    outcomes = Outcomes(stand.sessions, stand.guard, NoReviews(), stand.now)

    async def play():
        for command, code in calls:
            begun = await outcomes.begin(stand.live, await stand.propose(command))
            await outcomes.end(stand.live, begun, Ended(code, 0.1, "", "error: it is broken" if code else ""))

    asyncio.run(play())
    told = [e.data for e in stand.store.log if e.kind == "outcome"]
    return [(d.get("before", ""), d.get("after", "")) for d in told]


LOOKS = [
    ((("ls", 0),) * 2, [("", "")] * 2, "nothing failed: it costs nothing"),
    ((("ls a", 2),), [("", "1")], "after a failure"),
    ((("ls a", 2), ("ls a", 2)), [("", "1"), ("2", "3")], "before and after the same again"),
    ((("ls a", 2), ("ls", 0), ("ls", 0)), [("", "1"), ("2", "3"), ("", "")], "around the call that follows a failure"),
    ((("ls", 0),) * 4, [("", "")] * 2 + [("", "1"), ("", "2")], "after a call that comes again and again"),
    ((("ls", 0), ("pwd", 0)) * 3, [("", "")] * 4 + [("", "1"), ("", "2")], "after calls that come in turn"),
    ((("ls", 0), *((f"echo {n}", 0) for n in range(5))) * 3, [("", "")] * 18, "a longer turn is none"),
]


@pytest.mark.parametrize(("calls", "seen", "why"), LOOKS, ids=[row[-1] for row in LOOKS])
def test_the_worktree_is_looked_at_where_progress_is_in_question(calls, seen, why):
    assert played(Stand(), Trees(*"123456789"), *calls) == seen


SAID = [
    ((("ls a", 0), ("cat c", 0)), True, "it is new, and what came before it went well"),
    ((("cat b", 0),), True, "it comes again, and a loop of successes is hinted at from its third round on"),
    ((("cat b", 0),) * 2, False, "it comes for the third time in a row"),
    ((("cat b", 0), ("pwd", 0)) * 2, False, "it comes for the third time in turn"),
    ((("cat b", 0), *((f"echo {n}", 0) for n in range(5))) * 2, True, "so long a turn is no loop"),
    ((("ls a", 2),), False, "after a failure"),
]


@pytest.mark.parametrize(("calls", "nothing", "why"), SAID, ids=[row[-1] for row in SAID])
def test_to_a_success_that_begins_no_loop_nothing_is_said(calls, nothing, why):
    stand = Stand()
    played(stand, Trees(), *calls)
    outcomes = Outcomes(stand.sessions, stand.guard, NoReviews(), stand.now)

    async def begin(command):
        return await outcomes.begin(stand.live, await stand.propose(command))

    assert asyncio.run(begin("cat b")).nothing_to_say == nothing
    assert not asyncio.run(begin("pytest -q | tail -3")).nothing_to_say, "the tests may be red all the same"


ESTIMATES = [
    (True, [], [(4, 4), (4, 6)], "four characters a token: what the call said, and what it printed"),
    (False, [], [], "nobody wants it: unknown is unknown"),
    (True, ["report"], [], "somebody tells"),
]


@pytest.mark.parametrize(("wanted", "told", "found", "why"), ESTIMATES, ids=[row[-1] for row in ESTIMATES])
def test_where_nobody_tells_of_tokens_they_are_estimated_if_that_is_wanted(wanted, told, found, why):
    stand = Stand()
    policy = replace(stand.live.policy(), cost=Cost(estimate=wanted))
    stand.live.policy = lambda: policy
    known = [token_ledger.entry(stand.live.id, 1.0, Usage(1.0, 5, source=source)) for source in told]
    stand.sessions.note(stand.live, known)
    played(stand, Trees(), ("ls a", 2), ("cat abcdefg", 2))
    estimated = [u for u in stand.live.session.usage if u.source == token_ledger.ESTIMATE]
    assert [(u.input, u.output) for u in estimated] == found, why
    assert all(u.estimated for u in estimated)


def test_of_a_long_output_no_more_is_estimated_than_an_agent_hands_over():
    action = Stand().action("x")
    assert estimate.usage(action, 10**9, 1.0).input == estimate.usage(action, 30_000, 1.0).input == 7_500


def ended(stand, *ends, on_screen=False):
    """Runs calls that end so; their outcomes on record."""
    outcomes = Outcomes(stand.sessions, stand.guard, NoReviews(), stand.now)

    async def play():
        for end in ends:
            begun = await outcomes.begin(stand.live, await stand.propose("make"))
            await outcomes.end(stand.live, replace(begun, on_screen=on_screen), end)

    asyncio.run(play())
    return [e.data for e in stand.store.log if e.kind == "outcome"]


SAID = digest("boom")
STREAMS = [
    (Ended(2, 0.1, "", "boom"), (SAID, BLANK), "on standard error"),
    (Ended(2, 0.1, "boom", ""), (SAID, SAID), "on standard output"),
    (Ended(2, 0.1, "", ""), (BLANK, BLANK), "seen to say nothing"),
    (Ended(2, 0.1, "\n", "\x1b[0m\n"), (BLANK, BLANK), "nothing but lines and colours"),
    (Ended(2, 0.1), (UNSEEN, ""), "not seen"),
    (Ended(2, 0.1, None, ""), (UNSEEN, ""), "its output may have said something"),
    (Ended(2, 0.1, "", None), (UNSEEN, BLANK), "its error output may have said something"),
    (Ended(2, 0.1, None, "boom"), (SAID, ""), "what is seen of two is its error"),
    (Ended(0, 0.1, "", ""), ("", BLANK), "a success that was seen to be silent"),
    (Ended(0, 0.1), ("", ""), "a success that was not seen"),
]


@pytest.mark.parametrize(("end", "digests", "why"), STREAMS, ids=[row[-1] for row in STREAMS])
def test_seen_and_empty_is_told_from_not_seen(end, digests, why):
    [data] = ended(Stand(), end)
    assert (data.get("error", ""), data.get("output", "")) == digests


def test_who_is_silent_about_the_network_is_known_by_the_exit_code():
    stand = Stand()
    outcomes = Outcomes(stand.sessions, stand.guard, NoReviews(), stand.now)

    async def play():
        begun = await outcomes.begin(stand.live, await stand.propose("curl -s http://localhost:3000"))
        return await outcomes.end(stand.live, begun, Ended(7, 0.1))

    asyncio.run(play())
    [data] = [e.data for e in stand.store.log if e.kind == "outcome"]
    assert (data["error"], data["excerpt"]) == (UNSEEN, "curl: could not connect")


SCREENS = [
    ("make: boom", True, digest("make: boom"), "what the runner saw are its words"),
    ("", True, BLANK, "the runner saw nothing"),
    (None, True, UNSEEN, "the runner did not say"),
    ("frame 7 of many", False, UNSEEN, "it printed elsewhere: the screen is the client's"),
]


@pytest.mark.parametrize(("screen", "on_screen", "error", "why"), SCREENS, ids=[row[-1] for row in SCREENS])
def test_the_screen_counts_for_what_prints_on_it(screen, on_screen, error, why):
    stand = Stand()
    stand.human.screen = screen
    [data] = ended(stand, Ended(2, 0.1), on_screen=on_screen)
    assert data["error"] == error


BESIDE = [
    (["a.txt"], "1", "background processes wrote all that changed: the second begins where the first ended"),
    (["a.txt", "b.txt"], "2", "somebody changed one of the files"),
    (None, "2", "what changed is known no more"),
]


@pytest.mark.parametrize(("changed", "begins", "why"), BESIDE, ids=[row[-1] for row in BESIDE])
def test_only_background_processes_wrote_since(monkeypatch, changed, begins, why):
    asked = []

    def written(root, names):
        asked.append((root, names))
        return names == ["a.txt"]

    monkeypatch.setattr(call_outcomes, "are_background_writes", written)
    seen = played(Stand(), Trees(*"12345", changed=changed), ("ls a", 2), ("ls a", 2))
    assert seen == [("", "1"), (begins, "3")], why
    assert asked == ([(ROOT, changed)] if changed else [])


NOT_ASKED = [
    ((("ls a", 2), ("ls a", 1)), "another exit code"),
    ((("ls a", 2), ("ls b", 0)), "a success"),
    ((("ls a", 2),), "the first failure"),
]


@pytest.mark.parametrize(("calls", "why"), NOT_ASKED, ids=[row[-1] for row in NOT_ASKED])
def test_who_wrote_is_asked_where_a_failure_may_be_a_repetition(monkeypatch, calls, why):
    monkeypatch.setattr(call_outcomes, "are_background_writes", lambda *_: pytest.fail(why))
    played(Stand(), Trees(*"12345"), *calls)


def test_outside_of_a_repository_nothing_is_looked_at():
    assert played(Stand(), None, ("ls a", 2), ("ls a", 2)) == [("", ""), ("", "")]


def test_why_progress_is_not_measured_is_said_and_put_on_record_once():
    stand = Stand()
    played(stand, Trees(*[""] * 9, why="looking at the files took 300 ms"), ("ls a", 2), ("ls a", 2))
    notes = [e.data["what"] for e in stand.store.log if e.kind == "watch"]
    assert notes == ["progress is not measured: looking at the files took 300 ms"]
    assert [said["text"] for said in stand.human.told if said["event"] == "notice"] == [f"SENTINEL: {notes[0]}"]
