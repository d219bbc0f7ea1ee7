"""Settings of glibc's memory allocator for a process that lives long (mallopt(3)).

By default each thread allocates from an arena of its own, and the size from which a block is given back to the system
at once grows with the largest that was freed. A process that now and then handles tens of thousands of files in threads
keeps what it needed at most, several times over.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from pathlib import Path

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LITTLE = 64 << 20
"""Bytes in memory: a daemon at rest has 50 MiB."""
_MAPPED = 128 << 10
"""Bytes from which a block is a mapping of its own. To set it keeps it from growing."""


def keep_little() -> bool:
    """Give freed memory back early; False where the C library has no such settings. Call it before threads begin."""
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        return bool(library.mallopt(_M_ARENA_MAX, 1) and library.mallopt(_M_MMAP_THRESHOLD, _MAPPED))
    return False


def give_back() -> None:
    """Collect what lies in cycles, and give all free memory back, after work that may have been on very many files.

    Nothing is done where little is in use: to look at all that lives takes 10 ms, in which no other thread runs.
    """
    if _resident() < _LITTLE:
        return
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _resident() -> int:
    """Bytes of this process in memory; a large number where that is not told."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return sys.maxsize
