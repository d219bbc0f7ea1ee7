"""A client connection to a daemon socket: sends and receives whole messages, with a timeout."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from sentinel_guard.core.wire_framing import Chunk, Message, Reader, encode
from sentinel_guard.errors import DaemonError, PeerError

NO_PROTOCOL = "The guard daemon said something that is not the protocol."
CLOSED = "The guard daemon closed the connection."
RESTARTS = "It starts again by itself with the next command."
READ = 1 << 16
_CREDENTIALS = struct.Struct("iII")


class SocketConnection:
    """One connection to a socket of the daemon: whole messages in and out."""

    def __init__(self, path: Path, seconds: float) -> None:
        """Raises OSError if nobody listens."""
        self.gone = False
        self._socket = socket.socket(socket.AF_UNIX)
        self._frames = Reader()
        try:
            self._socket.settimeout(seconds)
            self._socket.connect(os.fspath(path))
        except OSError:
            self._socket.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def server(self) -> int:
        """Pid of the process that listens."""
        raw = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(raw)[0])

    def close(self) -> None:
        self._socket.close()

    def send(self, message: Sequence[Chunk], seconds: float) -> None:
        """Raises DaemonError if the daemon has gone or does not read."""
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(encode(message))
        except OSError as e:
            self.gone = True
            raise DaemonError(CLOSED, RESTARTS) from e

    def receive(self, seconds: float | None) -> Message:
        """The next message, within ``seconds`` (None: for ever). Raises DaemonError."""
        limit = None if seconds is None else time.monotonic() + seconds
        while (message := self._next()) is None:
            left = None if limit is None else limit - time.monotonic()
            if left is not None and left <= 0:
                words = f"The guard daemon did not answer within {seconds:.3g} s."
                raise DaemonError(words, "See 'sentinel-guard daemon status'.")
            self._read(left)
        return message

    def ready(self) -> list[Message]:
        """The messages that are there now, without waiting. Sets ``gone`` at the end of the connection."""
        with contextlib.suppress(BlockingIOError):
            while not self.gone:
                self._take(0)
        return self.rest()

    def rest(self) -> list[Message]:
        """The messages that have been read already, along with an earlier one."""
        messages = []
        while (message := self._next()) is not None:
            messages.append(message)
        return messages

    def _next(self) -> Message | None:
        try:
            return self._frames.next_message()
        except PeerError as e:
            raise DaemonError(NO_PROTOCOL, e.message) from e

    def _read(self, seconds: float | None) -> None:
        with contextlib.suppress(TimeoutError):
            self._take(seconds)
        if self.gone:
            raise DaemonError(CLOSED, RESTARTS)

    def _take(self, seconds: float | None) -> None:
        """Feed what comes next."""
        self._socket.settimeout(seconds)
        try:
            data = self._socket.recv(READ)
        except ConnectionError:
            data = b""
        self._frames.feed(data)
        self.gone = not data
