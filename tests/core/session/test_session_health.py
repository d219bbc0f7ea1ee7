"""A session's health metrics (R3, R5, R6), as status shows them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentinel_guard.core.model import Outcome, Usage
from sentinel_guard.core.policy.policy import Loop, Policy
from sentinel_guard.core.session.session import Call, Session, State
from sentinel_guard.core.session.session_health import error_rate, loop_count, status


def calls(text: str, codes: str = "") -> tuple[Call, ...]:
    """A call a letter; how it ended a digit, ``-`` where it still runs."""
    ends = codes.ljust(len(text), "-")
    outcomes = [None if c == "-" else Outcome("a", 0.0, int(c), error="e" if c != "0" else "") for c in ends]
    return tuple(
        Call(f"a{n}", op, "shell", float(n), outcome=o) for n, (op, o) in enumerate(zip(text, outcomes, strict=True))
    )


LOOPS = (
    ("", 0, "nothing yet"),
    ("a", 1, "once"),
    ("aaa", 3, "three in a row"),
    ("aaab", 1, "another one ends the row"),
    ("abaa", 2, "only the row at the end counts"),
)


@pytest.mark.parametrize(("text", "count"), [x[:2] for x in LOOPS], ids=[x[2] for x in LOOPS])
def test_loop_count(text, count):
    assert loop_count(calls(text)) == count


RATES = (
    ("", "", 0.0, "no call"),
    ("ab", "--", 0.0, "none has ended"),
    ("ab", "10", 0.5, "half failed"),
    ("abc", "12-", 1.0, "one that runs is not counted"),
    ("abc", "100", 0.33, "two digits"),
)


@pytest.mark.parametrize(("text", "codes", "rate"), [x[:3] for x in RATES], ids=[x[3] for x in RATES])
def test_error_rate(text, codes, rate):
    assert error_rate(calls(text, codes)) == rate


SESSION = Session("s1", root="/r", start_hash="abc", started=10.0, command=("agent", "-x"), calls=calls("abaa", "0111"))


def test_everything_a_person_wants_to_know():
    assert status(SESSION, Policy(), 100.0) == {
        "session": "s1", "root": "/r", "command": ["agent", "-x"], "started": 10.0, "start_hash": "abc",
        "state": "ACTIVE", "seconds_left": 0.0, "reason": "", "half_open": False, "calls": 4, "loop_count": 2,
        "error_rate": 0.75, "tokens_per_minute": None, "tokens_from": [], "tokens_unread": "", "cooldowns": 0,
    }  # fmt: skip


def test_seconds_left_run_down_to_zero_and_no_further():
    paused = replace(SESSION, state=State.PAUSED, until=160.04, reason="loop")
    assert [status(paused, Policy(), at)["seconds_left"] for at in (100.0, 160.0, 200.0)] == [60.0, 0.0, 0.0]


def test_only_the_last_minutes_work_tokens_count():
    usage = (Usage(30.0, output=5), Usage(45.0, input=1, output=2, cache_write=4, cache_read=99), Usage(99.0, output=3))
    told = replace(SESSION, usage=usage, token_sources=frozenset({"report"}))
    assert status(told, Policy(), 100.0)["tokens_per_minute"] == 10
    assert status(told, Policy(), 400.0)["tokens_per_minute"] == 0, "who has told of tokens, and tells of none now"


def test_metrics_look_at_the_policys_window():
    session = replace(SESSION, calls=calls("aaaaaa", "111000"))
    seen = status(session, Policy(loop=Loop(window=3)), 100.0)
    assert (seen["loop_count"], seen["error_rate"], seen["calls"]) == (3, 0.0, 6)


def test_half_open_is_shown():
    assert status(replace(SESSION, tripped=frozenset({"o"})), Policy(), 100.0)["half_open"] is True
