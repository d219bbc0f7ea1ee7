"""The check ``state``: no action runs in a paused, cooling, waiting or ended session (DESIGN sections 5 and 6).

Rules of this file:
1. A session that is stopped already is refused, not stopped again: a retry neither extends a pause nor kills twice.
2. Half-open: after the pause the operation that tripped the breaker trips it again at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.response_phrases import BREAKER, INTERVENTION, KILL_SWITCH, seconds
from sentinel_guard.core.session.session import State

NAME = "state"
HELP = "sentinel-guard help-me 'what you need'"


class StateCheck:
    """Looks at proposals only."""

    name = NAME

    def __call__(self, case: Case) -> Iterable[Finding]:
        if case.outcome is not None:
            return
        words = _WORDS.get(case.session.state)
        if words and (finding := words(case)):
            yield finding
        elif not case.action.parent and case.operation in case.session.tripped:
            yield _again(case)


CHECK = StateCheck()


def _cooling(case: Case) -> Finding | None:
    if _over(case):
        return None
    what = f"this session is cooling down, {_left(case)} left"
    return _refused(what, case.session.reason, "wait, and then go on in smaller steps")


def _paused(case: Case) -> Finding | None:
    if case.session.until and _over(case):
        return None
    reason = case.session.reason
    what = reason if reason.startswith(BREAKER) else f"{BREAKER} {reason or 'The circuit breaker is open.'}"
    left = f", {_left(case)} left" if case.session.until else " until the user types /resume"
    return _refused(what, f"This session is paused{left}: every input is refused; trying adds no time", _way_out())


def _asking(_case: Case) -> Finding:
    why = "nothing goes on until the user has answered"
    return _refused("a question to the user is open", why, "wait for the answer, then try again")


def _awaiting(_case: Case) -> Finding:
    why = "only /resume, typed by the user, gives autonomy back"
    return _refused("this session waits for the human", why, "wait for the user's words")


def _killed(case: Case) -> Finding:
    reason = f" ({case.session.reason})" if case.session.reason else ""
    why = "It takes no input ever again"
    return _refused(f"{KILL_SWITCH} this session is over{reason}.", why, "the user starts a new session")


def _ended(case: Case) -> Finding | None:
    if case.action.parent:
        return None  # what a call left running is judged by the policy alone
    return _refused("this session has ended", "", "the user starts a new one: sentinel-guard run -- AGENT")


def _again(case: Case) -> Finding:
    what = case.session.reason if case.session.reason.startswith(BREAKER) else INTERVENTION
    why = f"The same operation tripped the breaker before: paused for {seconds(case.policy.breaker.seconds)} again"
    return Finding(NAME, Response.BREAK, what, why, _way_out(), operations=case.session.tripped)


def _refused(what: str, why: str, instead: str) -> Finding:
    return Finding(NAME, Response.DENY, what, why, instead)


def _way_out() -> str:
    return f"after the pause change a file or run another command, or ask the user: {HELP}"


def _over(case: Case) -> bool:
    return case.session.until <= case.action.at


def _left(case: Case) -> str:
    return seconds(case.session.until - case.action.at)


_WORDS: Mapping[State, Callable[[Case], Finding | None]] = {
    State.COOLING: _cooling,
    State.PAUSED: _paused,
    State.ASKING: _asking,
    State.AWAITING_HUMAN: _awaiting,
    State.KILLED: _killed,
    State.ENDED: _ended,
}
