"""Looks at a work tree as ``worktree_inventory.walk`` does, where an earlier session's baseline knows most of it.

Rules of this file:
1. A folder with the inode and change time that it had then holds the names that it had (folder_survey).
2. Of files git tells, by the index of that time, which were touched since: it asks 40,000 in half the time. A file
   whose change time was too young then is looked at in any case, for git compares whole seconds.
3. Where either is not sure, nothing is known: the walk is the whole one.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sentinel_guard.errors import HostError
from sentinel_guard.host.recovery.baseline import folder_survey
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline, Completion
from sentinel_guard.host.recovery.baseline.worktree_diff import start_index
from sentinel_guard.host.recovery.baseline.worktree_inventory import Walk, Walking, tracked

MOST = 5_000
"""Files that were touched since: of more, the whole walk is the quicker way."""


def walk_again(baseline: Baseline, before: Baseline, now: Mapping[str, bool]) -> Walk | None:
    """None where too little is known. Of ``Walk.modes`` what is as ``before.rest.usual`` may be missing.

    ``now``: the names in the present index, and whether they are executable there.
    """
    rest, covered, kept = before.rest, folder_survey.covered_folders(baseline), baseline.files
    if not (rest.complete and rest.stamps and rest.git_files is not None):
        return None
    if covered != folder_survey.covered_folders(before) or not folder_survey.keeps_times(baseline.root):
        return None
    touched = _touched(baseline, before, now)
    if touched is None or len(touched) > MOST:
        return None
    walking = _Again(rest, baseline, covered)
    walking.run()
    walking.look_at_files(n for n in touched if n not in kept)
    same = {n: mode for n, mode in rest.modes.items() if n in now and not (n in touched or n in kept)}
    walking.found.modes.update(same)
    return walking.found


def _touched(baseline: Baseline, before: Baseline, now: Mapping[str, bool]) -> set[str] | None:
    """Tracked files of which the earlier baseline does not know how they are now; None where that cannot be told."""
    index, present = before.own.get("index"), baseline.own.get("index")
    if index is None or present is None:
        return None
    private = replace(baseline.shadow, private=baseline.folder / "earlier-index")
    try:
        start_index(before, private, baseline.shadow.index if index.content == present.content else None)
        touched = {*private.changed(), *before.files, *before.rest.recent}
        if index.content != present.content:
            known = tracked(private)
            touched.update(n for n, executable in now.items() if known.get(n) is not executable)
    except (HostError, OSError):
        return None
    finally:
        private.index.unlink(missing_ok=True)
    return {name for name in touched.union(*before.rest.links) if name in now}


class _Again(Walking):
    """Folders that the earlier baseline knows, from the top down, then those that are new."""

    def __init__(self, rest: Completion, baseline: Baseline, covered: frozenset[str]) -> None:
        super().__init__(baseline.root, (), (), covered, Walk(baseline.taken))
        self._stamps, self._empty = rest.stamps, frozenset(rest.empty)
        self._tree = baseline.tree
        self._known = tuple(map(_by_folder, (rest.special, rest.pipes, rest.git_files or ())))

    def run(self) -> None:
        real = set[str]()
        with contextlib.suppress(OSError):
            self.device = os.lstat(self.root).st_dev
        self.todo.clear()
        for name, stamp in self._stamps.items():
            if not name or name.rpartition("/")[0] in real:
                with contextlib.suppress(OSError):
                    self._look_at_known(name, stamp)
                    real.add(name)
        self.todo[:] = [place for place in self.todo if place[0] not in self._stamps]
        super().run()

    def _look_at_known(self, folder: str, stamp: tuple[int, int]) -> None:
        """Raises OSError."""
        path, found = f"{self.root}/{folder}" if folder else self.root, self.found
        seen = os.lstat(path)
        if stamp != (seen.st_ino, seen.st_ctime_ns) or seen.st_dev != self.device:
            self.look(folder, folder_survey.is_covered(folder, self.covered))
            return
        self.note_mode(folder, path, seen)
        if folder in found.shut:
            raise PermissionError
        self.note_folder(folder, seen, empty=folder in self._empty)
        for some, known in zip((found.special, found.pipes, found.git_files), self._known, strict=True):
            some.extend(known.get(folder, ()))

    def look_at_files(self, names: Iterable[str]) -> None:
        real: dict[str, bool] = {}
        for name in names:
            seen = self._tree.look(name, real)
            if seen and stat.S_ISREG(seen.st_mode):
                self.note_file(name, seen)


def _by_folder(names: Iterable[str]) -> Mapping[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for name in names:
        found[name.rpartition("/")[0]].append(name)
    return found
