"""The finished tool calls of a session, in order, for the checks that detect loops and repeated failures."""

from __future__ import annotations

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Outcome
from sentinel_guard.core.session.session import Call


def finished_calls(case: Case) -> tuple[Call, ...]:
    """The session's ended calls in the order of their end, up to the one that is being observed.

    Empty for a proposal, and for a step of a call: only calls are counted.
    """
    if case.outcome is None or case.action.parent:
        return ()
    calls = sorted((c for c in case.session.calls if c.outcome), key=lambda c: result(c).at)
    last = next((i for i in reversed(range(len(calls))) if calls[i].action == case.action.id), -1)
    return tuple(calls[: last + 1])


def result(call: Call) -> Outcome:
    """The outcome of an ended call."""
    assert call.outcome is not None
    return call.outcome


def files_unchanged(earlier: Call, later: Call) -> bool:
    """True where no file changed between two ended calls.

    The worktree's tree after the one and before the other decides. Where it was not taken, only the very same
    outcome passes for a worktree that stands still.
    """
    one, two = result(earlier), result(later)
    if one.after and (two.before or two.after):
        return not files_changed(earlier, later)
    return (one.code, one.error, one.output) == (two.code, two.error, two.output)


def files_changed(earlier: Call, later: Call) -> bool:
    """True where files are known to have changed between two ended calls."""
    after, before = result(earlier).after, result(later).before or result(later).after
    return bool(after and before) and after != before
