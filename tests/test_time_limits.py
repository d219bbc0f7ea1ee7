"""Limits of time in tests go by the machine that runs them, as it is at that moment."""

from __future__ import annotations

import os

import pytest

from tests.support import time_limits

LOADS = [
    # (how much slower the machine is, processes that wait for each processor, what becomes of a second)
    (1.0, 0.0, 1.0, "the reference machine"),
    (3.0, 0.5, 3.0, "a slow machine"),
    (1.0, 15.0, 15.0, "a busy one"),
    (3.0, 15.0, 15.0, "both: who waits is what counts"),
    (1.0, 500.0, time_limits.MOST, "a limit has an end"),
]


@pytest.mark.parametrize(("slow", "waiting", "seconds"), [row[:3] for row in LOADS], ids=[row[3] for row in LOADS])
def test_a_limit_scales_with_the_machine_and_its_load(slow, waiting, seconds, monkeypatch):
    monkeypatch.setattr(time_limits, "TIMES", slow)
    monkeypatch.setattr(os, "getloadavg", lambda: (waiting * os.cpu_count(), 0.0, 0.0))
    assert time_limits.limit(1.0) == seconds


def test_no_machine_is_faster_than_the_reference():
    assert 1.0 <= time_limits.measured() <= time_limits.MOST


def test_what_a_whole_test_may_take_is_such_a_limit(request):
    assert request.node.get_closest_marker("timeout").args[0] >= 120


@pytest.mark.timeout(200)
def test_and_so_is_what_one_sets_for_itself(request):
    assert request.node.get_closest_marker("timeout").args[0] >= 200
