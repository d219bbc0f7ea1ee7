"""Ask a person a question and wait for the reply: the first one wins, none in time is a no (R7).

A question is open on its session's own channel, and for whoever looks into the inbox (``sentinel-guard questions``).

Rules of this file:
1. A question is answered once; what comes later is ignored.
2. Silence, the end of the session and an error are a no.
3. A channel that is lost answers nothing: the question stays open elsewhere, and comes back with the channel.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from typing import Protocol

from sentinel_guard.core.model import Question

OTHER_TERMINAL = "other-terminal"
"""Assurance of what a person says in another terminal than the session's."""

LOOKS = 10.0
"""Seconds from one look at the open questions within which the next one comes, while somebody watches them. Who looks
once (``sentinel-guard questions``) does not: what waited for them might wait for nobody."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's word, and how sure we are that it was a person's."""

    yes: bool
    assurance: str
    """``terminal`` (the runner's outer terminal), ``shared-terminal`` (one on which the agent could type: the guarded
    shell's own, a pane of a multiplexer), ``none``."""
    why: str = ""
    """For a no without a person: ``silence``, ``lost``, ``moot`` (what was asked about is over), ``changed``
    (a yes to what was no longer so: it is asked about anew)."""
    reason: str = ""
    """What the person said to the agent with a no."""
    timed: bool = False
    """Whether a yes is to hold for all of this kind for a while."""

    def as_data(self) -> dict[str, object]:
        """What goes on record of it, but for the reason, which may hold a secret."""
        by = "user" if self.yes else ""
        return {"yes": self.yes, "assurance": self.assurance, "why": self.why, "authorized_by": by}


LOST = Reply(yes=False, assurance="none", why="lost")
"""Where nobody can answer any more."""


class Channel(Protocol):
    """A way to a person."""

    async def ask(self, question: Question) -> Reply:
        """Raises OSError where the way is lost."""


class OtherTerminals:
    """Where persons watch all open questions, ``sentinel-guard console`` say: a channel while they do.

    It puts a question before nobody: who looks sees it, and answers it in the inbox.
    """

    def __init__(self) -> None:
        self._looked = -LOOKS

    def look(self) -> None:
        """Somebody looks."""
        self._looked = time.monotonic()

    def channel(self) -> Channel | None:
        """None where nobody has looked for ``LOOKS``."""
        return self if time.monotonic() - self._looked < LOOKS else None

    async def ask(self, question: Question) -> Reply:
        """Waits until it is cancelled."""
        del question
        await asyncio.get_running_loop().create_future()
        raise AssertionError("nobody ends this but who waits for it")


class _Open:
    """A question that waits for its reply, and the channel through which it is put. ``stays``: a lost channel leaves
    it open.
    """

    def __init__(self, question: Question, *, stays: bool) -> None:
        self.question, self.stays = question, stays
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asking: asyncio.Task[None] | None = None

    @property
    def put(self) -> bool:
        """Whether it is before a person on a channel that works."""
        return self._asking is not None and not self._asking.done()

    def settle(self, reply: Reply) -> bool:
        """False where it is answered already."""
        if self.reply.done():
            return False
        self.reply.set_result(reply)
        return True

    def through(self, channel: Channel, question: Question) -> None:
        self._asking = asyncio.create_task(self._ask(channel, question))

    async def _ask(self, channel: Channel, question: Question) -> None:
        try:
            self.settle(await channel.ask(question))
        except OSError:
            # It stays open for whoever else can answer it.
            if not self.stays:
                self.settle(LOST)
        except Exception as e:  # noqa: BLE001 - a fault of ours is no answer: who waits for one gets the fault
            if not self.reply.done():
                self.reply.set_exception(e)

    def withdraw(self) -> None:
        """What the channel still says is no answer any more."""
        if self._asking:
            self._asking.cancel()


class Inbox:
    """A session's open questions: asks through a channel, takes the first answer, and gives up in time."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._closed = False

    def open(self) -> list[Question]:
        """The questions that nobody has answered yet, oldest first."""
        return [one.question for one in self._open.values() if not one.reply.done()]

    def answer(self, question: str, reply: Reply) -> bool:
        """Answer an open question from elsewhere than its channel; False where there is none of this id any more."""
        waiting = self._open.get(question)
        return waiting is not None and waiting.settle(reply)

    def put_again(self, channel: Channel, now: float) -> None:
        """Put what is open through a new channel, where the one that it had is lost."""
        for one in self._open.values():
            if not one.put and not one.reply.done():
                one.through(channel, replace(one.question, asked=now))

    def close(self) -> None:
        """The session is over: no channel comes back. What is before a person stays there."""
        self._closed = True
        for one in self._open.values():
            one.stays = False
            if not one.put:
                one.settle(LOST)

    async def ask(self, question: Question, channel: Channel, seconds: float, *, stays: bool = True) -> Reply:
        """The reply; after ``seconds`` (0 = never) a no. ``stays``: it may wait for an answer from elsewhere when the
        channel is lost.
        """
        waiting = self._open[question.id] = _Open(question, stays=stays and not self._closed)
        waiting.through(channel, question)
        try:
            async with asyncio.timeout(seconds or None):
                return await waiting.reply
        except TimeoutError:
            return Reply(yes=False, assurance="none", why="silence")
        finally:
            del self._open[question.id]
            waiting.withdraw()
