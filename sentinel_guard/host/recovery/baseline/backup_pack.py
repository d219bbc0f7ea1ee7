"""Backs up the objects of the session's start in a git pack: no hard link to the repository's files, no history.

Hard links do not help against who overwrites an object in place, nor across file systems. This pack does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import PrivateGitDir
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

TIPS = 100
"""Refs whose commits are kept besides the start's."""


def make(shadow: PrivateGitDir, folder: Path, tips: Iterable[str]) -> list[str]:
    """Pack the start's commit, its files, what is staged, and the tips of refs; returns what could not be, in words."""
    git = shadow.git
    try:
        commits = existing(git, list(dict.fromkeys(tips))[:TIPS])
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        wanted = {row.split(" ")[1] for row in git.names("ls-files", "-s", "-z") if not row.startswith("160000")}
        if commits:
            flags = ("--objects", "--no-walk", "--no-object-names", "--missing=allow-any")
            wanted |= set(git.text("rev-list", *flags, *commits).split())
        found = existing(git, wanted)
        git.run("pack-objects", "-q", "--threads=1", str(folder / "pack"), stdin=_lines(found))
    except (HostError, OSError) as e:
        return [f"No independent pack of the start could be made: {e}"]
    return []


def restore_pack(folder: Path, objects: SymlinkSafeFolder) -> bool:
    """Give the pack to the repository; False where there is none. Raises OSError."""
    names = sorted(p.name for p in folder.glob("pack-*") if p.suffix in (".pack", ".idx"))
    objects.folder("pack")
    # The index comes last: git looks for packs by their indexes.
    for name in sorted(names, key=lambda n: n.endswith(".idx")):
        to = Path(objects.root, "pack", name)
        if not to.exists():
            aside = to.with_name(f"tmp_{name}")
            shutil.copyfile(folder / name, aside)
            aside.rename(to)
    return len(names) > 1


def existing(git: Git, hashes: Iterable[str]) -> set[str]:
    """Those of the objects that can be found. Raises HostError."""
    wanted = list(hashes)
    told = git.run("cat-file", "--batch-check", stdin=_lines(wanted)) if wanted else b""
    return {line.split(" ")[0] for line in told.decode().splitlines() if not line.endswith(" missing")}


def _lines(hashes: Iterable[str]) -> bytes:
    return os.fsencode("".join(f"{h}\n" for h in hashes))
