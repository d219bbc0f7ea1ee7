"""Calls beside the caller: what they return, what they raise, and that nobody goes on before they have ended."""

from __future__ import annotations

import threading

import pytest

from sentinel_guard.host.machine.started_call import StartedCall, together
from tests.support.time_limits import limit


def fail():
    raise KeyError("mine")


def test_calls_run_at_the_same_time_and_come_back_in_their_order():
    both = threading.Barrier(2)
    assert together(lambda: both.wait(limit(10)) * 0 + 1, lambda: both.wait(limit(10)) * 0 + 2) == [1, 2]


def test_what_one_raises_comes_once_all_have_ended():
    go, ended = threading.Event(), list[int]()

    def slow():
        go.wait(limit(10))
        ended.append(1)

    def first():
        go.set()
        fail()

    with pytest.raises(KeyError, match="mine"):
        together(first, slow)
    assert ended == [1]


def test_an_error_beside_it_waits_for_it_too():
    go, ended = threading.Event(), list[bool]()
    with pytest.raises(KeyError), StartedCall(lambda: ended.append(go.wait(limit(10)))) as call:
        assert not call.ends_within(0)
        go.set()
        fail()
    assert ended == [True] and call.ends_within(0)
