"""What a work tree holds besides its clean tracked files: the list of what a baseline must keep."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sentinel_guard.host.shadow import Shadow

HEAVY = frozenset(
    (".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache")
)
"""Folders of generated or foreign files: not searched for restricted files."""
RECENT = 2.0
"""Seconds in which a file's stat data may stay the same though its content changes (git compares whole seconds)."""


@dataclass(slots=True)
class Walk:
    """What a walk over all names finds, ignored ones too; names relative to the root."""

    since: float
    restricted: list[str] = field(default_factory=list)
    ignores: list[str] = field(default_factory=list)
    """``.gitignore`` files."""
    empty: list[str] = field(default_factory=list)
    """Empty folders."""
    modes: dict[str, int] = field(default_factory=dict)
    """Modes of regular files."""
    recent: list[str] = field(default_factory=list)
    """Regular files that were changed in the last RECENT seconds."""


def walk(root: str, restricts: Callable[[str], bool]) -> Walk:
    """Look at every name below the root; ``restricts`` is asked with absolute paths."""
    found = Walk(since=time.time() - RECENT)
    todo = [""]
    while todo:
        _look(root, todo.pop(), restricts, found, todo)
    return found


def _look(root: str, folder: str, restricts: Callable[[str], bool], found: Walk, todo: list[str]) -> None:
    try:
        entries = list(os.scandir(f"{root}/{folder}"))
    except OSError:
        return
    if not entries and folder:
        found.empty.append(folder)
    for entry in entries:
        name = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in HEAVY:
                todo.append(name)
            elif os.path.lexists(f"{entry.path}/.gitignore"):
                found.ignores.append(f"{name}/.gitignore")
            continue
        if restricts(entry.path):
            found.restricted.append(name)
        _note(entry, name, found)


def _note(entry: os.DirEntry[str], name: str, found: Walk) -> None:
    if entry.name == ".gitignore":
        found.ignores.append(name)
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if stat.S_ISREG(seen.st_mode):
        found.modes[name] = stat.S_IMODE(seen.st_mode)
        if seen.st_ctime > found.since:
            found.recent.append(name)


@dataclass(frozen=True, slots=True)
class Status:
    """What ``git status`` tells; names relative to the root."""

    tracked: tuple[str, ...]
    """Staged, changed, deleted or in conflict."""
    untracked: tuple[str, ...]
    embedded: tuple[str, ...]
    """Untracked repositories, without their closing slash."""


def status(shadow: Shadow) -> Status:
    """Raises HostError."""
    flags = ("--porcelain=v2", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
    rows = shadow.git.names("status", *flags)
    others = [row[2:] for row in rows if row[0] == "?"]
    return Status(
        tracked=tuple(row.split(" ", _FIELDS[row[0]])[-1] for row in rows if row[0] in _FIELDS),
        untracked=tuple(n for n in others if not n.endswith("/")),
        embedded=tuple(n.rstrip("/") for n in others if n.endswith("/")),
    )


_FIELDS = {"1": 8, "u": 10}
"""Kind of row in porcelain v2 -> words before the name."""


def tracked(shadow: Shadow) -> dict[str, bool]:
    """Tracked files; True where git was told not to look (assume-unchanged, skip-worktree). Raises HostError."""
    rows = shadow.git.names("ls-files", "-v", "-z")
    return {row[2:]: row[0] in "Ss" or row[0].islower() for row in rows}
