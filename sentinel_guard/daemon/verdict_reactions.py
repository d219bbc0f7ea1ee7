"""What a verdict triggers besides the answer: a rescue snapshot, an alert, an incident report, the kill switch.

Rules of this file:
1. What only a snapshot makes harmless does not run where the snapshot failed.
2. The tree of a killed session is stopped before its answer leaves, and ended before anything is restored.
3. A kill is carried out to its end even where a step of it fails; the report says which.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from sentinel_guard.core import encode_entries, response_text
from sentinel_guard.core.endangered_paths import endangered_paths
from sentinel_guard.core.incidents import rollback_words
from sentinel_guard.core.model import Action, Entry, Finding, Layer, Response, Verdict
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon import agent_programs
from sentinel_guard.daemon.held_calls import connections_after_reads
from sentinel_guard.daemon.live_sessions import HOOKS, RUN, Live, Sessions
from sentinel_guard.daemon.snapshots_and_rollback import Recovered, Recovery
from sentinel_guard.daemon.write_incidents import Incidents, rollback_summary
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine import ancestry, processes
from sentinel_guard.host.machine.end_descendants import end_descendants
from sentinel_guard.host.previews.push_preview import Start
from sentinel_guard.host.shim_integrity import UNSHIMMED, ShimIntegrity
from sentinel_guard.humans.question_inbox import OTHER_TERMINAL
from sentinel_guard.humans.timed_grants import TimedGrant

log = logging.getLogger(__name__)
SHIMS = "guard.shims"
PULLED_RULE = "user.kill"
PULLED = "the user ended this session"
FINISHED = 30.0
"""Seconds that a daemon without its state waits until a kill is carried out."""
BESIDE = (
    "Session {0} works in this repository too and is being rolled back. Commands of this one wait until that is done."
)
MOVED = "Session {0} was rolled back: branches, index and files of this repository may have changed below this session."
UNVERIFIED = (
    "Session {0} lives in this repository. Its commands waited; its programs that ran already did not, and what it had "
    "changed was put back with the rest. See: sentinel-guard snapshots"
)
WHOLE = 10.0
"""Seconds that a session's first command waits for what it could destroy to be kept."""
AGAIN = (0.05, 0.2, 0.5)
"""Seconds between looks for what forks and ends all the time, which one look may miss."""
PRINTING = 0.05
"""Seconds that a launcher has to print why its session is killed."""
READING = 2.0
"""Seconds that a client has to read why its session is killed, and to end by itself."""
LEAVING = 0.2
"""Seconds that a process may take to end after its agent."""


class Reactions:
    def __init__(
        self, *, sessions: Sessions, recovery: Recovery, incidents: Incidents, now: Callable[[], float]
    ) -> None:
        self._sessions, self._recovery, self._incidents, self._now = sessions, recovery, incidents, now
        self._kills: set[asyncio.Task[None]] = set()
        self._rollback = asyncio.Lock()
        """Two killed sessions may be of one repository: their rollbacks come one after the other."""
        self._given_up: set[str] = set()
        """Sessions whose baseline took too long."""

    def whole(self, live: Live) -> bool:
        """False until everything is kept that the session's first command could destroy, and while the repository is
        being rolled back below it.
        """
        return not live.moving and (live.id in self._given_up or not self._recovery.pending(live))

    async def wait_until_whole(self, live: Live) -> None:
        """Wait for the session's baseline. Where that takes too long, the record says so, and nobody waits again.

        A rollback below it is waited for to its end.
        """
        while live.moving:
            await live.moving.wait()
        if await self._recovery.settled(live, WHOLE) or live.id in self._given_up:
            return
        self._given_up.add(live.id)
        what = f"the baseline was not whole after {WHOLE:.0f} s: what is destroyed now may be lost for a rollback"
        self._sessions.note(live, [Entry(self._now(), live.id, "daemon", {"what": what})])

    async def snapshot(self, live: Live, verdict: Verdict) -> Verdict:
        """Take a rescue snapshot before a reversible action; without one the action is refused."""
        if not live.session.root:
            return verdict
        # A line begins anew: what the line before it has destroyed is in no snapshot of the call that its shell is in.
        begins = not verdict.action.parent or verdict.action.layer is Layer.LINE
        call, also = verdict.action.id if begins else verdict.action.parent, endangered_paths(verdict)
        ref, held = live.rescued.get(call, ("", frozenset()))
        try:
            # The steps of a call share the snapshot that was taken before it began, where it holds what they destroy.
            if not ref or not also <= held:
                words = live.discretion.text(response_text.command_line(verdict.action))
                ref = await self._recovery.rescue(live, call, words=words, also=also)
        except SentinelError as e:
            failed = Finding("snapshot", Response.DENY, "no snapshot could be taken first", e.message, e.hint)
            return replace(verdict, findings=(*verdict.findings, failed))
        if begins or call in (*live.calls.values(), *live.lines.values()):
            live.rescued[call] = ref, held | also
        kept = (replace(f, evidence=ref) if f.response is Response.SNAPSHOT else f for f in verdict.findings)
        return replace(verdict, findings=tuple(kept))

    def started(self, live: Live, root: str) -> Start:
        """The repository with this top, as the session found it; does not fail."""
        return self._recovery.started(live, root)

    def freeze(self, live: Live, verdict: Verdict) -> None:
        """Stop every process of the session but the one that is being answered."""
        stopped = processes.freeze(live.roots, self._spared(live, verdict), live.mark, live.members)
        live.frozen = frozenset(filter(None, map(processes.identify, stopped)))

    def end_processes(self, live: Live, verdict: Verdict) -> None:
        """End what descends from the agent at once, where the kill is on record, and stop what else is the session's:
        to find that takes longer. What is ours lives until the one that is answered has printed.
        """
        if owner := live.session.owner:
            end_descendants(owner, self._spared(live, verdict) | live.parts, adopts=live.kind == RUN)
        self.freeze(live, verdict)

    @staticmethod
    def _spared(live: Live, verdict: Verdict) -> frozenset[int]:
        asker = verdict.action.who.pid if verdict.action.who else 0
        # A client takes a hook whose shell is killed for one that does not object.
        above = ancestry.lineage(asker) if asker and live.kind == HOOKS else []
        between = itertools.takewhile(lambda peer: peer != live.session.owner, above)
        return frozenset({processes.own_pid(), asker, *(peer.pid for peer in between)})

    async def after(self, live: Live, verdict: Verdict) -> None:
        """What follows once the answer has left."""
        if verdict.response < Response.BREAK:
            return
        done = asyncio.Event()
        live.reports.add(done)
        try:
            await self._follow(live, verdict)
        finally:
            live.reports.discard(done)
            done.set()

    async def reported(self, live: Live) -> None:
        """Wait until the reports of what the session did are on the disk."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(done.wait() for done in live.reports)), FINISHED)

    async def _follow(self, live: Live, verdict: Verdict) -> None:
        if verdict.response is Response.BREAK:
            self._tell(live, "L3", f"{response_text.headline(verdict)} {await self._reported(live, verdict)}")
        elif verdict.response is Response.KILL:
            await self._bury(live, verdict)

    async def look_at_shims(self, *lives: Live) -> None:
        """Freeze and end sessions whose shims do not stand as they were made: nothing that they start is judged."""
        looks = [(live, live.shims) for live in lives if live.shims and not live.session.over]
        # One thread for all: to hand a look over takes ten times as long as to take it.
        harms = await asyncio.to_thread(lambda: [_harm(live, shims) for live, shims in looks])
        for (live, _), harm in zip(looks, harms, strict=True):
            # What has ended meanwhile may have been cleared away.
            if harm and not live.session.over:
                what, why = UNSHIMMED.format(harm), "what the agent starts is no longer judged"
                finding = Finding("shims", Response.KILL, what, why, "Start the agent again", SHIMS)
                self._kill(live, finding, Layer.WATCHER, "shims", {})

    def end_for_person(self, live: Live, *, rollback: bool) -> None:
        """A person ends the session, with a rollback or with the work tree as it is; ``live.buried`` tells when that
        is carried out.
        """
        why = "the repository goes back to its start" if rollback else "the work tree stays as it is"
        finding = Finding("operators", Response.KILL, PULLED, why, "", PULLED_RULE)
        self._kill(live, finding, Layer.CLI, "kill", {"rollback": rollback})

    def _kill(self, live: Live, finding: Finding, layer: Layer, tool: str, arguments: dict[str, object]) -> None:
        """Freeze a session, put its kill on record, and carry it out beside what else is to be done."""
        at = self._now()
        action = Action(f"{at:.3f}-{tool}", live.id, layer, tool, arguments, "", at, live.session.root, "session")
        verdict = Verdict(action, (), (finding,), authorized_by="user" if layer is Layer.CLI else "")
        self.freeze(live, verdict)
        try:
            self._sessions.note(live, encode_entries.of_verdict(verdict, "", poll=False, policy=live.policy()))
        except SentinelError:
            log.exception("the kill of %s cannot be put on record", live.id)
            # The record may have gone with the shims. Its runner must not take the freeze for a stop key.
            live.session = live.session.to(Event.KILL)
        # Other sessions are looked at meanwhile: a rollback takes its time.
        task = asyncio.create_task(self._carry_out(live, verdict))
        self._kills.add(task)
        task.add_done_callback(self._kills.discard)

    async def look_once_more(self, live: Live) -> None:
        """Before a session ends: whether its shims stood to the last. A kill is carried out to its end."""
        await self.look_at_shims(live)
        if live.session.state is State.KILLED:
            await live.buried.wait()

    async def _carry_out(self, live: Live, verdict: Verdict) -> None:
        try:
            await self.after(live, verdict)
        except Exception:
            log.exception("the kill of %s was not carried out to its end", live.id)
        finally:
            live.buried.set()

    async def finished(self, live: Live) -> None:
        """Wait until the end of a killed session is carried out."""
        if live.session.state is State.KILLED:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(live.buried.wait(), FINISHED)

    async def _bury(self, live: Live, verdict: Verdict) -> None:
        # All that was stopped, before anything else; the launcher gets a moment to print. Then nothing is left to run.
        processes.kill_known(live.frozen)
        if verdict.action.who:
            await asyncio.sleep(PRINTING)
        if live.kind == HOOKS:
            await self._end_client(live, verdict)
        left = await asyncio.to_thread(
            processes.kill, live.roots, frozenset({processes.own_pid()}), live.mark, live.members
        )
        with contextlib.suppress(SentinelError):  # what is in danger is put back, recorded or not
            connections_after_reads.note_reads(live, self._sessions, self._now())
        if live.watch:
            live.watch.stop()
        recovered = await self._recover(live, rollback=verdict.action.arguments.get("rollback") is not False)
        recovered.running = sorted(left)
        path = await self._report(live, verdict, recovered)
        if live.runner:
            finding = verdict.decisive
            lines = [response_text.sentence(finding)] if finding else []
            done = rollback_summary(recovered, live.session.root)
            lines += rollback_words.kill_notice(done, recovered.rescue, live.id, live.session.root)
            live.runner.tell("killed", text=live.discretion.text("\n".join(lines)), incident=path)
        live.buried.set()

    async def _end_client(self, live: Live, verdict: Verdict) -> None:
        """A client that only its hooks report reads its refusal, and is ended then.

        A server that has other sessions, too, lives on: nothing more of this one is let run. Any other process of an
        agent has one session, whatever else a program asked for in another one's name.
        """
        asker, owner, began = verdict.action.who, live.session.owner, self._now()
        while asker and processes.alive(asker) and self._now() - began < READING:  # noqa: ASYNC110 - it tells no event
            await asyncio.sleep(PRINTING)
        beside = any(_is_beside(other, live) for other in self._all())
        if owner and processes.alive(owner) and not (beside and agent_programs.server(owner.pid)):
            await asyncio.sleep(LEAVING)
            await asyncio.to_thread(processes.end, frozenset({owner.pid}), READING)

    def _all(self) -> list[Live]:
        return [*self._sessions.live.values()]

    async def take_up(self, live: Live) -> None:
        """Carry out the kill that a daemon had on record when it fell."""
        if verdict := self._incidents.unreported(live):
            await self._bury(live, verdict)
        live.buried.set()

    async def _recover(self, live: Live, *, rollback: bool) -> Recovered:
        async with self._rollback, self._alone(live) as beside:
            try:
                recovered = await self._recovery.recover(live, rollback=rollback)
            except Exception as e:
                log.exception("recovery failed")
                recovered = Recovered(problems=[f"The rollback failed: {e}. Run 'sentinel-guard rollback {live.id}'."])
        recovered.ok = recovered.ok and not beside
        recovered.problems += [UNVERIFIED.format(other.id) for other in beside]
        return recovered

    @contextlib.asynccontextmanager
    async def _alone(self, live: Live) -> AsyncIterator[list[Live]]:
        """Commands of the repository's other sessions wait meanwhile, and their people are told."""
        beside, done = self._sessions.beside(live) if live.session.root else [], asyncio.Event()
        for other in beside:
            other.moving = done
            self._tell(other, "L2", BESIDE.format(live.id))
        try:
            yield beside
        finally:
            done.set()
            for other in beside:
                other.moving = None
                self._tell(other, "L2", MOVED.format(live.id))
                with contextlib.suppress(SentinelError):
                    entry = Entry(self._now(), other.id, "daemon", {"what": MOVED.format(live.id)}, "L2")
                    self._sessions.note(other, [entry])

    async def _reported(self, live: Live, verdict: Verdict) -> str:
        """Where the report of a breaker is, in words. The breaker is open whether it could be written or not."""
        try:
            return f"Incident report: {await self._incidents.write(live, verdict, None)}"
        except Exception as e:
            log.exception("the breaker of %s could not be reported", live.id)
            return f"No incident report could be written: {e}"

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
            live.runner.tell("notice", level=level, text=live.discretion.text(text))

    async def sweep_away(self, live: Live) -> None:
        """End what a session has left running, without a rollback."""
        own = frozenset({processes.own_pid()})
        for seconds in (0.0, *AGAIN):
            await asyncio.sleep(seconds)
            await asyncio.to_thread(processes.kill, live.roots, own, live.mark, live.members)

    def end(self, live: Live, code: int, servers: Sequence[str] = ()) -> None:
        """A session ended in the ordinary way; ``servers``: agents whose servers ended with it."""
        # Before the guard's own git opens these files.
        connections_after_reads.note_reads(live, self._sessions, self._now())
        if live.watch:
            live.watch.stop()
        if live.session.state is not State.ENDED:
            data = {"code": code, **({"servers": [*servers]} if servers else {})}
            self._sessions.note(live, [Entry(self._now(), live.id, "end", data)])

    async def left_running(self, live: Live) -> list[dict[str, object]]:
        """What the agent has left behind, a server for instance: pid and name. Nobody watches it any more."""
        if live.session.state is State.KILLED:
            return []
        first = await asyncio.to_thread(agent_programs.running, live)
        if not first:
            return []
        # What is on its way out is not left running.
        await asyncio.sleep(LEAVING)
        found = map(processes.describe, sorted(first & await asyncio.to_thread(agent_programs.running, live)))
        return [{"pid": p.pid, "name": p.name} for p in found if p and p.pid not in live.parts]

    def pause(self, live: Live, assurance: str) -> None:
        """Hold what the agent starts until a person lets it go on. ``assurance``: as in ``Reply``."""
        self._by_person(live, Event.PAUSE, assurance)

    def resume(self, live: Live, assurance: str) -> None:
        """Give autonomy back: a person typed /resume (R8), or ended a pause."""
        self._by_person(live, Event.RESUME, assurance)
        live.dialogue.end()
        if live.runner:  # it may have been said in another terminal than the one with the chat
            live.runner.tell("resumed")

    def said(self, live: Live, text: str, assurance: str) -> None:
        """A person says something to the agent: on record, and from now on to be heard."""
        by = {"authorized_by": "user", "assurance": assurance}
        self._sessions.note(live, [Entry(self._now(), live.id, "chat", {"text": text, **by})])
        live.dialogue.say(text)
        if live.runner and assurance == OTHER_TERMINAL:
            live.runner.tell("said", text=live.discretion.text(text))

    def revoked(self, live: Live, grants: Sequence[TimedGrant], assurance: str) -> None:
        """A person has ended what they had said yes to for a while."""
        said = {"yes": False, "why": "revoked", "assurance": assurance}
        shown = [{"grant": grant.id, "action": grant.action, "target": grant.target} for grant in grants]
        self._sessions.note(live, [Entry(self._now(), live.id, "human", {**one, **said}) for one in shown])

    def _by_person(self, live: Live, event: Event, assurance: str) -> None:
        entry = encode_entries.state(live.id, self._now(), event, authorized_by="user", assurance=assurance)
        self._sessions.note(live, [entry])


def _is_beside(other: Live, live: Live) -> bool:
    """Whether a client's process serves another session, by the client's own id, beside a killed one."""
    one, two = other.session, live.session
    return other.told_by_client and one.owner == two.owner and not one.over and one.client[1:] != two.client[1:]


def _harm(live: Live, shims: ShimIntegrity) -> str:
    try:
        return shims.harm()
    except Exception:
        log.exception("the shims of %s could not be looked at", live.id)
        return ""
