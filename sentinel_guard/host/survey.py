"""What differs from a baseline, by the baseline's own settings, index and ignore rules; nothing is changed."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host import metadata, objects
from sentinel_guard.host.baseline import Baseline
from sentinel_guard.host.gitcommand import together
from sentinel_guard.host.metadata import Change
from sentinel_guard.host.vault import UNKEPT, difference

NS = 1_000_000_000
"""Nanoseconds in a second; as a file's time it is older than any."""


@dataclass(frozen=True, slots=True)
class Survey:
    """All differences, by how they are undone."""

    own: list[Change]
    shared: list[Change]
    objects: list[str]
    files: list[Change]
    """Put back raw, from the vault."""
    tracked: list[str]
    """Clean at the start: checked out from the start's index."""
    created: list[str]
    """Moved away."""
    modes: dict[str, int]
    """Touched files and the mode that they had."""
    folders: list[str]
    """Empty folders that are gone."""
    beyond: list[str]
    """Changed, and had not been kept."""
    dot: bool
    """True where ``.git`` itself is not what it was."""

    def changes(self) -> list[Change]:
        """All of it as a list for people."""
        return [
            *([Change(".git", "replaced")] if self.dot else []),
            *(Change(f".git/{c.path}", c.what) for c in (*self.own, *self.shared)),
            *(Change(f".git/objects/{n}", "deleted") for n in self.objects),
            *self.files,
            *(Change(n, "changed") for n in self.tracked),
            *(Change(n, "created") for n in self.created),
            *(Change(n, "mode") for n in self.modes),
            *(Change(n, "deleted") for n in self.folders),
            *(Change(n, "changed") for n in self.beyond),
        ]

    def snapshot(self, baseline: Baseline) -> list[str]:
        """What differs from the start's index now, restricted and ignored files apart, for the rescue snapshot."""
        mine = [n for n in baseline.files if n not in baseline.restricted]
        return [*mine, *self.tracked, *self.created]

    @property
    def done(self) -> bool:
        """True where nothing is left that can be undone."""
        return len(self.changes()) == len(self.beyond)


def survey(baseline: Baseline, keep: Callable[[str], bool]) -> Survey:
    """``keep`` is asked with names relative to the root: what it says yes to is passed over. Raises HostError."""
    dirty, changed, others = _scan(baseline)
    known, embedded = baseline.files, set(baseline.embedded)

    def passed(name: str) -> bool:
        return name in embedded or keep(name)

    tree = baseline.tree
    files = [Change(n, d) for n, k in known.items() if (d := difference(tree, n, k)) and not passed(n)]
    unkept = {c.path for c in files if known[c.path].kind == UNKEPT}
    dot, own, shared = surveyed_metadata(baseline)
    return Survey(
        own=own,
        shared=shared,
        objects=objects.lost(baseline.farm, baseline.object_tree.root, baseline.sealed),
        files=[c for c in files if c.path not in unkept],
        tracked=[n for n in changed if n not in known and not passed(n)],
        created=[n for o in others if (n := o.rstrip("/")) not in known and not passed(n)],
        modes=_modes(baseline, [n for n in {*dirty, *baseline.recent} - {*changed, *known} if not passed(n)]),
        folders=[n for n in baseline.empty if not Path(baseline.root, n).is_dir()],
        beyond=sorted(unkept),
        dot=dot,
    )


def surveyed_metadata(baseline: Baseline) -> tuple[bool, list[Change], list[Change]]:
    """``.git`` itself, the git directory, the common directory."""
    dot = misplaced(baseline)
    if dot and baseline.dot is None:
        return dot, [Change(n, "deleted") for n in baseline.own], []
    own = metadata.differences(baseline.git_tree, baseline.own)
    if not baseline.where.linked:
        return dot, own, []
    return dot, own, metadata.differences(baseline.common_tree, baseline.shared, metadata.SHARED)


def misplaced(baseline: Baseline) -> bool:
    """True where ``.git`` itself is not what it was."""
    if baseline.dot is not None:
        return bool(difference(baseline.tree, ".git", baseline.dot))
    seen = baseline.tree.lstat(".git")
    return seen is None or not stat.S_ISDIR(seen.st_mode)


def start_index(baseline: Baseline) -> None:
    """The start's index becomes the shadow's, with its stat data: what was touched since is looked at again."""
    index, kept = baseline.shadow.index, baseline.own.get("index")
    with contextlib.suppress(FileNotFoundError):
        index.unlink()
    if kept is not None:
        try:
            index.write_bytes(baseline.vault.data(kept.content))
        except HostError:
            # Its copy is damaged. What differed from HEAD was kept raw, so HEAD's index tells the rest.
            baseline.shadow.git.run("read-tree", baseline.head or "--empty")
            return
        # git looks into every file that is not older than its index: here that is all of them.
        os.utime(index, ns=(NS, NS) if baseline.recent else (kept.mtime_ns, kept.mtime_ns))


def _scan(baseline: Baseline) -> tuple[list[str], list[str], list[str]]:
    """Tracked files that were touched, those of them that are changed, and files that are not tracked."""
    start_index(baseline)
    shadow = baseline.shadow
    dirty, others = together(shadow.changed, lambda: shadow.others(f"--exclude-from={shadow.frozen}"))
    if not dirty:
        return [], [], others
    return list(dict.fromkeys(dirty)), shadow.differing(), others


def _modes(baseline: Baseline, names: list[str]) -> dict[str, int]:
    return {n: mode for n in names if (mode := wrong_mode(baseline, n)) is not None}


def wrong_mode(baseline: Baseline, name: str) -> int | None:
    """The mode that a tracked file had at the start, if it has another one now."""
    seen = baseline.tree.lstat(name)
    if seen is None or not stat.S_ISREG(seen.st_mode):
        return None
    now = stat.S_IMODE(seen.st_mode)
    want = baseline.modes.get(name, baseline.usual[bool(now & 0o100)])
    return None if now == want else want
