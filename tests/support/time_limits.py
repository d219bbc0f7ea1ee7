"""Limits of time that scale with the machine.

How slow it is is measured once, when a run begins; how busy it is, each time that a limit is asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

FACTOR = "SENTINEL_TEST_TIME_FACTOR"
"""Variable by which the process that starts the workers hands on what it measured."""
REFERENCE = 0.15
"""Seconds that the measured work takes on a quiet machine of two slow processors."""
MOST = 20.0


def measured() -> float:
    """How many times longer than on the reference machine a little work and three process starts take; at least 1."""
    began = time.monotonic()
    for _ in range(3):
        subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
    sum(number * number % 7 for number in range(500_000))
    return min(MOST, max(1.0, (time.monotonic() - began) / REFERENCE))


TIMES = float(os.environ.get(FACTOR) or measured())
os.environ[FACTOR] = str(TIMES)


def busy() -> float:
    """How many processes wait for each processor just now: what was measured when a run began may be long past."""
    return min(MOST, os.getloadavg()[0] / (os.cpu_count() or 1))


def limit(seconds: float) -> float:
    """So many seconds of the reference machine, in seconds of this one as it is now."""
    return seconds * max(TIMES, busy())
