"""Answer the hooks of coding agents: a verdict before a tool call, the outcome after it, a word on changed settings.

Rules of this file:
1. Every answer has the form that its client reads, a failure of ours too; what has no form is a refusal in words, which
   the launcher puts into one (docs/protocol.md).
2. No answer comes later than the client waits: a person's silence, a cool-down or a pause that lasts longer is a no, on
   record, with words that it may be tried again.
3. Nothing waits for a baseline (ADR 0038).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import NOTHING, SPARE, CallEnd, HookDialect, HookEvent, HookReply, Moment, Word
from sentinel_guard.core import encode_entries, response_text
from sentinel_guard.core.model import Action, Finding, Layer, Response, Verdict
from sentinel_guard.core.session.operation_fingerprint import operation
from sentinel_guard.core.session.session import State
from sentinel_guard.core.wire_framing import Message
from sentinel_guard.daemon import restore_disabled_git_hooks, wire_messages
from sentinel_guard.daemon.agent_hooks.hook_sessions import HookSessions
from sentinel_guard.daemon.agent_hooks.open_calls import OpenCall, shell_text
from sentinel_guard.daemon.call_outcomes import Outcomes
from sentinel_guard.daemon.file_integrity import changed_settings
from sentinel_guard.daemon.guard import Guard, Judged
from sentinel_guard.daemon.live_sessions import HOOKS, Live, Sessions
from sentinel_guard.daemon.peer_connection import Link
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.errors import PeerError, SentinelError
from sentinel_guard.host import client_records

log = logging.getLogger(__name__)
LATE = "no answer came in the time that the agent's hook has"
AGAIN = "wait for the user, then try the same call again"
TAIL = 1 << 20
"""Bytes of a client's record in which the ends of its last calls are looked for."""
NO_WORD = Word()


@dataclass(slots=True)
class _Waiter:
    """A hook that waits for a verdict; what would be printed meanwhile is said with the answer."""

    link: Link
    until: float
    """Of the loop's clock: when the client goes on without an answer."""
    channel: None = None
    said: list[str] = field(default_factory=list)

    async def hold(self, text: str = "") -> None:
        left = self.until + SPARE / 2 - asyncio.get_running_loop().time()
        self.link.send(wire_messages.hold(milliseconds=max(1, int(left * 1000))))
        if text:
            self.said.append(text)


@dataclass(frozen=True, slots=True)
class _Done:
    """What is said, and the verdict whose consequences are then carried out."""

    word: Word = NO_WORD
    live: Live | None = None
    verdict: Verdict | None = None
    tool: str = ""


class HookRequests:
    def __init__(
        self,
        *,
        sessions: Sessions,
        hooks: HookSessions,
        guard: Guard,
        reactions: Reactions,
        outcomes: Outcomes,
        now: Callable[[], float],
    ) -> None:
        self._sessions, self._hooks, self._guard = sessions, hooks, guard
        self._reactions, self._outcomes, self._now = reactions, outcomes, now
        self._ids = itertools.count(1)

    async def serve(self, asked: wire_messages.Request, link: Link) -> None:
        """Answer one hook. Raises PeerError where its client and event have no form."""
        dialect, name = _named(asked)
        stops = dialect.moment(name) in (Moment.CALL, Moment.SETTINGS)
        try:
            done = await self._answer(dialect, name, asked, link)
        except EOFError:
            raise
        except SentinelError as e:
            log.warning("refused: %s", e)
            done = _refused(e.message, "nothing runs unrecorded", e.hint, stops=stops)
        except ValueError as e:
            done = _refused(f"the hook's payload is not understood ({e})", "nothing runs unjudged", "", stops=stops)
        except Exception:
            log.exception("a hook failed")
            done = _refused("the guard failed on this hook", "see daemon.log", "sentinel-guard doctor", stops=stops)
        link.send(_message(dialect.render(name, done.word, done.tool)))
        if done.live and done.verdict:
            await self._reactions.after(done.live, done.verdict)

    async def _answer(self, dialect: HookDialect, name: str, asked: wire_messages.Request, link: Link) -> _Done:
        until = asyncio.get_running_loop().time() + dialect.waits - SPARE
        event = dialect.parse(name, _object(asked.stdin))
        live = await self._hooks.find(link.pid, dialect.client, event, event.cwd or asked.cwd)
        self._hooks.calls(live).asked = True
        late = await self._late_ends(dialect, live, until)
        match event.moment:
            case Moment.CALL:
                return await self._call(dialect, event, live, _Waiter(link, until, said=late))
            case Moment.RESULT:
                return await self._result(dialect.client, event, live, link)
            case Moment.SETTINGS:
                return await self._settings(dialect, event, live, _Waiter(link, until))
            case Moment.RESTS:
                self._hooks.rest(live, event.subagent)
        return _Done(_over(live))

    async def _call(self, dialect: HookDialect, event: HookEvent, live: Live, waiter: _Waiter) -> _Done:
        action = self._action(dialect.client, event, live, waiter.link)
        calls, op = self._hooks.calls(live), operation(action)
        killed = live.session.state is State.KILLED
        if not killed and (known := calls.told(dialect.client, event, op, self._now())):
            return _Done(known, tool=event.tool)
        if live.session.root:
            restore_disabled_git_hooks.mend(live)
        judged = await self._judged(live, action, waiter, op)
        verdict, answer = judged.verdict, response_text.answer(judged.verdict)
        said = "\n".join(filter(None, (*waiter.said, answer.text)))
        word = Word(said, blocked=not answer.run, over=live.session.state is State.KILLED)
        begun = await self._outcomes.begin(live, judged) if answer.run else None
        if word.blocked:
            calls.ours.add(dialect.in_place(event.tool, word))
        made_by = event.subagent
        call = OpenCall(self._now(), dialect.client, event.call, op, word, made_by, shell_text(event), begun)
        calls.add(call)
        self._hooks.under_way(live)
        return _Done(word, live, verdict, event.tool)

    async def _judged(self, live: Live, action: Action, waiter: _Waiter, op: str) -> Judged:
        """The verdict, or a refusal where none is there in time."""
        try:
            async with asyncio.timeout_at(waiter.until):
                return await self._guard.handle(live, action, waiter)
        except TimeoutError:
            finding = Finding("hook", Response.DENY, "this call", LATE, AGAIN)
            return self._put_on_record(live, action, finding, op)

    def _put_on_record(self, live: Live, action: Action, finding: Finding, op: str) -> Judged:
        verdict = Verdict(action, (), (finding,))
        end = partial(self._reactions.end_processes, live, verdict) if finding.response is Response.KILL else None
        entries = encode_entries.of_verdict(verdict, op, poll=False, policy=live.policy())
        self._sessions.note(live, entries, committed=end)
        return Judged(verdict, op)

    async def _result(self, client: str, event: HookEvent, live: Live, link: Link) -> _Done:
        calls = self._hooks.calls(live)
        call = calls.find(event, operation(self._action(client, event, live, link)))
        if call and event.end and event.end.code is None and not call.carried_out:
            call.pending, call.transcript = self._now(), event.transcript
        elif call:
            calls.close(call)
        self._hooks.under_way(live)
        if call is None or call.carried_out or event.end is None or event.end.code is None:
            return _Done(_over(live))
        return await self._end(live, call, event.end)

    async def _end(self, live: Live, call: OpenCall, end: CallEnd) -> _Done:
        if call.begun is None:
            return _Done()
        ended = wire_messages.Ended(end.code or 0, end.seconds, end.stdout, end.stderr)
        verdict, said = await self._outcomes.end(live, call.begun, ended)
        word = Word(said, blocked=verdict.response >= Response.BREAK, over=live.session.state is State.KILLED)
        return _Done(word, live, verdict)

    async def _late_ends(self, dialect: HookDialect, live: Live, until: float) -> list[str]:
        """Take the outcomes of calls whose client tells only in its own record how they ended; what is to be said."""
        calls = self._hooks.calls(live)
        waiting, said, ends = calls.pending(), list[str](), dict[str, CallEnd]()
        try:
            async with asyncio.timeout_at(until):
                for record in {call.transcript for call in waiting if call.transcript}:
                    ends |= dialect.late_ends(await asyncio.to_thread(client_records.last_lines, record, TAIL))
        except TimeoutError:
            return said
        for call in waiting:
            # Another hook, of a call of the same reply, may have read the same end meanwhile.
            if call.call in ends and call in calls.pending():
                calls.close(call)
                done = await self._end(live, call, ends[call.call])
                said += [done.word.text] if done.word.text else []
                if done.live and done.verdict:
                    await self._reactions.after(done.live, done.verdict)
        return said

    async def _settings(self, dialect: HookDialect, event: HookEvent, live: Live, waiter: _Waiter) -> _Done:
        """Settings without our hooks are kept out of the running session; what was written is put back by the watch."""
        # The watch counts the same change as a try, once it has put it back.
        again = bool(live.session.strikes)
        look = partial(changed_settings.look, self._sessions.places, dialect, event.file)
        try:
            async with asyncio.timeout_at(waiter.until):
                disarmed = await asyncio.to_thread(look)
        except TimeoutError:
            disarmed = changed_settings.Disarmed(changed_settings.UNREAD)
        if disarmed is None:
            return _Done()
        response = Response.KILL if again and disarmed.rule else Response.DENY
        instead = "leave the hooks as they are, or ask the user: sentinel-guard help-me 'what you need'"
        finding = Finding(
            "hook", response, f"{event.file} was changed", disarmed.why, instead, disarmed.rule, event.file
        )
        changed = event._replace(tool="settings", arguments={"path": event.file})
        action = self._action(dialect.client, changed, live, waiter.link)
        judged = self._put_on_record(live, action, finding, operation(action))
        word = Word(response_text.answer(judged.verdict).text, blocked=True, over=response is Response.KILL)
        return _Done(word, live, judged.verdict)

    def _action(self, client: str, event: HookEvent, live: Live, link: Link) -> Action:
        live.begun, now = True, self._now()
        return Action(
            f"{now:.3f}-h{next(self._ids)}",
            live.id,
            Layer.HOOK,
            event.tool,
            event.arguments or NOTHING,
            event.cwd or live.session.root,
            now,
            live.session.root,
            who=link.peer,
            agent=live.session.client[0] or client,
            call=event.call,
            subagent=event.subagent,
        )


def _named(asked: wire_messages.Request) -> tuple[HookDialect, str]:
    if len(asked.argv) != 3:
        raise PeerError("a hook is called with its client and its event", "Run 'sentinel-guard install --agent' again.")
    _, client, name = asked.argv
    dialect = registry.hooks_of(client)
    if dialect is None or name not in dialect.events:
        raise PeerError(
            f"no hook {name!r} of the agent {client!r} is known", "Run 'sentinel-guard install --agent' again."
        )
    return dialect, name


def _object(text: str) -> Mapping[str, object]:
    """Raises ValueError."""
    try:
        said = json.loads(text)
    except RecursionError as e:
        raise ValueError("it is too deep") from e
    if not isinstance(said, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - of a text that a client sent
    return said


def _message(reply: HookReply) -> Message:
    said = [*wire_messages.prints(reply.stdout, "1"), *wire_messages.prints(reply.stderr)]
    return [*said, *wire_messages.leave("", reply.code)]


def _refused(what: str, why: str, instead: str, *, stops: bool) -> _Done:
    """A failure of ours: a refusal where the call can be stopped, else nothing."""
    return _Done(Word(response_text.refused(what, why, instead), blocked=True) if stops else Word())


def _over(live: Live) -> Word:
    """A word for a client that goes on with a session that was killed."""
    if live.session.state is not State.KILLED or live.kind != HOOKS:
        return Word()
    return Word(f"SENTINEL KILL SWITCH: {live.session.reason}. This session is over.", blocked=True, over=True)
