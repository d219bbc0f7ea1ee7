"""Lists, inspects, drops and garbage-collects the rescue snapshots of a repository (DESIGN section 8).

Rules of this file:
1. What a snapshot's message says was perhaps written by an agent: it is shown, and believed for nothing that is done.
2. A ref is dropped only where it still is what was looked at. The objects are git's to collect.
3. Nothing is collected that a live session took, or that an incident report names which is not signed off.
"""

from __future__ import annotations

import bisect
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sentinel_guard.core.incidents.root_cause_and_sign_off import SIGNED
from sentinel_guard.core.policy.policy import Recovery
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host import incident_files
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.recovery.baseline.gitdir_backup import refs
from sentinel_guard.host.recovery.snapshots.take_snapshot import BY_HAND, MARK, RESCUES, hand_folder, manifest

KEPT = "refs/sentinel/"
"""Rescue snapshots, and under a session's name the commits that a rollback took from the branches."""
NEAR = 2.0
"""Seconds that a message may differ from its commit's time to be believed."""
SHORT = 4
"""Digits that an id has at least."""
_FORMAT = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00"
_SESSION = re.compile(r"[\w-]{1,80}", re.ASCII)
_TIP = re.compile(r"([0-9a-f]{40}(?:[0-9a-f]{24})?) (refs/(?:heads|tags)/\S+)")
_NAMED = re.compile(r"refs/sentinel/[\w/-]+")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot, as its ref and its message tell."""

    id: str
    """As many digits of the commit as tell it from the others of the repository."""
    ref: str
    commit: str
    taken: float
    words: str
    """What was about to happen: a command line, redacted."""
    session: str = ""
    call: str = ""
    count: int | None = None
    """Files that differed from the index; None where it is not told."""
    left_out: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    """Restricted files, which the session's vault holds."""
    tips: Mapping[str, str] | None = None
    """Branches and tags as they were: name -> hash. None where it is not told."""


def list_snapshots(root: str) -> list[Snapshot]:
    """The snapshots of a repository, the newest first; commits that a rollback kept, too. Raises HostError."""
    told = os.fsdecode(_told(layout(root).git)).split("\0")
    rows = [
        (ref.lstrip("\n"), *rest) for ref, *rest in zip(told[::4], told[1::4], told[2::4], told[3::4], strict=False)
    ]
    length = _length([row[1] for row in rows])
    found = [_snapshot(row[0], row[1], row[2], row[3], length) for row in rows]
    return sorted(found, key=lambda s: (-s.taken, s.ref))


def _told(git: Git) -> bytes:
    try:
        return git.run("for-each-ref", f"--format={_FORMAT}", KEPT)
    except HostError:  # one ref that names nothing spoils all
        hashes, names = (git.text("for-each-ref", f"--format=%({f})", KEPT) for f in ("objectname", "refname"))
        kinds = git.run("cat-file", "--batch-check=%(objecttype)", stdin=f"{hashes}\n".encode()).split(b"\n")
        sound = [n for n, kind in zip(names.split("\n"), kinds, strict=False) if not kind.endswith(b" missing")]
        return git.run("for-each-ref", f"--format={_FORMAT}", *sound) if sound else b""


def find_snapshot(found: list[Snapshot], ident: str) -> Snapshot:
    """The snapshot that a person means: its id or more of it, its ref, or its place in the list. Raises ConfigError."""
    if ident.isdigit() and len(ident) < SHORT and 0 < int(ident) <= len(found):
        return found[int(ident) - 1]
    same = [s for s in found if ident == s.ref or (len(ident) >= SHORT and s.commit.startswith(ident.lower()))]
    if len({s.commit for s in same}) == 1:
        return same[0]
    what = f"{len(same)} snapshots begin" if same else "No snapshot begins"
    raise ConfigError(f"{what} with '{ident}'.", "See them with: sentinel-guard snapshots list")


def baseline_folder(places: StatePaths, root: str, snapshot: Snapshot) -> Path | None:
    """The baseline folder of the session that took a snapshot; None where it is not there any more."""
    if snapshot.session == BY_HAND:
        folder = hand_folder(places, root)
    elif _SESSION.fullmatch(snapshot.session):
        folder = places.session(snapshot.session) / "baseline"
    else:
        return None
    return folder if folder.is_dir() else None


def moved_refs(root: str, snapshot: Snapshot) -> dict[str, str]:
    """Branches and tags of a snapshot that are not there any more, or stand elsewhere: name -> hash."""
    now = refs(layout(root).common_dir)
    return {name: tip for name, tip in (snapshot.tips or {}).items() if now.get(name) != tip}


def stat(root: str, snapshot: Snapshot) -> str:
    """``git diff --stat`` from HEAD as it was then to the snapshot. Raises HostError."""
    git = layout(root).git
    parent = git.text("rev-parse", "--verify", "--quiet", f"{snapshot.commit}^", ok=(0, 1))
    before = parent or os.fsdecode(git.run("hash-object", "-t", "tree", "--stdin")).strip()
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--stat=100")
    return os.fsdecode(git.run("diff", *flags, before, snapshot.commit, "--"))


def drop(places: StatePaths, root: str, snapshots: Iterable[Snapshot]) -> None:
    """Forget snapshots, and where their restricted files were named. Raises HostError."""
    gone = list(snapshots)
    commands = "".join(f"delete {s.ref} {s.commit}\n" for s in gone)
    layout(root).git.run("update-ref", "--stdin", stdin=os.fsencode(commands))
    for snapshot in gone:
        if folder := baseline_folder(places, root, snapshot):
            named = manifest(folder, snapshot.commit)
            named.unlink(missing_ok=True)
            if named.parent.is_dir() and not any(named.parent.iterdir()):
                named.parent.rmdir()


def garbage_collect(
    places: StatePaths, root: str, limits: Recovery, live: Callable[[], Collection[str]]
) -> list[Snapshot]:
    """Drop what is too old, then the oldest until the rest hold no more than they may; returns it. Raises HostError.

    ``live``: sessions whose snapshots stay, asked once the snapshots are listed.
    The size is an estimate: what git would not need for anything else.
    """
    found = list_snapshots(root)
    named = _named_in_reports(places, root)
    alive = live()
    free = [s for s in reversed(found) if s.session not in alive and s.ref not in named]
    oldest = time.time() - limits.keep_days * 86_400
    old = sum(s.taken < oldest for s in free)

    def fits(count: int) -> bool:
        gone = {s.ref for s in free[:count]}
        return _megabytes(root, [s for s in found if s.ref not in gone]) <= limits.keep_megabytes

    count = bisect.bisect_left(range(len(free)), True, lo=old, key=fits)
    if count:
        drop(places, root, free[:count])
    return free[:count]


def _megabytes(root: str, snapshots: list[Snapshot]) -> float:
    """What git keeps for these snapshots alone."""
    if not snapshots:
        return 0.0
    elsewhere = ("--not", f"--exclude={KEPT}*", "--all")
    commits = [s.commit for s in snapshots]
    used = layout(root).git.text("rev-list", "--disk-usage", "--objects", "--ignore-missing", *commits, *elsewhere)
    return int(used or 0) / (1 << 20)


def _named_in_reports(places: StatePaths, root: str) -> frozenset[str]:
    """Refs that incident reports name which a person has not signed off."""
    found: set[str] = set()
    for report in incident_files.found(places, root):
        try:
            text = incident_files.read(report)
        except HostError:
            continue
        if f"\n{SIGNED}" not in text:
            found |= set(_NAMED.findall(text))
    return frozenset(found)


def _snapshot(ref: str, commit: str, at: str, text: str, length: int) -> Snapshot:
    taken = float(at) if at.isdigit() else 0.0
    first, _, rest = text.partition("\n")
    if not ref.startswith(RESCUES):
        session = ref.removeprefix(KEPT).partition("/")[0]
        return Snapshot(commit[:length], ref, commit, taken, f"kept of the session: {first}", session)
    told: dict[str, list[str]] = {}
    for key, value in re.findall(r"(?m)^Sentinel-([A-Za-z-]+): ?(.*)$", rest):
        told.setdefault(key, []).append(value)
    count = "".join(told.get("Files", []))
    return Snapshot(
        id=commit[:length],
        ref=ref,
        commit=commit,
        taken=_exactly(taken, "".join(told.get("Taken", [])[:1])),
        words=first.removeprefix(MARK),
        session="".join(told.get("Session", [])[:1]),
        call="".join(told.get("Call", [])[:1]),
        count=int(count) if count.isdigit() else None,
        left_out=tuple(told.get("Left-Out", ())),
        private=tuple(told.get("Private", ())),
        tips={name: tip for tip, name in _TIP.findall(rest)},
    )


def _exactly(taken: float, told: str) -> float:
    """The commit's time with the milliseconds that its message tells: two snapshots of a second have an order."""
    try:
        exact = datetime.fromisoformat(told).timestamp()
    except (ValueError, OverflowError):
        return taken
    return exact if abs(exact - taken) < NEAR else taken


def _length(commits: list[str]) -> int:
    """Digits by which all commits are told apart."""
    different = set(commits)
    return next((n for n in range(SHORT, 64) if len({c[:n] for c in different}) == len(different)), 64)
