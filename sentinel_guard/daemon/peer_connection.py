"""A connection on one of the daemon's sockets: whole messages in and out, and the peer's credentials."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import resource
import socket
import struct
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from sentinel_guard.core.wire_framing import Message, Reader, encode
from sentinel_guard.errors import PeerError
from sentinel_guard.host.machine import processes

_CREDENTIALS = struct.Struct("iII")
log = logging.getLogger(__name__)
READ = 1 << 16
FIRST_WORD = 10.0
"""Seconds that a peer may take to say what it wants."""
LAST_WORD = 10.0
"""Seconds that it may take to read what it was told, before its connection is closed."""
UNREAD = 1 << 23
"""Bytes that are kept for a peer that does not read."""
IN_A_ROW = 16
"""Messages that one peer may have read before the others have their turn."""
BACKLOG = 256
PAUSE = 1.0
"""Seconds for which no peer is taken where the machine has no room for one."""
FILES = 1 << 16
"""Open files that a daemon may want: the watcher's, the sessions', one for each connection."""
OF_ONE = 16
"""Connections that one process, or all of a session, may have open: a launcher, a runner and a command have one."""


class Link:
    """A peer on one of our sockets. Raises PeerError on garbage, EOFError when the peer has gone.

    On the socket itself: most peers have said all when they are heard, and take all that they are told at once. A
    transport and two streams for each took five times as long.
    """

    def __init__(self, end: socket.socket) -> None:
        """Within the running loop."""
        end.setblocking(False)
        self._loop = asyncio.get_running_loop()
        # As a number: for anything else asyncio makes text in which it says that it is not registered yet.
        self._number, self._writes = end.fileno(), False
        self._waiting: asyncio.Future[None] | None = None
        self._end, self._frames, self._unsent, self._at_once = end, Reader(), bytearray(), 0
        raw = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self.pid, self.uid, _ = _CREDENTIALS.unpack(raw)
        self.peer = processes.identify(self.pid)
        """Who connected; None where it was gone already. A socket can be kept by others than its maker."""
        self.proof: Message = []
        """What the next message begins with."""

    async def receive(self, seconds: float | None = None) -> Message:
        """The next message; raises TimeoutError after ``seconds``, PeerError where it does not read what it is told."""
        if len(self._unsent) > UNREAD:
            raise PeerError(f"{len(self._unsent)} bytes of answers were not read")
        self._at_once = (self._at_once + 1) % IN_A_ROW
        if not self._at_once:
            await asyncio.sleep(0)
        if (message := self._heard()) is not None:
            return message
        if seconds is None:
            return await self._next()
        async with asyncio.timeout(seconds):
            return await self._next()

    async def _next(self) -> Message:
        while True:
            await self._woken(self._loop.add_reader, self._loop.remove_reader)
            if (message := self._heard()) is not None:
                return message

    def _heard(self) -> Message | None:
        """The next message that is there whole."""
        if (message := self._frames.next_message()) is None:
            try:
                data = self._end.recv(READ)
            except BlockingIOError:
                return None
            except OSError as e:  # it closed without having read all, or we have closed
                raise EOFError from e
            if not data:
                raise EOFError
            self._frames.feed(data)
            return self._frames.next_message()
        return message

    def send(self, message: Message) -> None:
        """Hand a message to the peer; a peer that has gone loses it."""
        self._unsent += encode([*self.proof, *message])
        self.proof = []
        if self._end.fileno() >= 0 and not self._flush() and not self._writes:
            self._writes = True
            self._loop.add_writer(self._number, self._go_on)

    def _flush(self) -> bool:
        """Send what the peer takes; False where it takes no more now."""
        try:
            while self._unsent:
                del self._unsent[: self._end.send(self._unsent)]
        except BlockingIOError:
            return False
        except OSError:
            self._unsent.clear()
        return True

    def _go_on(self) -> None:
        if self._flush():
            self._stop_writing()

    def _stop_writing(self) -> None:
        if self._writes:
            self._writes = False
            self._loop.remove_writer(self._number)

    async def receive_json(self, seconds: float | None = None) -> dict[str, Any]:
        """The next message of an operator; raises TimeoutError after ``seconds``."""
        message = await self.receive(seconds)
        try:
            value = json.loads(dict(message)[b"J"])
        except (KeyError, ValueError, RecursionError) as e:
            raise PeerError("an operator's message is one J chunk with a JSON object") from e
        if not isinstance(value, dict):
            raise PeerError("an operator's message is a JSON object")
        return value

    def send_json(self, value: dict[str, Any]) -> None:
        self.send([(b"J", json.dumps(value).encode())])

    async def close(self) -> None:
        """Once the peer has taken all that it was told, or nothing of it for LAST_WORD seconds."""
        if self._end.fileno() < 0:
            return
        self._stop_writing()
        try:
            with contextlib.suppress(TimeoutError):
                while not self._flush():
                    async with asyncio.timeout(LAST_WORD):
                        await self._woken(self._loop.add_writer, self._loop.remove_writer)
        finally:
            self.drop()

    def drop(self) -> None:
        """Close it at once, whatever the peer has not taken."""
        if self._end.fileno() < 0:
            return
        self._stop_writing()
        if self._waiting:
            self._loop.remove_reader(self._number)  # of whoever still waits for it
        # Were something left unread, the peer would learn of an error in place of the end.
        with contextlib.suppress(OSError):
            for _ in range(IN_A_ROW):
                if len(self._end.recv(READ)) < READ:
                    break
        self._end.close()
        if self._waiting:
            _wake(self._waiting)

    async def _woken(self, add: Callable[..., object], remove: Callable[..., object]) -> None:
        """Wait until the socket can be read, or written, or was closed."""
        self._waiting = ready = self._loop.create_future()
        add(self._number, _wake, ready)
        try:
            await ready
        finally:
            self._waiting = None
            if self._end.fileno() >= 0:  # else its number may be another's
                remove(self._number)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


class Listener:
    """A socket of ours at its path, for its owner alone; ``serve`` is called with each peer, in a task of its own."""

    def __init__(self, path: str, serve: Callable[[Link], Coroutine[Any, Any, None]]) -> None:
        """Within the running loop. Raises OSError."""
        self._loop, self._serve, self._tasks = asyncio.get_running_loop(), serve, set[asyncio.Task[None]]()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        before = os.umask(0o177)
        try:
            self._socket.bind(path)
            self._socket.listen(BACKLOG)
        except OSError:
            self._socket.close()
            raise
        finally:
            os.umask(before)
        self._begin()

    def close(self) -> None:
        """Take no more peers; who is there goes on."""
        self._loop.remove_reader(self._socket)
        self._socket.close()

    def _begin(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        # One of those who wait: of the next the loop tells in its next turn.
        try:
            end, _ = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as e:
            # No descriptor, or no memory: it would be asked without end.
            log.warning("nobody is let in for %.0f s: %s", PAUSE, e)
            self._loop.remove_reader(self._socket)
            self._loop.call_later(PAUSE, self._begin)
            return
        task = self._loop.create_task(self._serve(Link(end)))
        self._tasks.add(task)  # the loop itself keeps no task alive
        task.add_done_callback(self._tasks.discard)


class Connections:
    """Who is connected to one socket: so many in all, and OF_ONE of each, that none can keep the others out."""

    def __init__(self, most: int) -> None:
        self._most, self._open = most, Counter[str]()

    @contextlib.contextmanager
    def counted(self, peer: str) -> Iterator[str]:
        """What is to be said to a peer (``process 7``) that is one too many; empty where it may stay."""
        self._open[peer] += 1
        try:
            if self._open[peer] > OF_ONE:
                yield f"{peer} has {OF_ONE} requests open already"
            elif self._open.total() > self._most:
                yield f"{self._most} requests are open already"
            else:
                yield ""
        finally:
            self._open[peer] -= 1
            if not self._open[peer]:
                del self._open[peer]


def raise_file_limit() -> int:
    """Open files that this process may have, raised as far as the machine lets it: as many as there are sessions' files
    and connections (getrlimit(2)).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)
