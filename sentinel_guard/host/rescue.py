"""Rescue snapshots: the work tree as a commit that no branch holds (DESIGN section 8)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.metadata import refs
from sentinel_guard.host.repository import commit
from sentinel_guard.host.shadow import Shadow, capture, layout

MAX_TIPS = 100
"""Branches whose tips a snapshot holds."""
MAX_NAMES = 1000
"""Branches and tags that it names."""


@dataclass(frozen=True, slots=True)
class Rescue:
    """A snapshot of the work tree as a commit that no branch holds."""

    ref: str
    commit: str
    count: int
    """Files that differ from the index."""
    left_out: tuple[str, ...] = ()
    """Too large, unreadable, or repositories of their own."""


def rescue(root: str, folder: Path, label: str, found: Iterable[str] | None = None) -> Rescue:
    """Keep the present work tree, ignored files apart, under ``refs/sentinel/rescue/<label>``.

    ``folder`` is the session's baseline folder: its trusted settings are used; where it holds none, the repository's
    present ones are taken. ``found``: what differs from the repository's index, where that is known. HEAD, index and
    work tree are left alone. Raises HostError.
    """
    where = layout(root)
    shadow = Shadow(where, folder / "git")
    if not (shadow.folder / "HEAD").exists():
        shadow.make(farm=folder / "objects")
    objects = f"{where.common_dir}/objects"
    private = Shadow(where, shadow.folder, folder / "rescue-index")
    private.copy_index()
    tree = capture(private, found, objects=objects)
    parent = commit(where.git, "HEAD")
    git = replace(private.git, objects=objects)
    taken = refs(where.common_dir)
    words = ("-m", _message(label, taken))
    try:
        made = git.text("commit-tree", tree.hash, *_parents(parent, taken), *words)
    except HostError:  # a branch that names no commit must not cost the snapshot
        made = git.text("commit-tree", tree.hash, *_parents(parent, {}), *words)
    ref = _free(f"refs/sentinel/rescue/{_word(label)}", taken)
    where.git.run("update-ref", ref, made)
    return Rescue(ref, made, len(tree.changed), tree.left_out)


def _parents(head: str, taken: dict[str, str]) -> list[str]:
    """HEAD, then the tips of the branches, so that git keeps the commits of a branch that is deleted next."""
    tips = [tip for name, tip in sorted(taken.items()) if name.startswith("refs/heads/") and tip != head]
    return [word for tip in dict.fromkeys([head, *tips[:MAX_TIPS]]) for word in ("-p", tip)] if head else []


def _message(label: str, taken: dict[str, str]) -> str:
    """Says what each branch and tag was, for the names are not in the commit."""
    names = [f"{tip} {name}" for name, tip in sorted(taken.items()) if name.startswith(("refs/heads/", "refs/tags/"))]
    return "\n".join([f"sentinel-guard: {label}", "", *names[:MAX_NAMES]])


def forget(root: str, label: str) -> None:
    """Drop the ref of a snapshot; git collects what nothing else holds. Raises HostError."""
    layout(root).git.run("update-ref", "-d", f"refs/sentinel/rescue/{_word(label)}")


def _word(label: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", label).strip("-") or "snapshot"


def _free(ref: str, taken: dict[str, str]) -> str:
    number = 2
    free = ref
    while free in taken:
        free, number = f"{ref}-{number}", number + 1
    return free
