"""Restores git objects at a rollback from the backup of hard links (the farm), else from the pack, and verifies them.

Files alone are half of a repository: a rollback is not ok while something that START needs cannot be read as it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.machine import birth_time
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline import (
    added_packs,
    backup_pack,
    borrowed_objects,
    early_objects,
    object_backup,
    other_stores,
)
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

ALTERNATES = "objects/info/alternates"
"""Names other stores, whose objects are not kept (gitrepository-layout(5))."""
SHOWN = 3
PRUNED = (
    "{} objects of git's were pruned before they were kept, {} for one: what they alone held (dropped stashes, commits "
    "that no branch has) is lost."
)
CURE = "`git fsck` tells which; they come back from a clone (`git fetch`) or a backup."
LOST = "The history before the start is lost: the repository is shallow now. `git fetch --unshallow` brings it back."


def put_back(baseline: Baseline, programs: Iterable[str]) -> list[str]:
    """What the farm has; where that does not do, the independent pack. Returns notes. Raises HostError.

    ``programs``: see ``BaselineDiff``; they go to quarantine.
    """
    try:
        for name in programs:
            baseline.common_tree.away(name)
        other_stores.restore(baseline.stores, baseline.common_tree, baseline.sealed)
        object_backup.restore_objects(baseline.farm, baseline.object_tree, baseline.sealed)
        notes = added_packs.take_apart(baseline, added_packs.find_false_packs(baseline))
        if baseline.deep.is_dir() and damaged_or_missing_objects(baseline):
            _from_pack(baseline)
        return notes
    except OSError as e:
        raise HostError(f"The repository's objects cannot be put back: {e}.", f"They are in {baseline.farm}.") from e


def damaged_or_missing_objects(baseline: Baseline) -> list[str]:
    """What START needs and cannot be read as it was, in words."""
    problems = [LOST] if baseline.shallowed.exists() else []
    problems += [
        f".git/{n} was overwritten in place: no copy of it is left."
        for n in other_stores.damaged(baseline.stores, baseline.sealed)
    ]
    bad, count = object_backup.examine_objects(baseline.farm, baseline.sealed)
    if bad:
        some = ", ".join(bad[:SHOWN]) + (", …" if len(bad) > SHOWN else "")
        problems.append(f"{len(bad)} objects of the repository were overwritten: {some}. {CURE}")
    if gone := _lost_early(baseline):
        problems.append(PRUNED.format(len(gone), gone[0]))
    alone = ALTERNATES not in baseline.own and ALTERNATES not in baseline.shared
    whole = alone and 0 < baseline.rest.farmed <= count and not bad
    if not _is_partial(baseline):
        try:
            inside = set() if whole else _objects_of_start(baseline)
            missing = _missing(baseline, (inside | _tips(baseline)).difference(gone))
            problems += missing or ([] if whole else borrowed_objects.find_losses(baseline))
        except HostError as e:
            problems.append(f"START cannot be read: {e}")
    return problems


def _is_partial(baseline: Baseline) -> bool:
    """Whether it was a partial clone, which never had all objects."""
    now = Path(baseline.object_tree.root, "pack").glob("*.promisor")
    old = any(not birth_time.is_younger(str(path), baseline.taken) for path in now)
    return old or any((baseline.farm / "pack").glob("*.promisor"))


def _lost_early(baseline: Baseline) -> list[str]:
    """Objects that went before they were kept, by their hashes."""
    git, rest = _trusted(baseline), baseline.rest
    try:
        if not rest.complete:
            return early_objects.lost(git, baseline.folder, baseline.farm)
        there = backup_pack.existing(git, rest.lost)
        return [digest for digest in rest.lost if digest not in there]
    except HostError:
        return [*rest.lost]


def _from_pack(baseline: Baseline) -> None:
    """What is damaged goes to quarantine: beside it git might go on believing it. Raises HostError, OSError."""
    if not all(object_backup.is_intact(p, f"pack/{p.name}") for p in baseline.deep.iterdir()):
        return
    if not backup_pack.restore_pack(baseline.deep, baseline.object_tree):
        return
    for name in object_backup.damaged_objects(baseline.farm, baseline.sealed):
        baseline.object_tree.away(name)
        SymlinkSafeFolder(str(baseline.farm), baseline.quarantine / "farm").away(name)
    git = _trusted(baseline)
    tips = sorted(backup_pack.existing(git, set(baseline.refs.values()) | ({baseline.head} - {""})))
    rows = git.text("rev-list", "--no-walk", "--parents", *tips).splitlines() if tips else []
    parents = {parent for row in rows for parent in row.split()[1:]}
    gone = parents - backup_pack.existing(git, parents)
    if ends := [row.split()[0] for row in rows if gone & {*row.split()[1:]}]:
        # Written first: where this breaks off, the file below is ours.
        baseline.shallowed.touch()
        shallow = Path(baseline.where.common_dir, "shallow")
        before = shallow.read_text().split() if shallow.exists() else []
        shallow.write_text("".join(f"{h}\n" for h in dict.fromkeys([*before, *ends])))


def _objects_of_start(baseline: Baseline) -> set[str]:
    """Its files and folders; none where no commit was there. Raises HostError."""
    rows = _trusted(baseline).run("ls-tree", "-r", "-t", "-z", baseline.head).split(b"\0") if baseline.head else []
    return {os.fsdecode(row.split(b"\t")[0].split(b" ")[2]) for row in rows if row and b" commit " not in row[:14]}


def _tips(baseline: Baseline) -> set[str]:
    return {h for n, h in baseline.refs.items() if n.startswith(("refs/heads/", "refs/tags/", "stash@"))}


def _missing(baseline: Baseline, wanted: set[str]) -> list[str]:
    """Those of the objects that are not there, in words. Raises HostError."""
    git = _trusted(baseline)
    wanted -= object_backup.loose(baseline.farm)  # there and looked at already
    gone = wanted - backup_pack.existing(git, wanted)
    names = {h: f"{h[:2]}/{h[2:]}" for h in wanted - gone}
    store = Path(baseline.object_tree.root)
    gone |= {h for h, n in names.items() if (store / n).exists() and not object_backup.is_intact(store / n, n)}
    return (
        [f"{len(gone)} objects of START, or of its refs, are missing or unreadable, {min(gone)} for one. {CURE}"]
        if gone
        else []
    )


def _trusted(baseline: Baseline) -> Git:
    return replace(baseline.where.git, settings=baseline.shadow.git.settings)
