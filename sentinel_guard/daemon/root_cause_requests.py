"""Ask the agent for an incident's root cause, and record its answer and a person's sign-off.

Rules of this file:
1. The agent is asked only where a call has failed: on a shell's standard error, or by its hooks. There it reads
   anyway, and nothing that a program reads, and no exit code, changes. Once for each incident in a session.
2. What is signed off, filled in or older than ``FRESH_DAYS`` is not asked about.
3. Nothing goes on record for a report whose sealed part was changed.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path

from sentinel_guard.audit.base import Store
from sentinel_guard.core.incidents import root_cause_and_sign_off
from sentinel_guard.core.incidents.root_cause_and_sign_off import Seal
from sentinel_guard.core.model import Action, Entry, Layer
from sentinel_guard.core.session.session import State
from sentinel_guard.core.text.redact_by_pattern import redact
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host import incident_files
from sentinel_guard.host.machine.state_paths import StatePaths

FRESH_DAYS = 14
DAY = 86400.0


class Reviews:
    def __init__(self, places: StatePaths, store: Store, sessions: Sessions, now: Callable[[], float]) -> None:
        self._places, self._store, self._sessions, self._now = places, store, sessions, now

    def remember(self, live: Live) -> None:
        """Note what the agent of this session is to be asked about, and has not been yet."""
        asked = {
            name
            for e in self._about(live.id)
            for name in _names(e)
            if e.data.get("event") == root_cause_and_sign_off.ASKED
        }
        found = incident_files.found(self._places, live.session.root) if live.session.root else []
        fresh = [p for p in found if incident_files.when(p) > self._now() - FRESH_DAYS * DAY and p.stem not in asked]
        live.unexplained = tuple(str(p) for p in fresh if self._open(p))

    def note(self, live: Live) -> list[str]:
        """What the person is told of it when the session begins."""
        if not live.unexplained:
            return []
        count, newest = len(live.unexplained), Path(live.unexplained[-1]).stem
        many = "an incident here is" if count == 1 else f"{count} incidents here are"
        return [f"{many} not explained yet ({newest}). The agent will be asked. See: sentinel-guard incidents"]

    async def ask(self, live: Live, action: Action, code: int) -> str:
        """The question for the agent, at the end of a call; empty where it is not to be asked now."""
        shell = action.layer in (Layer.SHELL, Layer.HOOK) and not action.parent
        if not (live.unexplained and code and shell and live.session.state is State.ACTIVE):
            return ""
        asked, live.unexplained = live.unexplained, ()
        found = await asyncio.to_thread(lambda: [p for p in asked if self._open(Path(p))])
        if found:
            names = [Path(p).stem for p in found]
            data = {"event": root_cause_and_sign_off.ASKED, "names": names, "call": action.id}
            self._sessions.note(live, [Entry(self._now(), live.id, "incident", data)])
        return root_cause_and_sign_off.advice(found)

    def filled(self, path: str, live: Live | None) -> None:
        """Put on record that the agent's part was filled in; ``live``: the session that it was done from, if any.

        Raises ConfigError, HostError.
        """
        report, text = self._report(path)
        root_cause_and_sign_off.check(root_cause_and_sign_off.read(text), text)
        _, _, part = text.partition(root_cause_and_sign_off.SEAL)
        data: dict[str, object] = {
            "event": root_cause_and_sign_off.FILLED,
            "by": "agent" if live else "person",
            "in": live.id if live else "",
        }
        self._note(report, text, data | {"digest": hashlib.sha256(part.encode(errors="surrogateescape")).hexdigest()})

    def signed_off(self, path: str, note: str) -> None:
        """Put the person's sign-off on record. Raises ConfigError, HostError."""
        report, text = self._report(path)
        if self._state(report, text) is root_cause_and_sign_off.State.SIGNED:
            raise ConfigError(f"{report.stem} is signed off already.")
        self._note(
            report, text, {"event": root_cause_and_sign_off.SIGN_OFF, "authorized_by": "user", "note": redact(note)}
        )

    def _note(self, report: Path, text: str, data: dict[str, object]) -> None:
        self._store.append(Entry(self._now(), incident_files.session(text), "incident", {"name": report.stem, **data}))

    def _report(self, path: str) -> tuple[Path, str]:
        report = Path(path)
        if not incident_files.when(report):
            raise ConfigError(f"{path!r} is no incident report.", "See them with: sentinel-guard incidents")
        text = incident_files.read(report)
        # Of all sessions: the text says which one it is about, and that may have been changed, too.
        if (
            root_cause_and_sign_off.seal_status(text, report.stem, self._store.entries(kinds=("incident",)))
            is Seal.CHANGED
        ):
            raise ConfigError(f"The machine's part of {report.stem} was {Seal.CHANGED}.", "Bring it back first.")
        return report, text

    def _open(self, report: Path) -> bool:
        try:
            return self._state(report, incident_files.read(report)) is root_cause_and_sign_off.State.OPEN
        except SentinelError:
            return False

    def _state(self, report: Path, text: str) -> root_cause_and_sign_off.State:
        return root_cause_and_sign_off.state(text, report.stem, self._about(incident_files.session(text)))

    def _about(self, session: str) -> list[Entry]:
        return [*self._store.entries(session=session, kinds=("incident",))] if session else []


def _names(entry: Entry) -> list[str]:
    names = entry.data.get("names")
    return [str(n) for n in names] if isinstance(names, list | tuple) else []
