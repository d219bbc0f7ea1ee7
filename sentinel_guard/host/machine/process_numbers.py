"""In which order the kernel gave the processes their numbers."""

from __future__ import annotations

from pathlib import Path


def newest_first(pids: list[int], last: int) -> list[int]:
    """Numbers of processes by when they were given, the newest first: behind the highest they begin anew.

    Who forks and ends all the time is another process before the older ones have been looked at.
    """
    return sorted(pids, key=lambda pid: (pid > last, -pid))


def last_given() -> int:
    """The number of the process that was made last, proc(5); 0 where that is not told."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[4])
    except (OSError, ValueError, IndexError):
        return 0
