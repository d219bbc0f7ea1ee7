"""The way from the daemon to the runner of a session, and to the person before it: questions, notices, the screen."""

from __future__ import annotations

import asyncio
import itertools
import secrets

from sentinel_guard.core.model import Question
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.host.machine import processes
from sentinel_guard.humans.question_inbox import Reply

FOR_THE_PERSON = frozenset({"ask", "chat", "notice", "killed"})
"""Events that a person must hear of, even one who has stopped the agent."""
TAIL_SECONDS = 1.0
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
"""What the word that is to be typed is made of: three of them, 343,000 words that nobody mistypes."""


class RunnerChannel:
    """The runner at the other end of an operator's connection: a way to the person before it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._questions: dict[str, asyncio.Future[Reply]] = {}
        self._words: dict[str, str] = {}
        """Question -> the word that is to be typed; empty where none is."""
        self._tails: dict[str, asyncio.Future[str]] = {}
        self._ids = itertools.count(1)

    async def ask(self, question: Question) -> Reply:
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        shown = {"action": question.ask.action, "target": question.ask.target, "risk": question.ask.risk}
        seconds = max(0.0, question.until - question.asked) if question.until else 0
        if question.typed_word:
            shown["word"] = "".join(secrets.choice(SYLLABLES) for _ in range(3))
        try:
            self._questions[question.id], self._words[question.id] = reply, shown.get("word", "")
            said: dict[str, object] = {"detail": question.detail, "why": question.why, "preview": [*question.preview]}
            said |= {"details": question.details, "timed": question.timed}
            self.tell("ask", question=question.id, seconds=seconds, **said, **shown)
            return await reply
        finally:
            del self._questions[question.id]
            del self._words[question.id]
            self.tell("unask", question=question.id)

    def answered(
        self, question: str, *, yes: bool, shared: bool = False, word: str = "", reason: str = "", timed: bool = False
    ) -> None:
        """``shared``: an agent could have typed it, through a terminal multiplexer; ``word``: what stood behind it;
        ``reason``: what the person says to the agent with a no; ``timed``: a yes to all of this kind for a while.
        """
        waiting = self._questions.get(question)
        if waiting and not waiting.done():
            yes = yes and (not shared or not self._words[question] or word == self._words[question])
            waiting.set_result(
                Reply(
                    yes, "shared-terminal" if shared else "terminal", reason="" if yes else reason, timed=yes and timed
                )
            )

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
        for waiting in self._questions.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the runner has gone"))
