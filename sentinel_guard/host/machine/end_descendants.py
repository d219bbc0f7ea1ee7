"""Ends what descends from a process, found by the kernel's lists of children: sooner than by a look at all of /proc."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Iterable

from sentinel_guard.core.peer import Peer
from sentinel_guard.host.machine import processes

ENDS = 0.02
"""Seconds that are waited for processes to end."""


def end_descendants(root: Peer, spare: frozenset[int], *, adopts: bool) -> None:
    """End them, but for the spared ones, parents first, until nothing new appears.

    ``adopts``: what loses its parent comes back below the root (PR_SET_CHILD_SUBREAPER, prctl(2)); elsewhere all are
    stopped before one is ended. Who has left the tree, or forks faster than it is read, is not found:
    ``processes.freeze`` looks for those. Returns when they have ended, or after ``ENDS``.
    """
    found: list[int] = []
    for _ in range(processes.ROUNDS):
        below = [peer.pid for peer in processes.descendants(root) or ()]
        fresh = [pid for pid in below if pid not in spare and pid not in found]
        if not fresh:
            break
        _signal(fresh, signal.SIGKILL if adopts else signal.SIGSTOP)
        found += fresh
    if not adopts:
        _signal(found, signal.SIGKILL)
    _wait_for(found)


def _wait_for(pids: Iterable[int]) -> None:
    """Leave the processors to those that are ending: to look for others takes longer than they need."""
    poll, ends = select.poll(), []
    for pid in pids:
        with contextlib.suppress(OSError):
            ends.append(os.pidfd_open(pid))
            poll.register(ends[-1], select.POLLIN)
    left, limit = len(ends), time.monotonic() + ENDS
    while left and time.monotonic() < limit:
        for end, _ in poll.poll(max(0.0, limit - time.monotonic()) * 1000):
            poll.unregister(end)
            left -= 1
    for end in ends:
        os.close(end)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
