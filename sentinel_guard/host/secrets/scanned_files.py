"""The texts that a secret scan searches: files that git tracks or would track, or that a person names; the history.

Rules of this file:
1. What is too large or cannot be read is said, each with its path, and what is no text can be counted; nothing is
   left out in silence.
2. A link is not followed but where a person names it: what it points to has its own place in the list.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.secrets.model import Piece
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.secrets import added_lines

PORTION = 200
"""Commits of a history that are read at once."""
_OURS = ("--exclude=refs/sentinel/*", "--exclude=refs/stash", "--all")
"""Every commit that a person could push: snapshots of the guard and stashes are none."""


class Source(NamedTuple):
    """One file."""

    piece: Piece | None
    """Its text; None for what is no text, or was not read."""
    size: int = 0
    """Bytes that were read."""
    note: str = ""
    """Why it was not read, in words."""


def tracked(root: Path, below: Iterable[Path] = ()) -> list[str]:
    """Paths (relative to ``root``) that git tracks, or would if they were added; of folders ``below`` only theirs.

    Raises HostError.
    """
    names = [os.path.relpath(folder, os.path.realpath(root)) for folder in below]
    only = [] if "." in names else [f":(top,literal){name}" for name in names]
    found = os.fsdecode(commit_contents.git(root, "ls-files", "-z", "-c", "-o", "--exclude-standard", "--", *only))
    return list(dict.fromkeys(name for name in found.split("\0") if name and not name.endswith("/")))


def walked(folder: Path) -> Iterator[Path]:
    """Every file below a folder that is in no repository; what git keeps is left out."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - {".git"})
        yield from (Path(here) / name for name in sorted(names))


def read(path: Path, name: str, *, follow: bool = False) -> Source:
    """The text of a file under the ``name`` that it shall have in a find."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - a descriptor
            seen = os.fstat(file.fileno())
            if not stat.S_ISREG(seen.st_mode):
                return Source(None)  # a submodule, a pipe: nothing of it is in a commit
            if seen.st_size > added_lines.MAX_FILE:
                return Source(None, note=f"{name}: over {added_lines.MAX_FILE >> 20} MB, not looked into")
            data = file.read(added_lines.MAX_FILE)
    except OSError as e:
        gone = path.is_symlink() or isinstance(e, FileNotFoundError)
        return Source(None, note="" if gone else f"{name}: cannot be read: {e.strerror}")
    text = added_lines.text_of(data)
    return Source(None if data and not text else Piece(text, name), len(data))


def index(root: Path) -> added_lines.Added:
    """The lines that the next commit adds. Raises HostError."""
    return added_lines.added_lines(root, commit_contents.staged(root)).texts()


def history(root: Path) -> Iterator[added_lines.Added]:
    """The lines that each commit of every branch and tag added, and their messages, the oldest first.

    Raises HostError.
    """
    return _commits(root, *_OURS)


def unpushed(root: Path) -> Iterator[added_lines.Added]:
    """As ``history``, of the commits that were seen on no remote: all of them where there is none. Raises HostError."""
    return _commits(root, *_OURS, "--not", "--remotes")


def _commits(root: Path, *which: str) -> Iterator[added_lines.Added]:
    commits = commit_contents.git(root, "rev-list", "--reverse", *which).decode("ascii").split()
    for at in range(0, len(commits), PORTION):
        some = commits[at : at + PORTION]
        yield added_lines.added_lines(root, commit_contents.changed(root, some)).texts()
        yield added_lines.messages(root, some, ()).texts()
