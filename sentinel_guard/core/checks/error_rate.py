"""The check ``error_rate``: of the last 10 calls, 60 % failed give a hint (L1), 90 % trip the breaker (L3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.call_history import error_words, files_changed, finished_calls, result
from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.response_phrases import BREAKER, seconds
from sentinel_guard.core.session.failure_exit_codes import failed
from sentinel_guard.core.session.session import Call

NAME = "error_rate"


class ErrorRate:
    """Looks at outcomes only. A failure that is new after a change of files is work in progress and trips nothing; nor
    do failures of which each says something else: that is how one finds one's way.

    A poll has a budget of its own (``loop``), and the hint comes once, not again with each failure that follows.
    """

    name = NAME

    def __call__(self, case: Case) -> Iterable[Finding]:
        if case.outcome is None or not failed(case.outcome):
            return
        calls, size = [c for c in finished_calls(case) if not c.poll], case.policy.loop.window
        window, limit = calls[-size:], case.policy.error_rate.hint * size
        bad = _failures(window)
        if len(window) < size or window[-1].action != case.action.id:
            return
        stuck = sum(_stuck(window, i) for i in range(len(window)))
        if stuck >= case.policy.error_rate.trip * size and not _all_differ(window):
            yield _trip(case, bad, size)
        elif bad >= limit and not _hinted(calls[:-1], size, limit):
            what = f"{bad} of the last {size} calls failed"
            yield Finding(NAME, Response.HINT, what, "", "read the first error in full before the next try")


CHECK = ErrorRate()


def _failures(window: Sequence[Call]) -> int:
    return sum(failed(call.outcome) for call in window)


def _hinted(calls: Sequence[Call], size: int, limit: float) -> bool:
    """Whether so many failed before, within a window's length: a success between does not make it news."""
    ends = range(max(size, len(calls) - size), len(calls) + 1)
    return any(failed(calls[n - 1].outcome) and _failures(calls[n - size : n]) >= limit for n in ends)


def _all_differ(window: Sequence[Call]) -> bool:
    """Whether each failure said something, and none what another one said."""
    said = [error_words(result(c)) for c in window if failed(c.outcome)]
    return all(said) and len(set(said)) == len(said)


def _stuck(window: Sequence[Call], i: int) -> bool:
    """True for a failure, unless files changed before it and its error is not known from the window before."""
    call = window[i]
    if not failed(call.outcome):
        return False
    known = {error_words(result(c)) for c in window[:i]} - {""}
    return i == 0 or not files_changed(window[i - 1], call) or error_words(result(call)) in known


def _trip(case: Case, bad: int, calls: int) -> Finding:
    what = f"{BREAKER} Too many errors."
    why = f"{bad} of the last {calls} calls failed. Paused for {seconds(case.policy.breaker.seconds)}"
    way = "go back to the last state that worked, or ask the user: sentinel-guard help-me 'what fails'"
    return Finding(NAME, Response.BREAK, what, why, way, operations=frozenset({case.operation}))
