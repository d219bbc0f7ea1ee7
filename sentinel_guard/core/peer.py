"""A process, named for ever."""

from __future__ import annotations

from typing import NamedTuple


class Peer(NamedTuple):
    """A process: its pid and its start time in clock ticks since boot, which together name it for ever."""

    pid: int
    start: int
