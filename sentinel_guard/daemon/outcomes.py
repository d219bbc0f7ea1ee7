"""How a supervised call ended: measured, kept, and said back to the agent (R1, R5)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sentinel_guard.core import respond
from sentinel_guard.core.failures import error_output
from sentinel_guard.core.masks import digest
from sentinel_guard.core.model import Effect, Kind, Outcome, Response, TestRun, Verdict
from sentinel_guard.core.redact import redact
from sentinel_guard.core.testruns import parse_tests
from sentinel_guard.daemon.guard import Guard, Judged
from sentinel_guard.daemon.sessions import Live
from sentinel_guard.daemon.translate import Ended
from sentinel_guard.host import repository

EXCERPT = 400
"""Characters of an error that the log keeps."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that runs."""

    judged: Judged
    at: float
    before: str


class Outcomes:
    def __init__(self, guard: Guard, now: Callable[[], float]) -> None:
        self._guard, self._now = guard, now

    async def begin(self, live: Live, judged: Judged) -> Begun:
        """Note how the worktree stands, where the call has failed before and progress is in question."""
        doubtful = self._guard.failed_before(live.session, judged.operation)
        before = await self._fingerprint(live) if doubtful else ""
        return Begun(judged, self._now(), before)

    async def end(self, live: Live, begun: Begun, ended: Ended) -> tuple[Verdict, str]:
        """The verdict on the outcome, and the words for the agent's standard error."""
        stdout, stderr = ended.stdout or "", ended.stderr or ""
        if ended.code and live.runner and ended.stdout is None and ended.stderr is None:
            # Both went to the inner terminal: the runner saw them.
            stderr = await live.runner.tail(self._now() - begun.at)
        outcome = await self._outcome(live, begun, ended, stdout, stderr)
        verdict = self._guard.observe(live, begun.judged, outcome)
        action = begun.judged.verdict.action
        hinted = verdict.response < Response.COOL_DOWN
        text = respond.hint(action, outcome, stdout, stderr, verdict) if hinted else respond.answer(verdict).text
        self._guard.tell(live, verdict, text, outcome.at)
        return verdict, text

    async def _outcome(self, live: Live, begun: Begun, ended: Ended, stdout: str, stderr: str) -> Outcome:
        error = error_output(begun.judged.verdict.effects, ended.code, stdout, stderr)
        return Outcome(
            begun.judged.verdict.action.id,
            self._now(),
            ended.code,
            error=digest(error) if error is not None else "",
            output=digest(stdout) if stdout else "",
            excerpt=redact((error or "")[:EXCERPT]),
            tests=_tests(begun.judged.verdict.effects, stdout, stderr, ended.code),
            duration=ended.seconds,
            before=begun.before,
            after=await self._fingerprint(live) if error is not None else "",
        )

    async def _fingerprint(self, live: Live) -> str:
        return await asyncio.to_thread(repository.fingerprint, live.session.root) if live.session.root else ""


def _tests(effects: tuple[Effect, ...], stdout: str, stderr: str, code: int) -> TestRun | None:
    commands = [e.command for e in effects if e.kind is Kind.EXECUTE and e.command]
    return parse_tests(commands, stdout, stderr, code)
