"""Looks at a changed settings file of an agent: does it differ in what counts, or is it only half written?

Rules of this file:
1. What is compared is what is kept: bytes that are read twice may be two versions.
2. A link, a folder and what cannot be read for long are no settings: they differ in everything.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.core.policy.compare_settings import EVERYTHING, Key
from sentinel_guard.host.machine.content_addressed_store import ABSENT, FILE, LINK, ContentAddressedStore, Kept
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

HALF_WRITTEN = 0.5
"""Seconds for which a file may be what cannot be read: who writes a file empties it first."""
_OWNER_READS = 0o400

Changed = Callable[[str, bytes | None, bytes | None], tuple[Key, ...]]
"""Asked about a path (absolute) and two versions: the keys that count and differ. Raises ValueError where the second
cannot be read."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a look at a changed file found."""

    keys: tuple[Key, ...]
    """Those that count and differ; none: the change does not matter."""
    kept: Kept | None
    """The version that was looked at, in the vault; None for a folder and the like."""


class SettingsComparison:
    """Compares files of one tree with their originals. Not safe to call from several threads at once."""

    def __init__(self, tree: SymlinkSafeFolder, vault: ContentAddressedStore, changed: Changed) -> None:
        self._tree, self._vault, self._changed = tree, vault, changed
        self._since: dict[str, float] = {}
        """Name -> since when it cannot be read."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names that may be half written: look at them again."""
        return tuple(self._since)

    def look(self, name: str, original: Kept) -> Difference | None:
        """How a path differs from its original; None where it may be half written. Raises HostError, OSError."""
        kept = self._vault.keep(self._tree, name)
        if kept is None or not _is_settings(kept, original):
            self._since.pop(name, None)
            return Difference((EVERYTHING,), kept)
        after = self._vault.data(kept.content) if kept.kind == FILE else None
        try:
            keys = self._changed(f"{self._tree.root.rstrip('/')}/{name}", self._before(name, original), after)
        except ValueError:
            if time.time() - self._since.setdefault(name, time.time()) < HALF_WRITTEN:
                return None
            keys = (EVERYTHING,)
        self._since.pop(name, None)
        return Difference(keys, kept)

    def _before(self, name: str, original: Kept) -> bytes | None:
        """The original's bytes; of a link those that it leads to, for an agent may write a file in its place."""
        if original.kind == FILE:
            return self._vault.data(original.content)
        if original.kind != LINK:
            return None
        try:
            return Path(self._tree.root, os.path.dirname(name), original.content).read_bytes()  # noqa: PTH120 - a name
        except OSError:
            return None


def _is_settings(kept: Kept, original: Kept) -> bool:
    """Whether it is a file that its owner can read, or nothing in the place of one."""
    if kept.kind == ABSENT:
        return original.kind != LINK
    return kept.kind == FILE and bool(kept.mode & _OWNER_READS)
