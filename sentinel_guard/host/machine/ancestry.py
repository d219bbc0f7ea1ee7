"""What a process descends from: itself, its parent, and so on up to the first (Linux /proc)."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Mapping

from sentinel_guard.core.peer import Peer
from sentinel_guard.errors import PeerError
from sentinel_guard.host.machine import processes

READINGS = 20
"""Times that a process's ancestors are read, where one of them ended or was replaced meanwhile."""
REMEMBERED = 4096
"""Processes of which it is remembered what stood above them."""


def lineage(pid: int) -> list[Peer]:
    """The process, its parent, and so on up to the first, however many; empty where the process is gone.

    Raises PeerError where it never could be read up to the first: nobody can say below whom it stands.
    """
    return Lineages().of(pid)


_MANAGERS = ("systemd", "init")
"""Names of those to whom processes are left whose parent ended (PR_SET_CHILD_SUBREAPER), beside the first process."""


def is_stray(pid: int, since: int) -> bool:
    """Whether a process without a terminal belongs to a line that began after ``since`` (ticks, as of a Peer) and was
    left to the first process or a service manager. It may be an orphan of anybody's. Raises PeerError as ``lineage``.
    """
    line = lineage(pid)
    young = [peer for peer in line if peer.start >= since]
    if not young or processes.terminal(pid):
        return False
    above = line[len(young) : len(young) + 1]
    return not above or above[0].pid == 1 or processes.name(above[0].pid) in _MANAGERS


class Lineages:
    """Lineages, with what was read before. A process whose parent ends gets one above it, or the first: what is
    remembered names no ancestor too few. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._above: dict[Peer, tuple[Peer, ...]] = {}

    def of(self, pid: int) -> list[Peer]:
        """As ``lineage``, but for ancestors which that process, or one above it, has lost since."""
        found = _lineage(pid, self._above)
        if len(self._above) > REMEMBERED:
            self._above.clear()
        # The process itself ends soon.
        for at, peer in enumerate(found[1:], 2):
            if self._above.get(peer) == (above := tuple(found[at:])):
                break  # and so it is with those above
            self._above[peer] = above
        return found


def _lineage(pid: int, known: Mapping[Peer, tuple[Peer, ...]]) -> list[Peer]:
    for _ in range(READINGS):
        found, whole = _ancestors(pid, known)
        if whole:
            return found
        # Its parent may have ended while it was read: it has another one now.
        if not found:
            return []
    raise PeerError(f"what process {pid} descends from cannot be read up to the first process", "Try it again.")


def _ancestors(pid: int, known: Mapping[Peer, tuple[Peer, ...]]) -> tuple[list[Peer], bool]:
    """The process and its ancestors, and whether they were read up to the first. ``known``: what stood above some."""
    found: dict[int, Peer] = {}
    youngest = sys.maxsize
    while seen := processes.stat(pid):
        # Nobody is older than their parent: what has that number now was not there then.
        if seen[1] > youngest or pid in found:
            return [*found.values()], False
        found[pid], youngest = Peer(pid, seen[1]), seen[1]
        above = known.get(found[pid], ())
        if above and above[0].pid == seen[0]:
            return [*found.values(), *above], True
        # The first process, or one that came into this container from outside.
        if seen[0] <= 0:
            return [*found.values()], True
        pid = seen[0]
    return [*found.values()], bool(found) and _is_hidden(pid)


def _is_hidden(pid: int) -> bool:
    """Whether a process that /proc does not show exists: under ``hidepid`` (proc(5)) those of others are not shown, and
    none that may not be dumped (a user's own sshd).
    """
    try:
        os.kill(pid, 0)
    except OSError as e:
        return e.errno == errno.EPERM and processes.stat(1) is None
    return processes.stat(1) is None


def began(peer: Peer) -> float:
    """When a process began, by the clock as it is now: seconds of the epoch."""
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - peer.start / os.sysconf("SC_CLK_TCK")
    return time.time() - age
