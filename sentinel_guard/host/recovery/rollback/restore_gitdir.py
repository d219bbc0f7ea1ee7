"""Restores the git directory and the user's git settings at a rollback: file by file, before git is run."""

from __future__ import annotations

import os
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine.content_addressed_store import difference
from sentinel_guard.host.recovery.baseline import gitdir_backup
from sentinel_guard.host.recovery.baseline.baseline_diff import (
    BaselineDiff,
    misplaced,
    surveyed_metadata,
    user_settings,
)
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.shared_refs import RECORDS
from sentinel_guard.host.recovery.baseline.worktree_diff import NS


def put_metadata_back(baseline: Baseline, found: BaselineDiff | None = None) -> list[str]:
    """What could not be put back is returned, in words. Raises HostError where git would be of no use then.

    ``found``: how it differs, where that is known.
    """
    problems = []
    try:
        problems += _user(baseline)
        if misplaced(baseline):
            problems += _dot(baseline)
        Path(baseline.where.git_dir).mkdir(parents=True, exist_ok=True)
        objects = Path(baseline.object_tree.root)
        if objects.parent == Path(baseline.where.common_dir) and not objects.is_dir():
            baseline.common_tree.folder("objects")
        objects.mkdir(parents=True, exist_ok=True)
        known = found if found and not found.dot else None
        own, shared = (known.own, known.shared) if known else surveyed_metadata(baseline)[1:]
        problems += gitdir_backup.put_back(baseline.git_tree, baseline.vault, baseline.own, own)
        if shared:
            problems += gitdir_backup.put_back(baseline.common_tree, baseline.vault, baseline.shared, shared)
        if problems:
            _stand_in(baseline)
        _make_folders(baseline)
        return problems
    except OSError as e:
        raise HostError(f"The repository's metadata cannot be put back: {e}.", f"It is in {baseline.folder}.") from e


def _make_folders(baseline: Baseline) -> None:
    """Empty folders of the git directory that are gone; their modes come last. Raises HostError, OSError."""
    top = f"{baseline.where.git_dir}/"
    gone = sorted(p.removeprefix(top) for p in baseline.doors if p.startswith(top) and not os.path.lexists(p))
    for name in gone:
        if not gitdir_backup.is_state_elsewhere(name):  # git asks whether they are there
            baseline.git_tree.folder(name)


def _user(baseline: Baseline) -> list[str]:
    """The user's own settings. Returns problems."""
    problems = []
    for change in user_settings(baseline):
        name = change.path
        try:
            if name in baseline.user:
                baseline.vault.put_back(baseline.user_tree, name, baseline.user[name])
            else:
                baseline.user_tree.away(name)
        except (HostError, OSError) as e:
            problems.append(f"/{name} could not be put back: {e}")
    return problems


def _stand_in(baseline: Baseline) -> None:
    """HEAD and refs whose copies are damaged: the manifest knows what they said. Git is no use without them."""
    now = gitdir_backup.refs(baseline.where.common_dir)
    known = {n: h for n, h in baseline.refs.items() if n.startswith("refs/") and not baseline.where.linked}
    stands = f"ref: {baseline.branch}" if baseline.branch else baseline.head
    wanted = {n: h for n, h in known.items() if now.get(n) != h and not n.startswith(RECORDS)}
    for name, text in {**wanted, **({"HEAD": stands} if stands else {})}.items():
        kept, data = baseline.own.get(name), f"{text}\n".encode()
        if kept is None or difference(baseline.git_tree, name, kept):
            mode = kept.mode if kept else baseline.rest.usual[0]
            baseline.git_tree.write(name, data, mode, kept.mtime_ns if kept else NS)


def _dot(baseline: Baseline) -> list[str]:
    """``.git`` itself. Returns problems."""
    baseline.tree.away(".git")
    if baseline.dot is not None:
        try:
            baseline.vault.put_back(baseline.tree, ".git", baseline.dot)
        except HostError as e:
            return [f".git could not be put back: {e}"]
    return []
