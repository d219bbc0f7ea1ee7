"""Write incident reports into the repository, from the audit log and the snapshots (R9).

Rules of this file:
1. A report is never written over: each has a name of its own.
2. It is made of what is on record, so that a daemon that was started anew writes what the fallen one did not.
3. Where the repository cannot be written it goes beside the session's state, and the record says so.
4. What restricted files held at the session's start stands in no report and no patch, wherever it was copied to.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentinel_guard.audit.base import Store
from sentinel_guard.core import decode_entries
from sentinel_guard.core.incidents import incident_report, parse_patch, redacted_diff, root_cause_and_sign_off, timeline
from sentinel_guard.core.incidents.incident_report import Incident, Patch
from sentinel_guard.core.incidents.rollback_words import RollbackSummary
from sentinel_guard.core.model import Entry, Response, Verdict
from sentinel_guard.core.response_text import headline
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.daemon.snapshots_and_rollback import Recovered, Recovery
from sentinel_guard.errors import HostError, SentinelError
from sentinel_guard.host import incident_files
from sentinel_guard.host.machine.content_addressed_store import FILE
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.recovery import api

log = logging.getLogger(__name__)
ENTRIES = 400
"""Entries that are looked through for the last steps."""
KINDS = tuple(sorted(timeline.TIMELINE))


class Incidents:
    def __init__(
        self, places: StatePaths, store: Store, sessions: Sessions, recovery: Recovery, now: Callable[[], float]
    ) -> None:
        self._places, self._store, self._sessions, self._recovery, self._now = places, store, sessions, recovery, now
        self._one = asyncio.Lock()

    async def write(self, live: Live, verdict: Verdict, recovered: Recovered | None) -> Path:
        """Write the report of a breaker (``recovered`` is None) or of a kill, and put it on record; its path.

        Raises HostError, StoreError.
        """
        async with self._one:
            rescue = recovered.rescue if recovered else await self._rescue(live)
            entries = timeline.entries_until_stop([*self._store.entries(session=live.id, kinds=KINDS, last=ENTRIES)])
            path, text = await asyncio.to_thread(self._written, live, verdict, recovered, rescue, entries)
        data: dict[str, object] = {
            "path": str(path),
            "name": path.stem,
            "seal": root_cause_and_sign_off.seal(text),
            "rescue": rescue,
        }
        data |= {"call": verdict.action.id, "upto": entries[-1].seq if entries else 0, "headline": headline(verdict)}
        self._sessions.note(live, [Entry(self._now(), live.id, "incident", data, verdict.response.level)])
        live.unexplained = (*live.unexplained, str(path))
        return path

    def unreported(self, live: Live) -> Verdict | None:
        """The newest breaker or kill of which no report is on record."""
        return decode_entries.unreported(self._store.entries(session=live.id), live.session.root)

    async def finish(self, live: Live) -> None:
        """Write the report that a daemon which fell did not come to write."""
        verdict = self.unreported(live)
        if verdict is None:
            return
        done = [*self._store.entries(session=live.id, kinds=("recovery",), last=1)]
        try:
            recovered: dict[str, Any] = dict(done[0].data) if done and verdict.response is Response.KILL else {}
            await self.write(live, verdict, Recovered(**recovered) if recovered else None)
        except Exception:
            log.exception("an incident of %s could not be reported after the restart", live.id)

    async def _rescue(self, live: Live) -> str:
        try:
            return await self._recovery.rescue(live, "breaker")
        except SentinelError as e:
            log.warning("no snapshot for the report: %s", e)
            return ""

    def _written(
        self, live: Live, verdict: Verdict, recovered: Recovered | None, rescue: str, entries: Sequence[Entry]
    ) -> tuple[Path, str]:
        calls = timeline.loop_calls(entries, verdict.decisive)
        newest = [*self._store.entries(last=1)]
        facts = Incident(
            "", verdict, live.session, entries,
            loop=self._loop(live, entries, calls) if calls else None,
            whole=self._whole(live, rescue, recovered),
            restored=rollback_summary(recovered, live.session.root) if recovered else None,
            rescue=rescue,
            head=newest[0].hash if newest else "",
            seconds=live.policy().breaker.seconds,
        )  # fmt: skip
        return self._saved(live, facts)

    def _loop(self, live: Live, entries: Sequence[Entry], calls: Sequence[str]) -> Patch:
        before, after = timeline.between(entries, calls)
        if not (before and after and live.trees):
            return Patch(unknown="the files were not measured during the loop")
        try:
            return Patch(parse_patch.files(live.trees.patch(before, after), without=incident_files.FOLDER))
        except SentinelError as e:
            return Patch(unknown=e.message)

    def _whole(self, live: Live, rescue: str, recovered: Recovered | None) -> Patch:
        if not rescue:
            return Patch(unknown="there is no snapshot of the moment of failure")
        # A rollback's snapshot is without the untracked files that were as they had been.
        only = {*recovered.restored, *(name for name, _ in recovered.versions)} if recovered else None
        try:
            baseline = api.load(self._places.session(live.id) / "baseline")
            told = api.patch(baseline, api.start_tree(baseline, only), rescue)
        except SentinelError as e:
            log.warning("no difference for the report: %s", e)
            return Patch(unknown=e.message)
        return Patch(parse_patch.files(told, without=incident_files.FOLDER))

    def _saved(self, live: Live, facts: Incident) -> tuple[Path, str]:
        """Write the report, and beside it each patch that it holds. Its path and its text."""
        wanted = incident_report.name(self._now(), live.id.rpartition("-")[2])
        secrets, problem = self._secrets(live), ""

        def hide(text: str) -> str:
            return live.discretion.text(redacted_diff.redact_values(text, secrets))

        for folder in incident_files.folders(self._places, live.session.root, live.id):
            try:
                return _save(folder, wanted, replace(facts, problem=problem), hide)
            except (OSError, SentinelError) as e:
                problem = f"The report could not be written to {folder}: {e}"
                log.warning(problem)
        raise HostError(problem, "Make room, or make the folder writable; the daemon tries again when it starts anew.")

    def _secrets(self, live: Live) -> list[str]:
        try:
            baseline = api.load(self._places.session(live.id) / "baseline")
        except SentinelError:
            return []
        found = []
        for name in baseline.restricted:
            kept = baseline.files.get(name)
            with contextlib.suppress(SentinelError):
                found += (
                    redacted_diff.values_to_redact(name, baseline.vault.data(kept.content))
                    if kept and kept.kind == FILE
                    else []
                )
        return found


def _save(folder: Path, wanted: str, facts: Incident, hide: Callable[[str], str]) -> tuple[Path, str]:
    name = _free(folder, wanted)
    loop, whole = facts.loop, facts.whole
    if loop and incident_report.is_truncated(loop):
        loop = replace(loop, saved=f"{name}.loop.patch")
    if whole.files:
        whole = replace(whole, saved=f"{name}.patch")
    for patch in (p for p in (loop, whole) if p and p.saved):
        incident_files.write(folder / patch.saved, hide(parse_patch.text(patch.files)))
    text = hide(incident_report.incident(replace(facts, id=name, loop=loop, whole=whole)))
    path = folder / f"{name}.md"
    incident_files.write(path, text)
    return path, text


def _free(folder: Path, wanted: str) -> str:
    name, number = wanted, 2
    while any(os.path.lexists(folder / f"{name}{end}") for end in (".md", ".patch", ".loop.patch")):
        name, number = f"{wanted}-{number}", number + 1
    return name


def rollback_summary(done: Recovered, root: str) -> RollbackSummary:
    back = tuple(n for n in done.restored if Path(root, n).exists() or Path(root, n).is_symlink())
    gone = tuple(n for n in done.restored if n not in back)
    names = {path: name for name, path in done.versions}
    kept = tuple((path, names.get(path, "")) for path in done.quarantined)
    notes, problems = tuple(done.notes), tuple(done.problems)
    return RollbackSummary(
        done.ok, done.start_hash, done.reset, back, gone, kept, problems, notes, done.unkept,
        commits=tuple(done.commits), only_aside=tuple((n, p) for n, p in done.only_aside), running=tuple(done.running),
    )  # fmt: skip
