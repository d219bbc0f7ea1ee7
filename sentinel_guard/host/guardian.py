"""Restricted files stay what they are: what changes unannounced is put back, the tampered version is kept.

Rules of this file:
1. A path that differs from its original and was not announced is put back by rename; nothing of it is lost.
2. A change in an announced window becomes the new original, and is remembered over a restart.
3. A restricted file that appears unannounced is moved away.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.baseline import write_json
from sentinel_guard.host.checkouts import Checkouts
from sentinel_guard.host.rooted import Rooted
from sentinel_guard.host.vault import ABSENT, FILE, Kept, Vault, difference, settled, untouched

GRACE = 60.0
"""Seconds that a closed window is remembered: a change is sometimes seen after it."""
_GONE = Kept(ABSENT)


@dataclass(frozen=True, slots=True)
class Tampering:
    """One unannounced change of a restricted file, and what was done about it."""

    path: str
    """Absolute."""
    kind: str
    """``changed``, ``deleted``, ``created``, ``mode``, ``replaced by link`` or ``replaced by folder``."""
    kept: str
    """Where the tampered version is now; empty where there is none."""
    at: float
    problem: str = ""
    """Why it could not be put back; empty where it was."""


@dataclass(frozen=True, slots=True)
class _Window:
    name: str
    since: float
    until: float

    def covers(self, name: str) -> bool:
        return self.name in ("", name) or name.startswith(f"{self.name}/")


class Guardian:
    """Guards the restricted files of one work tree. Safe to call from several threads."""

    def __init__(self, root: str, vault: Vault, files: Mapping[str, Kept], folder: Path) -> None:
        """``files``: originals, names relative to ``root``. ``folder``: for tampered versions and what was accepted."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._tree = Rooted(root, folder / "tampered")
        self._vault = vault
        self._memory = folder / "accepted.json"
        self._originals = dict(files) | _remembered(self._memory)
        self._accepted = _remembered(self._memory)
        self._windows: list[_Window] = []
        self._checkouts = Checkouts(self._tree)
        self._failed: dict[str, tuple[int, int] | None] = {}
        """What could not be put back, and how it was seen then: it is told once."""
        self._lock = threading.Lock()

    def check(self, path: str) -> Tampering | None:
        """Compare one restricted path (absolute) with its original and put it back where it differs."""
        name = os.path.relpath(path, self._tree.root)
        if name == "." or name.startswith("../"):
            return None
        with self._lock:
            return self._check(name)

    def sweep(self) -> list[Tampering]:
        """Check every original; untouched files cost one lstat."""
        with self._lock:
            names = dict.fromkeys((*self._originals, *self._checkouts.waiting))
            return [t for name in names if (t := self._check(name))]

    def announce(self, path: str, until: float) -> None:
        """Until then (epoch seconds) a change of this file, or of what lies below this folder, becomes the original."""
        name = os.path.relpath(path, self._tree.root)
        now = time.time()
        with self._lock:
            self._windows = [w for w in self._windows if w.until + GRACE > now]
            self._windows.append(_Window("" if name == "." else name, now, until))

    def expect_git(self, until: float) -> None:
        """Until then (epoch seconds) git may bring restricted files to what its index holds: a checkout, a merge."""
        with self._lock:
            self._checkouts.begin(list(self._originals), until)

    def _check(self, name: str) -> Tampering | None:
        original = self._originals.get(name, _GONE)
        seen = self._tree.lstat(name)
        if seen and untouched(original, seen):
            return None
        # A folder of a restricted name is judged by the files in it.
        if seen and original.kind == ABSENT and stat.S_ISDIR(seen.st_mode):
            return None
        kind = difference(self._tree, name, original)
        if not kind:
            self._settle(name, original)
            return None
        by_git = self._checkouts.explain(name)
        if by_git or self._announced(name, seen):
            self._accept(name)
            return None
        if by_git is None:
            return None
        if name in self._failed and self._failed[name] == _seen_as(seen):
            return None
        return self._put_back(name, kind, original)

    def _settle(self, name: str, original: Kept) -> None:
        """Remember the stat data of an unchanged file, so that the next look is one lstat."""
        seen = self._tree.lstat(name)
        if seen and original.kind == FILE and seen.st_size == original.size and settled(seen):
            self._originals[name] = replace(original, inode=seen.st_ino, ctime_ns=seen.st_ctime_ns)

    def _announced(self, name: str, seen: os.stat_result | None) -> bool:
        now = time.time()
        times = [now, seen.st_ctime] if seen else [now]
        return any(w.covers(name) and any(w.since <= t <= w.until for t in times) for w in self._windows)

    def _accept(self, name: str) -> None:
        kept = self._vault.keep(self._tree, name)
        if kept is not None:
            self._originals[name] = self._accepted[name] = kept
            write_json(self._memory, {n: k.row() for n, k in self._accepted.items()})

    def _put_back(self, name: str, kind: str, original: Kept) -> Tampering | None:
        path = f"{self._tree.root}/{name}"
        if original.kind == ABSENT and self._tree.lstat(name) is None:
            return None  # another session's guardian was quicker
        try:
            kept = self._vault.put_back(self._tree, name, original)
        except (HostError, OSError) as e:
            self._failed[name] = _seen_as(self._tree.lstat(name))
            return Tampering(path, kind, "", time.time(), str(e))
        self._failed.pop(name, None)
        return Tampering(path, kind, kept, time.time())


def _seen_as(seen: os.stat_result | None) -> tuple[int, int] | None:
    return (seen.st_ino, seen.st_ctime_ns) if seen else None


def _remembered(memory: Path) -> dict[str, Kept]:
    try:
        rows = json.loads(memory.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as e:
        hint = "Remove it; changes of restricted files that were allowed in this session are then undone."
        raise HostError(f"{memory} is damaged: {e}.", hint) from e
    return {name: Kept.from_row(row) for name, row in rows.items()}
