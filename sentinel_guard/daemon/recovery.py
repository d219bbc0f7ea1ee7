"""Baselines, rescue snapshots and the rollback of a session, off the event loop (R10)."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sentinel_guard.daemon.sessions import Live
from sentinel_guard.host import snapshots
from sentinel_guard.host.places import Places

INCIDENTS = "docs/incidents/"
KEPT = 10
"""Ended sessions whose baselines are kept, for a rollback by hand."""


@dataclass(slots=True)
class Recovered:
    """What a rollback did, in words for the report and the log."""

    ok: bool = False
    rescue: str = ""
    """The ref that holds the worktree as the killed agent left it."""
    start_hash: str = ""
    reset: bool = False
    """True where ``git reset --hard START_HASH`` itself was run."""
    restored: list[str] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_data(self) -> dict[str, object]:
        return asdict(self)


class Recovery:
    def __init__(self, places: Places) -> None:
        self._places = places

    async def begin(self, live: Live) -> None:
        """Take the baseline, and a snapshot of the worktree as it is now. Raises HostError."""
        await asyncio.to_thread(self._begin, live)

    async def rescue(self, live: Live, label: str) -> str:
        """Keep the worktree as it is now; the ref that holds it. Raises HostError."""
        taken = await asyncio.to_thread(snapshots.rescue, live.session.root, self._folder(live), f"{live.id}-{label}")
        return taken.ref

    async def recover(self, live: Live) -> Recovered:
        """Put the repository back to where the session started. Raises HostError."""
        if not live.policy().fatal.rollback:
            rescue = await self.rescue(live, "killed")
            return Recovered(
                rescue=rescue, problems=["The policy says fatal.rollback = false: nothing was rolled back."]
            )
        done = await asyncio.to_thread(self._rollback, live)
        lists = (list(part) for part in (done.restored, done.quarantined, done.problems, done.notes))
        return Recovered(done.ok, done.rescue_ref, done.start_hash, done.reset, *lists)

    def forget_start(self, live: Live) -> None:
        """Drop the ref of the start's snapshot: the session has ended well, and ``git log --all`` shows refs."""
        if live.start_snapshot:
            snapshots.forget(live.session.root, f"{live.id}-start")

    def prune(self, live: frozenset[str]) -> None:
        """Drop the baselines of old sessions; never a live one's, the newest, or what holds something in quarantine."""
        ended = sorted(p for p in (self._places.state / "sessions").iterdir() if p.name not in live)
        for folder in ended[:-KEPT]:
            if not any((folder / held).exists() for held in ("baseline/quarantine", "tampered", "incidents")):
                shutil.rmtree(folder, ignore_errors=True)

    def _begin(self, live: Live) -> None:
        folder, policy, root = self._folder(live), live.policy(), live.session.root
        snapshots.take(root, folder, lambda path: bool(policy.restricts(path, root)), live.id)
        live.start_snapshot = snapshots.rescue(root, folder, f"{live.id}-start").commit

    def _rollback(self, live: Live) -> snapshots.Report:
        return snapshots.rollback(snapshots.load(self._folder(live)), lambda path: path.startswith(INCIDENTS))

    def _folder(self, live: Live) -> Path:
        return self._places.session(live.id) / "baseline"
