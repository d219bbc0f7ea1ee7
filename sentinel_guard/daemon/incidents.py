"""Incident reports: gathered from the log and the snapshots, written into the repository (R9)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

from sentinel_guard.audit.base import Store
from sentinel_guard.core import report
from sentinel_guard.core.model import Entry, Verdict
from sentinel_guard.core.redact import redact
from sentinel_guard.daemon.recovery import INCIDENTS, Recovered, Recovery
from sentinel_guard.daemon.sessions import Live, Sessions
from sentinel_guard.errors import SentinelError
from sentinel_guard.host import files, repository
from sentinel_guard.host.places import Places

log = logging.getLogger(__name__)
ENTRIES = 400
"""Entries that are looked through for the last steps."""


class Incidents:
    def __init__(
        self, places: Places, store: Store, sessions: Sessions, recovery: Recovery, now: Callable[[], float]
    ) -> None:
        self._places, self._store, self._sessions, self._recovery, self._now = places, store, sessions, recovery, now

    async def write(self, live: Live, verdict: Verdict, recovered: Recovered | None) -> Path:
        """Write the report of a breaker (``recovered`` is None) or of a kill, and put it on record. The report's path.

        Where the repository cannot be written the report goes beside the session's state, and says so in the log.
        """
        rescue = recovered.rescue if recovered else await self._rescue(live)
        stat, diff = await asyncio.to_thread(self._difference, live, rescue)
        at, ident = self._now(), live.id.rpartition("-")[2]
        name = report.name(at, ident)
        patch = f"{name.removesuffix('.md')}.patch" if diff else ""
        entries = [*self._store.entries(session=live.id, last=ENTRIES)]
        name, link = name.removesuffix(".md"), f"{INCIDENTS}{patch}" if patch else ""
        text = report.incident(
            report.Incident(
                name, verdict, live.session, entries, stat, diff, link,
                _impact(recovered, Path(live.session.root)), rescue, entries[-1].hash if entries else "",
            )
        )  # fmt: skip
        documents = {f"{name}.md": text} | ({patch: redact(diff)} if patch else {})
        path = await asyncio.to_thread(self._save, live, documents)
        seal = hashlib.sha256(report.machine_part(text).encode(errors="surrogateescape")).hexdigest()
        data = {"path": str(path), "seal": seal, "rescue": rescue}
        self._sessions.note(live, [Entry(at, live.id, "incident", data, verdict.response.level)])
        return path

    async def _rescue(self, live: Live) -> str:
        try:
            return await self._recovery.rescue(live, "breaker")
        except SentinelError as e:
            log.warning("no snapshot for the report: %s", e)
            return ""

    def _difference(self, live: Live, rescue: str) -> tuple[str, str]:
        """``git diff`` from the worktree at the start to the one at the failure: its stat, and the patch."""
        if not (rescue and live.start_snapshot):
            return "", ""
        try:
            both = repository.patch(live.session.root, live.start_snapshot, rescue)
        except SentinelError as e:
            log.warning("no difference for the report: %s", e)
            return "", ""
        stat, _, patch = both.partition("\n\n")
        return stat, patch

    def _save(self, live: Live, documents: dict[str, str]) -> Path:
        """Write all; the path of the first."""
        folders = (Path(live.session.root) / INCIDENTS, self._places.session(live.id) / "incidents")
        for folder in folders:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                for name, text in documents.items():
                    files.write(folder / name, text.encode(errors="surrogateescape"))
            except (OSError, SentinelError) as e:
                log.warning("the report could not be written to %s: %s", folder, e)
            else:
                return folder / next(iter(documents))
        return Path(next(iter(documents)))


def _impact(recovered: Recovered | None, root: Path) -> tuple[str, ...]:
    if recovered is None:
        return ("The session was paused; nothing was rolled back.",)
    lines = ["Every process of the session was ended."]
    if recovered.ok:
        way = "by `git reset --hard` and the person's own state on top" if recovered.reset else "path by path"
        lines.append(
            f"The repository was put back to {recovered.start_hash or 'its unborn branch'} {way}, and verified."
        )
    lines += [
        f"Put back as it was: {name}" if (root / name).exists() else f"Removed, as at the start: {name}"
        for name in recovered.restored[:20]
    ]
    lines += [f"The agent's version is kept in {name}" for name in recovered.quarantined[:20]]
    return (*lines, *recovered.problems, *recovered.notes)
