"""Memory of a process that lives long: settings of glibc's allocator (mallopt(3)), and the size of its pages.

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
from collections.abc import Iterator
from pathlib import Path

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LITTLE = 64 << 20
"""Bytes in memory: a daemon at rest has 50 MiB."""
_HUGE = 2 << 20
"""Bytes of a huge page."""
_COLLAPSE = 25
"""madvise(2), MADV_COLLAPSE: since Linux 6.1."""
_FILLED = 3 / 4
"""Part of a huge page that is in memory before the rest is put there with it."""
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


def use_huge_pages() -> int:
    """Put what this process has in memory into huge pages, as far as it fills them. Bytes; 0 where the kernel cannot.

    A processor forgets where small pages lie while others work on it, and a daemon is asked once in a while.
    """
    moved = 0
    with contextlib.suppress(OSError, AttributeError, ValueError):
        library = ctypes.CDLL(None)
        library.madvise.argtypes = library.mincore.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)
        pages = (ctypes.c_ubyte * (_HUGE // os.sysconf("SC_PAGESIZE")))()
        for begin, end in _anonymous():
            for at in range(-(-begin // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE):
                told = not library.mincore(at, _HUGE, pages)
                filled = told and sum(page & 1 for page in pages) >= _FILLED * len(pages)
                moved += _HUGE if filled and not library.madvise(at, _HUGE, _COLLAPSE) else 0
    return moved


def _anonymous() -> Iterator[tuple[int, int]]:
    """Begin and end of what this process may write and is no file's, its stack apart (proc(5), maps)."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, _, _, inode, *name = line.split()
        if rights.startswith("rw-p") and inode == "0" and name in ([], ["[heap]"]):
            begin, end = place.split("-")
            yield int(begin, 16), int(end, 16)


def _resident() -> int:
    """Bytes of this process in memory; a large number where that is not told."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return sys.maxsize
