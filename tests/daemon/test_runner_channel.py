"""The way from the daemon to a session's runner. Real links."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from sentinel_guard.core.model import Ask, Question
from sentinel_guard.daemon import runner_channel
from sentinel_guard.daemon.runner_channel import RunnerChannel
from sentinel_guard.host.machine import processes
from sentinel_guard.humans.question_inbox import Reply
from tests.daemon.test_operator_socket import Office
from tests.support.guard_in_memory import linked
from tests.support.time_limits import limit

QUESTION = Question("q7", "s1", Ask("DEPLOY", "PROD"), "deploy prod", "policy", 10.0, 15.0)
QUESTION = replace(QUESTION, timed=60.0, preview=("to prod",), details="a\nb")


def with_runner(story):
    async def played():
        async with linked() as (ours, theirs):
            return await story(RunnerChannel(ours), theirs)

    return asyncio.run(played())


@pytest.mark.parametrize("yes", [True, False])
def test_a_question_is_shown_answered_and_taken_away(yes):
    async def story(runner, theirs):
        asking = asyncio.create_task(runner.ask(QUESTION))
        shown = await theirs.receive_json()
        runner.answered("another", yes=True)
        await asyncio.sleep(0)
        assert not asking.done(), "the answer to another question"
        runner.answered("q7", yes=yes)
        runner.answered("q7", yes=not yes)
        return shown, await asking, await theirs.receive_json()

    shown, reply, taken = with_runner(story)
    assert shown == {
        "event": "ask", "question": "q7", "action": "DEPLOY", "target": "PROD", "risk": "HIGH",
        "detail": "deploy prod", "why": "policy", "seconds": 5.0,
            "preview": ["to prod"], "details": "a\nb", "timed": 60.0,
    }  # fmt: skip
    assert (reply.yes, reply.assurance) == (yes, "terminal")
    assert taken == {"event": "unask", "question": "q7"}


def test_where_the_agent_could_have_typed_it_the_record_says_so():
    async def story(runner, theirs):
        asking = asyncio.create_task(runner.ask(QUESTION))
        await theirs.receive_json()
        runner.answered("q7", yes=True, shared=True)
        return await asking

    assert with_runner(story) == Reply(yes=True, assurance="shared-terminal")


TYPED = (
    (lambda word: {"yes": True, "shared": True, "word": word}, True, "the word that was shown"),
    (lambda word: {"yes": True, "shared": True, "word": word[:-1]}, False, "a part of it"),
    (lambda word: {"yes": True, "shared": True}, False, "none"),
    (lambda word: {"yes": True}, True, "where nobody else types, the Y is enough"),
    (lambda word: {"yes": False, "shared": True, "word": word}, False, "a no"),
)


@pytest.mark.parametrize(("said", "yes"), [row[:2] for row in TYPED], ids=[row[2] for row in TYPED])
def test_where_a_word_is_demanded_only_that_word_is_a_yes(said, yes):
    async def story(runner, theirs):
        asking = asyncio.create_task(runner.ask(replace(QUESTION, typed_word=True)))
        word = (await theirs.receive_json())["word"]
        runner.answered("q7", **said(word))
        return word, (await asking).yes

    word, answered = with_runner(story)
    assert len(word) == 6 and word.isalpha()
    assert answered is yes


def test_a_runner_that_goes_away_answers_no_question_with_yes():
    async def story(runner, theirs):
        asking = asyncio.create_task(runner.ask(QUESTION))
        await theirs.receive_json()
        runner.lost()
        with pytest.raises(OSError):
            await asking

    with_runner(story)


def test_what_the_inner_terminal_printed():
    async def story(runner, theirs):
        asking = asyncio.create_task(runner.tail(2.5))
        asked = await theirs.receive_json()
        runner.tailed("999", "another's")
        runner.tailed(asked["id"], "Traceback")
        return asked, await asking

    asked, text = with_runner(story)
    assert (asked["event"], asked["since"], text) == ("tail", 2.5, "Traceback")


def test_a_runner_that_does_not_say_has_seen_nothing(monkeypatch):
    monkeypatch.setattr(runner_channel, "TAIL_SECONDS", 0.05)

    async def story(runner, theirs):
        return await runner.tail(2.5)

    assert with_runner(story) is None


# --- a connection that breaks in mid-question ---

SESSION = "s2"
ATTACH = {"op": "attach", "session": SESSION, "pid": os.getpid()}


async def heard(link, event):
    """The next event of this name."""
    while (said := await asyncio.wait_for(link.receive_json(), limit(5))).get("event") != event:
        pass
    return said


async def attached(office, link, theirs):
    link.pid = os.getpid()
    serving = asyncio.create_task(office.operators.serve(link))
    theirs.send_json(ATTACH)
    assert (await asyncio.wait_for(theirs.receive_json(), limit(5)))["ok"]
    return serving


def in_mid_question(then):
    """Break the connection of a runner that asks, and go on with ``then``; what the agent is told."""

    async def play():
        office = Office()
        live = office.stand.begin(SESSION, owner=processes.identify(os.getpid()))
        live.runner, office.stand.live = None, live
        async with linked() as (ours, theirs):
            serving = await attached(office, ours, theirs)
            call = asyncio.create_task(office.stand.propose("deploy prod"))
            await heard(theirs, "ask")
            await theirs.close()
            await asyncio.wait_for(serving, limit(5))
        assert not call.done(), "the connection that is gone has answered nothing"
        await then(office)
        judged = await asyncio.wait_for(call, limit(5))
        return judged.verdict.authorized_by

    return asyncio.run(play())


@pytest.mark.parametrize(("yes", "by"), [(True, "user"), (False, "")])
def test_it_is_answered_in_another_terminal(yes, by):
    async def answer(office):
        [asked] = (await office.converse({"op": "questions"}))[0]["questions"]
        decide = {"op": "decide", "session": SESSION, "question": asked["question"], "yes": yes}
        [said] = await office.converse(decide)
        assert said["ok"], said

    assert in_mid_question(answer) == by


def test_the_runner_that_comes_back_asks_again():
    async def answer(office):
        async with linked() as (ours, theirs):
            serving = await attached(office, ours, theirs)
            asked = await heard(theirs, "ask")
            theirs.send_json({"op": "answer", "question": asked["question"], "yes": True})
            await heard(theirs, "unask")
            await theirs.close()
            await asyncio.wait_for(serving, limit(5))

    assert in_mid_question(answer) == "user"


def test_with_the_session_it_is_over():
    async def end(office):
        live = office.stand.sessions.live[SESSION]
        office.operators._beginnings.end_orphan(live)

    assert in_mid_question(end) == ""
