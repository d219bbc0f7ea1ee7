"""Reads a file as a commit has it, for the analysis of a command that prints it: ``git show HEAD:x.py``."""

from __future__ import annotations

import os
import posixpath
from dataclasses import replace
from pathlib import Path

from sentinel_guard.core.analysis.world import MAX_READ
from sentinel_guard.errors import HostError
from sentinel_guard.host.git import repository
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.machine.atomic_files import read_regular

SECONDS = 0.5
"""For each question to git; a verdict waits."""


def read(folder: str, name: str) -> str | None:
    """The text of ``COMMIT:PATH`` in a folder; None for what is no text, too long, not here, or not sure."""
    try:
        top = repository.top(folder)
        if top is None:
            return None
        where = layout(top)
        commit, _, path = name.partition(":")
        if path.startswith(("./", "../")):
            path = posixpath.normpath(posixpath.join(os.path.relpath(os.path.realpath(folder), top), path))
        if _replaces(Path(where.common_dir)):
            return None
        git, asked = replace(where.git, seconds=SECONDS), f"{commit}:{path}"
        if int(git.text("cat-file", "-s", asked)) > MAX_READ:
            return None
        data = git.run("cat-file", "blob", asked)
    except (HostError, OSError, ValueError):
        return None
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")


def _replaces(common: Path) -> bool:
    """Whether git may show another object in the place of one (git-replace(1)), which our own git does not."""
    if (common / "reftable").exists() or (common / "refs/replace").exists():
        return True
    packed = common / "packed-refs"
    return packed.exists() and b" refs/replace/" in read_regular(packed)
