"""Takes a rescue snapshot: the work tree as a commit that no branch holds (DESIGN section 8).

Rules of this file:
1. HEAD, index and work tree are left alone; nothing that the session's agent has planted is run or believed.
2. What git ignores is in the snapshot as far as the action that it is taken for is about to destroy it.
3. No restricted file goes into an object of the repository: those are kept in the session's vault.
4. What could not be taken is named.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.redact_by_pattern import redact
from sentinel_guard.errors import HostError
from sentinel_guard.host.git.capture_worktree import capture
from sentinel_guard.host.git.ignored_files import EndangeredFiles, find_endangered_files
from sentinel_guard.host.git.private_git_dir import Layout, PrivateGitDir, scan, trusted
from sentinel_guard.host.git.repository import commit
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.machine.atomic_files import write_json
from sentinel_guard.host.machine.content_addressed_store import ABSENT, UNKEPT, ContentAddressedStore, Kept
from sentinel_guard.host.machine.started_call import together
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline.gitdir_backup import refs, symbolic
from sentinel_guard.host.recovery.snapshots.blocking_fifos import find_fifos

RESCUES = "refs/sentinel/rescue/"
MARK = "sentinel-guard: "
"""What a snapshot's message begins with."""
BY_HAND = "by-hand"
"""Stands for the session of a snapshot that a person's own command took."""
MAX_TIPS = 100
"""Branches whose tips a snapshot holds."""
MAX_NAMES = 1000
"""Branches and tags that it names."""
MAX_TOLD = 100
"""Files left out that it names."""
MAX_COMMAND = 300
_IN_THE_WAY = frozenset({"refs/sentinel", RESCUES.rstrip("/")})
"""Refs of these names would leave no room for ours. What they hold becomes a parent of the snapshot."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a snapshot is taken for; goes into its message."""

    session: str = ""
    call: str = ""
    command: str = ""
    """The command line that is about to run, or what else happens then. Is redacted here."""


@dataclass(frozen=True, slots=True)
class TakenSnapshot:
    """A snapshot of the work tree as a commit that no branch holds."""

    ref: str
    commit: str
    count: int
    """Files that differ from the index."""
    left_out: tuple[str, ...] = ()
    """Too large, too many, unreadable, or repositories of their own; a folder's name ends in ``/``."""
    private: tuple[str, ...] = ()
    """Restricted files, which are in the vault instead."""


def take_snapshot(
    root: str,
    folder: Path,
    label: str,
    found: Iterable[str] | None = None,
    *,
    flagged: Iterable[str] | None = None,
    start: str = "",
    also: Iterable[str] = (),
    restricts: Callable[[str], bool] = lambda _: False,
    occasion: Occasion = Occasion(),
) -> TakenSnapshot:
    """Keep the present work tree, ignored files apart, under ``refs/sentinel/rescue/<label>``.

    ``folder`` is the session's baseline folder: its trusted settings are used; where it holds none, the repository's
    present ones are taken. ``found``: what differs from the repository's index, where that is known; ``flagged``:
    where git was told not to look, where that is known; ``start``: the commit that the repository's index is of, where
    that is known. ``also``: absolute paths at and below which ignored files are taken in, too. ``restricts`` is asked
    with absolute paths. Raises HostError.
    """
    if waiting := find_fifos(root, found):
        words = f"{visible(waiting[0])} is a named pipe: git would wait for it for ever."
        raise HostError(words, "Remove it, then try again.")
    with _alone(folder):
        shadow = trusted(root, folder)
        where, objects = shadow.where, f"{shadow.where.common_dir}/objects"
        private = PrivateGitDir(where, shadow.folder, folder / "rescue-index")
        private.copy_index()
        differing, ignored, taken = _looked(private, found, flagged, also)
        names = dict.fromkeys((*differing, *ignored.names))
        secret = [n for n in names if n[-1] != "/" and restricts(f"{root}/{n}") and os.path.lexists(f"{root}/{n}")]
        tree = capture(private, [n for n in names if n not in set(secret)], start=start, objects=objects)
    kept = _kept(folder, root, secret)
    left_out = (*tree.left_out, *ignored.left_out, *(n for n in secret if n not in kept))
    told = _trailers(occasion, len(tree.changed), left_out, kept)
    ref = _free(f"{RESCUES}{_word(label)}", taken)
    made = _commit(where, objects, tree.hash, taken, _message(occasion.command or label, taken, told))
    if kept:
        path = manifest(folder, made)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_json(path, {n: k.row() for n, k in kept.items()})
    for name in _IN_THE_WAY & taken.keys():
        where.git.run("update-ref", "-d", name, taken[name])
    where.git.run("update-ref", ref, made)
    return TakenSnapshot(ref, made, len(tree.changed), left_out, tuple(kept))


def manifest(folder: Path, made: str) -> Path:
    """Where the session's baseline folder names the restricted files of a snapshot: name -> row of ``Kept``."""
    return folder / "rescued" / f"{made}.json"


def hand_folder(places: StatePaths, root: str) -> Path:
    """What stands for a session's baseline folder where a person's own command takes a snapshot."""
    return places.state / BY_HAND / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Snapshots of one session share an index: one after the other. A dead holder holds nothing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "rescue.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "rescue-index.lock").unlink(missing_ok=True)
        yield


def _looked(
    shadow: PrivateGitDir, found: Iterable[str] | None, known: Iterable[str] | None, also: Iterable[str]
) -> tuple[list[str], EndangeredFiles, dict[str, str]]:
    """What differs from the private index, what is ignored and in danger, and all refs."""
    differing, flagged, ignored, taken = list[str](found or ()), list[str](), list[EndangeredFiles](), dict[str, str]()

    def differences() -> None:
        if found is None:
            differing.extend(scan(shadow, "--exclude-standard"))

    def hidden() -> None:
        # What is not there and not looked at (a sparse checkout) has not been deleted.
        names = shadow.flagged() if known is None else known
        flagged.extend(n for n in names if os.path.lexists(f"{shadow.where.root}/{n}"))

    together(
        differences,
        hidden,
        lambda: ignored.append(find_endangered_files(shadow, also)),
        lambda: taken.update(refs(shadow.where.common_dir)),
    )
    shadow.unflag(flagged)
    return [*differing, *flagged], ignored[0], taken


def _kept(folder: Path, root: str, secret: list[str]) -> dict[str, Kept]:
    """Restricted files, raw; those that are too large or not readable are missing."""
    if not secret:
        return {}
    vault, tree = ContentAddressedStore(folder / "vault"), SymlinkSafeFolder(root, folder)
    kept = {name: vault.keep(tree, name) for name in secret}
    return {name: k for name, k in kept.items() if k and k.kind not in (ABSENT, UNKEPT)}


def _commit(where: Layout, objects: str, tree: str, taken: dict[str, str], message: str) -> str:
    parent, git = _head(where, taken), replace(where.git, objects=objects)
    try:
        return _made(git, tree, _parents(parent, taken), message)
    except HostError:  # a branch that names no commit must not cost the snapshot
        return _made(git, tree, _parents(parent, {}), message)


def _made(git: Git, tree: str, parents: list[str], message: str) -> str:
    # By standard input: an argument holds 128 KB, and the names of branches and files may be more.
    return os.fsdecode(git.run("commit-tree", tree, *parents, "-F", "-", stdin=os.fsencode(message))).strip()


def _head(where: Layout, taken: dict[str, str]) -> str:
    """HEAD's commit, read from the files where they tell it; empty on an unborn branch."""
    return taken.get(symbolic(where.git_dir)) or commit(where.git, "HEAD")


def _parents(head: str, taken: dict[str, str]) -> list[str]:
    """HEAD, then the tips of the branches, so that git keeps the commits of a branch that is deleted next."""
    held = (n for n in sorted(taken) if n.startswith("refs/heads/") or n in _IN_THE_WAY)
    tips = [tip for tip in map(taken.__getitem__, held) if tip != head]
    return [word for tip in dict.fromkeys([head, *tips[:MAX_TIPS]]) for word in ("-p", tip)] if head else []


def _message(what: str, taken: dict[str, str], told: Iterable[str]) -> str:
    """Says what each branch and tag was, for the names are not in the commit."""
    names = [f"{tip} {name}" for name, tip in sorted(taken.items()) if name.startswith(("refs/heads/", "refs/tags/"))]
    title = f"{MARK}{_line(what)[:MAX_COMMAND]}"
    return "\n\n".join(filter(None, (title, "\n".join(names[:MAX_NAMES]), "\n".join(told))))


def _trailers(occasion: Occasion, count: int, left_out: Iterable[str], private: Iterable[str]) -> Iterator[str]:
    """As git-interpret-trailers(1) reads them."""
    yield f"Sentinel-Session: {_line(occasion.session)}"
    yield f"Sentinel-Call: {_line(occasion.call)}"
    yield f"Sentinel-Taken: {datetime.now(UTC).isoformat(timespec='milliseconds')}"
    yield f"Sentinel-Files: {count}"
    yield from (f"Sentinel-Left-Out: {_line(n)}" for n in itertools.islice(left_out, MAX_TOLD))
    yield from (f"Sentinel-Private: {_line(n)}" for n in private)


def _line(text: str) -> str:
    return visible(redact(" ".join(text.split())))


def _word(label: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", label).strip("-") or "snapshot"


def _free(ref: str, taken: dict[str, str]) -> str:
    number = 2
    free = ref
    while free in taken:
        free, number = f"{ref}-{number}", number + 1
    return free
