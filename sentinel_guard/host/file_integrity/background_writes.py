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
STEP = 0.03
MOST = 64
"""Files beyond which it is no question: so many are a checkout, or a build."""
LARGE = 1 << 20
"""Bytes of a file that are compared, besides its size."""
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
    until = {path: _changed(path) + PERIOD for path in paths}
    first: dict[str, str] = {}
    left = paths
    while left:
        contents = {path: _content(path) for path in left}
        if any(content is None or time.time() > until[path] for path, content in contents.items()):
            return False
        # An empty file is about to be written: what it held before may come again.
        left = {path for path, content in contents.items() if not content or first.setdefault(path, content) == content}
        time.sleep(STEP if left else 0)
    return True


def _changed(path: str) -> float:
    """When the file, or its name, last changed (epoch seconds, not after now); 0 where there is none."""
    try:
        return min(time.time(), os.lstat(path).st_ctime)
    except OSError:
        return 0.0


def _content(path: str) -> str | None:
    """What tells one content from another, blank for an empty file; None for what is no file."""
    with contextlib.suppress(OSError):
        seen = os.lstat(path)
        if stat.S_ISREG(seen.st_mode):  # a pipe's writer would notice that it is opened
            fd = os.open(path, _FLAGS)
            try:
                data = os.read(fd, LARGE)
            finally:
                os.close(fd)
            size = seen.st_size if len(data) == LARGE else len(data)
            return f"{size} {hashlib.sha256(data).hexdigest()}" if data else ""
    return None
