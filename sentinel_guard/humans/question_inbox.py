"""Ask a person a question and wait for the reply: the first one wins, none in time is a no (R7).

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
    """For a no without a person: ``silence``, ``lost``, ``moot`` (what was asked about is over)."""


class Channel(Protocol):
    """A way to a person."""

    async def ask(self, question: Question) -> Reply: ...


class Inbox:
    """Asks through a channel, and gives up in time."""

    async def ask(self, question: Question, channel: Channel, seconds: float) -> Reply:
        """The reply; after ``seconds`` (0 = never) a no."""
        try:
            async with asyncio.timeout(seconds or None):
                return await channel.ask(question)
        except TimeoutError:
            return Reply(yes=False, assurance="none", why="silence")
        except OSError:
            return Reply(yes=False, assurance="none", why="lost")
