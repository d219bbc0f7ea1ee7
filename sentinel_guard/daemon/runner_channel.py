"""The way from the daemon to the runner of a session, and to the person before it: questions, notices, the screen."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable

from sentinel_guard.core.model import Question
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.host.machine import processes
from sentinel_guard.humans.question_inbox import Reply

FOR_THE_PERSON = frozenset({"ask", "chat", "notice", "killed"})
"""Events that a person must hear of, even one who has stopped the agent."""
TAIL_SECONDS = 1.0
TRIES = 3
"""Codes of the second factor that may be wrong for one question; the last one is a no."""
NO_CODE = "no code can be proved here"
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
"""What the word that is to be typed is made of: three of them, 343,000 words that nobody mistypes."""


class _Asked:
    """A question that stands on the person's screen."""

    def __init__(self, question: Question) -> None:
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.word = "".join(secrets.choice(SYLLABLES) for _ in range(3)) if question.typed_word else ""
        """What is to be typed behind a yes where an agent could type; empty where nothing is."""
        self.code = question.code
        self._seconds = max(0.0, question.until - question.asked) if question.until else 0
        self._put, self._shown = time.monotonic(), _shown(question)
        self.tries = TRIES

    def event(self, wrong: str = "") -> dict[str, object]:
        """``wrong``: what was wrong with the code that was given, in words."""
        left = max(0.1, self._seconds - (time.monotonic() - self._put)) if wrong and self._seconds else self._seconds
        more: dict[str, object] = {"word": self.word} if self.word and not self.code else {}
        more |= {"code": True} if self.code else {}
        return self._shown | {"seconds": left} | more | ({"wrong": wrong} if wrong else {})


def _shown(question: Question) -> dict[str, object]:
    ask = question.ask
    shown: dict[str, object] = {"action": ask.action, "target": ask.target, "risk": ask.risk}
    shown |= {"detail": question.detail, "why": question.why, "preview": [*question.preview]}
    return shown | {"details": question.details, "timed": question.timed}


class RunnerChannel:
    """The runner at the other end of an operator's connection: a way to the person before it."""

    def __init__(self, link: Link, refusal: Callable[[str], str] = lambda _: NO_CODE) -> None:
        """``refusal``: why a code of the second factor is not taken, in words; empty where it is."""
        self._link, self._refusal = link, refusal
        self._questions: dict[str, _Asked] = {}
        self._tails: dict[str, asyncio.Future[str]] = {}
        self._ids = itertools.count(1)

    async def ask(self, question: Question) -> Reply:
        asked = self._questions[question.id] = _Asked(question)
        try:
            self.tell("ask", question=question.id, **asked.event())
            return await asked.reply
        finally:
            del self._questions[question.id]
            self.tell("unask", question=question.id)

    def answered(
        self, question: str, *, yes: bool, shared: bool = False, word: str = "", reason: str = "", timed: bool = False,
        code: str = "",
    ) -> None:  # fmt: skip
        """``shared``: an agent could have typed it, through a terminal multiplexer; ``word``: what stood behind it;
        ``reason``: what the person says to the agent with a no; ``timed``: a yes to all of this kind for a while;
        ``code``: of the second factor.
        """
        asked = self._questions.get(question)
        if asked is None or asked.reply.done():
            return
        if asked.code:
            if yes and (wrong := self._refusal(code)):
                asked.tries -= 1
                if asked.tries:
                    self.tell("ask", question=question, **asked.event(wrong))
                    return
                yes = False
        else:
            yes = yes and (not shared or not asked.word or word == asked.word)
        assurance = "shared-terminal" if shared else "terminal"
        asked.reply.set_result(Reply(yes, assurance, reason="" if yes else reason, timed=yes and timed))

    def tell(self, event: str, **fields: object) -> None:
        self._link.send_json({"event": event, **fields})
        # A job that the person has stopped would tell them only when they come back to it.
        if event in FOR_THE_PERSON and self._link.peer:
            processes.wake(self._link.peer)

    async def tail(self, since: float) -> str | None:
        """What the inner terminal printed since then (``time.monotonic``); None if the runner does not say in time."""
        ident = str(next(self._ids))
        self._tails[ident] = text = asyncio.get_running_loop().create_future()
        self.tell("tail", id=ident, since=since)
        try:
            return await asyncio.wait_for(text, TAIL_SECONDS)
        except TimeoutError:
            return None
        finally:
            del self._tails[ident]

    def tailed(self, ident: str, text: str) -> None:
        waiting = self._tails.get(ident)
        if waiting and not waiting.done():
            waiting.set_result(text)

    def lost(self) -> None:
        """The person is out of reach by this way."""
        for asked in self._questions.values():
            if not asked.reply.done():
                asked.reply.set_exception(ConnectionError("the runner has gone"))
