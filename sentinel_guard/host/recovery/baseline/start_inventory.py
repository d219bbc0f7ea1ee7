"""What was there when a session began: whether a path is the session's own work (ADR 0022).

Rules of this file:
1. Two witnesses must agree: the time of birth, which no program can set, and the baseline, which knows the names; an
   editor that writes a file aside and renames it makes an old name young.
2. What cannot be told was there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import birth_time
from sentinel_guard.host.recovery.baseline import session_baseline

Tracked = Callable[[tuple[str, ...]], frozenset[str]]
"""Absolute paths -> those that the commit of the start holds."""


class StartInventory:
    """Of one session: its baseline's folder, and when it began (seconds of the epoch)."""

    def __init__(self, folder: Path, began: float) -> None:
        self._folder, self._began = folder, began
        self._root, self._names, self._sealed = "", frozenset[str](), -1

    def is_new(self, path: str, tracked: Tracked) -> bool:
        """Whether nothing was at an absolute path when the session began; asks git only where all else says yes."""
        if not birth_time.is_younger(path, self._began):
            return False
        return birth_time.is_gone(path) or not (self._was_kept(path) or tracked((path,)))

    def _was_kept(self, path: str) -> bool:
        """Whether the baseline has a file of that name, or in a folder of that name."""
        try:
            baseline = self._load()
        except HostError:
            return True
        if not f"{path}/".startswith(f"{baseline}/"):
            return False
        name = path[len(baseline) + 1 :]
        return name in self._names or any(other.startswith(f"{name}/") for other in self._names)

    def _load(self) -> str:
        """The root. The names are read again once the baseline is complete. Raises HostError."""
        rest = self._folder / session_baseline.REST
        sealed = rest.stat().st_mtime_ns if rest.exists() else 0
        if sealed != self._sealed:
            baseline = session_baseline.load(self._folder)
            self._root, self._names, self._sealed = baseline.root, frozenset(baseline.raw), sealed
        return self._root
