"""Memory that threads needed for a moment is given back. In a process of its own: the settings hold for its life."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from sentinel_guard.host.machine import allocator
if sys.argv[1] == "given back" and not allocator.keep_little():
    sys.exit(77)
def resident():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * 4 >> 10
def work():
    kept = [bytes(60_000) for _ in range(1_000)]
    threads = [threading.Thread(target=lambda: [bytes(60_000) for _ in range(300)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last.append(bytes(60_000))  # at the top of the heap: what lies below it stays, unless it is trimmed
last, before = [], resident()
for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
if sys.argv[1] == "given back":
    allocator.give_back()
print(resident() - before)
"""


def megabytes(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("a C library without such settings")
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_what_threads_needed_is_given_back():
    given, kept = megabytes("given back"), megabytes("kept")
    assert given <= 8 < kept
