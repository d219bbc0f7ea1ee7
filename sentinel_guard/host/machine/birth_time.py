"""When files were made and changed, by times that no program can set: birth (statx(2), STATX_BTIME) and change.

A time that is yet to come is older than the last setting of the clock, and so than whatever began since.
"""

from __future__ import annotations

import ctypes
import os
import struct
import time
from collections.abc import Iterator
from functools import cache

_SLACK = 2.0
"""Seconds that the clock of another machine's file system may be ahead."""
MOST = 2000
"""Entries of a folder that are looked at."""
_AT_FDCWD, _NO_FOLLOW, _BTIME, _SIZE = -100, 0x100, 0x800, 256
_MASK, _BORN = struct.Struct("<I"), struct.Struct("<qI")
_BORN_AT = 80
"""Offset of stx_btime in struct statx."""


def born(path: str) -> float:
    """Seconds of the epoch; 0 where the file system does not tell. Raises OSError."""
    room = ctypes.create_string_buffer(_SIZE)
    if _libc().statx(_AT_FDCWD, os.fsencode(path), _NO_FOLLOW, _BTIME, room):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    if not _MASK.unpack_from(room)[0] & _BTIME:
        return 0.0
    seconds, nanoseconds = _BORN.unpack_from(room, _BORN_AT)
    return float(seconds) + float(nanoseconds) / 1e9


def is_since(changed: float, moment: float) -> bool:
    """Whether a change time is one after that moment (both seconds of the epoch)."""
    return moment <= changed <= time.time() + _SLACK


def is_younger(path: str, moment: float) -> bool:
    """Whether all that is at a path was made after that moment (seconds of the epoch); nothing there is younger, too.

    False where it cannot be told: no time of birth, a folder of more than MOST entries or one that cannot be read.
    """
    try:
        if not is_since(born(path), moment):
            return False
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    try:
        return all(is_since(born(entry), moment) for entry in _below(path))
    except OSError:
        return False


def is_gone(path: str) -> bool:
    """Whether nothing is at a path, not even a link that leads nowhere."""
    try:
        os.lstat(path)  # text with surrogates
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _below(folder: str) -> Iterator[str]:
    """What lies in it, however deep; nothing for what is no folder. Raises OSError, for too many entries, too."""
    left, todo = MOST, [folder] if os.path.isdir(folder) and not os.path.islink(folder) else []  # noqa: PTH112, PTH114 - text with surrogates
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                left -= 1
                if left < 0:
                    raise OSError(f"more than {MOST} entries")
                yield entry.path
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
