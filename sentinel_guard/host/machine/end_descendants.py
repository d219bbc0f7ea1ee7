"""Ends what descends from a process, found by the kernel's lists of children: sooner than by a look at all of /proc."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable

from sentinel_guard.core.peer import Peer
from sentinel_guard.host.machine import processes


def end_descendants(root: Peer, spare: frozenset[int]) -> None:
    """End them, but for the spared ones; first all are stopped, until nothing new appears.

    Who has left the tree, or forks faster than it is read, is not found: ``processes.freeze`` looks for those.
    """
    stopped: set[int] = set()
    for _ in range(processes.ROUNDS):
        fresh = {peer.pid for peer in processes.descendants(root) or ()} - spare - stopped
        _signal(fresh, signal.SIGSTOP)
        stopped |= fresh
        if not fresh:
            break
    _signal(stopped, signal.SIGKILL)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
