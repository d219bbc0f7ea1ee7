"""Captures a work tree as a git tree, with what differs from an index already known.

Rules of this file:
1. The tree is that of the index with the changed names in it, and nothing else of the work tree is looked at.
2. git itself reads the changed files, with the entries of the index before it: filters, line ends and modes are as in
   ``git add``. They stand in an index of their own, for to read and write one of 40,000 files costs as much as
   ``git status``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import PrivateGitDir, scan, stage
from sentinel_guard.host.git.run_git import Git, lines
from sentinel_guard.host.machine.content_addressed_store import MAX_FILE

FEW = 200
"""So many names are given to git at once; of more, the index is written whole."""
_FOLDER = "040000"
_REF = "refs/captured"
"""Of the private git directory: git's importer makes a commit of what it is told."""
_FLAGS = ("-c", "fastimport.unpackLimit=20", "-c", "pack.compression=1")
"""Of fewer objects each becomes a file, more of them stay in the importer's pack: to make a hundred files costs five
times as much.
"""


@dataclass(frozen=True, slots=True)
class Tree:
    """A work tree as git tree."""

    hash: str
    changed: tuple[str, ...]
    """What differed from the private index."""
    left_out: tuple[str, ...]
    """Too large, unreadable, or a repository of its own."""


def capture(
    shadow: PrivateGitDir,
    found: Iterable[str] | None = None,
    *,
    start: str = "",
    objects: str = "",
    limit: int = MAX_FILE,
) -> Tree:
    """The present work tree, untracked files included, ignored ones not, as a tree. Raises HostError.

    The private index takes part. ``found``: what differs from it, where that is known. ``start``: the commit whose tree
    is the index's, where that is known. ``objects``: the store that is written to.
    """
    names: list[str] = []
    left_out: list[str] = []
    for name in dict.fromkeys(scan(shadow, "--exclude-standard") if found is None else found):
        (left_out if _excluded(shadow.where.root, name, limit) else names).append(name)
    git = replace(shadow.git, objects=objects)
    made = _with_few(git, names, start) if len(names) <= FEW else None
    made = made or _with_all(git, names)
    return Tree(made[0], tuple(names), (*left_out, *made[1]))


def _with_all(git: Git, names: list[str]) -> tuple[str, list[str]]:
    """The tree, and what git could not take, by way of the whole index."""
    left_out = stage(git, names)
    return git.text("write-tree"), left_out


def _with_few(git: Git, names: list[str], commit: str) -> tuple[str, list[str]] | None:
    """The same by way of the changed names alone; None where it cannot be had so: the index has conflicts, for one."""
    aside = Path(f"{git.index}.few")
    few = replace(git, index=str(aside))
    try:
        tree = "" if names and commit else git.text("write-tree")
        if not names:
            return tree, []
        aside.unlink(missing_ok=True)
        before = few.names("--literal-pathspecs", "ls-tree", "-z", tree or commit, "--", *names)
        files = [row for row in before if row[:6] != _FOLDER]
        few.run("update-index", "-z", "--index-info", stdin=lines(files))
        left_out = stage(few, names)
        begin = f'M {_FOLDER} {tree} ""' if tree else f"from {commit}"
        return _grafted(few, begin, names, left_out), left_out
    except HostError:
        return None
    finally:
        aside.unlink(missing_ok=True)


def _grafted(git: Git, begin: str, names: Sequence[str], left_out: Sequence[str]) -> str:
    """A tree with the index's entries, and without the names that it has none of. Raises HostError.

    ``begin``: what tells the importer of the tree before.
    """
    rows = [row.split("\t", 1) for row in git.names("ls-files", "-s", "-z")]
    entries = {name: head.split(" ") for head, name in rows}
    gone = [n for n in names if n not in entries and n not in left_out]
    told = [
        f"commit {_REF}\ncommitter sentinel-guard <> 0 +0000\ndata 0\n{begin}",
        *(f"D {_quoted(n)}" for n in gone),
        *(f"M {mode} {digest} {_quoted(n)}" for n, (mode, digest, _) in entries.items()),
        'ls ""\n',
    ]
    words = git.run(*_FLAGS, "fast-import", "--quiet", "--force", "--cat-blob-fd=1", stdin=os.fsencode("\n".join(told)))
    kind, _, digest = os.fsdecode(words).partition("\t")[0].rpartition(" ")
    if kind != f"{_FOLDER} tree":
        raise HostError(f"git fast-import says {words!r} of a tree.")
    return digest


def _quoted(name: str) -> str:
    """As git-fast-import(1) reads a path."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _excluded(root: str, name: str, limit: int) -> bool:
    """What git could not take is told apart here: one such name among many would cost a search for it."""
    if name.endswith("/"):
        return True
    try:
        seen = os.lstat(path := f"{root}/{name}")
    except OSError:
        return False
    if stat.S_ISREG(seen.st_mode):
        return seen.st_size > limit or not os.access(path, os.R_OK)
    return not (stat.S_ISLNK(seen.st_mode) or stat.S_ISDIR(seen.st_mode))
