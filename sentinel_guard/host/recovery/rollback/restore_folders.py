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
from sentinel_guard.host.recovery.baseline.folder_survey import Survey, survey
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of a repository while it is rolled back."""

    baseline: Baseline
    _unknown: dict[str, int] = field(default_factory=dict)
    """Absolute path -> mode before it was opened, of those whose mode at the start is not known."""
    _new: list[str] = field(default_factory=list)
    """Folders of the work tree that are new, from the top down; relative to the root."""
    _opened: set[str] = field(default_factory=set)
    """Absolute paths."""
    _closed: list[str] = field(default_factory=list)
    """Folders of the work tree whose modes were set; relative to the root."""

    def open(self) -> tuple[list[Change], Survey]:
        """Give their owner access to all that may have to be read or written. Returns those whose mode had changed, and
        the work tree.
        """
        base, found = self.baseline, dict.fromkeys(changed_folders(self.baseline, {}))
        for top in dict.fromkeys((base.root, base.where.git_dir, base.where.common_dir)):
            self._open(top, folder_mode(top))
        for top in dict.fromkeys((base.where.git_dir, base.where.common_dir)):
            for folder, below, _ in deep_folders.walk(top):
                modes = {b: folder_mode(f"{folder}/{b}") for b in below if b not in HEAVY}
                below[:] = [b for b, mode in modes.items() if self._enter(f"{folder}/{b}", mode)]
        names = survey(base, self._enter)
        self._new.extend(names.new)
        return [Change(name, "mode") for name in {**found, **dict.fromkeys(changed_folders(base, names.modes))}], names

    def _enter(self, path: str, mode: int | None) -> bool:
        """Open a folder, before it is read; False where it is none of ours to look into."""
        if mode is None or self._stays_shut(path, mode):
            return False
        self._open(path, mode)
        return True

    def _stays_shut(self, path: str, mode: int) -> bool:
        want = self.baseline.rest.folders.get(self._name(path), self.baseline.doors.get(path))
        if want is not None:
            return want & READ != READ
        try:
            return mode & READ != READ and os.lstat(path).st_ctime < self.baseline.taken
        except OSError:
            return True

    def _open(self, path: str, mode: int | None) -> None:
        base = self.baseline
        if mode is None or mode & WRITE == WRITE:
            return
        if path not in base.doors and self._name(path) not in base.rest.folders:
            self._unknown.setdefault(path, mode)
        self._opened.add(path)
        with contextlib.suppress(OSError):
            base.user_tree.chmod_folder(path[1:], mode | WRITE)

    def _remove_empty(self) -> None:
        """Without its walk, a baseline does not know which are new."""
        base = self.baseline
        if not base.rest.complete:
            return
        inside = tuple(f"{name}/" for name in base.embedded)
        for name in reversed(self._new):
            if name not in base.rest.folders and not f"{name}/".startswith(inside):
                with contextlib.suppress(OSError):
                    os.rmdir(f"{base.root}/{name}")  # noqa: PTH106 - text with surrogates

    def _name(self, path: str) -> str:
        return path.removeprefix(f"{self.baseline.root}/")

    def close(self, names: Survey) -> list[str]:
        """Remove empty folders that are new, and set the modes of the start; returns what could not be, in words.

        ``names``: the work tree as it is now, or as it was before folders were opened.
        """
        self._remove_empty()
        base, problems = self.baseline, list[str]()
        start = base.rest.folders
        touched = [n for n in {**names.modes, **dict.fromkeys(map(self._name, self._opened))} if n in start]
        known = {f"{base.root}/{name}": start[name] for name in touched}
        self._closed.extend(touched)
        wanted = {**self._unknown, **known, **base.doors}
        for path in sorted(wanted, key=lambda p: p.count("/"), reverse=True):
            try:
                if folder_mode(path) in (None, wanted[path]):
                    continue
                base.user_tree.chmod_folder(path[1:], wanted[path])
            except OSError as e:
                problems.append(f"The mode of {path} could not be set again: {e.strerror}.")
        return problems

    def changed(self) -> list[str]:
        """Those that have another mode than at the start, after they were closed."""
        seen = {name: folder_mode(f"{self.baseline.root}/{name}") for name in self._closed}
        return changed_folders(self.baseline, {name: mode for name, mode in seen.items() if mode is not None})
