"""Keeps what a baseline cannot have from git: ignored files, and clean tracked ones that git would write otherwise.

Rules of this file:
1. It is found while the agent works already: what was changed since the start is not believed.
2. Ignored files are kept up to a budget, the smallest first; generated ones are not. Of what is too large size and
   time are remembered, so that a rollback names it where it was changed.
3. Repositories in ignored folders are files like others, their git directories included.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from sentinel_guard.host.git import ignored_files
from sentinel_guard.host.machine.content_addressed_store import FILE, LINK, UNKEPT, ContentAddressedStore, Kept
from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.recovery.baseline import converted_files
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

MOST = 5000
"""Ignored files over the budget whose size and time are remembered."""


def keep(baseline: Baseline, vault: ContentAddressedStore) -> tuple[dict[str, Kept], list[str]]:
    """What can be kept, by its name, and what cannot, in words. Raises HostError, OSError."""
    names = (n.rstrip("/") for n in baseline.ignored)
    chosen = ignored_files.choose(baseline.root, (n for n in names if n not in baseline.files), HEAVY - {".git"})
    kept = dict(_kept(baseline, vault, chosen.names))
    kept |= _remembered(baseline, chosen.too_large[:MOST])
    kept |= {n: k for n, k in _kept(baseline, vault, converted_files.find(baseline)) if k.kind == FILE}
    rest = [f"{n} is ignored and holds too many files: they were not kept." for n in chosen.too_many]
    return kept, rest


def _kept(baseline: Baseline, vault: ContentAddressedStore, names: Iterable[str]) -> Iterator[tuple[str, Kept]]:
    for name in names:
        if _from_the_start(baseline, name) is not None:
            found = vault.keep(baseline.tree, name)
            if found and found.kind in (FILE, LINK, UNKEPT):
                yield name, found


def _remembered(baseline: Baseline, names: Iterable[str]) -> Iterator[tuple[str, Kept]]:
    for name in names:
        if seen := _from_the_start(baseline, name):
            yield name, Kept(UNKEPT, 0, seen.st_mtime_ns, seen.st_size)


def _from_the_start(baseline: Baseline, name: str) -> os.stat_result | None:
    """What stands there, where nothing was done to it since; None for what is kept already, too."""
    seen = None if name in baseline.files else baseline.tree.lstat(name)
    return seen if seen and seen.st_ctime < baseline.taken else None
