from __future__ import annotations

import subprocess

import pytest

from sentinel_guard.host.machine import processes


@pytest.fixture
def start():
    """Starts programs, and ends those that are left."""
    started: list[subprocess.Popen] = []

    def run(*argv: str, **options) -> subprocess.Popen:
        started.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options))
        return started[-1]

    yield run
    for process in started:
        processes.kill((process.pid,), frozenset())
        process.kill()
        process.communicate()
