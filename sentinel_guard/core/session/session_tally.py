"""What a session came to: commands, refusals, questions, time held. Pure: a fold over its entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sentinel_guard.core.model import Entry
from sentinel_guard.core.session.session import NEXT, Event, State

KINDS = ("verdict", "observation", "human", "state", "watch")
"""Of entries that are looked at."""
REFUSED = frozenset({"L2", "L3", "L4"})


@dataclass(frozen=True, slots=True)
class Tally:
    commands: int = 0
    """Calls that ran; not the steps of one."""
    refused: int = 0
    """What was refused, put back or ended."""
    asked: int = 0
    """Questions that were put to a person."""
    held: float = 0.0
    """Seconds in which the session waited: for an answer, a pause's end, a cool-down."""
    state: State = State.ACTIVE
    since: float = 0.0

    def after(self, entry: Entry) -> Tally:
        """The tally with one more entry."""
        refused = self.refused + (entry.level in REFUSED)
        if entry.kind == "verdict":
            return replace(self, commands=self.commands + (entry.data.get("call") is True), refused=refused)
        if entry.kind == "human":
            return replace(self, asked=self.asked + ("question" in entry.data))
        if entry.kind == "state":
            return self._moved(entry)
        return replace(self, refused=refused)

    def _moved(self, entry: Entry) -> Tally:
        event = str(entry.data.get("event", ""))
        state = NEXT.get((self.state, Event(event)), self.state) if event in set(Event) else self.state
        waited = entry.at - self.since if self.state is not State.ACTIVE else 0.0
        return replace(self, state=state, since=entry.at, held=self.held + waited)


def tally(entries: Iterable[Entry]) -> Tally:
    """Of all entries of a session, or those of KINDS."""
    found = Tally()
    for entry in entries:
        found = found.after(entry)
    return found
