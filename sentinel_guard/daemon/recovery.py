"""Baselines, rescue snapshots and the rollback of a session, off the event loop (R10)."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sentinel_guard.core.policy import Policy
from sentinel_guard.core.policy import Recovery as Limits
from sentinel_guard.daemon.sessions import Live
from sentinel_guard.errors import HostError
from sentinel_guard.host import shelf, snapshots
from sentinel_guard.host.places import Places
from sentinel_guard.host.rescue import Occasion

log = logging.getLogger(__name__)
INCIDENTS = "docs/incidents/"
OCCASIONS = {
    "breaker": "the circuit breaker has opened",
    "killed": "the session was killed",
}
"""What a rescue snapshot that is taken before no command is for."""
HOLDS = ("baseline/quarantine", "baseline/rescued", "tampered", "incidents")
"""What a session's folder may hold that is not to be dropped."""
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
    versions: list[tuple[str, str]] = field(default_factory=list)
    """What was moved away: its name and its path in quarantine."""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_data(self) -> dict[str, object]:
        return asdict(self)


class Recovery:
    def __init__(self, places: Places) -> None:
        self._places = places
        self._rests: dict[str, asyncio.Task[None]] = {}
        self._alive: frozenset[str] = frozenset()

    async def begin(self, live: Live) -> None:
        """Take the part of the baseline that the agent must wait for; the rest follows by itself. Raises HostError."""
        baseline = await asyncio.to_thread(self._begin, live)
        rest = asyncio.create_task(self._complete(baseline, live.policy().recovery))
        self._rests[live.id] = rest
        rest.add_done_callback(lambda _: self._rests.pop(live.id, None))

    async def settled(self, live: Live) -> None:
        """Wait for the rest of the baseline."""
        if rest := self._rests.get(live.id):
            await asyncio.shield(rest)

    async def rescue(self, live: Live, label: str, *, words: str = "", also: Collection[str] = ()) -> str:
        """Keep the worktree as it is now, ignored files at and below the absolute paths ``also`` with it.

        ``words``: what is about to happen. The ref that holds it. Raises HostError.
        """
        return (await asyncio.to_thread(self._rescue, live, label, words, also)).ref

    def _rescue(self, live: Live, label: str, words: str = "", also: Collection[str] = ()) -> snapshots.Rescue:
        return snapshots.rescue(
            live.session.root,
            self._folder(live),
            f"{live.id}-{label}",
            also=also,
            restricts=_restricts(live),
            occasion=Occasion(live.id, label, words or OCCASIONS.get(label, label)),
        )

    async def recover(self, live: Live) -> Recovered:
        """Put the repository back to where the session started. Raises HostError."""
        if not live.policy().fatal.rollback:
            rescue = await self.rescue(live, "killed")
            return Recovered(
                rescue=rescue, problems=["The policy says fatal.rollback = false: nothing was rolled back."]
            )
        await self.settled(live)
        done = await asyncio.to_thread(self._rollback, live)
        return Recovered(
            ok=done.ok,
            rescue=done.rescue_ref,
            start_hash=done.start_hash,
            reset=done.reset,
            restored=[*done.restored],
            quarantined=[*done.quarantined],
            versions=[*done.versions],
            problems=[*done.problems],
            notes=[*done.notes],
        )

    def prune(self, live: frozenset[str]) -> None:
        """Drop the baselines of old sessions; never a live one's, the newest, or what holds something in quarantine, or
        restricted files of a snapshot.
        """
        self._alive = live
        ended = sorted(p for p in (self._places.state / "sessions").iterdir() if p.name not in live)
        for folder in ended[:-KEPT]:
            if not any((folder / held).exists() for held in HOLDS):
                shutil.rmtree(folder, ignore_errors=True)

    def _begin(self, live: Live) -> snapshots.Baseline:
        patterns = _patterns(live.policy())
        return snapshots.begin(live.session.root, self._folder(live), _restricts(live), live.id, patterns=patterns)

    async def _complete(self, baseline: snapshots.Baseline, limits: Limits) -> None:
        """A rollback copes without: what it does not know it looks into. Then old snapshots are collected."""
        try:
            await asyncio.to_thread(snapshots.complete, baseline, deep=limits.deep)
        except HostError as e:
            log.warning("the baseline of %s was not completed: %s", baseline.session, e)
        try:
            gone = await asyncio.to_thread(
                shelf.collect, self._places, baseline.root, limits, {*self._alive, baseline.session}
            )
        except (HostError, OSError) as e:
            log.warning("old snapshots of %s were not collected: %s", baseline.root, e)
            return
        if gone:
            log.info("%d old snapshots of %s were collected", len(gone), baseline.root)

    def _rollback(self, live: Live) -> snapshots.Report:
        baseline = snapshots.load(self._folder(live))
        return snapshots.rollback(baseline, lambda path: path.startswith(INCIDENTS), _restricts(live))

    def _folder(self, live: Live) -> Path:
        return self._places.session(live.id) / "baseline"


def _restricts(live: Live) -> Callable[[str], bool]:
    """Asked with absolute paths."""
    policy, root = live.policy(), live.session.root
    return lambda path: bool(policy.restricts(path, root))


def _patterns(policy: Policy) -> list[str]:
    """All that may be restricted: what a ``!`` takes back is asked about."""
    return [p for p in (*policy.paths.restricted, *policy.project.restricted) if not p.startswith("!")]
