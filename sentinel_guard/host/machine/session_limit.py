"""A resource limit by which a session's processes are known: setrlimit(2), ``RLIMIT_RTTIME``.

Whatever a process does with its parents, its environment and its terminal, it and all that it starts keep its hard
limits. Anybody may lower one, only root can raise it. This one limits nothing: so many microseconds of one piece of
real-time work are thousands of years.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource

_LEAST = 1 << 60
_LIMIT = b"Max realtime timeout"


def number(session: str) -> int:
    """The limit of a session's processes: its own, and none that anybody would set."""
    return _LEAST | int.from_bytes(hashlib.blake2b(session.encode(), digest_size=7).digest())


def enter(session: str) -> None:
    """Give this process, and all that will descend from it, the limit of a session; not where it has a lower one."""
    with contextlib.suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
        own = number(session)
        if hard == resource.RLIM_INFINITY or hard > own:
            resource.setrlimit(resource.RLIMIT_RTTIME, (soft if 0 <= soft < own else own, own))


def of(pid: int) -> int:
    """The number that a process has; 0 for none. Asked of every process of the machine."""
    try:
        _, hard = resource.prlimit(pid, resource.RLIMIT_RTTIME)
    except PermissionError:
        hard = _read(pid)
    except OSError:
        return 0
    return hard if hard >= _LEAST else 0


def _read(pid: int) -> int:
    """The same of a process of this user's that has got a group besides (sg(1))."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():  # noqa: PTH116 - hot
            return 0
        with open(f"/proc/{pid}/limits", "rb") as file:  # noqa: PTH123 - hot
            hard = file.read().partition(_LIMIT)[2].split(None, 2)[1]
    except (OSError, IndexError):
        return 0
    return int(hard) if hard.isdigit() else 0
