"""What watches a session's files: restricted ones that change unannounced are put back (DESIGN section 2)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from sentinel_guard.core.model import Entry, Verdict
from sentinel_guard.daemon.sessions import Live, Sessions
from sentinel_guard.errors import SentinelError
from sentinel_guard.host import snapshots
from sentinel_guard.host.guardian import Guardian, Tampering
from sentinel_guard.host.places import Places
from sentinel_guard.host.watcher import Change, Watcher

log = logging.getLogger(__name__)


CHECKS_OUT = frozenset(
    {"checkout", "switch", "merge", "rebase", "pull", "stash", "cherry-pick", "revert", "am", "bisect", "worktree"}
)
"""Subcommands of git that change tracked files, and refuse to overwrite what is not committed."""
FORCES = frozenset({"-f", "--force", "--discard-changes"})


class Watching:
    """The observer of one session, and what it does about what it sees."""

    def __init__(self, live: Live, places: Places, sessions: Sessions, now: Callable[[], float]) -> None:
        baseline = snapshots.load(places.session(live.id) / "baseline")
        root, policy = baseline.root, live.policy()
        files = {name: baseline.files[name] for name in baseline.restricted if name in baseline.files}
        self.restricted = tuple(f"{root}/{name}" for name in files)
        self._guardian = Guardian(root, baseline.vault, files, places.session(live.id))
        self._watcher = Watcher(
            root, lambda path: bool(policy.restricts(path, root)), self._changed, self._sweep, tick=self._sweep
        )
        self._live, self._sessions, self._now = live, sessions, now
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Raises HostError where the tree cannot be watched."""
        self._watcher.start()

    def stop(self) -> None:
        """The last look comes after the last event."""
        self._watcher.stop()
        self._sweep()

    def expect(self, verdict: Verdict, seconds: float) -> None:
        """An allowed action announces what it changes itself, for so long."""
        commands = (e.command for e in verdict.effects if e.command)
        if any(c.program == "git" and c.subcommand in CHECKS_OUT and not c.flags & FORCES for c in commands):
            self._guardian.expect_git(time.time() + seconds)

    def _changed(self, change: Change) -> None:
        self._tell(self._guardian.check(change.path))

    def _sweep(self) -> None:
        for tampering in self._guardian.sweep():
            self._tell(tampering)

    def _tell(self, tampering: Tampering | None) -> None:
        if tampering and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._record, tampering)

    def _record(self, tampering: Tampering) -> None:
        text = _sentence(tampering)
        data = {
            "path": tampering.path,
            "kind": tampering.kind,
            "kept": tampering.kept,
            "what": text,
            "check": "unannounced",
        }
        try:
            self._sessions.note(self._live, [Entry(self._now(), self._live.id, "watch", data, "L2")])
        except SentinelError:
            log.exception("a change of %s could not be recorded", tampering.path)
        if self._live.runner:
            self._live.runner.tell("notice", level="L2", text=text)


def _sentence(tampering: Tampering) -> str:
    path, kind = tampering.path, tampering.kind
    if tampering.problem:
        return f"SENTINEL: the restricted file {path} was {kind}, and could not be put back: {tampering.problem}."
    done = "It was moved away" if kind == "created" else "It was put back as it was"
    kept = f"; the other version is in {tampering.kept}" if tampering.kept else ""
    return f"SENTINEL: the restricted file {path} was {kind} by a program that nobody allowed to. {done}{kept}."
