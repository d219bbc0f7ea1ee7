"""A connection on one of the daemon's sockets: whole messages in and out, and the peer's credentials."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import Any

from sentinel_guard.core.wire_framing import Message, Reader, encode
from sentinel_guard.errors import PeerError
from sentinel_guard.host.machine import processes

_CREDENTIALS = struct.Struct("iII")
READ = 1 << 16


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

    async def receive_json(self) -> dict[str, Any]:
        """The next message of an operator."""
        message = await self.receive()
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
