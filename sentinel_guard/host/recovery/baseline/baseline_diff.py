"""Compares a repository with its baseline, by the baseline's settings, index and ignore rules; changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.host.git import ignored_files
from sentinel_guard.host.machine import birth_time, deep_folders
from sentinel_guard.host.machine.content_addressed_store import UNKEPT, Kept, difference
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline import (
    added_packs,
    gitdir_backup,
    object_backup,
    other_stores,
    shared_refs,
    unkept_files,
    user_git_config,
)
from sentinel_guard.host.recovery.baseline.folder_modes import folder_mode
from sentinel_guard.host.recovery.baseline.folder_survey import Survey
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.baseline.late_files import CACHES
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_diff import Scan, scan


@dataclass(frozen=True, slots=True)
class BaselineDiff:
    """All differences, by how they are undone."""

    own: list[Change]
    shared: list[Change]
    refs: list[Change]
    """Branches, tags and the stash, in a linked worktree."""
    user: list[Change]
    """The user's own settings of git; names relative to ``/``."""
    objects: list[str]
    stores: list[str]
    """Files of large-file stores and idle submodules, below the common directory."""
    programs: list[str]
    """What is new in the git directories of idle submodules and may name programs, and such directories that are new;
    below the common directory.
    """
    packs: list[str]
    """Those that hold something else under the name of an object of the start's."""
    files: list[Change]
    """Put back raw, from the vault."""
    tracked: list[str]
    """Clean at the start: checked out from the start's index."""
    created: list[str]
    """Moved away."""
    modes: dict[str, int]
    """Touched files and the mode that they had."""
    scan: Scan
    folders: list[str]
    """Empty folders that are gone."""
    folder_modes: list[str]
    """Folders that have another mode: set when all else is back."""
    beyond: dict[str, str]
    """Changed or gone, and had not been kept; in words that follow the name."""
    links: list[str]
    """Names that are no hard links of those any more of which they were: joined when all else is back."""
    dot: bool
    """True where ``.git`` itself is not what it was."""

    def changes(self) -> list[Change]:
        """All of it as a list for people."""
        return [
            *([Change(".git", "replaced")] if self.dot else []),
            *(Change(f".git/{c.path}", c.what) for c in (*self.own, *self.shared, *self.refs)),
            *(Change(f".git/objects/{n}", "deleted") for n in self.objects),
            *(Change(f".git/{n}", "deleted") for n in self.stores),
            *(Change(f".git/{n}", "created") for n in self.programs),
            *(Change(f".git/objects/{n}", "changed") for n in self.packs),
            *(Change(f"/{c.path}", c.what) for c in self.user),
            *self.files,
            *(Change(n, "changed") for n in self.tracked),
            *(Change(n, "created") for n in self.created),
            *(Change(n, "mode") for n in (*self.modes, *self.folder_modes)),
            *(Change(n, "deleted") for n in self.folders),
            *(Change(n, "changed") for n in self.beyond),
            *(Change(n, "unlinked") for n in self.links),
        ]

    def snapshot(self, baseline: Baseline) -> list[str]:
        """What differs from the start's index now, for the rescue snapshot: without restricted and ignored files, what
        lies in submodules, and untracked files that are as they were.
        """
        late = {n for n in baseline.rest.late if n not in self.scan.touched}
        apart = {*baseline.restricted, *baseline.flagged, *late}
        inside = tuple(f"{name}/" for name in baseline.embedded)
        changed = (c.path for c in self.files if not c.path.startswith(inside))
        return [n for n in (*baseline.dirty, *changed, *self.tracked, *self.modes, *self.created) if n not in apart]

    @property
    def done(self) -> bool:
        """True where nothing is left that can be undone, modes of folders and hard links apart."""
        return len(self.changes()) == len(self.beyond) + len(self.folder_modes) + len(self.links)


def diff_baseline(
    baseline: Baseline,
    keep: Callable[[str], bool],
    restricts: Callable[[str], bool],
    names: Survey,
    seen: Scan | None = None,
) -> BaselineDiff:
    """``keep`` is asked with names relative to the root: what it says yes to is passed over where it is new.
    ``restricts`` is asked with absolute paths: what it says yes to is looked for where git ignores it, too.
    ``names``, ``seen``: the work tree as it is now.

    Raises HostError.
    """
    scanned, kept, rest = seen or scan(baseline, names), baseline.raw, baseline.rest
    known = {*kept, *baseline.displaced}
    inside = tuple(f"{name}/" for name in baseline.embedded)

    def passed(name: str) -> bool:
        return f"{name}/".startswith(inside)

    files = [c for c in _differing(baseline.tree, kept) if not (c.what == "created" and keep(c.path))]
    unkept = {c.path for c in files if kept[c.path].kind == UNKEPT}
    unsettled = {c.path for c in files if c.path in rest.unsettled and c.what != "deleted"}
    touched = {*scanned.touched, *rest.recent} - {*scanned.changed, *known}
    dot, own, shared = surveyed_metadata(baseline)
    return BaselineDiff(
        own=own,
        shared=shared,
        refs=shared_refs.differences(baseline),
        user=user_settings(baseline),
        objects=object_backup.missing_or_changed_objects(baseline.farm, baseline.object_tree.root, baseline.sealed),
        stores=other_stores.missing_or_changed(baseline.stores, baseline.where.common_dir, baseline.sealed),
        programs=_programs(baseline),
        packs=added_packs.find_false_packs(baseline),
        files=[c for c in files if c.path not in unkept | unsettled],
        tracked=[n for n in scanned.changed if n not in known and not passed(n)],
        created=[
            *(n for n in _others(baseline, restricts, names, scanned) if not (n in known or passed(n) or keep(n))),
            *(n for n in (*baseline.displaced, *baseline.embedded) if n not in kept and _file(baseline, n)),
            *(n for n in _idle(baseline, kept) if not keep(n)),
        ],
        modes={n: mode for n in touched if not passed(n) and (mode := _wrong(baseline, scanned, n)) is not None},
        scan=scanned,
        folders=[n for n in rest.empty if not Path(baseline.root, n).is_dir()],
        folder_modes=changed_folders(baseline, names.modes),
        beyond=unkept_files.changed_or_gone(baseline, unkept, unsettled),
        links=broken_links(baseline),
        dot=dot,
    )


def _programs(baseline: Baseline) -> list[str]:
    common, kept = baseline.where.common_dir, baseline.stores
    apart = {inside.where.git_dir for _, inside in baseline.below()} if baseline.nested else ()
    found = other_stores.added_programs(kept, common, apart)
    if baseline.where.linked or not baseline.rest.complete:  # beside a linked worktree, another one may need them
        return found
    return [*found, *other_stores.added_modules(kept, common, apart)]


def _idle(baseline: Baseline, kept: Mapping[str, Kept]) -> list[str]:
    """Files that came into the folders of submodules that are not checked out, and of repositories that are kept as
    files: git shows none of them.
    """
    idle = [n for n in baseline.embedded if n not in baseline.nested] if baseline.rest.complete else []
    return [n for name in idle for n in _came(baseline, name, kept)]


def _came(baseline: Baseline, top: str, kept: Mapping[str, Kept]) -> Iterator[str]:
    """Files that came into a folder of which all was kept that is not generated, by their own change times or that of
    a folder which was moved in: its files keep theirs. Generated ones are written to all the time: those that were made
    since.
    """
    start, moved = len(baseline.root) + 1, set[str]()
    known = {top} | {n[:at] for n in kept if n.startswith(f"{top}/") for at, letter in enumerate(n) if letter == "/"}
    generated = tuple(n for n in baseline.rest.generated if n.startswith(f"{top}/"))
    for folder, _, names in deep_folders.walk(f"{baseline.root}/{top}"):
        at = folder[start:]
        made = f"{at}/".startswith(generated) or not CACHES.isdisjoint(at.split("/"))
        if at.rpartition("/")[0] in moved or (not (at in known or made) and _is_since(baseline, folder)):
            moved.add(at)
        for name in (n for n in names if f"{at}/{n}" not in kept):
            path, rebuilt = f"{folder}/{name}", made or name.endswith(ignored_files.COMPILED)
            if at in moved or (birth_time.is_younger(path, baseline.taken) if rebuilt else _is_since(baseline, path)):
                yield f"{at}/{name}"


def _is_since(baseline: Baseline, path: str) -> bool:
    try:
        return birth_time.is_since(os.lstat(path).st_ctime, baseline.taken)
    except OSError:
        return False


def _others(baseline: Baseline, restricts: Callable[[str], bool], names: Survey, scanned: Scan) -> list[str]:
    """What git does not track, and what is restricted where git ignores it."""
    found = (*scanned.others, *_restricted(baseline, restricts, names), *_git_folders(baseline, names, scanned))
    return [name.rstrip("/") for name in dict.fromkeys(found)]


def _git_folders(baseline: Baseline, names: Survey, scanned: Scan) -> list[str]:
    """Git directories that are new and that git shows nobody: those among tracked files."""
    known, new = baseline.rest.git_folders, tuple(n for n in scanned.others if n[-1] == "/")
    found = [n for n in names.git_folders if n not in (known or ()) and not (new and n.startswith(new))]
    if known is None:  # then the time of birth alone tells
        return [n for n in found if birth_time.is_younger(f"{baseline.root}/{n}", baseline.taken)]
    return found


def _restricted(baseline: Baseline, restricts: Callable[[str], bool], names: Survey) -> list[str]:
    """What of the names is, without what was there at the start and is no file."""
    below = tuple(f"{name}/" for name in baseline.nested)
    special = frozenset(baseline.rest.special).intersection(names.special)
    asked = (n for n in names.files if n not in special and not f"{n}/".startswith(below))
    return [n for n in asked if restricts(f"{baseline.root}/{n}")]


def _differing(tree: SymlinkSafeFolder, kept: Mapping[str, Kept]) -> list[Change]:
    real: dict[str, bool] = {}
    return [Change(n, d) for n, k in kept.items() if (d := difference(tree, n, k, real))]


def _file(baseline: Baseline, name: str) -> bool:
    """True for a file, or a link, where none was at the start."""
    seen = baseline.tree.lstat(name)
    return seen is not None and (stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode))


def user_settings(baseline: Baseline) -> list[Change]:
    """What git takes from outside of the repository; names relative to ``/``."""
    left = _folders_elsewhere(baseline)
    return [c for c in _all_settings(baseline) if not f"/{c.path}".startswith(left)]


def settings_elsewhere(baseline: Baseline) -> list[Change]:
    """As ``user_settings``: those that lie in another worktree of the repository, whose person goes on with them."""
    left = _folders_elsewhere(baseline)
    return [c for c in _all_settings(baseline) if f"/{c.path}".startswith(left)] if left else []


def _folders_elsewhere(baseline: Baseline) -> tuple[str, ...]:
    """With their slashes."""
    tops = tuple(f"{top}/" for top in shared_refs.tops_elsewhere(baseline)) if baseline.taken_from else ()
    return tuple(f"{folder}/" for folder in baseline.taken_from if f"{folder}/".startswith(tops))


def _all_settings(baseline: Baseline) -> list[Change]:
    tree, kept = baseline.user_tree, baseline.user
    new = user_git_config.added(baseline.where, baseline.folder, baseline.taken_from, kept)
    return [
        *(Change(n, d) for n, k in kept.items() if (d := _difference(tree, n, k))),
        *(Change(n, "created") for n in new),
    ]


def _difference(tree: SymlinkSafeFolder, name: str, kept: Kept) -> str:
    """As ``difference``; what lies in a folder that was shut is changed."""
    try:
        return difference(tree, name, kept)
    except PermissionError:
        return "changed"


def surveyed_metadata(baseline: Baseline) -> tuple[bool, list[Change], list[Change]]:
    """``.git`` itself, the git directory, the common directory."""
    dot = misplaced(baseline)
    if dot and baseline.dot is None:
        return dot, [Change(n, "deleted") for n in baseline.own], []
    left, places = shared_refs.left_alone(baseline), shared_refs.places(baseline)
    own = [c for c in gitdir_backup.differences(baseline.git_tree, baseline.own, places=places) if c.path not in left]
    if baseline.shallowed.exists():
        own = [c for c in own if c.path != "shallow"]
    if not baseline.where.linked:
        return dot, own, []
    only, symbolic = gitdir_backup.SHARED, shared_refs.symbolic(baseline)
    return dot, own, gitdir_backup.differences(baseline.common_tree, baseline.shared, only, symbolic, places)


def misplaced(baseline: Baseline) -> bool:
    """True where ``.git`` itself is not what it was."""
    if baseline.dot is not None:
        return bool(difference(baseline.tree, ".git", baseline.dot))
    seen = baseline.tree.lstat(".git")
    return seen is None or not stat.S_ISDIR(seen.st_mode)


def changed_folders(baseline: Baseline, modes: Mapping[str, int]) -> list[str]:
    """Folders that have another mode than at the start, from the top down; named as in ``BaselineDiff.changes``.

    ``modes``: of the folders of the work tree of which it may be another.
    """
    root, tops = baseline.root, dict.fromkeys((baseline.where.git_dir, baseline.where.common_dir))
    named = {root: "."} | dict.fromkeys(tops, ".git")
    doors = [p for p, mode in baseline.doors.items() if folder_mode(p) not in (None, mode)]
    found = [named.get(p) or next(f".git{p[len(t) :]}" for t in tops if p.startswith(f"{t}/")) for p in doors]
    found += [n for n, mode in modes.items() if baseline.rest.folders.get(n, mode) != mode]
    return sorted(found)


def broken_links(baseline: Baseline) -> list[str]:
    """Names of files that were hard links of others, and are none of the first that is there."""
    found = []
    for names in baseline.rest.links:
        there = [(n, seen.st_ino) for n in names if (seen := baseline.tree.lstat(n)) and stat.S_ISREG(seen.st_mode)]
        found += [n for n, inode in there if inode != there[0][1]]
    return found


def _wrong(baseline: Baseline, scanned: Scan, name: str) -> int | None:
    return wrong_mode(baseline, name, scanned.touched.get(name, ("", ""))[0])


def wrong_mode(baseline: Baseline, name: str, index: str = "") -> int | None:
    """The mode that a tracked file had at the start, if it has another one now; ``index``: the one that git knows."""
    seen = baseline.tree.lstat(name)
    if seen is None or not stat.S_ISREG(seen.st_mode):
        return None
    now, rest = stat.S_IMODE(seen.st_mode), baseline.rest
    executable = index == "100755" if index else bool(now & 0o100)
    usual = rest.usual[executable] if rest.complete or executable != bool(now & 0o100) else now
    want = rest.modes.get(name, usual)
    return None if now == want else want
