"""Objects that a repository borrows from others (``objects/info/alternates``): nothing of them is kept.

Size and time of all of them are remembered as one number. Where it is another one later, the start's history is gone
through object by object, which would be dear at each rollback.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.recovery.baseline import gitdir_backup, object_backup
from sentinel_guard.host.recovery.baseline.backup_pack import existing
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

DEPTH = 5
"""How far a store that is borrowed from may borrow itself (git follows as many)."""
LOST = "Objects that the repository borrows from another one are gone: its history before the start is not whole."


def fingerprint(objects: str) -> str:
    """Of all that is borrowed by an object store; empty where nothing is."""
    stores = _stores(objects, DEPTH)
    if not stores:
        return ""
    found = hashlib.sha256()
    for store in dict.fromkeys(stores):
        for name in sorted(object_backup.names(store)):
            try:
                seen = os.lstat(f"{store}/{name}")
            except OSError:
                continue
            found.update(os.fsencode(f"{store}/{name}\0{seen.st_size}\0{seen.st_mtime_ns}\n"))
    return found.hexdigest()


def find_losses(baseline: Baseline) -> list[str]:
    """In words. Raises HostError."""
    if not baseline.rest.borrowed or fingerprint(baseline.object_tree.root) == baseline.rest.borrowed:
        return []
    git = replace(baseline.where.git, settings=baseline.shadow.git.settings)
    tips = existing(git, {h for n, h in baseline.refs.items() if n.startswith(("refs/heads/", "refs/tags/", "stash@"))})
    try:
        git.run("rev-list", "--objects", "--quiet", "--stdin", stdin=_lines({*tips, baseline.head} - {""}))
    except HostError:
        return [LOST]
    return []


def _stores(objects: str, depth: int) -> list[str]:
    rows = gitdir_backup.read_text(Path(objects, "info/alternates")).splitlines() if depth else []
    named = [os.path.normpath(os.path.join(objects, row)) for row in rows if row and row[0] != "#"]  # noqa: PTH118 - text with surrogates
    return [store for name in named for store in (name, *_stores(name, depth - 1))]


def _lines(hashes: Iterable[str]) -> bytes:
    return "".join(f"{h}\n" for h in hashes).encode()
