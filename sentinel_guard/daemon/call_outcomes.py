"""Record the outcome of a supervised command, and return a hint about it to the agent (R1, R5)."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from sentinel_guard.core import response_text
from sentinel_guard.core.checks.call_history import earlier_failure
from sentinel_guard.core.checks.loop import MAX_PERIOD
from sentinel_guard.core.model import Command, Effect, Entry, Kind, Outcome, Response, TestRun, Verdict
from sentinel_guard.core.session.failure_exit_codes import error_excerpt, error_output, failed
from sentinel_guard.core.session.parse_test_output import may_run_tests, parse_tests
from sentinel_guard.core.session.session import Session
from sentinel_guard.core.text.normalize_output import UNSEEN, digest
from sentinel_guard.core.text.redact_by_pattern import redact
from sentinel_guard.core.value import value
from sentinel_guard.daemon.guard import Guard, Judged
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.daemon.root_cause_requests import Reviews
from sentinel_guard.daemon.token_usage import estimate
from sentinel_guard.daemon.wire_messages import Ended
from sentinel_guard.errors import HostError
from sentinel_guard.host.file_integrity.background_writes import are_background_writes
from sentinel_guard.host.machine import processes

AT_ONCE = 8192
"""Characters of output of which the digest is made at once; whose launcher does not wait has no more (supervise.c)."""
EXCERPT = 400
"""Characters of an error that the log keeps."""
REDACTED = 8192
"""Characters of which those are the first: what is cut in two is known no more."""


@value
class Begun:
    """A call that runs."""

    judged: Judged
    since: float
    """When it began, by the clock that this machine's processes share (``time.monotonic``)."""
    before: str
    nothing_to_say: bool = False
    """True where no check has a word for a success: its launcher need not wait for one."""
    on_screen: bool = False
    """True where it prints on the inner terminal, which the runner sees."""
    in_turn: bool = False
    """True where it comes for the third time in the same turn."""


class Outcomes:
    def __init__(self, sessions: Sessions, guard: Guard, reviews: Reviews, now: Callable[[], float]) -> None:
        self._sessions, self._guard, self._reviews, self._now = sessions, guard, reviews, now

    async def begin(self, live: Live, judged: Judged) -> Begun:
        """Note how the worktree stands, where progress is in question."""
        doubtful = in_question(live.session, judged.operation)
        in_turn = comes_in_turn(live.session, judged.operation)
        before = await self._tree(live) if doubtful else ""
        who = judged.verdict.action.who
        # A client may run its shell on a terminal of its own: what the inner one shows is then the client's screen.
        on_screen = bool(who and live.agent and processes.prints_on_terminal_of(who.pid, live.agent))
        if live.runner and on_screen:
            # What was printed before must not count as this call's words: the runner takes it in first.
            await live.runner.tail(time.monotonic())
        rare = not in_turn and not (live.policy().loop.strict and _comes_again(live, judged))
        nothing_to_say = not doubtful and rare and not may_run_tests(_commands(judged.verdict.effects))
        return Begun(judged, time.monotonic(), before, nothing_to_say, on_screen, in_turn)

    async def end(self, live: Live, begun: Begun, ended: Ended) -> tuple[Verdict, str]:
        """The verdict on the outcome, and the words for the agent's standard error."""
        if ended.code and live.runner and begun.on_screen and ended.stdout is None and ended.stderr is None:
            screen = await live.runner.tail(begun.since)
            ended = replace(ended, stdout=screen if screen is None else "", stderr=screen)
        outcome = await self._outcome(live, begun, ended)
        verdict = self._guard.observe(live, begun.judged, outcome)
        action = begun.judged.verdict.action
        stdout, stderr = ended.stdout or "", ended.stderr or ""
        estimate.note(live, self._sessions, action, len(stdout) + len(stderr), outcome.at)
        hinted = verdict.response < Response.COOL_DOWN
        if hinted and failed(outcome):
            stdout, stderr = map(live.discretion.piece, (stdout, stderr))
        text = (
            response_text.hint(action, outcome, stdout, stderr, verdict)
            if hinted
            else response_text.answer(verdict).text
        )
        self._guard.tell(live, verdict, text, outcome.at)
        asked = await self._reviews.ask(live, action, outcome.code)
        return verdict, "\n".join(filter(None, (text, asked)))

    async def _outcome(self, live: Live, begun: Begun, ended: Ended) -> Outcome:
        stdout, stderr, effects = ended.stdout or "", ended.stderr or "", begun.judged.verdict.effects
        if len(stdout) + len(stderr) > AT_ONCE:
            # They are remembered; no other session waits for it.
            await asyncio.to_thread(lambda: [*map(digest, (stdout, stderr))])
        error = error_output(effects, ended.code, stdout, stderr)
        seen = ended.stdout is not None and ended.stderr is not None
        outcome = Outcome(
            begun.judged.verdict.action.id,
            self._now(),
            ended.code,
            error="" if error is None else digest(error) if seen or error.strip() else UNSEEN,
            output="" if ended.stdout is None else digest(stdout),
            excerpt=_excerpt(live, effects, ended.code, error) if error is not None else "",
            tests=_tests(effects, stdout, stderr, ended.code),
            duration=ended.seconds,
            before=begun.before,
            after=await self._tree(live) if error is not None or begun.before or begun.in_turn else "",
        )
        return await self._without_background_writes(live, begun.judged.operation, outcome)

    async def _without_background_writes(self, live: Live, operation: str, outcome: Outcome) -> Outcome:
        """The outcome, which began where the try that it may repeat ended if only background processes wrote since."""
        earlier = earlier_failure(live.session.calls, operation, outcome) if failed(outcome) else None
        if earlier is None or not (live.trees and earlier.after and outcome.before not in ("", earlier.after)):
            return outcome
        try:
            names = await asyncio.to_thread(live.trees.changed, earlier.after, outcome.before)
        except HostError:
            return outcome
        theirs = await asyncio.to_thread(are_background_writes, live.session.root, names)
        return replace(outcome, before=earlier.after) if theirs else outcome

    async def _tree(self, live: Live) -> str:
        """The worktree's present tree; empty where it cannot be had, which is said and put on record once."""
        if live.trees is None:
            return ""
        tree = await asyncio.to_thread(live.trees.take)
        if why := live.trees.complaint():
            what = f"progress is not measured: {redact(why)}"
            self._sessions.note(live, [Entry(self._now(), live.id, "watch", {"what": what, "check": "progress"})])
            if live.runner:
                live.runner.tell("notice", level="", text=f"SENTINEL: {what}")
        return tree


def _comes_again(live: Live, judged: Judged) -> bool:
    """Whether a call like it has ended within the window."""
    return any(call.operation == judged.operation for call in live.session.calls if call.outcome)


def _commands(effects: Iterable[Effect]) -> list[Command]:
    return [e.command for e in effects if e.kind is Kind.EXECUTE and e.command]


def _excerpt(live: Live, effects: tuple[Effect, ...], code: int, error: str) -> str:
    return redact(live.discretion.piece(error_excerpt(effects, code, error))[:REDACTED])[:EXCERPT]


def _tests(effects: tuple[Effect, ...], stdout: str, stderr: str, code: int) -> TestRun | None:
    return parse_tests(_commands(effects), stdout, stderr, code)


def in_question(session: Session, op: str) -> bool:
    """True where a loop may be under way, and progress is worth measuring: the last call failed, or the same operation
    has failed, within the window.
    """
    last = next((c.outcome for c in reversed(session.calls) if c.outcome), None)
    return failed(last) or any(failed(c.outcome) for c in session.calls if c.operation == op)


def comes_in_turn(session: Session, op: str) -> bool:
    """True where an operation comes for the third time in the same turn, so that it may serve nothing."""
    newest = (call.operation for call in reversed(session.calls) if call.outcome)
    ended = [*itertools.islice(newest, 2 * MAX_PERIOD)]
    return any(ended[turn - 1] == ended[2 * turn - 1] == op for turn in range(1, len(ended) // 2 + 1))
