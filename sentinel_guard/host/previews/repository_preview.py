"""What of a repository would be lost here: a branch that is deleted, stashes that are dropped, ignored files."""

from __future__ import annotations

from collections.abc import Sequence

from sentinel_guard.core.model import Effect
from sentinel_guard.host.git.repository import commit
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.previews.preview import NAMED, Preview

LISTED = 200
"""Rows of the details."""


def repository_preview(git: Git, effect: Effect) -> Preview:
    """Of an effect of kind GIT_REWRITE; empty for a target that nothing is known of. Raises HostError."""
    what, _, name = effect.target.partition(" ")
    if what == "stash":
        return _stashes(git)
    if what == "ignored":
        return _ignored(git)
    if what in ("branch", "tag", "ref") and name and "*" not in name:
        prefix = {"branch": "refs/heads/", "tag": "refs/tags/", "ref": ""}[what]
        return _reference(git, f"{prefix}{name}", f"{what} {name}")
    return Preview()


def _reference(git: Git, ref: str, called: str) -> Preview:
    """The commits that only this reference holds."""
    held = commit(git, ref)
    if not held:
        return Preview((f"{called}: there is none of this name",))
    words = ("--no-show-signature", "--no-color", "--no-decorate", "--format=%h %s (%an, %cs)")
    only = git.text("log", *words, held, "--not", f"--exclude={ref}", "--all", "--").splitlines()
    if not only:
        return Preview((f"{called}: every commit of it is held by another reference, too",))
    return _listed(f"{called}: LOST commits:", only)


def _stashes(git: Git) -> Preview:
    rows = git.text("stash", "list", "--format=%gd %s (%cs)").splitlines()
    return _listed("on the stash:", rows)


def _ignored(git: Git) -> Preview:
    """What git ignores and nobody has committed, a folder as one row."""
    rows = git.names("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return _listed("ignored:", rows)


def _listed(head: str, rows: Sequence[str]) -> Preview:
    more = (f"  … {len(rows) - NAMED:,} more",) if len(rows) > NAMED else ()
    return Preview((f"{head} {len(rows):,}", *(f"  {row}" for row in rows[:NAMED]), *more), "\n".join(rows[:LISTED]))
