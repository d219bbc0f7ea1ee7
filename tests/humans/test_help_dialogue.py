"""What a person says to an agent: who hears it, and when. Each rule of the file has its test."""

from __future__ import annotations

import asyncio

import pytest

from sentinel_guard.humans.help_dialogue import CALLS, SECONDS, UNHEARD, Dialogue


def drained(words: asyncio.Queue) -> list:
    return [words.get_nowait() for _ in range(words.qsize())]


def test_rule_1_each_call_that_waits_hears_each_word():
    dialogue = Dialogue()
    with dialogue.heard() as one, dialogue.heard() as other:
        dialogue.say("a")
        dialogue.missed("a")
        dialogue.end()
        assert drained(one) == drained(other) == ["a", None]
    assert dialogue.take_unheard() == [], "and nobody else is told again"


def test_rule_1_what_nobody_waits_for_is_told_once_with_the_next_command():
    dialogue, told = Dialogue(), []

    async def hold(text: str) -> None:
        told.append(text)

    with dialogue.heard():
        pass
    for n in range(UNHEARD + 1):
        dialogue.say(f"{n}")
    asyncio.run(dialogue.tell(hold))
    asyncio.run(dialogue.tell(hold))
    assert told == [f"SENTINEL: the user says: {n}" for n in range(1, UNHEARD + 1)], "the newest, each once"


@pytest.mark.parametrize(("at", "left"), [(0.0, 60.0), (59.0, 1.0), (60.0, 0.0)])
def test_rule_2_calls_beyond_so_many_a_minute_are_refused(at, left):
    dialogue = Dialogue()
    assert [dialogue.called(0.0) for _ in range(CALLS)] == [0.0] * CALLS
    assert dialogue.called(at) == left and SECONDS == 60.0
