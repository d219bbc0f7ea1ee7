"""Opens folders that are in a rollback's way, and gives all folders the modes of the session's start at its end.

Rules of this file:
1. What the person had shut at the start is not looked into: nothing of it was kept.
2. Modes come last: a folder that may not be written takes nothing back.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field

from sentinel_guard.host.machine import deep_folders
from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.recovery.baseline.baseline_diff import changed_folders
from sentinel_guard.host.recovery.baseline.folder_modes import READ, WRITE, folder_mode
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of a repository while it is rolled back."""

    baseline: Baseline
    _unknown: dict[str, int] = field(default_factory=dict)
    """Absolute path -> mode before it was opened, of those whose mode at the start is not known."""
    _seen: list[str] = field(default_factory=list)
    """Absolute paths of the work tree's folders, from the top down."""

    def open(self) -> list[Change]:
        """Give their owner access to all that may have to be read or written; returns those whose mode had changed."""
        base, found = self.baseline, dict.fromkeys(changed_folders(self.baseline))
        for top in dict.fromkeys((base.root, base.where.git_dir, base.where.common_dir)):
            self._open(top)
            for folder, below, _ in deep_folders.walk(top):
                below[:] = [b for b in below if b not in HEAVY and self._enter(f"{folder}/{b}")]
                if top == base.root:
                    self._seen.extend(f"{folder}/{b}" for b in below)
        return [Change(name, "mode") for name in {**found, **dict.fromkeys(changed_folders(base))}]

    def _enter(self, path: str) -> bool:
        """Open a folder, before it is read; False where it is none of ours to look into."""
        if self._stays_shut(path):
            return False
        self._open(path)
        return True

    def _stays_shut(self, path: str) -> bool:
        want = self.baseline.rest.folders.get(self._name(path), self.baseline.doors.get(path))
        if want is not None:
            return want & READ != READ
        try:
            seen = os.lstat(path)
        except OSError:
            return True
        return seen.st_mode & READ != READ and seen.st_ctime < self.baseline.taken

    def _open(self, path: str) -> None:
        base, mode = self.baseline, folder_mode(path)
        if mode is None or mode & WRITE == WRITE:
            return
        if path not in base.doors and self._name(path) not in base.rest.folders:
            self._unknown.setdefault(path, mode)
        with contextlib.suppress(OSError):
            base.user_tree.chmod_folder(path[1:], mode | WRITE)

    def _remove_empty(self) -> None:
        """Without its walk, a baseline does not know which are new."""
        base = self.baseline
        if not base.rest.complete:
            return
        inside = tuple(f"{name}/" for name in base.embedded)
        for path in reversed(self._seen):
            name = self._name(path)
            if name not in base.rest.folders and not f"{name}/".startswith(inside):
                with contextlib.suppress(OSError):
                    os.rmdir(path)  # noqa: PTH106 - text with surrogates

    def _name(self, path: str) -> str:
        return path.removeprefix(f"{self.baseline.root}/")

    def close(self) -> list[str]:
        """Remove empty folders that are new, and set the modes of the start; returns what could not be, in words."""
        self._remove_empty()
        base, problems = self.baseline, list[str]()
        known = {f"{base.root}/{name}": mode for name, mode in base.rest.folders.items()}
        wanted = {**self._unknown, **known, **base.doors}
        for path in sorted(wanted, key=lambda p: p.count("/"), reverse=True):
            try:
                if folder_mode(path) in (None, wanted[path]):
                    continue
                base.user_tree.chmod_folder(path[1:], wanted[path])
            except OSError as e:
                problems.append(f"The mode of {path} could not be set again: {e.strerror}.")
        return problems
