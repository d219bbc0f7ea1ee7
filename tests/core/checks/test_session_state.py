import pytest

from sentinel_guard.core.checks.session_state import CHECK
from sentinel_guard.core.model import Response
from sentinel_guard.core.response_phrases import INTERVENTION
from sentinel_guard.core.response_text import sentence
from sentinel_guard.core.session.session import Session, State
from tests.support.judge_cases import case, outcome

LOOPED = frozenset({case("make").operation})


def session(state, until=100.0, reason="", tripped=frozenset()):
    return Session("s", state=state, until=until, reason=reason, tripped=tripped)


REFUSED = (
    (session(State.COOLING), "cooling down, 40 s left", "cooling"),
    (
        session(State.PAUSED, reason=INTERVENTION),
        f"{INTERVENTION} This session is paused, 40 s left: every input is refused; trying adds no time",
        "paused by a loop",
    ),
    (
        session(State.PAUSED, reason="it burns tokens"),
        "SYSTEM INTERVENTION: it burns tokens",
        "paused for another reason",
    ),
    (session(State.PAUSED, until=0.0), "until the user types /resume", "paused without end"),
    (session(State.ASKING), "a question to the user is open", "asking"),
    (session(State.AWAITING_HUMAN), "only /resume, typed by the user", "awaiting the human"),
    (session(State.KILLED, reason="rm -rf /"), "SENTINEL KILL SWITCH: this session is over (rm -rf /).", "killed"),
    (session(State.ENDED), "this session has ended", "ended"),
)


@pytest.mark.parametrize(("stopped", "words", "why"), REFUSED, ids=[r[2] for r in REFUSED])
def test_a_stopped_session_is_refused_and_not_stopped_again(stopped, words, why):
    (finding,) = CHECK(case("make", session=stopped, at=60.0))
    assert finding.response is Response.DENY
    assert words in sentence(finding)


SILENT = (
    (case("ls", session=session(State.ACTIVE), at=60.0), "active"),
    (case("ls", session=session(State.COOLING), at=100.0), "cooled down"),
    (case("ls", session=session(State.PAUSED), at=100.0), "the pause is over"),
    (case("ls", session=session(State.ACTIVE, tripped=LOOPED), at=60.0), "half-open, another operation"),
    (case("make", session=session(State.ACTIVE, tripped=LOOPED), parent="a0"), "half-open, a step of another call"),
    (case("git", session=session(State.ENDED), parent="a0"), "what a call left running is judged by policy only"),
    (case("make", session=session(State.KILLED), outcome=outcome()), "a call that has ended"),
)


@pytest.mark.parametrize(("seen", "why"), SILENT, ids=[r[1] for r in SILENT])
def test_says_nothing(seen, why):
    assert list(CHECK(seen)) == []


CYCLE = LOOPED | {case("make check").operation}
HALF_OPEN = (
    (session(State.ACTIVE, tripped=CYCLE), "all of its cycle trip with it"),
    (session(State.ACTIVE, tripped=LOOPED), "after the pause was put on record"),
    (session(State.PAUSED, until=50.0, tripped=LOOPED), "before it was"),
)


@pytest.mark.parametrize(("stopped", "why"), HALF_OPEN, ids=[r[1] for r in HALF_OPEN])
def test_half_open_the_same_operation_trips_again_at_once(stopped, why):
    (finding,) = CHECK(case("make", session=stopped, at=60.0))
    assert (finding.response, finding.what, finding.operations) == (Response.BREAK, INTERVENTION, stopped.tripped)
