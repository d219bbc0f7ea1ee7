"""What a verdict sets off beside the answer: a rescue snapshot, an alert, an incident report, the kill switch.

Rules of this file:
1. What only a snapshot makes harmless does not run where the snapshot failed.
2. The tree of a killed session is stopped before its answer leaves, and ended before anything is restored.
3. A kill is carried out to its end even where a step of it fails; the report says which.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from sentinel_guard.core import record, respond
from sentinel_guard.core.model import Action, Entry, Finding, Layer, Response, Verdict
from sentinel_guard.core.session import Event, State
from sentinel_guard.daemon.incidents import Incidents
from sentinel_guard.daemon.recovery import Recovered, Recovery
from sentinel_guard.daemon.sessions import Live, Sessions
from sentinel_guard.errors import SentinelError
from sentinel_guard.host import processes

log = logging.getLogger(__name__)


class Reactions:
    def __init__(
        self, *, sessions: Sessions, recovery: Recovery, incidents: Incidents, now: Callable[[], float]
    ) -> None:
        self._sessions, self._recovery, self._incidents, self._now = sessions, recovery, incidents, now

    async def snapshot(self, live: Live, verdict: Verdict) -> Verdict:
        """Take a rescue snapshot before a reversible action; without one the action is refused."""
        if not live.session.root:
            return verdict
        call = verdict.action.parent or verdict.action.id
        try:
            # The steps of a call share the snapshot that was taken before it began.
            ref = live.rescued.get(call) or await self._recovery.rescue(live, call)
        except SentinelError as e:
            failed = Finding("snapshot", Response.DENY, "no snapshot could be taken first", e.message, e.hint)
            return replace(verdict, findings=(*verdict.findings, failed))
        if call in live.calls.values() or not verdict.action.parent:
            live.rescued[call] = ref
        kept = (replace(f, evidence=ref) if f.response is Response.SNAPSHOT else f for f in verdict.findings)
        return replace(verdict, findings=tuple(kept))

    def freeze(self, live: Live, verdict: Verdict) -> None:
        """Stop every process of the session but the one that is being answered."""
        asker = verdict.action.who.pid if verdict.action.who else 0
        processes.freeze(_roots(live), frozenset({processes.own_pid(), asker}), _mark(live))

    async def after(self, live: Live, verdict: Verdict) -> None:
        """What follows once the answer has left."""
        if verdict.response is Response.BREAK:
            path = await self._incidents.write(live, verdict, None)
            self._tell(live, "L3", f"{respond.headline(verdict)} Incident report: {path}")
        elif verdict.response is Response.KILL:
            await self._bury(live, verdict)

    async def _bury(self, live: Live, verdict: Verdict) -> None:
        # The launcher gets a moment to print; then nothing of the session is left to run.
        await asyncio.sleep(0.05)
        left = await asyncio.to_thread(processes.kill, _roots(live), frozenset({processes.own_pid()}), _mark(live))
        if live.watch:
            live.watch.stop()
        recovered = await self._recover(live)
        if left:
            recovered.problems.append(f"These processes could not be ended: {sorted(left)}.")
        path = await self._report(live, verdict, recovered)
        if live.runner:
            finding = verdict.decisive
            text = respond.sentence(finding) if finding else ""
            live.runner.tell("killed", text=text, incident=path)
        live.buried.set()

    async def take_up(self, live: Live) -> None:
        """Carry out the kill that a daemon had on record when it fell."""
        at, root = self._now(), live.session.root
        action = Action(f"{at:.3f}-kill", live.id, Layer.CLI, "kill", {}, root, at, root, "session")
        why = "the guard fell before this kill was carried out, and is carrying it out now"
        await self._bury(live, Verdict(action, (), (Finding("state", Response.KILL, live.session.reason, why),)))

    async def _recover(self, live: Live) -> Recovered:
        try:
            recovered = await self._recovery.recover(live)
        except Exception as e:
            log.exception("recovery failed")
            recovered = Recovered(problems=[f"The rollback failed: {e}. Run 'sentinel-guard rollback {live.id}'."])
        return recovered

    async def _report(self, live: Live, verdict: Verdict, recovered: Recovered) -> str:
        """The incident report's path; empty where nothing could be put on record."""
        try:
            self._sessions.note(live, [Entry(self._now(), live.id, "recovery", recovered.as_data(), "L4")])
            return str(await self._incidents.write(live, verdict, recovered))
        except Exception:
            log.exception("the kill of %s was carried out and could not be reported", live.id)
            return ""

    def _tell(self, live: Live, level: str, text: str) -> None:
        if live.runner:
            live.runner.tell("notice", level=level, text=text)

    async def sweep_away(self, live: Live) -> None:
        """End what a session has left running, without a rollback."""
        await asyncio.to_thread(processes.kill, _roots(live), frozenset({processes.own_pid()}), _mark(live))

    def end(self, live: Live, code: int) -> None:
        """A session ended in the ordinary way."""
        if live.watch:
            live.watch.stop()
        if live.session.state is not State.ENDED:
            self._sessions.note(live, [Entry(self._now(), live.id, "end", {"code": code})])

    def resume(self, live: Live) -> None:
        """Give autonomy back: a person typed /resume (R8)."""
        self._sessions.note(live, [record.state(live.id, self._now(), Event.RESUME, authorized_by="user")])
        live.words.put_nowait(None)


def _roots(live: Live) -> tuple[int, ...]:
    return (live.session.owner.pid,) if live.session.owner else ()


def _mark(live: Live) -> str:
    return f"SENTINEL_SESSION={live.id}"
