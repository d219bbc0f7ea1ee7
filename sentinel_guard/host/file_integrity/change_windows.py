"""Windows of time in which a person changes restricted files: for a file, or for a folder and all that is below it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

GRACE = 60.0
"""Seconds that a closed window is remembered: a change is sometimes seen after it."""


@dataclass(frozen=True, slots=True)
class _Window:
    name: str
    """Relative to the root; empty for all of it."""
    since: float
    until: float

    def covers(self, name: str) -> bool:
        return self.name in ("", name) or name.startswith(f"{self.name}/")


class ChangeWindows:
    """The windows of one tree; names relative to its root, times in seconds of the epoch.

    Not safe to call from several threads at once.
    """

    def __init__(self) -> None:
        self._windows: list[_Window] = []

    def announce(self, name: str, until: float, since: float = 0.0) -> None:
        """Open one that lasts until then, and began at ``since``, or now."""
        now = time.time()
        kept = [w for w in self._windows if w.until + GRACE > now]
        self._windows = [*kept, _Window(name, since or now, until)]

    def close(self, name: str) -> bool:
        """End the windows of this name now; False where none is open."""
        now = time.time()
        ends = [w for w in self._windows if w.name == name and w.until > now]
        others = [w for w in self._windows if w not in ends]
        self._windows = [*others, *(replace(w, until=now) for w in ends)]
        return bool(ends)

    def open(self) -> dict[str, float]:
        """The open windows: name -> until."""
        now = time.time()
        opened = sorted((w for w in [*self._windows] if w.until > now), key=lambda w: w.until)
        return {w.name: w.until for w in opened}

    def cover(self, name: str, times: list[float]) -> bool:
        """Whether a window of this name was open at one of these moments."""
        return any(w.covers(name) and any(w.since <= at <= w.until for at in times) for w in self._windows)
