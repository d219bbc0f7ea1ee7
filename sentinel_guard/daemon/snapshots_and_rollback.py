"""Take a session's baseline and rescue snapshots, and roll it back, off the event loop (R10)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Collection, Coroutine
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.policy.policy import Recovery as Limits
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.errors import HostError, SentinelError
from sentinel_guard.host.machine import allocator
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.previews.push_preview import Start
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline.session_baseline import MANIFEST
from sentinel_guard.host.recovery.rollback import prune_sessions
from sentinel_guard.host.recovery.snapshots import snapshot_store
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion

log = logging.getLogger(__name__)
INCIDENTS = "docs/incidents/"
NO_BASELINE = (
    "The session was killed before its baseline stood: nothing was rolled back. The rescue snapshot holds all."
)
START = 0.05
"""Seconds for which the rest of a baseline waits for the agent to be started."""
OCCASIONS = {
    "breaker": "the circuit breaker has opened",
    "killed": "the session was killed",
}
"""What a rescue snapshot that is taken before no command is for."""


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
    unkept: bool = False
    """True where the baseline did not hold all."""
    commits: list[str] = field(default_factory=list)
    """Commands that bring back the commits that left their branches."""
    only_aside: list[tuple[str, str]] = field(default_factory=list)
    """Of ``versions`` those that the rescue snapshot does not hold, without git's own files."""
    running: list[int] = field(default_factory=list)
    """Processes of the session that could not be ended."""

    def as_data(self) -> dict[str, object]:
        return asdict(self)


class Recovery:
    def __init__(
        self,
        places: StatePaths,
        live: Callable[[], frozenset[str]] = frozenset,
        ended: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        """``live``: the sessions that live or begin. ``ended``: those whose end is on record and that do not live."""
        self._places, self._live, self._ended = places, live, ended
        self._rests: dict[str, asyncio.Task[None]] = {}
        self._standing: dict[str, asyncio.Task[None]] = {}
        self._collections: set[asyncio.Task[None]] = set()

    async def begin(self, live: Live) -> api.Baseline:
        """Take the part of the baseline that the agent must wait for; the rest follows by itself, and then what old
        sessions have left is collected. Raises HostError.
        """
        baseline = await asyncio.to_thread(self._begin, live)
        rest = self._follow(live, self._complete_later(live, baseline))
        tidy = asyncio.create_task(self._collect(rest, baseline.root, live.policy().recovery))
        self._collections.add(tidy)
        tidy.add_done_callback(self._collections.discard)
        return baseline

    def take_up(self, live: Live) -> None:
        """Go on with a baseline that a daemon had not completed when it fell."""
        self._follow(live, self._resume(live))

    def pending(self, live: Live) -> bool:
        """True until the rest of the baseline is there."""
        return live.id in self._rests

    async def settled(self, live: Live, seconds: float | None = None) -> bool:
        """Wait for the rest of the baseline, at most so long; False where it is not there then."""
        live.baseline_due.set()
        rest = self._rests.get(live.id)
        return not rest or bool((await asyncio.wait((rest,), timeout=seconds))[0])

    async def collected(self) -> None:
        """Wait until what old sessions have left is gone."""
        await asyncio.gather(*self._collections)

    def follow(self, live: Live, standing: Coroutine[None, None, None]) -> None:
        """Have a baseline taken beside a session that works already: until it stands, nothing can be rolled back."""
        self._standing[live.id] = task = asyncio.create_task(standing)
        task.add_done_callback(lambda _: self._standing.pop(live.id, None))

    def _follow(self, live: Live, rest: Coroutine[None, None, None]) -> asyncio.Task[None]:
        self._rests[live.id] = task = asyncio.create_task(rest)
        task.add_done_callback(lambda _: self._rests.pop(live.id, None))
        return task

    async def rescue(self, live: Live, label: str, *, words: str = "", also: Collection[str] = ()) -> str:
        """Keep the worktree as it is now, ignored files at and below the absolute paths ``also`` with it.

        ``words``: what is about to happen. The ref that holds it. Raises HostError.
        """
        return (await asyncio.to_thread(self._rescue, live, label, words, also)).ref

    def _rescue(self, live: Live, label: str, words: str = "", also: Collection[str] = ()) -> api.TakenSnapshot:
        return api.take_snapshot(
            live.session.root,
            self._folder(live),
            f"{live.id}-{label}",
            also=also,
            restricts=_restricts(live),
            occasion=Occasion(live.id, label, words or OCCASIONS.get(label, label)),
        )

    def started(self, live: Live, root: str) -> Start:
        """The repository with this top, as the session found it; without its references where they are not known."""
        try:
            whole = api.load(self._folder(live))
            here = (inside for _, inside in whole.below()) if root != os.path.realpath(whole.root) else (whole,)
            return next((Start(b.taken, b.refs) for b in here if os.path.realpath(b.root) == root), Start(0.0, {}))
        except SentinelError as e:
            log.warning("how %s began is not known: %s", live.id, e)
            return Start(0.0, {})

    async def recover(self, live: Live, *, rollback: bool = True) -> Recovered:
        """Put the repository back to where the session started; without ``rollback`` only keep it as it is.

        Raises HostError.
        """
        if not (rollback and live.policy().fatal.rollback):
            rescue = await self.rescue(live, "killed")
            if not rollback:
                return Recovered(rescue=rescue, notes=["The user ended the session without a rollback."])
            return Recovered(
                rescue=rescue, problems=["The policy says fatal.rollback = false: nothing was rolled back."]
            )
        if live.id in self._standing or not (self._folder(live) / MANIFEST).exists():
            return Recovered(rescue=await self.rescue(live, "killed"), problems=[NO_BASELINE])
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
            unkept=done.unkept,
            commits=[*done.commits],
            only_aside=[v for v in done.versions if v[0] not in done.rescued and ".git" not in v[0].split("/")],
        )

    def _begin(self, live: Live) -> api.Baseline:
        patterns = _patterns(live.policy())
        return api.begin(live.session.root, self._folder(live), _restricts(live), live.id, patterns=patterns)

    async def _complete_later(self, live: Live, baseline: api.Baseline) -> None:
        """Not beside what the agent's start still waits for."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(live.baseline_due.wait(), START)
        await self._complete(baseline, live.policy().recovery)

    async def _complete(self, baseline: api.Baseline, limits: Limits) -> None:
        """A rollback copes without: what it does not know it looks into."""
        try:
            await asyncio.to_thread(api.complete, baseline, deep=limits.deep)
        except HostError as e:
            log.warning("the baseline of %s was not completed: %s", baseline.session, e)

    async def _resume(self, live: Live) -> None:
        try:
            baseline = await asyncio.to_thread(api.load, self._folder(live))
        except HostError as e:
            log.warning("the baseline of %s cannot be completed: %s", live.id, e)
            return
        if not baseline.rest.complete:
            await self._complete(baseline, live.policy().recovery)

    async def _collect(self, first: asyncio.Task[None], root: str, limits: Limits) -> None:
        """Old snapshots, then old sessions' folders, once the baseline is whole."""
        await asyncio.wait((first,))
        try:
            gone = await asyncio.to_thread(snapshot_store.garbage_collect, self._places, root, limits, self._live)
            await asyncio.to_thread(prune_sessions.prune, self._places, self._ended)
        except (SentinelError, OSError) as e:
            log.warning("old snapshots of %s were not collected: %s", root, e)
            return
        await asyncio.to_thread(allocator.give_back)
        if gone:
            log.info("%d old snapshots of %s were collected", len(gone), root)

    def _rollback(self, live: Live) -> api.Report:
        baseline = api.load(self._folder(live))
        return api.rollback(baseline, lambda path: path.startswith(INCIDENTS), _restricts(live))

    def _folder(self, live: Live) -> Path:
        return self._places.session(live.id) / "baseline"


def _restricts(live: Live) -> Callable[[str], bool]:
    """Asked with absolute paths."""
    policy, root = live.policy(), live.session.root
    return lambda path: bool(policy.restricts(path, root))


def _patterns(policy: Policy) -> list[str]:
    """All that may be restricted: what a ``!`` takes back is asked about."""
    return [p for p in (*policy.paths.restricted, *policy.project.restricted) if not p.startswith("!")]
