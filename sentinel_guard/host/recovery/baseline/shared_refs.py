"""The refs that worktrees share: in a linked one branches, tags and the stash of the start; in any, others' branches.

Rules of this file:
1. Where the session ran in a linked worktree, they are part of its baseline as they are anywhere else.
2. What another worktree has checked out is not pulled away below it: it stays, and is named. Those that came since,
   and those that lie in this one's folder, are no others; and the branch of the session comes back in any case.
3. Stash entries of the start come back; newer ones stay on top, since somebody else may have made them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import Layout
from sentinel_guard.host.machine.content_addressed_store import FILE, LINK
from sentinel_guard.host.recovery.baseline import gitdir_backup
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

RECORDS = ("refs/remotes/", "refs/sentinel/")
"""Refs that tell what happened and are not rolled back."""
_APART = (*RECORDS, "refs/bisect/", "refs/worktree/", "refs/rewritten/")
"""With them those that each worktree has for itself (gitglossary, "per-worktree ref")."""
STASH = "refs/stash"


def differences(baseline: Baseline) -> list[Change]:
    """What of them a rollback puts right; nothing where the session ran in the main worktree, whose files say it."""
    if not are_apart(baseline):
        return []
    now = _now(baseline)
    found = [Change(n, _what(was, now.get(n, ""))) for n, was in moved(baseline, now).items()]
    return found if has_stashes(baseline, now) else [*found, Change(STASH, "changed")]


def are_apart(baseline: Baseline) -> bool:
    """Whether the refs lie outside of the git directory: in a linked worktree, and where ``refs`` is a link
    (git-new-workdir, Android's repo).
    """
    kept = baseline.own.get("refs")
    return baseline.where.linked or (kept is not None and kept.kind == LINK)


def symbolic(baseline: Baseline) -> frozenset[str]:
    """Files of the common directory that are refs to refs: git names no hash for them, and they come back as files."""
    return frozenset(n for n in baseline.shared if n.startswith("refs/") and n not in baseline.refs)


def _what(was: str, now: str) -> str:
    return "created" if not was else "changed" if now else "deleted"


def moved(baseline: Baseline, now: Mapping[str, str]) -> dict[str, str]:
    """Name -> where it stood at the start (empty: nowhere), of those that stand elsewhere and are nobody else's. One
    that is gone was pulled away already, and comes back.
    """
    if not are_apart(baseline):
        return {}
    left = elsewhere(baseline)
    names = (n for n in {**baseline.refs, **now} if n.startswith("refs/") and n != STASH and not n.startswith(_APART))
    return {
        n: baseline.refs.get(n, "")
        for n in names
        if now.get(n) != baseline.refs.get(n) and not (n in left and n in now)
    }


def left_alone(baseline: Baseline, now: Mapping[str, str] | None = None) -> list[str]:
    """Branches that moved since, and that another worktree has checked out. ``now``: all refs, where they are known."""
    before = baseline.refs
    theirs = [n for n in elsewhere(baseline) if n in before]
    if theirs and now is None:
        now = gitdir_backup.refs(baseline.where.common_dir)
    return sorted(n for n in theirs if now and now.get(n, before[n]) != before[n])


def elsewhere(baseline: Baseline) -> frozenset[str]:
    """The branches that other worktrees have checked out, of those that were there at the start. The branch of the
    session is its own, whoever has it besides.
    """
    common, own = baseline.where.common_dir, baseline.where.git_dir
    # A bare repository has no index, and its HEAD is no checkout.
    tops = [*([common] if os.path.lexists(f"{common}/index") else []), *(f"{common}/{n}" for n in _others(baseline))]
    return frozenset(name for top in tops if top != own and (name := gitdir_backup.symbolic(top))) - {baseline.branch}


def places(baseline: Baseline) -> dict[str, bool]:
    """The folders (``worktrees/NAME``) of the metadata of the linked worktrees that stand where they stood at the
    start, and whether that is in this one's folder: what comes back of such comes back whole, were it gone or not.
    """
    found = {}
    for name, top in _tops(baseline).items():
        within = top.startswith(f"{baseline.root}/")
        if within or os.path.lexists(f"{top}/.git"):
            found[name] = within
    return found


def tops_elsewhere(baseline: Baseline) -> list[str]:
    """Absolute folders of the other worktrees that were there at the start, the main one's too."""
    common, main = baseline.where.common_dir, list[str]()
    if baseline.where.linked and common.endswith("/.git") and "index" in baseline.shared:
        main = [common.removesuffix("/.git")]
    return [*main, *(top for top in _tops(baseline).values() if not top.startswith(f"{baseline.root}/"))]


def gone_elsewhere(baseline: Baseline) -> list[str]:
    """What is gone of other worktrees' metadata when all is back that comes back; below the common directory."""
    if baseline.where.linked:
        return gitdir_backup.gone_elsewhere(baseline.common_tree, baseline.shared, gitdir_backup.SHARED)
    return gitdir_backup.gone_elsewhere(baseline.git_tree, baseline.own)


def _others(baseline: Baseline) -> list[str]:
    return [name for name, top in _tops(baseline).items() if not top.startswith(f"{baseline.root}/")]


def _tops(baseline: Baseline) -> dict[str, str]:
    """Folder of the metadata -> folder of the worktree, of the linked ones that were there at the start."""
    kept = baseline.shared if baseline.where.linked else baseline.own
    found = dict[str, str]()
    for name, row in kept.items():
        if name.startswith(f"{gitdir_backup.WORKTREES}/") and name.endswith("/gitdir") and row.kind == FILE:
            with contextlib.suppress(HostError):  # its copy is damaged
                text = os.fsdecode(baseline.vault.data(row.content))
                folder = name.removesuffix("/gitdir")
                found[folder] = _place(f"{baseline.where.common_dir}/{folder}", text)
    return found


def _place(folder: str, text: str) -> str:
    """The folder of a linked worktree. ``folder``: of its metadata; ``text``: of its file ``gitdir``, which may be
    relative to that (git-config(1), ``worktree.useRelativePaths``).
    """
    return os.path.normpath(os.path.join(folder, text.strip())).removesuffix("/.git")  # noqa: PTH118 - a file's text


def other_worktrees(where: Layout, apart: Iterable[str]) -> tuple[str, ...]:
    """Absolute folders of the linked worktrees that are there, but for this one and what has a baseline of its own
    (``apart``; relative to the root).
    """
    known = {where.root, *(f"{where.root}/{name}" for name in apart)}
    named = Path(where.common_dir, gitdir_backup.WORKTREES).glob("*/gitdir")
    tops = (_place(str(path.parent), gitdir_backup.read_text(path)) for path in named)
    return tuple(sorted(top for top in tops if top not in known and os.path.lexists(f"{top}/.git")))


def stashes(refs: Mapping[str, str]) -> list[str]:
    """The hashes of stash entries, the oldest first."""
    return [h for n, h in refs.items() if n.startswith("stash@")]


def has_stashes(baseline: Baseline, now: Mapping[str, str]) -> bool:
    """Whether all entries of the start are there, in their order."""
    there, before = iter(stashes(now)), stashes(baseline.refs)
    return (STASH in now or not before) and all(h in there for h in before)


def _now(baseline: Baseline) -> dict[str, str]:
    return gitdir_backup.refs(baseline.where.common_dir, baseline.where.git_dir)
