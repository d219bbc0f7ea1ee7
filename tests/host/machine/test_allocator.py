"""Memory that threads needed for a moment is given back; what stays lies in huge pages. In processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

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


HUGE = """
from sentinel_guard.host.machine import allocator
kept = [bytes(1000) for _ in range(30_000)]
before = allocator._resident()
print(allocator.use_huge_pages() >> 20, allocator._resident() - before >> 20)
print(sum(int(row.split()[1]) for row in open("/proc/self/smaps_rollup") if row.startswith("AnonHugePages")) >> 10)
"""
SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.skipif(
    tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 1) or not SETTING.exists(),
    reason="a kernel that makes no huge pages when it is asked to",
)
def test_what_is_in_memory_is_put_into_huge_pages_and_takes_no_more_room():
    done = subprocess.run([sys.executable, "-c", HUGE], capture_output=True, text=True, check=True)
    moved, grown, huge = map(int, done.stdout.split())
    assert moved >= 16 and huge >= moved and grown <= 8
