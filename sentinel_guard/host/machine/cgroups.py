"""A control group for the processes of a session (cgroups(7), version 2), where the user may make one below their own.

Whatever a process does with its parents, its environment and its terminal, it stays in its group, and so does all that
it starts. Only what is moved leaves it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import threading
from pathlib import Path

_NAME = "sentinel-"
_LONGEST = 1 << 16
"""Bytes that are read of what proc_pid_cgroup(5) says."""
_MOUNT = re.compile(r"^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 ", re.MULTILINE)
"""proc_pid_mountinfo(5): the group that is mounted, and where."""
_GROUP = re.compile(rf"^0::(.*?)(?:/{_NAME}([^/\n]+)(?:/.*)?)?$", re.MULTILINE)


_MAKING = threading.Lock()
"""Whoever makes a group takes empty ones away: not one that another thread has just made."""
_TRIES = 50
"""Times that a group is made: the daemon of another state folder may take it away while it is empty."""
_TAKEN_AWAY = (errno.ENOENT, errno.ENODEV, errno.EEXIST)  # the last one while mkdir looks


def enter(pid: int, session: str) -> Path | None:
    """Put a process into a group of its session, below the group in which it is; None where that is not possible."""
    above, _ = _group(pid)
    mount = _mount()
    if not above or not mount or not above.startswith(mount[0]):
        return None
    folder = Path(f"{mount[1]}/{above[len(mount[0]) :]}/{_NAME}{session}")
    with _MAKING:
        # Those of sessions that ended while something of theirs ran on.
        for old in folder.parent.glob(f"{_NAME}*"):
            leave(old)
        for _ in range(_TRIES):
            try:
                folder.mkdir(mode=0o700, exist_ok=True)
                _put(folder, pid)
            except OSError as e:
                if e.errno in _TAKEN_AWAY and Path(f"/proc/{pid}").exists():
                    continue
                leave(folder)
                return None
            return folder
    return None


def add(folder: Path, pid: int) -> None:
    """Put another process into a group; one that has ended, or may not be moved, stays where it is."""
    with contextlib.suppress(OSError):
        _put(folder, pid)


def _put(folder: Path, pid: int) -> None:
    (folder / "cgroup.procs").write_text(str(pid))


def leave(folder: Path | None) -> None:
    """Take a group away in which nothing runs any more."""
    if folder:
        with contextlib.suppress(OSError):
            folder.rmdir()


def session_of(pid: int) -> str:
    """The id of the session in whose group a process is; empty for none. Asked of every process of the machine."""
    said = _said(pid)
    return _told(said)[1] if f"/{_NAME}" in said else ""


def _group(pid: int) -> tuple[str, str]:
    return _told(_said(pid))


def _said(pid: int) -> str:
    try:
        fd = os.open(f"/proc/{pid}/cgroup", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.fsdecode(os.read(fd, _LONGEST))
    except OSError:
        return ""
    finally:
        os.close(fd)


def _told(said: str) -> tuple[str, str]:
    """The group above a session's, or the group itself, and the session's id, as proc_pid_cgroup(5) tells them."""
    found = _GROUP.search(said)
    return (found[1] or "/", found[2] or "") if found else ("", "")


@functools.lru_cache(maxsize=1)
def _mount() -> tuple[str, str] | None:
    try:
        said = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
    except OSError:
        return None
    found = _MOUNT.search(said)
    return (found[1].rstrip("/"), os.path.normpath(found[2])) if found else None
