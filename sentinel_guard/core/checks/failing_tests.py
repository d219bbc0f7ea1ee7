"""The check ``failing_tests`` (R3): trips the breaker when test runs keep failing without progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.call_history import files_unchanged, finished_calls, result
from sentinel_guard.core.model import Finding, Response, TestRun
from sentinel_guard.core.response_phrases import BREAKER, seconds
from sentinel_guard.core.session.session import Call

NAME = "failing_tests"


class FailingTests:
    """Looks at outcomes only. Default: red runs without progress; strict: failed tests, counted.

    Progress is a failing set that shrank, or another error after a change of files: tests that are written first
    fail anew with each step.
    """

    name = NAME

    def __call__(self, case: Case) -> Iterable[Finding]:
        limit = case.policy.failures
        now = case.outcome.tests if case.outcome else None
        if now is None or not now.count:
            return
        since = (case.outcome.at if case.outcome else 0.0) - limit.seconds
        calls = [c for c in finished_calls(case) if result(c).tests and result(c).at > since]
        count = sum(_run(c).count for c in calls) if limit.strict else _streak([c for c in calls if _alike(c, now)])
        said = f"{count} {'failed tests' if limit.strict else 'red test runs'} within {seconds(limit.seconds)}"
        if count >= limit.runs:
            yield _trip(case, said, now)
        elif count == limit.runs - 1:
            yield Finding(NAME, Response.HINT, said, "no test got fixed", _way(now))


CHECK = FailingTests()


def _run(call: Call) -> TestRun:
    run = result(call).tests
    assert run is not None
    return run


def _alike(call: Call, now: TestRun) -> bool:
    return _run(call).runner == now.runner


def _streak(calls: Sequence[Call]) -> int:
    """How many runs at the end are red without progress."""
    count = 0
    for i in reversed(range(len(calls))):
        if not _run(calls[i]).count or (count and _shrank(_run(calls[i]), _run(calls[i + 1]))):
            break
        count += 1
        if _moved_on(calls, i):
            break
    return count


def _moved_on(calls: Sequence[Call], i: int) -> bool:
    """True where the error of this run came in no run before it, and files changed since the last."""
    seen = {result(c).error for c in calls[:i]}
    return i > 0 and result(calls[i]).error not in seen and not files_unchanged(calls[i - 1], calls[i])


def _shrank(before: TestRun, after: TestRun) -> bool:
    return bool(before.failed - after.failed) if before.failed and after.failed else after.count < before.count


def _trip(case: Case, said: str, now: TestRun) -> Finding:
    why = f"{said}, and the failing set did not shrink. Paused for {seconds(case.policy.breaker.seconds)}"
    names = ", ".join(sorted(now.failed)[:5])
    return Finding(NAME, Response.BREAK, f"{BREAKER} Failing tests.", why, _way(now), evidence=names)


def _way(run: TestRun) -> str:
    first = f" ({min(run.failed)})" if run.failed else ""
    return f"run one failing test alone{first} and read its whole error, or revert to the last green state"
