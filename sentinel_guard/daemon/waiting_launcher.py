"""A launcher that waits for a verdict: keep it waiting, and ask a person on its terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sentinel_guard.agents.base import PATIENCE
from sentinel_guard.core import response_text
from sentinel_guard.core.model import Question
from sentinel_guard.core.response_phrases import WAITING
from sentinel_guard.core.session.session import State
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.guard import Waiter
from sentinel_guard.daemon.live_sessions import Live, Place
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.daemon.shell_origin import agent_above
from sentinel_guard.humans.question_inbox import Channel, Reply

SOON = 1.0
"""Seconds before its agent goes on in which a peer is told, and that pass at least before it is."""


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


class Telling:
    """A peer that is held: while a person is waited for it is told so when ``left`` seconds have passed, as its agent
    is about to go on without this call.
    """

    def __init__(self, waiting: Waiter, live: Live, left: Callable[[], float]) -> None:
        self._waiting, self._live, self._left = waiting, live, left
        self._task: asyncio.Task[None] | None = None

    @property
    def channel(self) -> Channel | None:
        return self._waiting.channel

    async def hold(self, text: str = "") -> None:
        if self._task is None:  # most are judged at once, and never held
            self._task = asyncio.create_task(self._tell())
        await self._waiting.hold(text)

    def close(self) -> None:
        """It waits no longer."""
        if self._task:
            self._task.cancel()

    async def _tell(self) -> None:
        pause = self._left() - SOON
        while True:
            await asyncio.sleep(max(pause, SOON))
            if self._live.session.state is State.ASKING:
                await self._waiting.hold(WAITING)
                return


def left(place: Place, now: float) -> float:
    """Seconds until the agent goes on without the call that a peer is, or is a step of."""
    agent = agent_above(place)
    patience = agent.patience if agent else PATIENCE
    begun = next((call.at for call in place.live.session.calls if call.action == place.parent), now)
    # Where it has gone on already, nothing is to be told in time.
    return patience - (now - begun) if now - begun < patience else patience


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
