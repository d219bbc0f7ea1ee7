"""Processes of this machine (Linux /proc): their identity and descendants, and killing a session's tree.

A pid is reused; a pid with its start time is not. Every function takes or gives both.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.peer import Peer
from sentinel_guard.host.machine import cgroups, session_limit
from sentinel_guard.host.machine.process_numbers import last_given, newest_first

_DEV_TTY = os.makedev(5, 0)
"""/dev/tty: whatever controls the process."""
ROUNDS = 50
"""Times that a tree is swept before it is given up; a fork bomb forks while it is being swept."""


def identify(pid: int) -> Peer | None:
    """The process that has this pid now; None if there is none (or only a zombie's remains cannot be read)."""
    seen = stat(pid)
    return Peer(pid, seen[1]) if seen else None


def alive(peer: Peer) -> bool:
    """True while that very process runs; a zombie does not run."""
    seen = stat(peer.pid)
    return seen is not None and seen[1] == peer.start and seen[2] not in "ZX"


def is_stopped(pid: int) -> bool:
    """True where a signal has stopped it (``SIGSTOP``), or a debugger."""
    seen = stat(pid)
    return seen is not None and seen[2] in "Tt"


def tree(
    roots: Iterable[int],
    spare: frozenset[int],
    mark: str = "",
    members: frozenset[Peer] = frozenset(),
    *,
    since: int = 0,
    at_once: signal.Signals | None = None,
) -> set[int]:
    """Pids of all descendants of the roots and of whatever carries ``mark`` (SENTINEL_SESSION=ID) in its environment,
    or is in that session's control group, or has its limit.

    And of the ``members``: processes that were seen in the tree, and those of the terminal sessions (setsid(2)) that
    they lead or led. The roots themselves are left out, and so are the spared ones with all that descends from them.
    ``since``: the marks of those that started earlier (ticks, as ``Peer.start``) are not read. ``at_once``: a signal
    that is sent as soon as a mark is read: who forks and ends all the time is gone once those of all others are.
    """
    children: dict[int, list[int]] = {}
    marked: set[int] = set()
    leaders = {peer.pid: peer.start for peer in members}
    variable, session = mark.encode(), mark.partition("=")[2]
    limit = session_limit.number(session)
    roots = [*roots]
    kept = spare.union(roots)
    for pid in newest_first(_pids(), last_given()):
        fields = _fields(pid)
        if fields and fields[0] not in (b"Z", b"X"):
            children.setdefault(int(fields[1]), []).append(pid)
            start = int(fields[19])
            known = members and (Peer(pid, start) in members or _is_led(start, int(fields[3]), leaders))
            if known or (mark and start >= since and _carries(pid, variable, session, limit)):
                marked.add(pid)
                if at_once and pid not in kept:
                    _signal((pid,), at_once)
    found: set[int] = set()
    todo = [*roots, *marked]
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in found and child not in spare:
                found.add(child)
                todo.append(child)
    return (found | marked) - kept


def _is_led(start: int, session: int, leaders: Mapping[int, int]) -> bool:
    """Whether a process is in a terminal session that one of these leads (pid -> its start time), or led."""
    if start < leaders.get(session, sys.maxsize):
        return False
    # The number of a session is given to no process while somebody is in it; a new process that has it leads another.
    leader = stat(session)
    return leader is None or leader[1] == leaders[session]


def freeze(
    roots: tuple[int, ...], spare: frozenset[int], mark: str = "", members: frozenset[Peer] = frozenset()
) -> set[int]:
    """Stop a tree, again and again until nothing new appears. Returns the pids that were stopped.

    First those that descend from the roots, or are known: to read what everybody's environment says takes far longer.
    """
    stopped: set[int] = set()
    for carried in ("", *[mark] * ROUNDS):
        fresh = tree(roots, spare, carried, members, at_once=signal.SIGSTOP) - stopped
        if not fresh and carried == mark:
            break
        _signal(fresh, signal.SIGSTOP)
        stopped |= fresh
    return stopped


def kill(
    roots: tuple[int, ...], spare: frozenset[int], mark: str = "", members: frozenset[Peer] = frozenset()
) -> set[int]:
    """End a tree for good. Returns what is left of it, normally nothing."""
    # Stopped first: what forks while its parent is killed would be an orphan, and no longer in the tree.
    stopped = freeze(roots, spare, mark, members)
    # A root may end meanwhile, and what stood below it would stay stopped for ever.
    members |= frozenset(filter(None, map(identify, stopped)))
    left: set[int] = set()
    for _ in range(ROUNDS):
        left = tree(roots, spare, mark, members, at_once=signal.SIGKILL)
        if not left:
            break
        _signal(left, signal.SIGKILL)
        time.sleep(0.01)
    return left


def kill_known(peers: Iterable[Peer]) -> None:
    """End these very processes; what else belongs to their tree is not looked for."""
    _signal([peer.pid for peer in peers if alive(peer)], signal.SIGKILL)


def join_group(root: Peer, spare: frozenset[int], group: Path, session: str) -> None:
    """Put what descends from a process, orphans that it adopted too, into a session's control group, until nothing new
    is left outside. The spared ones stay, not what descends from them.
    """
    for _ in range(ROUNDS):
        below = [peer.pid for peer in descendants(root) or () if peer.pid not in spare]
        outside = [pid for pid in below if cgroups.session_of(pid) != session]
        if not outside:
            return
        for pid in outside:
            cgroups.add(group, pid)


def wake(peer: Peer) -> None:
    """Continue a process that is stopped; one that runs notices nothing."""
    seen = stat(peer.pid)
    if seen and seen[1] == peer.start and seen[2] == "T":
        _signal((peer.pid,), signal.SIGCONT)


def end(pids: frozenset[int], seconds: float) -> None:
    """End processes, in their own way if they do so in time, and with what descends from them."""
    below = tree(pids, frozenset())
    peers = [peer for pid in (*pids, *below) if (peer := identify(pid))]
    _signal(pids, signal.SIGTERM)
    limit = time.monotonic() + seconds
    while time.monotonic() < limit and any(alive(peer) for peer in peers if peer.pid in pids):
        time.sleep(0.02)
    left = {peer.pid for peer in peers if alive(peer)}
    _signal(left | tree(left, frozenset()), signal.SIGKILL)


class Process(NamedTuple):
    """What a process is called."""

    pid: int
    name: str
    command: tuple[str, ...]
    """Its arguments as it was started with, the program first; empty where they cannot be read."""


def describe(pid: int) -> Process | None:
    """What a process is called; None where it is gone."""
    called = _read(f"/proc/{pid}/comm")  # its line end is there in any case
    return Process(pid, os.fsdecode(called.rstrip(b"\n")), command_line(pid)) if called else None


def of_user() -> list[Process]:
    """What runs with the rights of this process's user."""
    # The owner of /proc/PID is root for a process that may not be dumped.
    ours = f"\nUid:\t{os.getuid()}\t{os.geteuid()}\t".encode()
    found = []
    for pid in _pids():
        with contextlib.suppress(OSError):
            if ours in Path(f"/proc/{pid}/status").read_bytes() and (process := describe(pid)):
                found.append(process)
    return found


def descendants(root: Peer) -> list[Peer] | None:
    """All that descends from a process and runs; None where that very process is gone by the end of the reading."""
    listed = os.path.exists(f"/proc/{root.pid}/task/{root.pid}/children")  # noqa: PTH110 - hot
    children = _children if listed else _all_children()
    found = [root]
    for peer in found:
        found += children(peer.pid)
    return found[1:] if alive(root) else None


def _children(pid: int) -> list[Peer]:
    """Those of all its threads that run (proc_tid_children(5)): some files, where all of /proc is hundreds."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names only, many times
    except OSError:
        return []
    below = (int(child) for thread in threads for child in _read(f"/proc/{pid}/task/{thread}/children").split())
    return [Peer(child, seen[1]) for child in below if (seen := stat(child)) and seen[2] not in "ZX"]


def _all_children() -> Callable[[int], Sequence[Peer]]:
    """The same where the kernel keeps no such list."""
    children: dict[int, list[Peer]] = {}
    for pid in _pids():
        seen = stat(pid)
        if seen and seen[2] not in "ZX":
            children.setdefault(seen[0], []).append(Peer(pid, seen[1]))
    return lambda pid: children.get(pid, ())


def ran(pid: int) -> dict[int, tuple[int, int]] | None:
    """Of each thread: nanoseconds on a processor, and times that it was put on one. None where that cannot be read.

    A thread for which both stayed the same over a tick of the kernel's clock did nothing in between.
    """
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names only, many times
        return {int(thread): _schedstat(pid, thread) for thread in threads}
    except (OSError, ValueError):
        return None


def _schedstat(pid: int, thread: str) -> tuple[int, int]:
    fd = os.open(f"/proc/{pid}/task/{thread}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    try:
        spent, _, times = os.read(fd, 128).split()
    finally:
        os.close(fd)
    return int(spent), int(times)


def name(pid: int) -> str:
    """What the kernel calls a process, at most 15 characters (proc(5), comm); empty where it is gone."""
    return _read(f"/proc/{pid}/comm").decode(errors="replace").rstrip("\n")


def terminal(pid: int) -> int:
    """The device number of the terminal that controls a process; 0 where none does, or the process is gone."""
    fields = _fields(pid)
    number = int(fields[4]) & 0xFFFFFFFF if fields else 0
    # proc(5), tty_nr: the minor number is in bits 31 to 20 and 7 to 0, the major one between them.
    return os.makedev(number >> 8 & 0xFFF, number >> 12 & 0xFFF00 | number & 0xFF)


def input_terminal(pid: int) -> int:
    """The device number of what a process has as its standard input, which is a terminal; 0 where that is not told."""
    try:
        device = os.stat(f"/proc/{pid}/fd/0").st_rdev  # noqa: PTH116 - hot
    except OSError:
        return 0
    return terminal(pid) if device == _DEV_TTY else device


def prints_on_terminal_of(pid: int, other: int) -> bool:
    """Whether its standard output and its standard error both are the controlling terminal of the other process."""
    try:
        printed = {os.stat(f"/proc/{pid}/fd/{fd}").st_rdev for fd in (1, 2)}  # noqa: PTH116 - hot
    except OSError:
        return False
    # Most print into a pipe, which is no device.
    return len(printed) == 1 and 0 not in printed and printed == {terminal(other)}


def open_at_end(paths: Collection[str]) -> set[str]:
    """Those of these files (absolute, resolved) that a process has open and writes to at the end, as to a log."""
    found = set()
    for pid in _pids():
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - names only, many times
                with contextlib.suppress(OSError):
                    path = os.readlink(f"/proc/{pid}/fd/{fd}")  # noqa: PTH115 - many times
                    if path in paths and _writes_at_end(pid, fd, path):
                        found.add(path)
    return found


def _writes_at_end(pid: int, fd: str, path: str) -> bool:
    size = os.stat(path).st_size  # noqa: PTH116 - text with surrogates, as it came
    told = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/fdinfo/{fd}").read_text().splitlines() if ":" in line)
    flags = int(told["flags"], 8)
    return bool(flags & os.O_ACCMODE) and (bool(flags & os.O_APPEND) or int(told["pos"]) >= size)


def executable(pid: int) -> str:
    """The path of the file that a process runs; empty if it cannot be read."""
    try:
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - hot
    except OSError:
        return ""


def call_ourselves(name: str) -> None:
    """The name by which this process is listed: ``pkill python`` is not meant for us."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name)


def own_pid() -> int:
    return os.getpid()


def command_line(pid: int) -> tuple[str, ...]:
    """The arguments of a process, as it shows them itself; none where it has ended."""
    raw = _read(f"/proc/{pid}/cmdline").rstrip(b"\0")
    return tuple(map(os.fsdecode, raw.split(b"\0"))) if raw else ()


def environ(pid: int) -> dict[str, str]:
    """The environment that a process began with; empty if it cannot be read."""
    return dict(_variables(_read(f"/proc/{pid}/environ")))


@functools.lru_cache(maxsize=16)
def _variables(raw: bytes) -> Mapping[str, str]:
    """Those that an agent starts itself have the same, all of them."""
    pairs = (item.partition("=") for item in os.fsdecode(raw).split("\0") if item)
    return {name: value for name, _, value in pairs}


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - names only, many times


def stat(pid: int) -> tuple[int, int, str] | None:
    """(parent pid, start time in ticks, state letter); None where there is no such process."""
    fields = _fields(pid)
    return (int(fields[1]), int(fields[19]), fields[0].decode()) if fields else None


def _fields(pid: int) -> list[bytes]:
    """What proc(5) lists of a process behind its name: state, parent, group, session, terminal, ...; empty for none."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        raw = os.read(fd, 1024)
    except OSError:
        return []
    finally:
        os.close(fd)
    # The name in brackets may itself hold brackets and blanks.
    fields = raw[raw.rfind(b")") + 2 :].split()
    # While it is taken from the list of processes, Linux names 0 as its parent, as for the first one, and no group.
    return [] if fields[2:3] == [b"-1"] else fields


def _carries(pid: int, variable: bytes, session: str, limit: int) -> bool:
    if session_limit.of(pid) == limit:
        return True
    environ = _read(f"/proc/{pid}/environ")
    inherited = variable in environ and variable in environ.split(b"\0")
    return inherited or cgroups.session_of(pid) == session


def _read(path: str) -> bytes:
    """What a file of /proc says; empty where it cannot be read. Called with each verdict, and for all processes."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    said = b""
    try:
        while more := os.read(fd, 1 << 16):
            said += more
    except OSError:
        return b""
    finally:
        os.close(fd)
    return said
