"""Waits for what another thread or process does: hardly longer than it takes, and bounded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.support.time_limits import limit, measured

T = TypeVar("T")
STEP, LONGEST_STEP = 0.002, 0.1


def until(happened: Callable[[], T], seconds: float = 10.0) -> T:
    """What was seen last, at the latest after so many seconds of the reference machine: a test asserts it.

    Before it gives up it measures again how slow the machine is: that may have changed since the run began.
    """
    began = time.monotonic()
    while not (seen := happened()):
        waited = time.monotonic() - began
        if waited >= limit(seconds) and waited >= seconds * measured():
            break
        time.sleep(min(LONGEST_STEP, max(STEP, waited / 20)))
    return seen


def settled(grace: float = 0.15) -> None:
    """Wait until a question that was just shown takes a key: it was seen that nobody types for so many seconds."""
    time.sleep(grace + limit(0.15))
