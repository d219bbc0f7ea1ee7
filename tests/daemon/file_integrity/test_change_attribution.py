"""Whose a change of a restricted file was, by what the session's processes did. The looks are real in test_activity."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from sentinel_guard.core.model import Outcome
from sentinel_guard.core.session.session import Call, Session, State
from sentinel_guard.daemon.file_integrity.change_attribution import attribute, judge
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from sentinel_guard.host.file_integrity.process_activity import Ran
from tests.support.fakes import ScriptedHuman

REST = Ran(proved=True, seconds=0.5)
BACK, ASK, TAKE = ChangeDecision.PUT_BACK, ChangeDecision.ASK, ChangeDecision.TAKE

JUDGED = [
    (REST, False, TAKE, "nobody ran, nobody else is there"),
    (Ran(proved=False), False, BACK, "nothing is proved"),
    (replace(REST, others=True, others_ran=True), False, BACK, "another process ran"),
    (replace(REST, others_ran=True), False, BACK, "another process came or went"),
    (replace(REST, agent=0.1, agent_ran=True), False, BACK, "the agent was at work"),
    (replace(REST, agent=0.001, agent_ran=True), False, ASK, "the agent ran a little"),
    (replace(REST, agent=0.03, agent_ran=True, seconds=2.0), False, ASK, "little, over a longer time"),
    (replace(REST, others=True), False, ASK, "another process is there and did not run: others may work for it"),
    (replace(REST, others=True), True, TAKE, "the session waits for the person, and so do its processes"),
    (replace(REST, others=True, others_ran=True), True, BACK, "it waits, and a process ran all the same"),
    (replace(REST, agent=0.001, agent_ran=True), True, ASK, "it waits, and the agent ran a little"),
]


@pytest.mark.parametrize(("ran", "waiting", "word", "why"), JUDGED, ids=[row[3] for row in JUDGED])
def test_what_the_processes_say(ran, waiting, word, why):
    assert judge(ran, waiting=waiting) is word


class Looks:
    """An Activity whose looks see what a test says."""

    known = frozenset()

    def __init__(self, ran, lately=REST) -> None:
        self.ran, self.recent, self.looked = ran, lately, 0

    def look(self, *, shell=False, parts=frozenset()):
        self.looked += 1
        return []

    def lately(self, agent):
        return self.recent

    def since(self, at, agent):
        return self.ran


LITTLE = replace(REST, agent=0.001, agent_ran=True)
BUSY = replace(REST, others_ran=True)


def live(*, interactive=True, **fields):
    return Live(Session("s", interactive=interactive, **fields), lambda: None, runner=ScriptedHuman(), agent=7)


def ended(ago):
    outcome = Outcome("a", time.time() - ago, 0)
    return live(calls=(Call("a", "op", "shell", time.time() - ago, outcome=outcome),))


def calling(**fields):
    made = live(**fields)
    made.calls[5] = "a1"
    return made


WHOSE = [
    (live(), Looks(REST), 0, TAKE, "at rest"),
    (calling(), Looks(REST), 0, BACK, "a call runs"),
    (calling(state=State.AWAITING_HUMAN), Looks(REST), 0, TAKE, "the call is the cry for help itself"),
    (lambda: ended(0.2), Looks(REST), 0, BACK, "a call has just ended"),
    (lambda: ended(5), Looks(REST), 0, TAKE, "a call ended long ago"),
    (live(), Looks(REST), 0.2, BACK, "an action has just been allowed"),
    (live(), Looks(LITTLE), 0, ASK, "in doubt"),
    (live(interactive=False), Looks(LITTLE), 0, BACK, "in doubt, and nobody can be asked"),
    (live(state=State.KILLED), Looks(REST), 0, BACK, "a dead session"),
    (live(), Looks(REST, BUSY), 0, BACK, "at work a moment ago"),
]


@pytest.mark.parametrize(("live", "looks", "acted", "word", "why"), WHOSE, ids=[row[4] for row in WHOSE])
def test_whose_it_was(live, looks, acted, word, why):
    live = live() if callable(live) else live
    assert attribute(live, looks, 1.0, time.time() - acted if acted else 0.0) is word


def test_work_that_goes_on_is_known_without_a_look():
    looks = Looks(REST, BUSY)
    attribute(live(), looks, 1.0, 0.0)
    assert looks.looked == 0
