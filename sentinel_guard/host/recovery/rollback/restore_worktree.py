"""Restores the work tree at a rollback from the differences that were found; what stood there goes to quarantine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import PurePath

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git, lines
from sentinel_guard.host.machine.content_addressed_store import difference
from sentinel_guard.host.recovery.baseline.baseline_diff import BaselineDiff, wrong_mode
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_diff import refresh


def undo(baseline: Baseline, found: BaselineDiff) -> tuple[list[str], bool]:
    """Undo what was found in the work tree. Returns problems, and whether ``git reset --hard`` could be run."""
    tree, acts = baseline.tree, _Acts(baseline)
    for name in found.created:
        acts.attempt(name, acts.remove)
    for change in found.files:
        acts.attempt(change.path, acts.put_back)
    for name in found.tracked:
        acts.attempt(name, tree.make_way)
    for name, mode in found.modes.items():
        acts.attempt(name, partial(tree.chmod, mode=mode))
    for name in found.folders:
        acts.attempt(name, tree.folder)
    reset = _reset(baseline, found, acts.problems)
    if not reset:
        acts.attempt("tracked files", lambda _: _check_out(baseline, found))
    # What git holds in other bytes than the work tree did, a reset writes as git would.
    for change in found.files if reset else ():
        if change.path in baseline.rest.late and difference(tree, change.path, baseline.rest.late[change.path]):
            acts.attempt(change.path, acts.put_back)
    return acts.problems, reset


class _Acts:
    """Single acts on the work tree, and what of them could not be done."""

    def __init__(self, baseline: Baseline) -> None:
        self._tree, self._vault, self._kept = baseline.tree, baseline.vault, baseline.raw
        self._empty, self._complete = frozenset(baseline.rest.empty), baseline.rest.complete
        self._looked = {*baseline.embedded, *baseline.rest.folders}
        self.problems: list[str] = []

    def attempt(self, name: str, act: Callable[[str], object]) -> None:
        try:
            act(name)
        except (HostError, OSError) as e:
            self.problems.append(f"{name} could not be put back: {e}")

    def put_back(self, name: str) -> None:
        self._vault.put_back(self._tree, name, self._kept[name])

    def remove(self, name: str) -> None:
        self._tree.away(name)
        for parent in (str(p) for p in list(PurePath(name).parents)[:-1]) if self._complete else ():
            # In a new folder, the file of a submodule that was moved: git passes over what leads to no repository.
            if parent not in self._looked:
                self._looked.add(parent)
                self._tree.away(f"{parent}/.git")
        self._tree.prune(name, self._empty)


def _check_out(baseline: Baseline, found: BaselineDiff) -> None:
    """Files of the start's index, through the filters of the start's settings."""
    if found.tracked:
        git = _umasked(baseline, baseline.shadow.git)
        git.run("checkout-index", "--force", "-q", "-z", "--stdin", stdin=lines(found.tracked))
        _set_modes(baseline, found)


def _reset(baseline: Baseline, found: BaselineDiff, problems: list[str]) -> bool:
    """False where the start was not clean, or git could not do it.

    The index is the shadow's, which the scan left as it was at the start: the repository's own is in place already,
    byte by byte.
    """
    if not (baseline.clean and baseline.head):
        return False
    git = replace(baseline.where.git, index=str(baseline.shadow.index), settings=baseline.shadow.git.settings)
    try:
        # What was only touched, git would write anew: from an object that is perhaps damaged, in a mode of its own.
        refresh(baseline.shadow, found.scan.stale)
        _umasked(baseline, git).run("reset", "--hard", "--quiet", baseline.head)
    except HostError as e:
        problems.append(str(e))
        return False
    _set_modes(baseline, found)
    return True


def _set_modes(baseline: Baseline, found: BaselineDiff) -> None:
    """Of the modes git knows one bit only."""
    for name in found.tracked:
        if (mode := wrong_mode(baseline, name, found.scan.touched[name][0])) is not None:
            baseline.tree.chmod(name, mode)


def _umasked(baseline: Baseline, git: Git) -> Git:
    return replace(git, umask=0o777 & ~baseline.rest.usual[1])
