"""Objects that a repository borrows from others (``objects/info/alternates``): nothing of them is kept.

Size and times of all of them are remembered as one number. Where it is another one later, the start's history is read
object by object, which would be dear at each rollback.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.recovery.baseline import added_packs, gitdir_backup, object_backup
from sentinel_guard.host.recovery.baseline.backup_pack import existing
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

DEPTH = 5
"""How far a store that is borrowed from may borrow itself (git follows as many)."""
LOST = "Objects that the repository borrows from another one are gone: its history before the start is not whole."
MISREAD = "{} objects that the repository borrows from another one are damaged, {} for one."
UNREAD = "Whether the objects that the repository borrows from another one are whole cannot be told: {}"


def fingerprint(objects: str) -> str:
    """Of all that is borrowed by an object store; empty where nothing is."""
    stores = _stores(objects)
    if not stores:
        return ""
    found = hashlib.sha256()
    for store in stores:
        for name in sorted(object_backup.names(store)):
            try:
                seen = os.lstat(f"{store}/{name}")
            except OSError:
                continue
            found.update(os.fsencode(f"{store}/{name}\0{seen.st_size}\0{seen.st_mtime_ns}\0{seen.st_ctime_ns}\n"))
    return found.hexdigest()


def find_losses(baseline: Baseline) -> list[str]:
    """In words."""
    if not baseline.rest.borrowed or fingerprint(baseline.object_tree.root) == baseline.rest.borrowed:
        return []
    git = replace(baseline.where.git, settings=baseline.shadow.git.settings)
    try:
        wanted = {h for n, h in baseline.refs.items() if n.startswith(("refs/heads/", "refs/tags/", "stash@"))}
        tips = existing(git, wanted) | ({baseline.head} - {""})
        told = git.run("rev-list", "--objects", "--no-object-names", "--stdin", stdin=_lines(tips))
        wrong = [*added_packs.misread(git, told.decode().split())]
    except HostError as e:
        return [UNREAD.format(e) if e.__cause__ else LOST]
    return [MISREAD.format(len(wrong), min(wrong))] if wrong else []


def _stores(objects: str) -> list[str]:
    """All that are borrowed from, each once."""
    found, near = dict[str, None](), [objects]
    for _ in range(DEPTH):
        named = [name for store in near for name in _alternates(store)]
        near = [name for name in dict.fromkeys(named) if name not in found]
        found |= dict.fromkeys(near)
    return [*found]


def _alternates(objects: str) -> list[str]:
    rows = gitdir_backup.read_text(Path(objects, "info/alternates")).splitlines()
    return [os.path.normpath(os.path.join(objects, row)) for row in rows if row and row[0] != "#"]  # noqa: PTH118 - text with surrogates


def _lines(hashes: Iterable[str]) -> bytes:
    return "".join(f"{h}\n" for h in hashes).encode()
