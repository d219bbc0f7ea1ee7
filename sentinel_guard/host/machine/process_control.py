"""Settings of this process that the kernel keeps: prctl(2)."""

from __future__ import annotations

import ctypes
import os
import signal

from sentinel_guard.errors import HostError

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_CHILD_SUBREAPER = 1, 4, 36  # linux/prctl.h


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


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise HostError(f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}.", "This needs Linux 3.4 or newer.")
