"""Backs up a repository's git directory (refs, settings, hooks) as files, and restores it without running git.

Rules of this file:
1. Remote-tracking refs and ``refs/sentinel`` stay as they are: they tell what happened. So do new lines of a reflog,
   behind those of the start.
2. Everything else of the git directory becomes what it was; what was added goes to the attic.
3. What cannot be put back is told, and the rest comes back all the same.
4. Caches that are too large to be kept go away once they changed: git does without them, and would believe them.
5. Other worktrees of the repository go on being used: one that is gone comes back, one that was added goes to the
   attic, settings come back, and what else happens in them is theirs. Where HEAD, its log and the index say that
   nothing did, what is gone of them comes back, but for what alone git removes when a merge or the like is ended. What
   lies in a worktree's own folder is its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import deep_folders
from sentinel_guard.host.machine.atomic_files import read_regular
from sentinel_guard.host.machine.content_addressed_store import (
    FILE,
    MAX_FILE,
    UNKEPT,
    ContentAddressedStore,
    Kept,
    difference,
    untouched,
)
from sentinel_guard.host.machine.symlink_safe_folder import ASIDE, SymlinkSafeFolder

APART = frozenset({"objects", "lfs", "modules", "worktrees", "annex", "svn"})
"""Folders of a git directory that are neither kept nor touched here (object_backup, other_stores). What stands in the
place of one and is no folder, is kept and goes as any other file.
"""
_REAL = ("objects/info", "objects/pack")
"""Folders in one of those that are not kept, in whose place a file or a link would be git's."""
_PASSING = frozenset({"gc.pid"})
_LOCK = re.compile(
    r"((worktrees/[^/]+/)?(info/|logs/)?"
    r"([A-Z_]+|index|next-index-\d+|config(\.worktree)?|packed-refs|shallow|gc\.pid|gitdir|sparse-checkout)"
    r"|(worktrees/[^/]+/)?(logs/)?(refs|reftable)/.*|objects/.*)\.lock"
)
"""git's own lock files: beside what it locks, and wherever it keeps refs and objects."""
RERERE = "rr-cache/"
"""Recorded resolutions of conflicts: what came since is perhaps another worktree's."""
OWN_SETTINGS = "config.worktree"
"""Settings of one worktree alone, which may name programs."""
SHARED = (
    "config", "config.worktree", "description", "hooks", "sentinel-guard", "info", "logs", "shallow", "branches",
    "remotes", "rr-cache",
)  # fmt: skip
"""What a linked worktree has of the common directory besides refs; the rest there is other worktrees'."""
WORKTREES = "worktrees"
LARGEST = 512 << 20
"""Bytes of the largest file of metadata that is kept: the index of a repository with millions of files."""
CACHES = "objects/info/commit-graph"
"""What names of caches begin with."""
LOGS = "logs/"
HEAD_LOG = "logs/HEAD"
REFS = ("refs", "logs", "packed-refs")
"""What a git directory holds of refs."""
_STATE = re.compile(
    r"(MERGE_(HEAD|MODE|MSG|RR|AUTOSTASH)|AUTO_MERGE|SQUASH_MSG|(CHERRY_PICK|REVERT|REBASE)_HEAD|BISECT_\w+"
    r"|(sequencer|rebase-merge|rebase-apply)/.*)"
)
"""What git removes when a merge, a rebase or the like is ended (``--quit`` changes nothing else)."""
NEEDED = ("objects", "refs")
"""Folders without which git sees no repository; they may be empty."""
STASH_LOG = "logs/refs/stash"
NOWHERE: Mapping[str, bool] = MappingProxyType({})
_TOP = re.compile(r"worktrees/[^/]+(/|$)")
_ROW = re.compile(r"([0-9a-f]+) ([0-9a-f]+) .*> (\d+) [+-]\d+(?:\t(.*))?")
_OBJECT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs from the start."""

    path: str
    """Relative to the work tree; ``.git/…`` for metadata."""
    what: str
    """``changed``, ``deleted``, ``created``, ``mode``, ``unlinked``, ``replaced by link``, ``replaced by folder``."""

    def __str__(self) -> str:
        return f"{self.what:<8} {self.path}"


def keep(tree: SymlinkSafeFolder, vault: ContentAddressedStore, only: tuple[str, ...] = ()) -> dict[str, Kept]:
    """All metadata files below a git directory."""
    found = [name for name in names(tree.root, only) if not _LOCK.fullmatch(name)]
    kept = {name: vault.keep(tree, name, MAX_FILE if name.startswith(CACHES) else LARGEST) for name in found}
    return {name: k for name, k in kept.items() if k is not None}


def keep_shared(tree: SymlinkSafeFolder, vault: ContentAddressedStore, own: str) -> dict[str, Kept]:
    """For a linked worktree, whose name is ``own``: what it has of the common directory, and what is the others'."""
    kept = {**keep(tree, vault), **keep(tree, vault, SHARED)}
    return {n: k for n, k in kept.items() if not n.startswith(f"{WORKTREES}/{own}/")}


def names(git_dir: str, only: tuple[str, ...] = ()) -> Iterator[str]:
    """Relative names of the files below a git directory that are metadata."""
    for folder, below, files in deep_folders.walk(git_dir, far=True):
        base = folder[len(git_dir) + 1 :]
        if not base:
            below[:] = [b for b in below if _counts(b, only, APART)]
            files[:] = [f for f in files if _counts(f, only, _PASSING)]
        for name in files:
            path = f"{base}/{name}" if base else name
            if not (only and path == STASH_LOG):  # shared_refs puts stashes back
                yield path
    yield from (name for name in _REAL if _is_no_folder(f"{git_dir}/{name}"))
    if only:
        yield from (f"{WORKTREES}/{p.parent.name}/{p.name}" for p in Path(git_dir, WORKTREES).glob(f"*/{OWN_SETTINGS}"))
    for top in ("objects/info",) if only else ("objects/info", WORKTREES):
        if _is_no_folder(f"{git_dir}/{top}"):
            continue
        for folder, below, files in deep_folders.walk(f"{git_dir}/{top}", far=True):
            if "modules" in below and folder.rpartition("/")[0] == f"{git_dir}/{WORKTREES}":  # other_stores has them
                below.remove("modules")
            yield from (f"{folder}/{f}"[len(git_dir) + 1 :] for f in files)


def _is_no_folder(path: str) -> bool:
    """True where something else stands, a link to a folder too."""
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _counts(entry: str, only: tuple[str, ...], apart: frozenset[str]) -> bool:
    return entry in only if only else entry not in apart and not entry.startswith("fsmonitor--")


def differences(
    tree: SymlinkSafeFolder,
    kept: Mapping[str, Kept],
    only: tuple[str, ...] = (),
    also: Container[str] = (),
    places: Mapping[str, bool] = NOWHERE,
) -> list[Change]:
    """What of the metadata is not as it was, as far as it would be put back.

    ``only``: of a common directory, see SHARED; ``also``: files of it besides. ``places``: the folders of the metadata
    (``worktrees/NAME``) of those other worktrees that stand where they stood, and whether they are put back whole.
    """
    real: dict[str, bool] = {}
    seen = [Change(n, d) for n, k in kept.items() if k.kind != UNKEPT and (d := difference(tree, n, k, real))]
    active = _active(kept, seen)
    found = [c for c in seen if c.what == "deleted" or not _goes_on(tree, c.path, kept[c.path])]
    if only:  # what is the main worktree's comes back where it is gone, and it was not at work since
        rests = "" not in active or tree.lstat("HEAD") is None
        found = [c for c in found if _is_shared(c.path, only) or c.path in also or (rests and c.what == "deleted")]
    else:
        found += _redated(tree, kept, found)
    found += [Change(n, "deleted") for n in _needed(kept, only) if not Path(tree.root, n).is_dir()]
    found += [Change(n, "created") for n, k in kept.items() if k.kind == UNKEPT and _stale(tree, n, k)]
    found += [Change(n, "created") for n in names(tree.root, only) if n not in kept and not _stays(n, only)]
    before = {top for n in kept if (top := _top(n))}
    within = before & {f"{name}/" for name, whole in places.items() if whole}
    apart = before - within
    # Beside a linked one, others are made all the time, and its own metadata is none of the common directory's.
    new = {} if only else dict.fromkeys(top.rstrip("/") for c in found if (top := _top(c.path)) and top not in before)
    return [
        *(c for c in found if not _top(c.path)),
        *(c for c in found if _top(c.path) in within),
        *_worktrees(tree, [c for c in found if _top(c.path) in apart], active, places),
        *(Change(top, "created") for top in new),
    ]


def is_state_elsewhere(name: str) -> bool:
    """Whether what git removes when a merge or the like is ended is another worktree's."""
    top = _top(name)
    return bool(top and _STATE.fullmatch(f"{name[len(top) :]}/"))


def _active(kept: Mapping[str, Kept], seen: list[Change]) -> set[str]:
    """The worktrees in which somebody was at work since, or may have been."""
    found = {top for top in map(_top, kept) if f"{top}{HEAD_LOG}" not in kept}
    gone = dict[str, list[str]]()
    for change in seen:
        top = _top(change.path)
        own = change.path[len(top) :]
        if own == HEAD_LOG or (own in ("HEAD", "index") and change.what != "deleted"):
            found.add(top)
        elif change.what == "deleted" and own.partition("/")[0] not in (*REFS, *SHARED):
            gone.setdefault(top, []).append(own)
    return found | {top for top, names in gone.items() if all(map(_STATE.fullmatch, names))}


def gone_elsewhere(tree: SymlinkSafeFolder, kept: Mapping[str, Kept], only: tuple[str, ...] = ()) -> list[str]:
    """What is gone of other worktrees, without refs and logs: after a rollback, of those that were at work since."""
    found = dict[str, None]()
    for name in kept:
        top = _top(name)
        own, below, _ = name[len(top) :].partition("/")
        theirs = bool(top) or (bool(only) and not _is_shared(name, only))
        if theirs and own not in REFS and tree.lstat(name) is None:
            found[f"{top}{own}{below}"] = None
    return [*found]


def _top(name: str) -> str:
    """The folder of the linked worktree whose metadata it is, with its slash; empty for any other."""
    found = _TOP.match(name)
    return found[0] if found else ""


def _is_shared(name: str, only: tuple[str, ...]) -> bool:
    return name != STASH_LOG and (name.partition("/")[0] in (*only, WORKTREES) or name.startswith("objects/info/"))


def _needed(kept: Mapping[str, Kept], only: tuple[str, ...]) -> tuple[str, ...]:
    """A linked worktree has its objects and refs in the common directory."""
    return () if only or "commondir" in kept else NEEDED


def _stale(tree: SymlinkSafeFolder, name: str, kept: Kept) -> bool:
    seen = tree.lstat(name) if name.startswith(CACHES) else None
    return seen is not None and not untouched(kept, seen)


def _redated(tree: SymlinkSafeFolder, kept: Mapping[str, Kept], found: list[Change]) -> list[Change]:
    """The index with the same bytes under another time: by it git tells which of its entries to trust."""
    index, seen = kept.get("index"), tree.lstat("index")
    if index is None or seen is None or any(c.path == "index" for c in found) or seen.st_mtime_ns == index.mtime_ns:
        return []
    return [Change("index", "changed")]


def _worktrees(
    tree: SymlinkSafeFolder, found: list[Change], active: Container[str], places: Container[str]
) -> Iterator[Change]:
    """Of what differs in the metadata of other worktrees what comes back though they go on being used: what is gone of
    those that are gone themselves, or were not at work; settings, which may name programs; and what says where they and
    the repository stand, which only a move of them changes.
    """
    for change in found:
        top = _top(change.path)
        rests = top not in active or tree.lstat(f"{top}HEAD") is None or tree.lstat(f"{top}gitdir") is None
        own = change.path[len(top) :]
        stays = own == "gitdir" and top.rstrip("/") in places
        if (change.what == "deleted" and rests) or own in (OWN_SETTINGS, "commondir") or stays:
            yield change


def put_back(
    tree: SymlinkSafeFolder, vault: ContentAddressedStore, kept: Mapping[str, Kept], changes: list[Change]
) -> list[str]:
    """Undo the differences: first what was added goes to the attic, then the rest comes back over it.

    Returns what could not be put back, in words. Raises OSError where the git directory cannot be written at all.
    """
    problems = []
    for change in sorted(changes, key=lambda c: c.what != "created"):
        try:
            if change.what == "created":
                tree.away(change.path)
            elif change.what == "changed" and _is_log(change.path):
                _put_log_back(tree, vault, change.path, kept[change.path])
            elif change.path in kept:
                vault.put_back(tree, change.path, kept[change.path])
        except (HostError, OSError) as e:
            problems.append(f".git/{change.path} could not be put back: {e}")
    for change in changes:
        if change.path in NEEDED and change.path not in kept:
            tree.folder(change.path)
    return problems


def _goes_on(tree: SymlinkSafeFolder, name: str, kept: Kept) -> bool:
    """True for a record of what happened that begins as it did at the start."""
    if _is_log(name) and kept.kind == FILE:
        with contextlib.suppress(OSError):
            return hashlib.sha256(tree.read(name)[0][: kept.size]).hexdigest() == kept.content
    return _tells(name)


def _is_log(name: str) -> bool:
    """True for a log of what happened to a ref; that of the stash is its list."""
    return name != STASH_LOG and name[len(_top(name)) :].startswith(LOGS)


def _stays(name: str, only: tuple[str, ...]) -> bool:
    """True for what stays though it was not there at the start."""
    return _tells(name) or (bool(only) and name.startswith((LOGS, RERERE)))


def _tells(name: str) -> bool:
    """True for a record of what happened."""
    if name.rpartition("/")[2].startswith(ASIDE):
        return False
    own = name[len(_top(name)) :]
    return own.removeprefix(LOGS).startswith(("refs/remotes/", "refs/sentinel/")) or own == HEAD_LOG


def _put_log_back(tree: SymlinkSafeFolder, vault: ContentAddressedStore, name: str, kept: Kept) -> None:
    """The lines of the start, then those that came since. Raises HostError, OSError."""
    start = vault.data(kept.content)
    before = {*start.splitlines()}
    since = b"".join(line + b"\n" for line in tree.read(name)[0].splitlines() if line and line not in before)
    tree.write(name, start + since, kept.mode, kept.mtime_ns)


def symbolic(git_dir: str) -> str:
    """The ref that HEAD stands on; empty where it is detached or cannot be read."""
    found = read_text(Path(git_dir, "HEAD"))
    return found.removeprefix("ref:").strip() if found.startswith("ref:") else ""


def refs(*git_dirs: str) -> dict[str, str]:
    """All refs as files tell them, detached HEADs and stash entries (``stash@{…}``) too: name -> hash."""
    found: dict[str, str] = {}
    for git_dir in dict.fromkeys(git_dirs):
        found |= _packed(Path(git_dir, "packed-refs"))
        for folder, _, files in deep_folders.walk(f"{git_dir}/refs"):
            base = folder[len(git_dir) + 1 :]
            found |= {f"{base}/{f}": h for f in files if (h := _hash(Path(folder, f)))}
        found |= _stashes(Path(git_dir, STASH_LOG))
        tops = ["HEAD", *(f"{WORKTREES}/{w.name}/HEAD" for w in Path(git_dir, WORKTREES).glob("*"))]
        found |= {name: detached for name in tops if (detached := _hash(Path(git_dir, name)))}
    return found


def _packed(path: Path) -> dict[str, str]:
    rows = (line.split(" ", 1) for line in read_text(path).splitlines() if line[:1] not in ("#", "^"))
    return {row[1]: row[0] for row in rows if len(row) == 2 and _OBJECT.fullmatch(row[0])}


def _hash(path: Path) -> str:
    text = read_text(path).strip()
    return text if _OBJECT.fullmatch(text) else ""


def _stashes(path: Path) -> dict[str, str]:
    words = [line.split(" ", 2) for line in read_text(path).splitlines()]
    return {f"stash@{w[1]}": w[1] for w in words if len(w) == 3 and _OBJECT.fullmatch(w[1])}


def reflog(git_dir: str, name: str) -> list[tuple[int, str, str, str]]:
    """The rows of a reflog, the oldest first: time, old hash, new hash, words."""
    rows = map(_ROW.fullmatch, read_text(Path(git_dir, name)).splitlines())
    return [(int(row[3]), row[1], row[2], row[4]) for row in rows if row]


def read_text(path: Path) -> str:
    """A file's text; empty where there is none, or what is no file: a named pipe in its place must not hold us up."""
    try:
        return os.fsdecode(read_regular(path))
    except OSError:
        return ""
