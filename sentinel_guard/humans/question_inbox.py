"""Ask a person a question and wait for the reply: the first one wins, none in time is a no (R7).

A question is open on its session's own channel, and for whoever looks into the inbox (``sentinel-guard questions``).

Rules of this file:
1. A question is answered once; what comes later is ignored.
2. Silence, a lost channel and an error are a no.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol

from sentinel_guard.core.model import Question


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


class Channel(Protocol):
    """A way to a person."""

    async def ask(self, question: Question) -> Reply: ...


class Inbox:
    """Asks through a channel, and gives up in time."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Question, asyncio.Future[Reply]]] = {}

    def open(self) -> list[Question]:
        """The questions that nobody has answered yet, oldest first."""
        return [question for question, reply in self._open.values() if not reply.done()]

    def answer(self, question: str, reply: Reply) -> bool:
        """Answer an open question from elsewhere than its channel; False where there is none of this id any more."""
        _, waiting = self._open.get(question, (None, None))
        if waiting is None or waiting.done():
            return False
        waiting.set_result(reply)
        return True

    async def ask(self, question: Question, channel: Channel, seconds: float) -> Reply:
        """The reply; after ``seconds`` (0 = never) a no."""
        elsewhere: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        asked = asyncio.ensure_future(channel.ask(question))
        self._open[question.id] = question, elsewhere
        try:
            async with asyncio.timeout(seconds or None):
                await asyncio.wait({asked, elsewhere}, return_when=asyncio.FIRST_COMPLETED)
                return elsewhere.result() if elsewhere.done() else await asked
        except TimeoutError:
            return Reply(yes=False, assurance="none", why="silence")
        except OSError:
            return Reply(yes=False, assurance="none", why="lost")
        finally:
            del self._open[question.id]
            # What the channel still says is no answer any more, and its fault nobody's.
            if not asked.cancel() and not asked.cancelled():
                asked.exception()
