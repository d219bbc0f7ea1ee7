"""Takes away, before git is asked at a rollback, what it would wait for, or would believe of its packs."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable

from sentinel_guard.core.policy import gitignore_patterns
from sentinel_guard.host.machine import birth_time
from sentinel_guard.host.machine.started_call import StartedCall
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline import early_objects, object_backup
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_diff import Scan
from sentinel_guard.host.recovery.snapshots.blocking_fifos import RULES

RELEASE_SECONDS = 0.05


def waiting(baseline: Baseline, special: list[str]) -> list[tuple[SymlinkSafeFolder, str]]:
    """Named pipes, and what else is no file, where git would open one and wait."""
    store = baseline.object_tree
    return [
        *((baseline.tree, n) for n in special if n.rpartition("/")[2] in RULES),
        *((store, n) for n in object_backup.non_file_entries(store.root)),
    ]


def unblock(
    baseline: Baseline, keep: Callable[[str], bool], special: list[str], scanned: StartedCall[Scan]
) -> list[Change]:
    """Takes away what git would wait for, and what is no file and was not there at the start: git sees none of it."""
    found = waiting(baseline, special)
    found += [(baseline.tree, n) for n in new_special_files(baseline, special, keep)]
    moved = [tree.away(name) for tree, name in found]
    for path in moved:
        _release_fifo_readers(path)
    # Whoever had found a pipe, and opens it a moment after it was released, waits again.
    while moved and not scanned.ends_within(RELEASE_SECONDS):
        for path in moved:
            _release_fifo_readers(path)
    return [Change(os.path.relpath(f"{tree.root}/{name}", baseline.root), "created") for tree, name in found]


def remove_caches(baseline: Baseline) -> list[Change]:
    """What git would believe of its packs before it looks at them."""
    names = added_caches(baseline)
    for name in names:
        baseline.object_tree.away(name)
    return [Change(f".git/objects/{name}", "created") for name in names]


def added_caches(baseline: Baseline) -> list[str]:
    store, kept = baseline.object_tree.root, (baseline.farm, baseline.folder / early_objects.HELD)
    return object_backup.added_caches(store, kept, round(baseline.taken * 1e9), whole=baseline.rest.farmed > 0)


def new_special_files(baseline: Baseline, special: list[str], keep: Callable[[str], bool]) -> list[str]:
    """Those that ``waiting`` does not tell; as with files, not what the start ignored, nor in repositories inside."""
    known, inside = frozenset(baseline.rest.special), tuple(f"{name}/" for name in baseline.embedded)
    found = [n for n in special if n not in known and not n.startswith(inside) and not keep(n)]
    if not baseline.rest.complete:  # then the time of birth alone tells
        found = [n for n in found if birth_time.is_younger(f"{baseline.root}/{n}", baseline.taken)]
    rules = os.fsdecode(baseline.shadow.frozen.read_bytes()).splitlines() if found else []
    patterns = [gitignore_patterns.parse(rule) for rule in rules]
    return [n for n in found if n.rpartition("/")[2] not in RULES and not _ignored(patterns, n)]


def _ignored(patterns: list[gitignore_patterns.Pattern | None], name: str) -> bool:
    pattern = patterns[at] if (at := gitignore_patterns.last(patterns, name)) >= 0 else None
    return pattern is not None and pattern.takes


def _release_fifo_readers(path: str) -> None:
    """Whoever waits at a pipe for someone to write finds it empty."""
    with contextlib.suppress(OSError):
        if stat.S_ISFIFO(os.lstat(path).st_mode):
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))
