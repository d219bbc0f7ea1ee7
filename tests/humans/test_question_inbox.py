"""Open questions: one reply, and silence is a no (R7)."""

from __future__ import annotations

import asyncio
import time

import pytest

from sentinel_guard.core.model import Ask, Question
from sentinel_guard.humans.question_inbox import LOST, Inbox, Reply
from tests.support.fakes import ScriptedHuman
from tests.support.time_limits import limit

QUESTION = Question("q1", "s1", Ask("DEPLOY", "PROD"), "deploy prod", "policy", 10.0, 15.0)


def ask(channel, seconds=5.0) -> Reply:
    return asyncio.run(Inbox().ask(QUESTION, channel, seconds))


REPLIES = (
    (ScriptedHuman(True), Reply(yes=True, assurance="terminal"), "a yes"),
    (ScriptedHuman(False), Reply(yes=False, assurance="terminal"), "a no"),
    (ScriptedHuman(True, False), Reply(yes=True, assurance="terminal"), "the first reply counts"),
)


@pytest.mark.parametrize(("human", "reply"), [r[:2] for r in REPLIES], ids=[r[2] for r in REPLIES])
def test_the_reply(human, reply):
    assert ask(human) == reply
    assert human.asked == [QUESTION]


def test_silence_is_a_no_in_time():
    began = time.monotonic()
    assert ask(ScriptedHuman(), 0.02) == Reply(yes=False, assurance="none", why="silence")
    assert 0.02 <= time.monotonic() - began < limit(2)


ELSEWHERE = Reply(yes=True, assurance="other-terminal")
LINES = (
    (lambda inbox: inbox.answer("q1", ELSEWHERE), ELSEWHERE, "it is answered elsewhere"),
    (lambda inbox: inbox.put_again(ScriptedHuman(True), 12.0), Reply(True, "terminal"), "its channel comes back"),
    (lambda inbox: inbox.close(), LOST, "the session ends, and nobody can answer"),
    (lambda inbox: None, Reply(yes=False, assurance="none", why="silence"), "nobody answers in time"),
)


@pytest.mark.parametrize("broken", [ConnectionResetError(), BrokenPipeError()], ids=["reset", "broken"])
@pytest.mark.parametrize(("then", "reply"), [r[:2] for r in LINES], ids=[r[2] for r in LINES])
def test_a_channel_that_is_lost_leaves_the_question_open(broken, then, reply):
    async def play():
        inbox, human = Inbox(), ScriptedHuman(broken)
        waiting = asyncio.create_task(inbox.ask(QUESTION, human, 1.0 if reply.why == "silence" else 60.0))
        await asyncio.wait([waiting], timeout=0.02)
        assert not waiting.done() and inbox.open() == [QUESTION] and human.asked == [QUESTION]
        then(inbox)
        assert await waiting == reply
        assert not inbox.open()

    asyncio.run(play())


def test_a_channel_that_comes_back_is_told_how_long_is_left_and_another_is_not_asked_twice():
    async def play():
        inbox, broken, back, third = Inbox(), ScriptedHuman(ConnectionResetError()), ScriptedHuman(), ScriptedHuman()
        waiting = asyncio.create_task(inbox.ask(QUESTION, broken, 5))
        await asyncio.sleep(0.01)
        inbox.put_again(back, 12.0)
        await asyncio.sleep(0.01)
        assert [(q.id, q.until - q.asked) for q in back.asked] == [("q1", 3.0)]
        inbox.put_again(third, 13.0)
        await asyncio.sleep(0.01)
        assert third.asked == [], "it is before a person"
        inbox.answer("q1", ELSEWHERE)
        await waiting

    asyncio.run(play())


def test_where_nothing_can_wait_for_an_answer_from_elsewhere_a_lost_channel_is_a_no():
    reply = asyncio.run(Inbox().ask(QUESTION, ScriptedHuman(BrokenPipeError()), 60, stays=False))
    assert reply == LOST


def test_in_a_session_that_is_over_a_lost_channel_is_a_no():
    inbox = Inbox()
    inbox.close()
    assert asyncio.run(inbox.ask(QUESTION, ScriptedHuman(BrokenPipeError()), 60)) == LOST


def test_zero_waits_for_ever():
    async def play():
        waiting = asyncio.create_task(Inbox().ask(QUESTION, ScriptedHuman(), 0))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(play())


def test_a_fault_of_ours_is_not_taken_for_an_answer():
    class Broken:
        async def ask(self, question):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(Broken())


def test_the_first_answer_counts_wherever_it_comes_from():
    async def play():
        inbox, elsewhere = Inbox(), Reply(yes=True, assurance="other-terminal")
        waiting = asyncio.create_task(inbox.ask(QUESTION, silent := ScriptedHuman(), 5))
        await asyncio.sleep(0.01)
        assert (inbox.open(), silent.asked) == ([QUESTION], [QUESTION])
        assert not inbox.answer("q9", elsewhere), "no such question"
        assert inbox.answer("q1", elsewhere)
        assert not inbox.answer("q1", Reply(yes=False, assurance="other-terminal")), "it is answered"
        assert await waiting == elsewhere
        assert not inbox.open() and not inbox.answer("q1", elsewhere)

    asyncio.run(play())


def test_a_question_that_is_answered_elsewhere_is_taken_back_from_its_channel():
    class Screen:
        shown = False

        async def ask(self, question):
            self.shown = True
            try:
                await asyncio.Event().wait()
            finally:
                self.shown = False

    async def play():
        inbox, screen = Inbox(), Screen()
        waiting = asyncio.create_task(inbox.ask(QUESTION, screen, 5))
        await asyncio.sleep(0.01)
        assert screen.shown
        inbox.answer("q1", Reply(yes=False, assurance="other-terminal"))
        await waiting
        await asyncio.sleep(0)
        assert not screen.shown

    asyncio.run(play())
