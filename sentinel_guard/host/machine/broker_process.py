"""The broker of held system calls as a process between the runner and the agent (docs/protocol.md, "The face kernel").

It forks the leader of the agent's session before it becomes the broker: whoever wears the filter stands below it, so
that it may read their memory (Yama's ptrace_scope 1 lets only ancestors).
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from typing import NamedTuple

_CHILD = struct.Struct("ii")
ENDS = 0.02
"""Seconds in which a broker below which nothing is left has ended."""


class BrokerCommand(NamedTuple):
    """What is started, and how it finds the daemon."""

    program: str
    daemon: str
    """Path of the daemon's socket for agents."""
    session: str
    secret: str
    """What the daemon proves to know."""


class BrokerProcess:
    """The descriptors between the runner, the broker and the agent; made before the first fork, parted after it."""

    def __init__(self, command: BrokerCommand) -> None:
        self._command, self.pid = command, 0
        self._near, self._far = socket.socketpair()
        self._hears, self._tells = os.pipe()
        self._status, self._reports = os.pipe()

    def fileno(self) -> int:
        """Readable when ``reaped`` has something to tell; -1 once the broker has gone."""
        return self._status

    # --- in the runner ---

    def begun(self, pid: int) -> None:
        """It was forked."""
        self.pid = pid
        self._near.close()
        self._far.close()
        os.close(self._hears)
        os.close(self._reports)
        os.set_blocking(self._status, False)

    def go(self) -> None:
        """Let it become the broker: the daemon knows who it is."""
        if self._tells >= 0:
            os.write(self._tells, b"g")
        self._close_gate()

    def drop(self) -> None:
        """Never let it become the broker."""
        self._close_gate()
        os.waitpid(self.pid, 0)

    def reaped(self) -> list[tuple[int, int]]:
        """(pid, wait status) of its children that have stopped or ended since."""
        if self._status < 0:
            return []
        try:
            data = os.read(self._status, _CHILD.size << 8)
        except BlockingIOError:
            return []
        if not data:
            self.close()
        return [*_CHILD.iter_unpack(data)]

    def end(self) -> None:
        """Wait for its end where nothing is left below it, so that what it waited for counts as ours (getrusage(2))."""
        if self._status < 0:
            return
        limit, poll = time.monotonic() + ENDS, select.poll()
        poll.register(self._status, select.POLLIN)
        while self._status >= 0 and poll.poll(max(0.0, limit - time.monotonic()) * 1000):
            self.reaped()
        if self._status < 0:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
        self.close()

    def close(self) -> None:
        """Listen no more; it lives on for what the agent has left running."""
        if self._status >= 0:
            os.close(self._status)
        self._status = -1

    def _close_gate(self) -> None:
        if self._tells >= 0:
            os.close(self._tells)
        self._tells = -1

    # --- in the broker that it becomes, and in the agent ---

    def become(self, line: socket.socket) -> None:
        """Wait until the daemon knows this process, then be the broker; returns where it never does. ``line`` is the
        leader's alone. Raises OSError.
        """
        line.close()
        os.close(self._tells)
        if os.read(self._hears, 1) != b"g":
            return
        secret, given = os.pipe()
        os.write(given, self._command.secret.encode())
        os.close(given)
        kept = {"--secret-fd": secret, "--control-fd": self._near.fileno(), "--status-fd": self._reports}
        for fd in kept.values():
            os.set_inheritable(fd, True)
        options = [word for name, fd in kept.items() for word in (name, str(fd))]
        at = ["--socket", self._command.daemon, "--session", self._command.session]
        os.execve(self._command.program, [self._command.program, "serve", *at, *options], {})  # noqa: S606 - no shell wanted

    def wearing(self, path: str, argv: Sequence[str]) -> tuple[str, list[str]]:
        """The program and arguments with which the agent becomes ``path``, its system calls held."""
        fd = os.dup(self._far.fileno())
        os.set_inheritable(fd, True)
        program = self._command.program
        return program, [program, "wear", str(fd), os.path.abspath(path), *argv]  # noqa: PTH100 - as it was found
