"""Snapshots of a repository, taken and brought back as the product does."""

from __future__ import annotations

from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.recovery.snapshots.restore_from_snapshot import SnapshotRestore
from sentinel_guard.host.recovery.snapshots.snapshot_store import Snapshot, list_snapshots
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion, take_snapshot
from tests.support.recovery.repository import Repo

COMMAND = "git clean -fd"


def restricts(path: str) -> bool:
    return path.rpartition("/")[2] == ".env"


def take(where: StatePaths, repo: Repo, *also: str, session: str = "s1", label: str = "x") -> Snapshot:
    folder = where.session(session) / "baseline"
    targets = [str(repo.root / name) for name in also]
    occasion = Occasion(session, "c1", COMMAND)
    take_snapshot(str(repo.root), folder, label, also=targets, restricts=restricts, occasion=occasion)
    return next(s for s in list_snapshots(str(repo.root)) if s.ref == f"refs/sentinel/rescue/{label}")


def bringing(where: StatePaths, repo: Repo, snapshot: Snapshot) -> SnapshotRestore:
    return SnapshotRestore(where, str(repo.root), snapshot)
