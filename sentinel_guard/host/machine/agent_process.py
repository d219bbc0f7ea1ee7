"""The agent's first process, and the leader of its session: a small process between the agent and the runner.

The kernel lets a program be stopped (by the stop key, by reading in the background) only where its parent belongs to
the same session and to another process group: else nobody could continue it. The runner is in the person's session.

Rules of this file:
1. The agent gets a session of its own: it has no outer terminal to read, and no signal of it reaches it unforwarded.
2. The leader is to the agent what an interactive shell is to a job: it gives it the inner terminal's foreground, takes
   it back when the agent has stopped, continues it, waits for it. It decides nothing.
3. The runner learns of stops and of the end as wait(2) tells it. A leader that is killed leaves the agent to the
   runner, which then waits for it itself.
4. The leader is a fork that runs no other program. It keeps no descriptor of the runner's, and ends with the agent and
   with the runner.
5. Where there is no terminal, the agent inherits the descriptors as they are.
6. Where system calls are held, the broker stands between the runner and the leader, and tells of both what the runner
   would hear as their parent.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import session_limit
from sentinel_guard.host.machine.broker_process import BrokerCommand, BrokerProcess
from sentinel_guard.host.machine.caught_signals import Signals
from sentinel_guard.host.machine.process_control import die_with_parent
from sentinel_guard.host.machine.pseudo_terminal import NOT_OURS, STANDARD, AgentTerminal, foreground_of

_NUMBER, _PIDS = struct.Struct("i"), struct.Struct("ii")
_CONTINUED = 0xFFFF
"""Of the statuses of wait(2)."""
_GO, _FOREGROUND, _BACKGROUND = 0xE0, 0xF0, 0xB0
"""What the runner tells the leader, a byte each; other bytes are signals for the agent."""


class AgentProcess:
    """The agent's first process. It waits until ``go`` is called."""

    def __init__(self, pid: int, leader: int, line: socket.socket, broker: BrokerProcess | None = None) -> None:
        self.pid, self._leader, self._line, self._broker = pid, leader, line, broker
        self._continuing = 0
        line.setblocking(False)

    @property
    def broker(self) -> int:
        """Pid of the broker of its held system calls; 0 where none are held."""
        return self._broker.pid if self._broker else 0

    def filenos(self) -> list[int]:
        """Descriptors that are readable when ``changes`` has something to tell."""
        sources = (self._line, self._broker) if self._broker else (self._line,)
        return [source.fileno() for source in sources if source.fileno() >= 0]

    def go(self, *, foreground: bool) -> None:
        """Let it become the program, in the inner terminal's foreground or not."""
        if self._broker:
            self._broker.go()
        self._order(_FOREGROUND if foreground else _BACKGROUND)
        self._order(_GO)

    def drop(self) -> None:
        """Never let it go: it ends without having been the program."""
        self._line.close()
        if self._broker:
            self._broker.drop()
        for pid in (self._leader, self.pid):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def go_on(self, *, foreground: bool) -> None:
        """Continue it, in the inner terminal's foreground or not."""
        self._order(_FOREGROUND if foreground else _BACKGROUND)
        self.signal(signal.SIGCONT)

    def signal(self, number: int) -> None:
        """To its process group, after all that was sent before."""
        if not self._order(number):
            _send(self.pid, number)
        elif number == signal.SIGCONT:
            self._continuing += 1

    def kill(self) -> None:
        """At once, whatever has become of its leader."""
        _send(self.pid, signal.SIGKILL)

    def changes(self) -> list[int]:
        """Wait statuses of the agent since the last call: it has stopped, or ended. A stop that we have undone since is
        none. Reaps what else has ended below us, the orphans that we adopted.
        """
        reaped = [*_reap(-1, os.WUNTRACED), *(self._broker.reaped() if self._broker else ())]
        if any(pid == self._leader and not os.WIFSTOPPED(status) for pid, status in reaped):
            self._leader = 0
        return [*self._told(), *(status for pid, status in reaped if pid == self.pid)]

    def close(self) -> None:
        """The agent has ended: so does its leader, and nothing of ours is left running."""
        self._line.close()
        if self._broker:
            self._broker.end()
        if self._leader and not self._broker:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._leader, signal.SIGKILL)
                os.waitpid(self._leader, 0)

    def _order(self, order: int) -> bool:
        """Have the leader do it; False where there is none any more."""
        try:
            return self._line.send(bytes((order,)), socket.MSG_NOSIGNAL) == 1
        except OSError:
            return False

    def _told(self) -> Iterator[int]:
        """What the leader has said."""
        try:
            data = self._line.recv(1 << 12)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._line.close()
        for (status,) in _NUMBER.iter_unpack(data):
            if os.WIFCONTINUED(status):
                self._continuing -= 1
            elif not (self._continuing and os.WIFSTOPPED(status)):
                yield status


def spawn(
    path: str,
    argv: Sequence[str],
    environ: Mapping[str, str],
    signals: Signals,
    inner: AgentTerminal | None,
    *,
    held_by: BrokerCommand | None = None,
) -> AgentProcess:
    """Fork the agent's first process and its leader, and the broker above them; it becomes ``path`` once it is let go.

    Raises HostError.
    """
    near, far = socket.socketpair()
    broker = BrokerProcess(held_by) if held_by else None
    sys.stdout.flush()
    sys.stderr.flush()
    runner, child = os.getpid(), os.fork()
    if not child:
        try:
            signals.reset()
            near.close()
            if broker and os.fork():
                broker.become(far)
            elif _begin_session(inner, far, runner):
                session_limit.enter(environ.get("SENTINEL_SESSION", ""))
                _become(*(broker.wearing(path, argv) if broker else (path, argv)), environ)
        except OSError as e:
            os.write(2, f"sentinel-guard: {path}: {e.strerror}\n".encode(errors="replace"))
        finally:
            os._exit(126)
    far.close()
    if broker:
        broker.begun(child)
    said = near.recv(_PIDS.size)
    if not said:
        near.close()
        if broker:
            broker.drop()
        else:
            os.waitpid(child, 0)
        raise HostError("No session could be begun for the agent.", "End some processes.")
    agent, leader = _PIDS.unpack(said)
    return AgentProcess(agent, leader, near, broker)


# --- in the leader ---


class _Leader:
    """What the leader does, from the agent's first breath to its last."""

    def __init__(self, agent: int, gate: int, terminal: int, line: socket.socket, runner: int) -> None:
        self._agent, self._gate, self._terminal, self._line = agent, gate, terminal, line
        self._runner, self._stopped = runner, False
        self._do = {_GO: self._go, _FOREGROUND: self._give, _BACKGROUND: self._take}

    def run(self) -> None:
        """Until the agent or the runner has ended; does not return."""
        os.setpgid(self._agent, self._agent)
        self._give()
        _keep_only(self._terminal, self._line.fileno(), self._gate)
        # As a shell, it changes its terminal's foreground from the background, too.
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)
        with Signals() as signals:
            self._line.send(_PIDS.pack(self._agent, os.getpid()))
            poll = select.poll()
            poll.register(signals, select.POLLIN)
            poll.register(self._line, select.POLLIN)
            while True:
                self._look()
                named = dict(poll.poll())
                signals.read()
                if self._line.fileno() in named:
                    self._obey()

    def _look(self) -> None:
        for _, status in _reap(self._agent, os.WUNTRACED | os.WCONTINUED):
            before, self._stopped = self._stopped, os.WIFSTOPPED(status)
            if not os.WIFCONTINUED(status):
                self._take()
                self._tell(status)
            if before and not self._stopped:
                # Somebody else has continued or ended the agent: a runner that is stopped must know.
                os.kill(self._runner, signal.SIGCONT)
            if not os.WIFSTOPPED(status) and not os.WIFCONTINUED(status):
                os._exit(0)

    def _obey(self) -> None:
        orders = self._line.recv(64)
        if not orders:
            os._exit(0)
        for order in orders:
            self._do.get(order, partial(self._send, order))()

    def _go(self) -> None:
        os.write(self._gate, b"g")
        os.close(self._gate)

    def _send(self, number: int) -> None:
        _send(self._agent, number)
        if number == signal.SIGCONT:
            self._stopped = False
            self._tell(_CONTINUED)

    def _tell(self, number: int) -> None:
        self._line.send(_NUMBER.pack(number))

    def _give(self) -> None:
        """The agent's group gets the terminal, unless one of its own jobs has it."""
        if foreground_of(self._terminal) == os.getpgrp():
            self._put_in_front(self._agent)

    def _take(self) -> None:
        self._put_in_front(os.getpgrp())

    def _put_in_front(self, group: int) -> None:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(self._terminal, group)


def _begin_session(inner: AgentTerminal | None, line: socket.socket, runner: int) -> bool:
    """Begin a session and lead it. Returns only in a process that it forks, the agent's first: whether it may go."""
    _settle(inner)
    hears, gate = os.pipe()
    if agent := os.fork():
        _Leader(agent, gate, inner.far if inner else NOT_OURS, line, runner).run()
    # Without a leader there is no runner either to guard it: it hears what a closing terminal would say.
    die_with_parent(signal.SIGHUP)
    os.close(gate)
    return os.read(hears, 1) != b""


def _settle(inner: AgentTerminal | None) -> None:
    """A session, a terminal of its own, and no way to the outer one."""
    ours = [fd for fd in STANDARD if foreground_of(fd) != NOT_OURS]
    in_background = foreground_of(0) not in (NOT_OURS, os.getpgrp())
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


def _send(group: int, number: int) -> None:
    with contextlib.suppress(PermissionError, ProcessLookupError):
        os.killpg(group, number)


def _keep_only(*kept: int) -> None:
    """Of all descriptors; the standard ones lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in {*STANDARD} - {*kept}:
        os.dup2(nowhere, fd)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names only
        if int(name) not in {*STANDARD, *kept}:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _reap(pid: int, options: int) -> Iterator[tuple[int, int]]:
    """(pid, wait status) of every child (-1), or of one, whose state has changed since."""
    with contextlib.suppress(ChildProcessError):
        while True:
            found, status = os.waitpid(pid, os.WNOHANG | options)
            if not found:
                return
            yield found, status
