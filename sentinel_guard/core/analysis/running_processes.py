"""Processes of this machine that a command chooses by name, command line or port, and what is known of them."""

from __future__ import annotations

import enum
from typing import NamedTuple

from sentinel_guard.core.analysis.posix_expressions import Expression

OTHERS = "others"
"""The word of a signal that reaches such as are neither the session's nor the repository's."""


class By(enum.Enum):
    """What an expression is held against."""

    NAME = "what the kernel calls it, 15 characters"
    LINE = "its command line"
    PROGRAM = "its name, or the base name of its program"


class Criterion(NamedTuple):
    """What must be found in a process, or with ``meant`` False must not."""

    expression: Expression
    by: By
    meant: bool = True

    def holds(self, name: str, line: str) -> bool:
        """Of a kernel's thread there is no command line; pgrep looks at its name then."""
        texts = [name if self.by is By.NAME else line or name]
        if self.by is By.PROGRAM:
            texts = [name, line.partition(" ")[0].rpartition("/")[2]]
        return any(map(self.expression.is_in, texts)) is self.meant


class Selection(NamedTuple):
    """A choice of processes."""

    criteria: tuple[Criterion, ...] = ()
    """All of them hold."""
    port: int = 0
    """They have a TCP socket at this port of this machine; 0 for any process."""
    peers: bool = False
    """Or are connected with such a port."""
    one: str = ""
    """``newest`` or ``oldest``: only this one."""
    folder: str = ""
    """The path of the folder in which they work has this in it."""


class Running(NamedTuple):
    """A process that is neither the session's nor the repository's."""

    pid: int
    name: str
    folder: str
    """In which it works, absolute; empty where that cannot be seen."""
    above: bool
    """The session descends from it: the agent itself, or what the agent runs in."""
