"""Signals of this process as numbers to be read from a descriptor, for an event loop."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from typing import Any, Self

FORWARDED = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGTSTP,
)
WATCHED = (*FORWARDED, signal.SIGCHLD, signal.SIGWINCH, signal.SIGCONT)


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

    def stop(self, number: int, *, whole_job: bool) -> int | None:
        """Stop by this signal, with ``whole_job`` all of our process group. Returns once continued: the pid of who did
        it. None where the kernel did not stop us, because no shell would ever continue us.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCONT,))
        on_stop = None if number == signal.SIGSTOP else signal.signal(number, signal.SIG_DFL)
        os.kill(0 if whole_job else os.getpid(), number)
        if on_stop is not None:
            signal.signal(number, on_stop)
        continued = signal.sigtimedwait((signal.SIGCONT,), 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return continued.si_pid if continued else None
