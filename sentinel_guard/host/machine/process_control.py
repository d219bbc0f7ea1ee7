"""Settings of this process that the kernel keeps: prctl(2), sched_setattr(2)."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import struct

from sentinel_guard.errors import HostError

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_CHILD_SUBREAPER = 1, 4, 36  # linux/prctl.h
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
_ATTRIBUTES, _RESET_ON_FORK = struct.Struct("=IIQiIQQQ"), 1
"""Size, policy, flags, niceness, priority, runtime, deadline, period."""
_TURN = 300_000
"""Nanoseconds; a kernel's own turns last 1.4 to 4 ms, by its processors."""


def become_subreaper() -> None:
    """Orphans of our tree become ours, so nothing that is started below us can leave the tree."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: signal.Signals) -> None:
    """Get this signal when the parent ends."""
    _prctl(_SET_DEATH_SIGNAL, number)


def forbid_tracing() -> None:
    """No process of the same user can attach to us, read our memory, or take our descriptors (ptrace(2), access mode
    checking). A program that we become is a new one, and can be traced.
    """
    _prctl(_SET_DUMPABLE, 0)


def take_short_turns() -> bool:
    """Let this thread, not those that it starts, run in short turns, which come sooner where others work on all
    processors, and take no larger part. False where it has a policy of its own, or the kernel refuses; nothing comes of
    it before Linux 6.12.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    libc, nice = ctypes.CDLL(None, use_errno=True), os.getpriority(os.PRIO_PROCESS, 0)
    wanted = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, _RESET_ON_FORK, nice, 0, _TURN, 0, 0)
    return not libc.syscall(number, 0, wanted, 0)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise HostError(f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}.", "This needs Linux 3.4 or newer.")
