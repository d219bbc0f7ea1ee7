"""Which entries of the audit log are worth an alert, and its words. Entries are redacted before they are stored."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_guard.core.model import Entry
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.entry_summary import summary

LEVELS = ("L2", "L3", "L4")
CALLS = {"help": "calls for help", "ask": "waits for your yes or no"}
"""Steps of a session's state for which a person is needed; of the level L3."""
_KINDS = frozenset({"verdict", "observation", "watch", "incident"})
LONGEST = 1500


@dataclass(frozen=True, slots=True)
class Alert:
    level: str
    title: str
    text: str


def alert_of(entry: Entry, lowest: str) -> Alert | None:
    """The alert that an entry is, where it is one of ``lowest`` (one of LEVELS) or above."""
    call = CALLS.get(str(entry.data.get("event", ""))) if entry.kind == "state" else None
    level = "L3" if call else entry.level
    if level not in LEVELS or LEVELS.index(level) < LEVELS.index(lowest) or not (call or entry.kind in _KINDS):
        return None
    session = entry.session.rpartition("-")[2]
    what = f"the agent {call}" if call else level
    title = f"sentinel-guard: {what}" + (f" (session {session})" if session else "")
    return Alert(level, title, visible(summary(entry))[:LONGEST])


def joined(alerts: list[Alert], most: int = 5) -> Alert:
    """One alert for several of a level: the newest, and how many there were."""
    if len(alerts) == 1:
        return alerts[0]
    texts = "\n".join(f"- {alert.text}" for alert in alerts[-most:])
    more = f"\nand {len(alerts) - most} before these" if len(alerts) > most else ""
    return Alert(alerts[-1].level, f"{alerts[-1].title} and {len(alerts) - 1} more", f"{texts}{more}")
