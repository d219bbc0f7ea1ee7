"""Waits for what another thread or process does: as short as it can be, and bounded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.support.time_limits import limit

T = TypeVar("T")
STEP = 0.002


def until(happened: Callable[[], T], seconds: float = 10.0) -> T:
    """What was seen last, at the latest after so many seconds of the reference machine: a test asserts it."""
    deadline = time.monotonic() + limit(seconds)
    while not (seen := happened()) and time.monotonic() < deadline:
        time.sleep(STEP)
    return seen
