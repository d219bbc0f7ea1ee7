"""Stops that were probably false: ``log --suspect``. What people did afterwards says it, nothing is guessed from words.

1. A question that a person said yes to.
2. A refusal of what was done after all: the same operation ran later.
3. A refusal after which the person changed their policy, or allowed a path, within ``MINUTES``.
"""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.core.model import Entry

REFUSED = frozenset({"deny", "break"})
MINUTES = 10


def suspected(entries: Iterable[Entry]) -> dict[int, str]:
    """Number of each such entry -> why. ``entries``: the oldest first."""
    why: dict[int, str] = {}
    refused: dict[object, list[Entry]] = {}
    latest: list[Entry] = []
    for entry in entries:
        if entry.kind == "human" and entry.data.get("yes") is True:
            why[entry.seq] = "you said yes"
        elif entry.kind == "verdict":
            operation = entry.data.get("operation")
            if entry.data.get("response") in REFUSED:
                refused.setdefault(operation, []).append(entry)
                latest.append(entry)
            elif operation and entry.data.get("call"):
                why |= {e.seq: "it ran later" for e in refused.pop(operation, ())}
        elif _loosens(entry):
            since = entry.at - 60 * MINUTES
            why |= {e.seq: "you changed your policy then" for e in latest if e.at >= since and e.seq not in why}
            latest.clear()
    return why


def _loosens(entry: Entry) -> bool:
    event = entry.data.get("event")
    return entry.kind == "daemon" and event in {"policy-changed", "allowed"}
