"""The check ``cost`` (R6): a session that exceeds its limit of tokens per minute must cool down."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.response_phrases import BREAKER, seconds
from sentinel_guard.core.session import token_ledger

NAME = "cost"
MINUTE = 60.0
MIN_REPLIES = 2
"""One large reply is no velocity."""
MANY = 4
"""The 4th cool-down within ``MANY_SECONDS`` is a runaway: L3. Until then each takes twice as long as the one before."""
MANY_SECONDS = 600.0


class Cost:
    """Looks at proposals only: the request that comes next is the one that waits."""

    name = NAME

    def __call__(self, case: Case) -> Iterable[Finding]:
        if case.outcome is not None or case.action.parent or not case.session.usage:
            return
        at, limit = case.action.at, case.policy.cost.tokens_per_minute
        # What one cool-down was for is no reason for the next.
        since = max(at - MINUTE, *case.session.cooldowns, 0.0)
        told = [u for u in token_ledger.counted(case.session.usage) if since < u.at <= at and not u.compaction]
        replies = [u.work for u in told]
        if len(replies) < MIN_REPLIES or sum(replies) <= limit:
            return
        about = " (estimated)" if any(u.estimated for u in told) else ""
        spent = f"{sum(replies):,} work tokens{about} in {len(replies)} replies within a minute, the limit is {limit:,}"
        recent = [t for t in case.session.cooldowns if t > at - MANY_SECONDS]
        yield _runaway(case, spent) if len(recent) + 1 >= MANY else _cool(case, spent, 2.0 ** len(recent))


CHECK = Cost()


def _cool(case: Case, spent: str, times: float) -> Finding:
    wait = case.policy.cost.cooldown_seconds * times
    what = f"This session is held for {seconds(wait)}"
    way = "think before the next step, read less at a time, and do not repeat what did not work"
    return Finding(NAME, Response.COOL_DOWN, what, spent, way, held=wait)


def _runaway(case: Case, spent: str) -> Finding:
    what = f"{BREAKER} Runaway cost."
    pause = seconds(case.policy.breaker.seconds)
    why = f"This is cool-down number {MANY} within 10 minutes ({spent}). Paused for {pause}"
    return Finding(NAME, Response.BREAK, what, why, "tell the user what you are trying to do, and in how many steps")
