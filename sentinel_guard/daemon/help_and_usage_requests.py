"""An agent's requests other than commands: help from a person (R8), reports of token usage (R6)."""

from __future__ import annotations

from collections.abc import Callable

from sentinel_guard.core import encode_entries
from sentinel_guard.core.response_phrases import NOBODY_HERE
from sentinel_guard.core.session.session import Event
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.guard import ATTEND
from sentinel_guard.daemon.live_sessions import Live, Place, Sessions
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.daemon.token_usage import report
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.host.machine import processes
from sentinel_guard.humans.help_dialogue import CALLS


class AgentRequests:
    def __init__(self, sessions: Sessions, now: Callable[[], float]) -> None:
        self._sessions, self._now = sessions, now

    async def serve(self, asked: wire_messages.Request, place: Place, link: Link) -> None:
        """Answer a peer that does not propose a command."""
        live = place.live
        if live.session.over:
            raise SentinelError(
                f"This session is {live.session.state.value}.", "Start a new one with 'sentinel-guard run'."
            )
        match asked.face:
            case "help":
                await self._help(live, asked.argv[-1], link)
            case "usage":
                words = report.take(live, self._sessions, asked.argv[-1], self._now())
                link.send([*wire_messages.prints(words, "1"), *wire_messages.leave("", 0)])
            case _:
                raise PeerError(f"{asked.face!r} is no such request", "See 'sentinel-guard doctor'.")

    async def _help(self, live: Live, context: str, link: Link) -> None:
        """Pause the session until a person types /resume; their words are the command's output."""
        runner = live.runner if live.session.interactive else None
        if runner is None and self._sessions.other_terminals.channel() is None:
            raise SentinelError(NOBODY_HERE, ATTEND)
        if left := live.dialogue.called(self._now()):
            raise SentinelError(
                f"The user was called {CALLS} times within a minute, and is called again after {left:.0f} s.",
                "Ask for all that you need at once, or work on.",
            )
        self._note(live, Event.HELP, reason=context)
        if runner:
            runner.tell("chat", context=context)
        link.send(wire_messages.hold("SENTINEL: the human was called. This session waits until they type /resume."))
        for earlier in live.dialogue.take_unheard():
            link.send([*wire_messages.prints(earlier, "1"), *wire_messages.hold()])
        with live.dialogue.heard() as words:
            while (word := await words.get()) is not None and link.peer and processes.alive(link.peer):
                link.send([*wire_messages.prints(word, "1"), *wire_messages.hold()])
        if word is not None:
            live.dialogue.missed(word)
        link.send(wire_messages.leave("", 0))

    def _note(self, live: Live, event: Event, reason: str) -> None:
        self._sessions.note(live, [encode_entries.state(live.id, self._now(), event, reason=reason)])
