"""Terminals for ``run``: the person's (outer) terminal, and the agent's pseudo-terminal (the inner one).

Rules of this file:
1. The outer terminal is given back as it was found, whatever happens in between.
2. While another job has the outer terminal, nothing is read from it and none of its settings is changed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
import termios
import tty
from collections.abc import Callable
from typing import Any, Self

from sentinel_guard.errors import HostError

STANDARD = (0, 1, 2)
USUAL = (80, 24)
"""Columns and rows of a terminal that does not say (0 x 0)."""
NOT_OURS = -1
MULTIPLEXERS = ("TMUX", "STY", "ZELLIJ", "KITTY_LISTEN_ON", "WEZTERM_")
"""Variables that lead to the person's terminal multiplexer: through it an agent could type for the person."""


class UserTerminal:
    """The person's terminal, opened anew: its flags are ours alone."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._before = termios.tcgetattr(fd)
        self._raw = False

    @classmethod
    def open(cls) -> Self | None:
        """The controlling terminal; None where no person can be asked on it.

        That is: no standard descriptor is it, or our output is a pipe to a program (a pager, say) that reads its keys
        from it. Another job may have it for now.
        """
        if all(foreground_of(fd) == NOT_OURS for fd in STANDARD) or _is_pipe(1):
            return None
        try:
            return cls(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        except OSError:
            return None

    @property
    def shared(self) -> bool:
        """Whether it is a multiplexer's, through which an agent could type."""
        return any(name.startswith(MULTIPLEXERS) for name in os.environ)

    def size(self) -> tuple[int, int]:
        """Columns, rows."""
        try:
            rows, columns = termios.tcgetwinsize(self.fd)
        except (OSError, termios.error):
            return USUAL
        return columns or USUAL[0], rows or USUAL[1]

    def raw(self) -> None:
        """Every key comes as it is, at once. Type-ahead is kept."""
        with contextlib.suppress(termios.error):
            if not self._raw:
                self._before = termios.tcgetattr(self.fd)
            self._raw = True
            _uninterrupted(lambda: tty.setraw(self.fd, termios.TCSADRAIN))

    def restore(self) -> None:
        if self._raw and self.foreground():
            self._raw = False
            with contextlib.suppress(termios.error):
                _uninterrupted(lambda: termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before))

    @property
    def is_raw(self) -> bool:
        """Whether it stands as ``raw`` has left it."""
        return self._raw and self.foreground()

    def flush_input(self) -> None:
        """Throw away what was typed and not yet read."""
        with contextlib.suppress(termios.error):
            termios.tcflush(self.fd, termios.TCIFLUSH)

    def typed(self) -> bool:
        """Whether something was typed and not yet read."""
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return bool(poll.poll(0))

    def foreground(self) -> bool:
        """Whether our job has it."""
        return foreground_of(self.fd) == os.getpgrp()

    def close(self) -> None:
        os.close(self.fd)

    def attributes(self) -> list[Any]:
        """The line discipline's settings, as they were found."""
        return self._before


class AgentTerminal:
    """The agent's pty. We hold its far end too, so that it does not hang up while nobody has it open."""

    def __init__(self, outer: UserTerminal) -> None:
        try:
            self.fd, self.far = os.openpty()
        except OSError as e:
            raise HostError(f"No pseudo-terminal could be opened: {e.strerror}.", "Close some terminals.") from e
        os.set_blocking(self.fd, False)
        self.resize(outer.size())

    def adopt(self, attributes: list[Any]) -> None:
        """Take over the settings of another terminal's line discipline."""
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.far, termios.TCSANOW, attributes)

    def resize(self, size: tuple[int, int]) -> None:
        """Set columns and rows; its foreground programs get SIGWINCH where that is a change."""
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetwinsize(self.far, (size[1], size[0]))

    def close(self) -> None:
        os.close(self.fd)
        os.close(self.far)


def foreground_of(fd: int) -> int:
    """The process group in the foreground of our controlling terminal (0: one that our PID namespace does not show);
    NOT_OURS where the descriptor is not that terminal.
    """
    try:
        return os.tcgetpgrp(fd)
    except OSError:
        return NOT_OURS


def _uninterrupted(change: Callable[[], object]) -> None:
    """Do it again where a signal came in between: a continued job gets several."""
    while True:
        try:
            change()
        except termios.error as e:
            if e.args[0] != errno.EINTR:
                raise
        else:
            return


def _is_pipe(fd: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False
