"""A connection on one of the daemon's sockets: whole messages in and out, and the peer's credentials."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sentinel_guard.core.wire_framing import Message, Reader, encode
from sentinel_guard.errors import PeerError
from sentinel_guard.host.machine import processes

_CREDENTIALS = struct.Struct("iII")
READ = 1 << 16
FIRST_WORD = 10.0
"""Seconds that a peer may take to say what it wants."""
FILES = 1 << 16
"""Open files that a daemon may want: the watcher's, the sessions', one for each connection."""
OF_ONE = 16
"""Connections that one process, or all of a session, may have open: a launcher, a runner and a command have one."""


class Link:
    """A peer on one of our sockets. Raises PeerError on garbage, EOFError when the peer has gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer, self._frames = reader, writer, Reader()
        end: socket.socket = writer.get_extra_info("socket")
        raw = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self.pid, self.uid, _ = _CREDENTIALS.unpack(raw)
        self.peer = processes.identify(self.pid)
        """Who connected; None where it was gone already. A socket can be kept by others than its maker."""
        self.proof: Message = []
        """What the next message begins with."""

    async def receive(self, seconds: float | None = None) -> Message:
        """The next message; raises TimeoutError after ``seconds``."""
        async with asyncio.timeout(seconds):
            while (message := self._frames.next_message()) is None:
                data = await self._reader.read(READ)
                if not data:
                    raise EOFError
                self._frames.feed(data)
            return message

    def send(self, message: Message) -> None:
        """Hand a message to the peer; a peer that has gone loses it."""
        self._writer.write(encode([*self.proof, *message]))
        self.proof = []

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
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return


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
