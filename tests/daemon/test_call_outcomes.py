"""How a call ended: when the worktree is looked at, and what is said where it cannot be."""

from __future__ import annotations

import asyncio

import pytest

from sentinel_guard.daemon.call_outcomes import Outcomes
from sentinel_guard.daemon.wire_messages import Ended
from tests.support.guard_in_memory import Stand


class Trees:
    """A worktree in memory: each look gives the next tree."""

    def __init__(self, *trees, why="") -> None:
        self.trees, self.why, self.looks = list(trees), why, 0

    def take(self):
        self.looks += 1
        return self.trees.pop(0) if self.trees else "t"

    def changed(self, old, new):
        return ["a.txt"]

    def complaint(self):
        why, self.why = self.why, ""
        return why


class NoReviews:
    """No incident is open: nothing is asked."""

    def ask(self, live, action, code):
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
    ((("ls", 0),) * 3, [("", "")] * 3, "nothing failed: it costs nothing"),
    ((("ls a", 2),), [("", "1")], "after a failure"),
    ((("ls a", 2), ("ls a", 2)), [("", "1"), ("2", "3")], "before and after the same again"),
    ((("ls a", 2), ("ls", 0), ("ls", 0)), [("", "1"), ("2", "3"), ("", "")], "around the call that follows a failure"),
    ((("ls", 0),) * 7, [("", "")] * 5 + [("1", "2"), ("3", "4")], "around a call that comes again and again"),
]


@pytest.mark.parametrize(("calls", "seen", "why"), LOOKS, ids=[row[-1] for row in LOOKS])
def test_the_worktree_is_looked_at_where_progress_is_in_question(calls, seen, why):
    assert played(Stand(), Trees(*"123456789"), *calls) == seen


def test_outside_of_a_repository_nothing_is_looked_at():
    assert played(Stand(), None, ("ls a", 2), ("ls a", 2)) == [("", ""), ("", "")]


def test_why_progress_is_not_measured_is_said_and_put_on_record_once():
    stand = Stand()
    played(stand, Trees(*[""] * 9, why="looking at the files took 300 ms"), ("ls a", 2), ("ls a", 2))
    notes = [e.data["what"] for e in stand.store.log if e.kind == "watch"]
    assert notes == ["progress is not measured: looking at the files took 300 ms"]
    assert [said["text"] for said in stand.human.told if said["event"] == "notice"] == [f"SENTINEL: {notes[0]}"]
