"""Terminals and processes for ``run``: the person's (outer) terminal, the agent's pseudo-terminal, its first process.

Rules of this file:
1. The outer terminal is given back as it was found, whatever happens in between.
2. The agent gets a session of its own: it has no outer terminal to read, and no signal of it reaches it unforwarded.
3. Where there is no terminal, the agent inherits the descriptors as they are.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import socket
import stat
import sys
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sentinel_guard.errors import HostError

STANDARD = (0, 1, 2)
USUAL = (80, 24)
"""Columns and rows of a terminal that does not say (0 x 0)."""
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
WATCHED = (*FORWARDED, signal.SIGCHLD, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP)
_SET_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


class UserTerminal:
    """The person's terminal, opened anew: its flags are ours alone."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._before = termios.tcgetattr(fd)

    @classmethod
    def open(cls) -> Self | None:
        """The controlling terminal; None where no person can be asked on it.

        That is: no standard descriptor is it, another job has it, or our output is a pipe to a program (a pager, say)
        that reads its keys from it.
        """
        if not any(map(_is_ours, STANDARD)) or _is_pipe(1):
            return None
        try:
            return cls(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        except OSError:
            return None

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
            tty.setraw(self.fd, termios.TCSADRAIN)

    def restore(self) -> None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before)

    def flush_input(self) -> None:
        """Throw away what was typed and not yet read."""
        with contextlib.suppress(termios.error):
            termios.tcflush(self.fd, termios.TCIFLUSH)

    def foreground(self) -> bool:
        return _is_ours(self.fd)

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
        termios.tcsetattr(self.far, termios.TCSANOW, outer.attributes())
        self.resize(outer.size())

    def resize(self, size: tuple[int, int]) -> None:
        """Set columns and rows; its foreground programs get SIGWINCH where that is a change."""
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetwinsize(self.far, (size[1], size[0]))

    def close(self) -> None:
        os.close(self.fd)
        os.close(self.far)


class Signals:
    """The signals of this process, as numbers to be read from a descriptor. What was ignored stays ignored."""

    def __init__(self) -> None:
        self._near, self._far = socket.socketpair()
        for end in (self._near, self._far):
            end.setblocking(False)
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in WATCHED:
            if signal.getsignal(number) is not signal.SIG_IGN or number is signal.SIGCHLD:
                self._before[number] = signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._far.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._near.close()
        self._far.close()

    def fileno(self) -> int:
        return self._near.fileno()

    def read(self) -> list[int]:
        with contextlib.suppress(BlockingIOError):
            return [*self._near.recv(256)]
        return []

    def reset(self) -> None:
        """In a child: as a program expects to find them."""
        signal.set_wakeup_fd(-1)
        # Python ignores these two by itself.
        for number in (*self._before, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)


@dataclass(frozen=True, slots=True)
class Child:
    """The agent's first process. It waits until ``go`` is called."""

    pid: int
    gate: int

    def go(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self.gate, b"g")
        os.close(self.gate)

    def drop(self) -> None:
        """Never let it go: it ends without having been the program."""
        os.close(self.gate)
        os.waitpid(self.pid, 0)

    def signal(self, number: int) -> None:
        """To its process group, which it leads; to itself where it has not come to that yet."""
        with contextlib.suppress(PermissionError):
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, number)


def spawn(
    path: str, argv: Sequence[str], environ: Mapping[str, str], signals: Signals, inner: AgentTerminal | None
) -> Child:
    """Fork the agent's first process; it becomes ``path`` once it is let go, and leads a session of its own."""
    hears, gate = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        os.close(hears)
        return Child(pid, gate)
    try:
        os.close(gate)
        signals.reset()
        _settle(inner)
        if os.read(hears, 1):
            _become(path, argv, environ)
    except OSError as e:
        os.write(2, f"sentinel-guard: {path}: {e.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(126)


def become_subreaper() -> None:
    """Orphans of the agent's tree become ours, so nothing it starts can leave the tree."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def reap() -> Iterator[tuple[int, int]]:
    """(pid, wait status) of every child, ours or adopted, that has ended or stopped since."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, status


def _settle(inner: AgentTerminal | None) -> None:
    """In the child: a session, a terminal of its own, and no way to the outer one."""
    # Without a runner there is nobody to guard it: it hears what a closing terminal would say.
    _prctl(_SET_DEATH_SIGNAL, signal.SIGHUP)
    ours = [fd for fd in STANDARD if _is_ours(fd)]
    in_background = _holder(0) not in (0, os.getpgrp())
    os.setsid()
    if inner:
        fcntl.ioctl(inner.far, termios.TIOCSCTTY, 0)
        for fd in ours:
            os.dup2(inner.far, fd)
        _close_terminals()
    elif in_background:
        # In a session of its own the kernel would no longer stop it from taking another job's keys.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _close_terminals() -> None:
    """Descriptors above the standard ones that are the outer terminal, and would outlive exec."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names only
        fd = int(name)
        with contextlib.suppress(OSError):
            if fd > 2 and os.get_inheritable(fd) and os.isatty(fd):
                os.close(fd)


def _become(path: str, argv: Sequence[str], environ: Mapping[str, str]) -> None:
    try:
        os.execve(path, [*argv], environ)  # noqa: S606 - no shell wanted
    except OSError as e:
        if e.errno != errno.ENOEXEC:
            raise
        # As execvp(3): a script without a first line that names its interpreter.
        os.execve("/bin/sh", ["/bin/sh", path, *argv[1:]], environ)  # noqa: S606 - the same


def _is_ours(fd: int) -> bool:
    """True where it is our controlling terminal, and we are in its foreground."""
    return _holder(fd) == os.getpgrp()


def _holder(fd: int) -> int:
    """The process group in the foreground of our controlling terminal; 0 where the descriptor is not that terminal."""
    try:
        return os.tcgetpgrp(fd)
    except OSError:
        return 0


def _is_pipe(fd: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise HostError(f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}.", "This needs Linux 3.4 or newer.")
