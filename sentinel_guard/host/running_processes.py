"""Running processes of this user that are neither a session's nor its repository's (proc(5)), for one look.

Asked only where a text signals by name. Whoever is not looked at, beyond MAX_PROCESSES and SECONDS, is not found.

A process that waits for a disk may hold up who reads its command line, for ever and at every signal. So the reading is
done beside the caller, and such a one is known by its name from then on.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import TypeVar

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.running_processes import By, Running, Selection
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.policy.target_placeholders import inside
from sentinel_guard.errors import PeerError
from sentinel_guard.host import shims
from sentinel_guard.host.machine import ancestry, processes
from sentinel_guard.host.machine.started_call import StartedCall

T = TypeVar("T")
MAX_PROCESSES = 20_000
SECONDS = 0.04
"""Of a processor, for all looks of one text; what one has read the next one knows."""
WAIT = 0.2
"""Seconds, twice: who reads the same process at both ends is held up by it."""
HELD_UP = 4
"""Such processes beyond which a look ends."""
_OURS = "sentinel-"
"""What the guard's own processes are called."""
_TCP = ("/proc/net/tcp", "/proc/net/tcp6")
_LOCAL, _PEER, _OWNER, _INODE = 1, 2, 7, 9
"""Columns of these files."""
_stuck: set[Peer | None] = set()
"""Processes that held a look up."""


class RunningProcesses:
    """What a session's text could signal. ``caller``: the process that asks, ``calls``: those that carry out calls of
    the session; ``trees``: the repository and its work trees; ``spare``: the guard's own, which have a check of theirs;
    ``others``: live sessions.
    """

    def __init__(
        self,
        caller: int,
        *,
        session: str,
        started: float,
        root: str,
        trees: Callable[[], Collection[str]],
        home: str,
        calls: Collection[int] = (),
        spare: Collection[int] = (),
        others: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self._caller, self._session, self._started, self._root, self._home = caller, session, started, root, home
        self._trees, self._calls, self._spare, self._others = trees, calls, frozenset(spare), others
        self._left = SECONDS
        self._reads = 0
        self._names: dict[int, str] = {}
        self._lines: dict[int, str] = {}

    def select(self, chosen: Selection) -> tuple[Running, ...]:
        """The processes that are chosen, and are not the session's."""
        for _ in range(HELD_UP):
            call, before = StartedCall(partial(self._select, chosen), holds=False), -1
            while not call.ends_within(WAIT) and self._reads != before:
                before = self._reads
            if call.ends_within(0):
                return call.result()
            if stuck := processes.identify(self._reads):
                _stuck.add(stuck)
        return ()

    def _select(self, chosen: Selection) -> tuple[Running, ...]:
        began = time.thread_time()
        until = began + self._left
        pids: Iterable[int] = _at_port(chosen.port, peers=chosen.peers) if chosen.port else self._pids
        in_time = itertools.takewhile(lambda _: time.thread_time() < until, pids)
        met = (pid for pid in in_time if pid and self._is_chosen(pid, chosen))
        peers: Iterable[Peer] = filter(None, map(self._signalled, met))
        if chosen.one:
            every = sorted(peers, key=lambda peer: (peer.start, peer.pid))
            peers = every[-1:] if chosen.one == "newest" else every[:1]
        found = tuple(one for peer in peers if (one := self._other(peer)))
        self._left -= time.thread_time() - began
        return found

    @cached_property
    def _pids(self) -> Sequence[int]:
        with contextlib.suppress(OSError):
            return [int(name) for name in os.listdir("/proc") if name.isdigit()][:MAX_PROCESSES]  # noqa: PTH208 - names
        return ()

    def _is_chosen(self, pid: int, chosen: Selection) -> bool:
        named = {one.by for one in chosen.criteria}
        name = self._name(pid) if named - {By.LINE} or not named else ""
        line = self._line(pid) if named - {By.NAME} else ""
        if By.LINE in named and not line:
            name = self._name(pid)
        return (bool(name or line) or not named) and all(one.holds(name, line) for one in chosen.criteria)

    def _name(self, pid: int) -> str:
        if pid not in self._names:
            self._names[pid] = processes.name(pid)
        return self._names[pid]

    def _line(self, pid: int) -> str:
        if pid not in self._lines:
            self._lines[pid] = " ".join(self._told(pid, processes.command_line) or ())
        return self._lines[pid]

    def _told(self, pid: int, read: Callable[[int], T]) -> T | None:
        """What stands in the memory of a process; None of one that holds up who reads it."""
        if _stuck and processes.identify(pid) in _stuck:
            return None
        self._reads = pid
        found = read(pid)
        self._reads = 0
        if _stuck:  # it went on
            _stuck.discard(processes.identify(pid))
        return found

    def _signalled(self, pid: int) -> Peer | None:
        """A process that this user may signal, but for the guard's own."""
        if pid in self._spare or self._name(pid).startswith(_OURS):
            return None
        seen = processes.stat(pid)
        try:
            own = os.geteuid() in (0, os.stat(f"/proc/{pid}").st_uid)  # noqa: PTH116 - hot
        except OSError:
            return None
        return Peer(pid, seen[1]) if own and seen and seen[2] not in "ZX" and self._has_program(pid) else None

    def _has_program(self, pid: int) -> bool:
        """Not so the kernel's own threads."""
        return bool(self._line(pid) or processes.executable(pid))

    def _other(self, peer: Peer) -> Running | None:
        """None for what is the session's or the repository's."""
        above = peer in self._above
        if peer in self._lineage and not above:
            return None
        folder = _folder(peer.pid)
        if not above and not self._is_of_another(peer.pid):
            young = ancestry.began(peer) >= self._started
            if young or any(map(self._is_ours, (folder, self._folder_of_job(peer.pid)))):
                return None
        return Running(peer.pid, self._name(peer.pid), folder, above)

    def _is_ours(self, folder: str) -> bool:
        return any(inside(folder, top) for top in self._tops) or self._is_temporary(folder)

    def _folder_of_job(self, pid: int) -> str:
        """Where whoever leads its job works: a browser's own children lock themselves in elsewhere. What the agent
        leads is no job of the repository's.
        """
        with contextlib.suppress(OSError):
            leader = os.getpgid(pid)
            return "" if leader in (peer.pid for peer in self._above) else _folder(leader)
        return ""

    def _is_temporary(self, folder: str) -> bool:
        return f"{folder}/" in paths.TEMPORARY or paths.is_temporary(folder, self._root, self._home)

    def _is_of_another(self, pid: int) -> bool:
        """Whether another live session began it."""
        mark = (self._told(pid, processes.environ) or {}).get("SENTINEL_SESSION", "")
        return mark not in ("", self._session) and mark in self._others()

    @cached_property
    def _tops(self) -> Collection[str]:
        """No home: others work below it, too."""
        return [folder for folder in self._trees() if folder not in ("", "/", self._home)]

    @cached_property
    def _lineage(self) -> Sequence[Peer]:
        """The caller, its parent, and so on up to the first."""
        with contextlib.suppress(PeerError):
            return ancestry.lineage(self._caller)
        return ()

    @cached_property
    def _above(self) -> frozenset[Peer]:
        """The agent itself and what it runs in: all above the outermost of the calls but shells."""
        outermost = max((at for at, peer in enumerate(self._lineage) if peer.pid in self._calls), default=0)
        return frozenset(peer for peer in self._lineage[outermost + 1 :] if not _is_shell(peer.pid))


def _is_shell(pid: int) -> bool:
    return processes.executable(pid).rpartition("/")[2] in shims.SHELLS


def _folder(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd").removesuffix(" (deleted)")  # noqa: PTH115 - hot
    except OSError:
        return ""


def _at_port(port: int, *, peers: bool) -> Iterator[int]:
    """Processes that have a TCP socket at a port of this machine, or with ``peers`` are connected with such a one;
    0 for each other one that was looked at.
    """
    inodes = {inode for file in _TCP for inode in _sockets(file, f":{port:04X}", peers=peers)}
    for name in os.listdir("/proc") if inodes else ():  # noqa: PTH208 - names only, many times
        if name.isdigit():
            yield int(name) if _has_any(name, inodes) else 0


def _sockets(file: str, port: str, *, peers: bool) -> Iterator[str]:
    """Their links in ``/proc/PID/fd``. One that nobody holds any more has the number 0."""
    user = os.geteuid()
    with contextlib.suppress(OSError), open(file, encoding="ascii") as lines:  # noqa: PTH123 - not a file of anybody's
        for row in (line.split() for line in lines if port in line):
            met = row[_LOCAL].endswith(port) or (peers and row[_PEER].endswith(port))
            if met and row[_INODE] != "0" and user in (0, int(row[_OWNER])):
                yield f"socket:[{row[_INODE]}]"


def _has_any(pid: str, inodes: Collection[str]) -> bool:
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names only, many times
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{fd}") in inodes:  # noqa: PTH115 - many times
                    return True
    return False
