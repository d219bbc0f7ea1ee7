"""A launcher that waits for a verdict: keep it waiting, and ask a person on its terminal."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from sentinel_guard.core import response_text
from sentinel_guard.core.model import Question
from sentinel_guard.core.response_phrases import WAITING
from sentinel_guard.core.session.session import State
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.live_sessions import Live, Place
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.humans.question_inbox import Channel, Reply


class Terminal:
    """Asks through the launcher, on the terminal that it shares with its caller (outside ``run`` only)."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def ask(self, question: Question) -> Reply:
        self._link.send(wire_messages.ask(response_text.gate(question)))
        word = wire_messages.reply(await self._link.receive())
        return Reply(
            yes=word == "Y", assurance="shared-terminal" if word != "-" else "none", why="" if word != "-" else "lost"
        )


@contextlib.asynccontextmanager
async def telling(waiting: Waiting, live: Live, patience: float) -> AsyncIterator[None]:
    """After ``patience`` seconds of waiting for a person, say so: the agent is about to go on without this call."""

    async def tell() -> None:
        while True:
            await asyncio.sleep(patience)
            if live.session.state is State.ASKING:
                await waiting.hold(WAITING)
                return

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()


@dataclass(slots=True)
class Waiting:
    """The launcher that waits for a verdict."""

    link: Link
    channel: Channel | None

    async def hold(self, text: str = "") -> None:
        self.link.send(wire_messages.hold(text))


def waiting(link: Link, asked: wire_messages.Request, place: Place) -> Waiting:
    """The launcher behind a link; a person may be asked on its terminal, where it has one and they sit at it.

    On a terminal of the agent's own the agent would answer.
    """
    return Waiting(link, Terminal(link) if "t" in asked.terminals and place.attended else None)
