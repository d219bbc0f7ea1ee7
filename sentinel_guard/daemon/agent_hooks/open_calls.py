"""The tool calls that hooks have asked about and whose end has not been told yet.

Rules of this file:
1. A call is known by the client's own id; where it gives none, by what it does, the oldest first.
2. A client tells no end of what its person refused or interrupted: a call is forgotten after ``FORGOTTEN``, and when
   the main agent or the subagent that made it comes to rest. Subagents work on while the main one rests.
3. What a guarded shell runs for such a call is that call: the first text that is equal, while it is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sentinel_guard.agents.hook_dialect import HookEvent, Word
from sentinel_guard.core.analysis.agent_tools import command_of
from sentinel_guard.daemon.call_outcomes import Begun

FORGOTTEN = 3600.0
"""Seconds after which nobody expects the end of a call."""
TWICE = 2.0
"""Seconds in which the same call through another client's hooks is the same call (Copilot CLI runs Claude Code's)."""


@dataclass(slots=True)
class OpenCall:
    """A call and what was said about it."""

    at: float
    client: str
    """Whose hooks asked."""
    call: str
    """The client's own id; empty where it gives none."""
    operation: str
    word: Word
    subagent: str = ""
    """The client's own id of who made it; empty for the main agent."""
    command: str = ""
    """The text that its shell will be given; empty for a tool that runs none."""
    begun: Begun | None = None
    """None where it was refused."""
    pending: float | None = None
    """When it ended (epoch seconds), where its client has still to tell how."""
    transcript: str = ""
    """Of such a call: the client's record that will tell it. Codex has one of its own for each subagent."""
    carried_out: bool = False
    """True once a guarded shell runs it, which tells its outcome."""


class OpenCalls:
    """Of one session."""

    def __init__(self) -> None:
        self._calls: list[OpenCall] = []
        self.asked = False
        """Whether the session's client has hooks that ask."""
        self.ours: set[str] = set()
        """Shell texts that say a refusal in the place of the call that was refused."""

    def add(self, call: OpenCall) -> None:
        self._calls = [c for c in self._calls if c.at > call.at - FORGOTTEN]
        self._calls.append(call)

    def told(self, client: str, event: HookEvent, operation: str, now: float) -> Word | None:
        """What was said about the same call just now, where a client runs the hooks of another one for it, too.

        To the hooks that asked before it is another call: it is judged, and a refused one counts, whatever its id.
        """
        for call in reversed(self._calls):
            same = call.operation == operation and call.call in ("", event.call or call.call)
            if same and call.client != client and now - call.at < TWICE:
                if call.word.blocked:
                    self.close(call)
                return call.word
        return None

    def find(self, event: HookEvent, operation: str) -> OpenCall | None:
        """The open call that an end belongs to; None where none is known."""
        return next(self._matching(event, operation), None)

    def pending(self) -> list[OpenCall]:
        """Calls that have ended, of which it is not known how."""
        return [call for call in self._calls if call.pending is not None and not call.carried_out]

    def close(self, call: OpenCall) -> None:
        self._calls.remove(call)

    def awaiting(self, command: str) -> OpenCall | None:
        """The call that a guarded shell with this text carries out."""
        calls = (c for c in self._calls if c.begun and not c.carried_out and c.pending is None)
        return next((c for c in calls if c.command and c.command == command.strip()), None)

    def of_action(self, action: str) -> OpenCall | None:
        """The call whose action has this id, where no shell runs it yet."""
        calls = (c for c in self._calls if c.begun and not c.carried_out)
        return next((c for c in calls if c.begun and c.begun.judged.verdict.action.id == action), None)

    def rest(self, subagent: str) -> None:
        """The main agent (an empty name) or a subagent has ended its turn: no call of its own is under way."""
        self._calls = [c for c in self._calls if c.carried_out or c.subagent != subagent]

    @property
    def last(self) -> str:
        """Id of the action that was let run last and is not known to have ended; empty where there is none."""
        runs = (c.begun for c in reversed(self._calls) if c.begun and c.pending is None)
        return next((begun.judged.verdict.action.id for begun in runs), "")

    def _matching(self, event: HookEvent, operation: str) -> Iterator[OpenCall]:
        for call in self._calls:
            if (call.call == event.call) if event.call and call.call else call.operation == operation:
                yield call


def shell_text(event: HookEvent) -> str:
    """What a tool call gives to a shell; empty for any other tool."""
    command = command_of(event.tool, {k: v for k, v in event.arguments.items() if k != "cwd"})
    return command.strip() if isinstance(command, str) else ""
