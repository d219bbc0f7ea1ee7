"""Tells whether background processes write the files that have changed: a server's log, what a watcher builds (R5).

Rules of this file:
1. It is asked when a call has ended and its agent waits for the answer: whoever writes now is neither of them.
2. A background process writes a file that one has open at its end, or whose content changes while we look on.
3. In doubt none does: what the agent or the person has changed is never taken for its work.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Collection

from sentinel_guard.host.machine import processes

PERIOD = 1.5
"""Seconds after a change in which a process that rewrites a file is expected to have done so again."""
STEP = 0.02
MOST = 64
"""Files beyond which it is no question: so many are a checkout, or a build."""
LARGE = 4 << 20
"""Bytes of a file that are compared, its size besides."""
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def are_background_writes(root: str, names: Collection[str]) -> bool:
    """Whether background processes write all of these files (relative to ``root``, resolved).

    Takes until each of the files has changed again, at most PERIOD seconds; no time where one has rested for so long.
    """
    paths = {f"{root}/{name}" for name in names}
    if not paths or len(paths) > MOST:
        return False
    return _all_rewritten(paths - processes.open_at_end(paths))


def _all_rewritten(paths: set[str]) -> bool:
    left = {path: (_changed(path), _content(path)) for path in paths}
    while left:
        for path, (at, content) in [*left.items()]:
            if content and _changed(path) != at and _content(path) != content:
                del left[path]
            elif content is None or time.time() > at + PERIOD:
                return False
        time.sleep(STEP if left else 0)
    return True


def _changed(path: str) -> float:
    """When the file, or its name, last changed (epoch seconds, not after now); 0 where there is none."""
    try:
        return min(time.time(), os.lstat(path).st_ctime)
    except OSError:
        return 0.0


def _content(path: str) -> tuple[int, bytes] | None:
    """What tells one content from another; None for what is no file."""
    with contextlib.suppress(OSError):
        fd = os.open(path, _FLAGS)
        try:
            seen = os.fstat(fd)
            if stat.S_ISREG(seen.st_mode):
                return seen.st_size, hashlib.sha256(os.read(fd, LARGE)).digest()
        finally:
            os.close(fd)
    return None
