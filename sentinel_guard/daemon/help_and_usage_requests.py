"""An agent's requests other than commands: help from a person (R8), reports of token usage (R6)."""

from __future__ import annotations

import json
from collections.abc import Callable

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Usage
from sentinel_guard.core.session import session_health
from sentinel_guard.core.session.session import Event
from sentinel_guard.daemon import wire_messages
from sentinel_guard.daemon.guard import ATTEND, Guard
from sentinel_guard.daemon.live_sessions import Live, Place, Sessions
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.host.machine import processes
from sentinel_guard.humans.help_dialogue import CALLS

COUNTS = ("input", "output", "cache_read", "cache_write")
MAX_TOKENS = 10**12


class AgentRequests:
    def __init__(self, sessions: Sessions, guard: Guard, now: Callable[[], float]) -> None:
        self._sessions, self._guard, self._now = sessions, guard, now

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
                self._guard.report_usage(live, usage(asked.argv[-1], self._now()))
                link.send([*wire_messages.prints(_standing(live, self._now()), "1"), *wire_messages.leave("", 0)])
            case _:
                raise PeerError(f"{asked.face!r} is no such request", "See 'sentinel-guard doctor'.")

    async def _help(self, live: Live, context: str, link: Link) -> None:
        """Pause the session until a person types /resume; their words are the command's output."""
        if live.runner is None or not live.session.interactive:
            raise SentinelError("No human can be reached from here.", ATTEND)
        if left := live.dialogue.called(self._now()):
            raise SentinelError(
                f"The user was called {CALLS} times within a minute, and is called again after {left:.0f} s.",
                "Ask for all that you need at once, or work on.",
            )
        self._note(live, Event.HELP, reason=context)
        live.runner.tell("chat", context=context)
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


def _standing(live: Live, now: float) -> str:
    """Where a session stands after a report."""
    policy = live.policy()
    minute = session_health.status(live.session, policy, now)["tokens_per_minute"]
    return f"{minute:,} tokens in the last minute; over {policy.cost.tokens_per_minute:,} there is a cool-down."


def usage(text: str, at: float) -> Usage:
    """The usage in a JSON object of counts; ``tokens`` alone counts as output. Raises PeerError."""
    try:
        said = json.loads(text)
        counts = {k: 0 if said.get(k) is None else int(said[k]) for k in (*COUNTS, "tokens")}
    except (ValueError, AttributeError, TypeError, OverflowError) as e:
        raise PeerError("usage is a JSON object of counts", "sentinel-guard usage report --tokens N") from e
    if any(not 0 <= n <= MAX_TOKENS for n in counts.values()):
        raise PeerError("a count of tokens is not negative", "sentinel-guard usage report --tokens N")
    detailed = any(counts[k] for k in COUNTS)
    output = counts["output"] if detailed else counts["tokens"]
    return Usage(at, counts["input"], output, counts["cache_read"], counts["cache_write"])
