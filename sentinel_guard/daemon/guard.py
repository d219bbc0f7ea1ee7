"""Handle one action of an agent: judge it, ask a person, record the verdict, answer; and then its outcome.

Rules of this file:
1. No verdict leaves before its entry is stored; a session advances only after that (``Sessions.note``).
2. After the wait for a person the case is judged again: a yes is worth nothing if the session was killed meanwhile.
3. A yes grants exactly the findings that were shown, to that call and to the steps that carry it out.
   Where what was shown of it is no longer so (the commits of a push), the question is put anew.
4. Empty is not a yes: no person within reach, no snapshot possible, no answer in time are a no with words.
   A yes for a while covers its own kind alone, and is on record each time that it is used.
5. A cooling session waits here, on our side, before its next request is looked at (R6).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sentinel_guard.core import encode_entries, response_text
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.programs.git.pushes_elsewhere import ELSEWHERE
from sentinel_guard.core.analysis.world import AskingWorld, World
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.finding_texts import evidence_target
from sentinel_guard.core.checks.registry import OF_OUTCOMES, OF_PROPOSALS
from sentinel_guard.core.checks.rules import OUTSIDE_RULES
from sentinel_guard.core.frame_stack import with_room
from sentinel_guard.core.judge import apply_reply, carried_out, inherit, judge
from sentinel_guard.core.model import Action, Effect, Entry, Finding, Layer, Outcome, Question, Response, Verdict
from sentinel_guard.core.secrets.egress.outgoing_data import is_looked_into
from sentinel_guard.core.session.operation_fingerprint import command_text, is_poll, operation
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon.live_sessions import STEP, Live, Sessions
from sentinel_guard.daemon.question_preview import Look
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from sentinel_guard.host.git import repository
from sentinel_guard.host.git.repository import Tracked
from sentinel_guard.host.previews.push_preview import Start
from sentinel_guard.humans.question_inbox import Channel, Reply
from sentinel_guard.humans.timed_grants import TimedGrant, kind_of

NOBODY = "it needs a person's yes, and nobody can be asked here (no terminal)"
SHARED = "it needs a person's yes, and [gate] typed_word or second_factor lets nobody give it on a shared terminal"
ATTEND = "start the agent in a terminal with 'sentinel-guard run -- AGENT', or let the user do this step"
COMES_BACK = 3.0
"""Seconds that a runner may take to find the daemon again before nobody can be asked."""
EXPECTED = 30.0
"""Seconds for which an allowed git command may go on changing files."""
PAUSE_LOOK = 0.2
"""Seconds between two looks whether a person has ended their pause."""
CHANGED = "changed"
"""``Reply.why`` of a yes to what is no longer so: the question is put anew."""
TIMED = "timed-grant"
"""Assurance of a yes that a person gave before, to all of this kind for a while."""
MOVED = 3
"""Times that an action is looked at beside the loop, while its session goes on."""
SHORT, MUCH = 500, 50
"""Characters of a text that is looked at at once, and effects that are checked at once."""
DEEP = ("**", "find", "fd", "for ", "while ", "until ", " show ", "cat-file", "kill", "fuser")
"""What all folders or processes are looked through for, what is done again and again, and what git is asked for."""
WRAPPERS = frozenset(("eval", "exit", "jobs", "pwd", "shopt", "trap"))
"""Programs of an agent's wrapper, which are not the model's; what the model makes of them counts."""
Brought = tuple[Finding, ...]
"""What a git hook found."""
IsNew = Callable[[Live, Tracked, str], bool]
"""Whether nothing was at an absolute path when a session began."""


class Waiter(Protocol):
    """The peer that waits for a verdict."""

    @property
    def channel(self) -> Channel | None:
        """A terminal of its own where a person may be asked, outside ``run`` only."""

    async def hold(self, text: str = "") -> None:
        """Tell it to go on waiting."""


class Reactions(Protocol):
    """What a verdict sets off beside the answer."""

    async def snapshot(self, live: Live, verdict: Verdict) -> Verdict: ...

    def end_processes(self, live: Live, verdict: Verdict) -> None: ...

    def started(self, live: Live, root: str) -> Start: ...


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with what the outcome will need of it."""

    verdict: Verdict
    operation: str


class Guard:
    def __init__(
        self,
        *,
        sessions: Sessions,
        reactions: Reactions,
        tokens: TokenRecords,
        world: Callable[[Live, Action], AskingWorld],
        is_new: IsNew,
        now: Callable[[], float],
    ) -> None:
        self._sessions, self._reactions, self._tokens, self._now = sessions, reactions, tokens, now
        self._world, self._is_new = world, is_new
        self._questions = itertools.count(1)
        self._changed: set[str] = set()
        """Actions whose yes came too late: what they would do was no longer what had been shown."""

    async def handle(self, live: Live, action: Action, waiter: Waiter, brought: Brought = ()) -> Judged:
        """Decide about a proposal. The verdict is on record when this returns; raises StoreError if it cannot be.

        ``brought``: what a git hook found, to be judged with the rest.
        """
        op = operation(action)
        if not action.parent:
            await self._tokens.look(live, action)
        verdict = await self._decide(live, action, op, waiter, brought)
        if Response.SNAPSHOT in {f.response for f in verdict.findings} and verdict.response < Response.ASK:
            verdict = await self._reactions.snapshot(live, verdict)
        policy, kills = live.policy(), verdict.response is Response.KILL
        entries = encode_entries.of_verdict(verdict, op, poll=is_poll(action, policy.loop.polls), policy=policy)
        end = functools.partial(self._reactions.end_processes, live, verdict) if kills else None
        self._sessions.note(live, entries, committed=end)
        if verdict.response < Response.ASK:
            live.expect(verdict, EXPECTED)
        if verdict.response >= Response.BREAK:
            live.timed.revoke()
        return Judged(verdict, op)

    def admit(self, live: Live, action: Action) -> Judged:
        """Put on record what is not judged: the person's own command, which starts the agent."""
        verdict, op = Verdict(action), operation(action)
        self._note(live, encode_entries.of_verdict(verdict, op, poll=False, policy=live.policy()))
        return Judged(verdict, op)

    async def _decide(self, live: Live, action: Action, op: str, waiter: Waiter, brought: Brought) -> Verdict:
        while True:
            if await self._turn(live, waiter):
                action = replace(action, at=self._now())
            if not action.parent:  # what a tool of a call prints, nobody may read
                await live.dialogue.tell(waiter.hold)
            verdict = await self._judge(live, action, op, brought)
            while verdict.response is Response.ASK:
                verdict = await self._ask(live, verdict, op, waiter, brought)
            if verdict.response is not Response.COOL_DOWN:
                return verdict
            # The cool-down goes on record by itself; the request is looked at again after it.
            self._note(live, encode_entries.of_verdict(verdict, op, poll=False, policy=live.policy()))
            await waiter.hold(response_text.cool_down(verdict))

    async def _turn(self, live: Live, waiter: Waiter) -> bool:
        """Wait until the session may speak; whether it had to."""
        waited = False
        while live.session.state is not State.ACTIVE:
            session, now = live.session, self._now()
            if session.waited(now):
                self._note(live, [encode_entries.state(session.id, now, Event.EXPIRE)])
            elif session.state is State.COOLING:
                await waiter.hold()
                await asyncio.sleep(session.until - now)
            elif session.state is State.ASKING:
                await waiter.hold()
                await live.answered.wait()
            elif session.paused_by_person:
                await waiter.hold()
                await asyncio.sleep(PAUSE_LOOK)
            else:
                break
            waited = True
        return waited

    async def _judge(self, live: Live, action: Action, op: str, brought: Brought) -> Verdict:
        """Look at everything as it is now; who answers slowly is asked only where a person may have to be."""
        verdict, more = await self._look(live, action, op, brought)
        if more:
            verdict, _ = await self._look(live, action, op, brought, asks=True)
        return verdict

    async def _look(
        self, live: Live, action: Action, op: str, brought: Brought, *, asks: bool = False
    ) -> tuple[Verdict, bool]:
        """The verdict, and whether an engine of containers, or a look at another repository, might have said more.

        What may take long (many commands, a loop, a search of folders; what may leave and is looked into) is done
        beside our own loop; where the session went on meanwhile, its effects are judged again.
        """
        moved, wonders, doubts = 0, False, False
        known: Case | None = None
        tracked = repository.once(functools.partial(repository.tracked, live.session.root))
        while True:
            at_once, session = moved == MOVED, live.session
            known = known if known and known.session.made == session.made else None
            case_of = self._case_of(live, action, op, brought, tracked)
            world = self._world(live, action)
            world.asks = asks and not at_once  # an answer may take its time, and at once is on our own loop
            look = functools.partial(_case, case_of, action, session.made, world, known)
            beside = not (known or at_once) and (asks or takes_long(action))
            known = await asyncio.to_thread(with_room, look) if beside else look()
            wonders, doubts = wonders or world.wonders, doubts or world.doubts
            if not beside:
                judge = functools.partial(_verdict, live, known)
                quick = at_once or not _weighs_long(known)
                verdict = judge() if quick else await asyncio.to_thread(with_room, judge)
                if quick or live.session is session:
                    return verdict, doubts or (wonders and verdict.response is Response.ASK)
            moved += 1

    def _case_of(self, live: Live, action: Action, op: str, brought: Brought, tracked: Tracked) -> Callable[..., Case]:
        """All that is known of an action but its effects: makes the case of these, the home and a way to look."""
        restricted, hidden, session = live.watch.restricted if live.watch else (), live.discretion, live.session
        began = repository.once(functools.partial(repository.committed, session.root, session.start_hash))
        return functools.partial(
            Case, action, session=session, policy=live.policy(), operation=op, restricted=restricted,
            guarded=self._sessions.guarded(), tracked=tracked, known=hidden.known, baseline=hidden.baseline,
            key=hidden.key, brought=brought, held=live.broker is not None and os.geteuid() != 0,
            new=functools.partial(self._is_new, live, began),
        )  # fmt: skip

    async def _ask(self, live: Live, asked: Verdict, op: str, waiter: Waiter, brought: Brought) -> Verdict:
        finding = asked.decisive
        channel = await self._channel(live, waiter, finding)
        if channel is None or finding is None or finding.ask is None or live.session.over:
            words = SHARED if channel is None and waiter.channel else NOBODY
            nobody = _nobody(finding, words) if finding else Finding("human", Response.DENY, "this", words, ATTEND)
            return replace(asked, findings=(*asked.findings, nobody))
        shown_of = _as_shown(asked, finding)
        look = Look(asked, shown_of.findings, self._now(), functools.partial(self._reactions.started, live))
        standing = await self._standing(live, asked.action, look, waiter)
        put = self._told(live, asked.action, finding, standing) if standing else None
        reply, shown = put or await self._put(live, channel, waiter, asked, look)
        at, reason = self._now(), live.discretion.text(reply.reason)
        said = {**reply.as_data(), **({"reason": reason} if reason else {}), "request": op}
        self._note(live, [Entry(at, live.id, "human", {**shown, **said})])
        again = await self._judge(live, replace(asked.action, at=at), op, brought)
        if reply.why == CHANGED:
            self._changed.add(asked.action.id)
            return again
        self._changed.discard(asked.action.id)
        settled = apply_reply(shown_of, again, yes=reply.yes, reason=reason)
        live.grants[asked.action.id] = settled.granted
        return settled

    async def _standing(self, live: Live, action: Action, look: Look, waiter: Waiter) -> TimedGrant | None:
        """A yes for a while that covers what is asked about."""
        now = self._now()
        if not live.timed.may_cover(look.findings, now):
            return None
        kind = kind_of(action, look.findings, (await look.up()).subjects)
        found = live.timed.covering(kind, now) if kind else None
        if found is None:  # another question may have been put meanwhile
            await self._turn(live, waiter)
        return found

    def _told(self, live: Live, action: Action, finding: Finding, grant: TimedGrant) -> tuple[Reply, dict[str, object]]:
        """The reply that a person gave before, for a while."""
        detail = self._question(live, action, finding, self._now()).detail
        shown: dict[str, object] = {"grant": grant.id, "action": grant.action, "target": grant.target, "detail": detail}
        return Reply(True, TIMED), shown

    async def _put(
        self, live: Live, channel: Channel, waiter: Waiter, asked: Verdict, look: Look
    ) -> tuple[Reply, dict[str, object]]:
        """Put the question to the person. The reply, and what goes on record with it."""
        now, gate, action, finding = self._now(), live.policy().gate, asked.action, asked.decisive
        assert finding is not None
        question = self._question(live, action, finding, now)
        live.answered.clear()
        shown = {"question": question.id, "action": question.ask.action, "target": question.ask.target}
        shown["detail"] = question.detail
        self._note(live, [encode_entries.state(live.id, now, Event.ASK, **shown)])
        await waiter.hold()
        try:
            # The session waits already: no other question comes between.
            found = await look.up()
            kind = kind_of(action, look.findings, found.subjects)
            question = replace(question, timed=gate.timed_seconds if kind and not question.code else 0.0)
            question = look.onto(question, live.discretion, live.timed.live(now), again=action.id in self._changed)
            reply = await live.inbox.ask(question, channel, gate.seconds)
            if reply.yes and not await look.same():
                reply = replace(reply, yes=False, why=CHANGED)
        finally:
            at = self._now()
            self._note(live, [encode_entries.state(live.id, at, Event.ANSWERED)])
            live.answered.set()
        if reply.yes and reply.timed and kind and question.timed and not live.session.over:
            grant = live.timed.give(kind, finding, at + question.timed)
            return reply, {**shown, "grant": grant.id, "until": grant.until}
        return reply, {**shown}

    def _question(self, live: Live, action: Action, finding: Finding, now: float) -> Question:
        gate, detail = live.policy().gate, live.discretion.text(response_text.command_line(action))
        until = now + gate.seconds if gate.seconds else 0
        assert finding.ask is not None
        ident = f"q{next(self._questions)}"
        code = gate.needs_code(finding.ask.action)
        return Question(ident, live.id, finding.ask, detail, finding.why, now, until, gate.typed_word, code=code)

    async def _channel(self, live: Live, waiter: Waiter, finding: Finding | None) -> Channel | None:
        """The way to the person. A runner needs a moment to come back to a daemon that was started anew."""
        if not live.session.interactive:
            gate, ask = live.policy().gate, finding.ask if finding else None
            if gate.typed_word:
                return None
            # On a launcher's terminal the agent types, too, and neither word nor code can be asked for on it.
            own = None if ask and gate.needs_code(ask.action) else waiter.channel
            return own or self._sessions.other_terminals.channel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(COMES_BACK):
                while live.runner is None:
                    await waiter.hold()
                    await asyncio.sleep(0.05)
        return live.runner

    def observe(self, live: Live, judged: Judged, outcome: Outcome) -> Verdict:
        """Take an outcome on record and say what it means: nothing, a hint, or the breaker (``tell`` records that)."""
        action = judged.verdict.action
        self._note(live, [encode_entries.of_outcome(action, outcome)])
        live.grants.pop(action.id, None)
        self._tokens.look_soon(live)
        # What it would do was judged before it ran; now only how it ended is.
        action = replace(action, at=outcome.at)
        return judge(Case(action, (), live.session, live.policy(), outcome, judged.operation), OF_OUTCOMES)

    def tell(self, live: Live, verdict: Verdict, text: str, at: float) -> None:
        """Take on record what an agent is about to be told of an outcome."""
        if verdict.response >= Response.BREAK:
            live.timed.revoke()
        if text or verdict.findings:
            self._note(live, encode_entries.of_observation(verdict, text, at, live.policy()))

    def _note(self, live: Live, entries: list[Entry]) -> None:
        self._sessions.note(live, entries)


def takes_long(action: Action) -> bool:
    """Whether judging an action may take more than some milliseconds: many commands, a loop, a search of folders."""
    text = command_text(action)
    return len(text) > SHORT or any(word in text for word in DEEP)


def _effects(action: Action, world: World, own: frozenset[str]) -> tuple[Effect, ...]:
    """What the action would do, and what else its agent's wrapper does then, in the same shell."""
    effects = analyse(action, world, own)
    if not action.around:
        return effects
    around = analyse(replace(action, arguments={**action.arguments, "command": action.around}), world, own)
    known = {*effects, *(e.with_how(e.how | {ELSEWHERE}) for e in effects)}
    return (*effects, *(e for e in around if e not in known and not (e.command and e.command.program in WRAPPERS)))


def _weighs_long(case: Case) -> bool:
    """Whether the checks may take long, once it is known what an action would do: it is much, or looked into."""
    effects, root = case.effects, case.session.root or case.action.root
    much = len(effects) > MUCH or any("sweep" in effect.how for effect in effects)
    return much or is_looked_into(case.action, effects, root, case.home)


def _case(case_of: Callable[..., Case], action: Action, made: frozenset[str], world: World, known: Case | None) -> Case:
    """``made``: what the session made; ``known``: the same case a moment before."""
    if known:
        return case_of(effects=known.effects, home=known.home, look=known.look)
    return case_of(effects=_effects(action, world, made), home=world.home, look=world.peek)


def _verdict(live: Live, case: Case) -> Verdict:
    verdict = live.discretion.verdict(judge(case, OF_PROPOSALS))
    parent = case.action.parent
    if case.action.layer is not Layer.KERNEL:
        return inherit(verdict, live.grants.get(parent, ()))
    # The agent's own process has no call above it: there the yes may be to any of its tools.
    given = itertools.chain(*live.grants.values()) if parent == STEP else live.grants.get(parent, ())
    shown = [(finding.rule, evidence_target(finding)) for finding in given]
    return carried_out(verdict, [*shown, *((rule, path) for rule in OUTSIDE_RULES for path in live.released)])


def _nobody(finding: Finding, words: str) -> Finding:
    """A question that nobody can be asked: its own reason and way out stay."""
    why = "; ".join(filter(None, (finding.why, words)))
    instead = ", or ".join(filter(None, (finding.instead, ATTEND)))
    return replace(finding, check="human", response=Response.DENY, why=why, instead=instead, ask=None)


def _as_shown(asked: Verdict, finding: Finding) -> Verdict:
    """The verdict with no other question than the one on the screen: each other one is asked by itself."""
    return replace(asked, findings=tuple(f for f in asked.findings if f.ask == finding.ask))
