"""Selects the ref updates of git's reference-transaction hook that are to be judged, without a git process.

Where git packs references it says that each is made anew, then that each loose copy is deleted (git pack-refs, gc).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from sentinel_guard.host.git.commit_contents import common_dir
from sentinel_guard.host.githooks.pushes_and_refs import GUARDED, PROTECTED
from sentinel_guard.host.machine.atomic_files import read_regular

BRANCHES = "refs/heads/"


def changing(lines: Iterable[str], work: Path, environ: Mapping[str, str]) -> list[str]:
    """Of git's lines (``OLD NEW NAME``) those that are to be judged: what a branch comes to lead to, a protected branch
    that goes, the guard's own references. Raises nothing; what cannot be told is judged.
    """
    meant = [line for line in lines if _is_meant(line.split(" "))]
    common = Path()
    if meant:
        with contextlib.suppress(OSError, ValueError):
            common = common_dir(work, environ)
    return [line for line in meant if common == Path() or not _stays(line.split(" "), common)]


def _is_meant(words: list[str]) -> bool:
    if len(words) != 3:
        return True
    _, new, name = words
    return name.startswith(GUARDED) or (name.startswith(BRANCHES) and (bool(new.strip("0")) or name in PROTECTED))


def _stays(words: list[str], common: Path) -> bool:
    """Whether the reference is afterwards what it was before."""
    if len(words) != 3:
        return False
    old, new, name = words
    try:
        if new.strip("0"):
            return read_regular(common / name).decode("ascii").strip() == new
        # Where it really goes, git holds the lock of that file at this moment.
        packed = common / "packed-refs"
        return not Path(f"{packed}.lock").exists() and os.fsencode(f"{old} {name}\n") in read_regular(packed)
    except (OSError, ValueError):
        return False
