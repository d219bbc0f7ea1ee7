"""The runner's own look at its session's shims: the daemon, which looks too, may have been killed before they went."""

from __future__ import annotations

import contextlib
import time

from sentinel_guard.client import Operator
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.changed_paths import ChangedPaths
from sentinel_guard.host.shim_integrity import UNSHIMMED, ShimIntegrity

FIRST = 0.1
"""Seconds until the first look, from which on the kernel tells of changes."""
LOOK = 1.0
"""Seconds between two looks where the kernel tells of no change."""
SELDOM = 30.0
"""Seconds between two looks where it does: a mount over the folder is told by nobody."""
SOON = 0.05
"""Seconds from a look to the next at the least, whatever is told."""
DAEMON_FIRST = 2.0
"""Seconds that a daemon has to end a session whose shims are harmed, to roll it back and to report it."""
RECORD = 10.0
"""Seconds for which a daemon is sought that puts it on record."""
SPARE = 16
"""inotify instances that a runner leaves to others: each session's watch needs one, and cannot do without."""
HARMED = f"{UNSHIMMED}: what the agent starts is not judged."


class ShimLook:
    """Looks when something was done to them, and now and then. The daemon, which sees the same, ends the session for
    the record; where it does not, we do.
    """

    def __init__(self, shims: ShimIntegrity, operator: Operator, session: str) -> None:
        self._shims, self._operator, self._mark = shims, operator, f"SENTINEL_SESSION={session}"
        self._changes: ChangedPaths | None = None
        self._looked = time.monotonic()
        self._next, self._since = self._looked + FIRST, 0.0
        self.harm = ""
        """What has happened to them, in words for the person."""

    def fileno(self) -> int:
        """What can be read when something was done to them; -1 before the first look, and where the kernel tells
        nothing.
        """
        return self._changes.fileno() if self._changes else -1

    def heed(self) -> None:
        """Something was done to them, or to what lies above them: the next look is due."""
        if self._changes and self._changes.take():
            self._next = min(self._next, self._looked + SOON)

    def patience(self) -> float:
        """Seconds until the next look."""
        return LOOK if self.harm else max(0.0, self._next - time.monotonic())

    def look(self, *, now: bool = False) -> bool:
        """Whether they are known to be harmed; ``now``: whether a look is due or not."""
        at = time.monotonic()
        if not self.harm and (now or at >= self._next):
            if self._changes is None and not now:  # whoever looks now looks for the last time
                with contextlib.suppress(OSError):
                    self._changes = ChangedPaths(self._shims.paths, spare=SPARE)
            told = self._changes is not None and self._changes.complete
            self._looked, self._next = at, at + (SELDOM if told else LOOK)
            if harm := self._shims.harm():
                self.harm, self._since = HARMED.format(harm), at
                if self._operator.connected:
                    processes.freeze((processes.own_pid(),), self._spared(), self._mark)
        return bool(self.harm)

    @property
    def overdue(self) -> bool:
        """Whether no daemon is there, or one that was would have ended the session by now."""
        return not self._operator.connected or time.monotonic() - self._since > DAEMON_FIRST

    def end(self) -> str:
        """End all that descends from the runner or belongs to its session; why, for the person."""
        processes.kill((processes.own_pid(),), self._spared(), self._mark)
        return self.harm

    def seek_daemon(self) -> bool:
        """Whether one was started anew that knows of the session: it sees what we saw, and writes the report."""
        if self._operator.connected or not self._operator.remembers:
            return False
        # The first try may find the start of one that ended with all the rest.
        for _ in range(2):
            with contextlib.suppress(SentinelError):
                self._operator.connect(RECORD)
                break
        return self._operator.connected

    def _spared(self) -> frozenset[int]:
        # One that was started for us may be our child.
        return frozenset({processes.own_pid(), *([self._operator.daemon] if self._operator.connected else [])})
