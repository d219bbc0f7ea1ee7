"""The finished tool calls of a session, in order, for the checks that detect loops and repeated failures."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Outcome
from sentinel_guard.core.session.failure_exit_codes import failed
from sentinel_guard.core.session.session import Call
from sentinel_guard.core.text.normalize_output import BLANK, UNSEEN

_ENDED_AT = attrgetter("outcome.at")


def finished_calls(case: Case) -> tuple[Call, ...]:
    """The session's ended calls in the order of their end, up to the one that is being observed.

    Empty for a proposal, and for a step of a call: only calls are counted.
    """
    if case.outcome is None or case.action.parent:
        return ()
    if not case.ended:
        calls = sorted([c for c in case.session.calls if c.outcome], key=_ENDED_AT)
        last = next((i for i in reversed(range(len(calls))) if calls[i].action == case.action.id), -1)
        case.ended.append(tuple(calls[: last + 1]))
    return case.ended[0]


def result(call: Call) -> Outcome:
    """The outcome of an ended call."""
    assert call.outcome is not None
    return call.outcome


def error_words(outcome: Outcome) -> str:
    """The digest of what a failed call said; empty where it said nothing, or nobody saw whether it did."""
    return "" if outcome.error in (BLANK, UNSEEN) else outcome.error


def earlier_failure(calls: Iterable[Call], operation: str, now: Outcome) -> Outcome | None:
    """The newest failure among the calls that ``now``, the outcome of an operation, may repeat: with the same exit code
    and error; without words of the same operation only.
    """
    ended = [c.outcome for c in calls if c.outcome and (error_words(now) or c.operation == operation)]
    alike = [o for o in ended if failed(o) and (o.code, o.error) == (now.code, now.error)]
    return max(alike, key=lambda o: o.at, default=None)


def files_unchanged(earlier: Call, later: Call) -> bool:
    """True where no file changed between two ended calls.

    The worktree's tree after the one and before the other decides. Where it was not taken, only the very same
    outcome passes for a worktree that stands still.
    """
    one, two = result(earlier), result(later)
    if one.after and (two.before or two.after):
        return not files_changed(earlier, later)
    return (one.code, one.error, one.output) == (two.code, two.error, two.output)


def changed_files(call: Call) -> bool:
    """True where files are known to have changed from before a call to after it."""
    done = result(call)
    return bool(done.before and done.after) and done.before != done.after


def files_changed(earlier: Call, later: Call) -> bool:
    """True where files are known to have changed between two ended calls."""
    after, before = result(earlier).after, result(later).before or result(later).after
    return bool(after and before) and after != before
