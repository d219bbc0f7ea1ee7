"""Which processes of a session have run since a given time, as far as that can be proved (Linux /proc).

Rules of this file:
1. What cannot be read, was not there before, or is gone since, has run.
2. Who was once below the owner belongs to the session as long as it runs: processes are read one after the other, and
   one whose parent ends meanwhile stands nowhere for that look.
3. Nothing is proved about a moment before the first look, or one so late that the kernel's clock has not ticked since.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from sentinel_guard.core.peer import Peer
from sentinel_guard.host.machine import processes

TICK = 0.02
"""Seconds: the kernel accounts for a running thread at least so often (100 Hz, and one to spare)."""
LOOKS = 8
SHARE = 50
FRESH = 1.0
"""Seconds for which a look tells how things stand."""
MOST = 400
"""Processes of one session beyond which nothing is proved: there is work going on."""

_Threads = Mapping[int, tuple[int, int]] | None


@dataclass(frozen=True, slots=True)
class Ran:
    """What a session's processes did since a moment."""

    proved: bool
    """False: all of them may have run."""
    others: bool = False
    """Processes besides the agent's first one are alive."""
    others_ran: bool = False
    """One of them has run, has come or has gone."""
    agent: float = 0.0
    """Seconds that the agent's first process spent on a processor."""
    agent_ran: bool = False
    """It ran at all."""
    seconds: float = 0.0
    """From the look that this is measured from until now."""


@dataclass(frozen=True, slots=True)
class _Look:
    began: float
    ended: float
    threads: Mapping[Peer, _Threads]
    cost: float
    """Seconds of CPU: on a busy machine the clock would put the next look off."""


class Activity:
    """Looks at the processes below ``owner`` (the runner; with ``shell`` that process counts, too)."""

    def __init__(self, owner: Peer | None) -> None:
        self._owner = owner
        self._looks: deque[_Look] = deque(maxlen=LOOKS)
        self.members: frozenset[Peer] = frozenset()
        """Those that run and were seen below the owner."""

    @property
    def due(self) -> bool:
        """Whether it is time for another look: they take at most one part in SHARE of the time."""
        last = self._looks[-1] if self._looks else None
        return last is None or time.time() - last.began >= SHARE * last.cost

    @property
    def moved(self) -> bool:
        """Whether anything ran between the last two looks, whenever they were; True where that is not known."""
        looks = [*self._looks]
        return len(looks) < 2 or looks[-2].threads != looks[-1].threads or None in looks[-1].threads.values()

    @property
    def known(self) -> frozenset[int]:
        """Pids of the last look."""
        return frozenset(p.pid for p in self._looks[-1].threads) if self._looks else frozenset()

    def look(self, *, shell: bool = False, parts: frozenset[int] = frozenset()) -> list[Peer]:
        """Remember how the processes stand now; who they are. Should come some times a second, as ``due`` says.

        ``parts``: of the runner, among them; they count as little as the runner.
        """
        began, cpu = time.time(), time.thread_time()
        below = processes.descendants(self._owner) if self._owner else None
        self.members = frozenset(filter(processes.alive, self.members.difference(below or ()))).union(below or ())
        if self._owner is None or below is None or len(below) > MOST:
            self._looks.clear()
            return below or []
        peers = [p for p in ([self._owner, *below] if shell else below) if p.pid not in parts]
        threads = {p: processes.ran(p.pid) for p in peers}
        self._looks.append(_Look(began, time.time(), threads, time.thread_time() - cpu))
        return peers

    def since(self, at: float, agent: int) -> Ran:
        """What ran between ``at`` (epoch seconds) and the last look, the process ``agent`` told from the others."""
        looks = [*self._looks]
        before = next((look for look in reversed(looks) if look.ended < at - TICK), None)
        return _between(before, looks[-1], agent) if before and before is not looks[-1] else Ran(proved=False)

    def lately(self, agent: int) -> Ran:
        """What ran between the last two looks: known without another one."""
        looks = [*self._looks]
        fresh = len(looks) > 1 and time.time() - looks[-1].ended < FRESH
        return _between(looks[-2], looks[-1], agent) if fresh else Ran(proved=False)


def _between(before: _Look, last: _Look, agent: int) -> Ran:
    now = last.threads
    moved = {p for p in now.keys() | before.threads.keys() if not _rested(before.threads.get(p), now.get(p))}
    mine = next((p for p in now if p.pid == agent), None)
    return Ran(
        proved=True,
        others=any(p != mine for p in now),
        others_ran=any(p != mine for p in moved),
        agent=_spent(before.threads.get(mine), now[mine]) if mine else 0.0,
        agent_ran=mine in moved,
        seconds=last.began - before.began,
    )


def _rested(before: _Threads, now: _Threads) -> bool:
    return before is not None and before == now


def _spent(before: _Threads, now: _Threads) -> float:
    if before is None or now is None:
        return 0.0
    return sum(spent - before.get(thread, (0, 0))[0] for thread, (spent, _) in now.items()) / 1e9
