"""Waits for what another thread or process does: as short as it can be, and bounded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.support.time_limits import TIMES, measured

T = TypeVar("T")
STEP = 0.002


def until(happened: Callable[[], T], seconds: float = 10.0) -> T:
    """What was seen last, at the latest after so many seconds of the reference machine: a test asserts it.

    Before it gives up it measures again how busy the machine is: that may have changed since the run began.
    """
    began, times = time.monotonic(), TIMES
    while not (seen := happened()):
        if time.monotonic() - began >= seconds * times:
            times, before = max(times, measured()), times
            if times == before:
                break
        time.sleep(STEP)
    return seen
