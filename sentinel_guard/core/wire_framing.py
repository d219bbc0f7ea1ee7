"""Message framing of the wire protocol: encode and decode length-prefixed chunks (docs/protocol.md).

No socket here: bytes go in with ``feed``, messages come out.

Rules of this file:
1. A message is chunks ``tag(1) length(4, little-endian) bytes``, closed by an end chunk (tag ``.``, length 0).
2. A chunk over ``MAX_CHUNK`` or a message over ``MAX_MESSAGE`` is refused before it is buffered.
3. Nothing is guessed: bytes that cannot be a frame raise ``PeerError``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from sentinel_guard.errors import PeerError

MAX_CHUNK = 4 << 20
MAX_MESSAGE = 8 << 20
HEAD = struct.Struct("<cI")
END = b"."
BY_SIGNAL = 256
"""What is added to a signal's number, where a program ended by one."""
LAST_SIGNAL = 64

Chunk = tuple[bytes, bytes]
Message = list[Chunk]


class Reader:
    """Collects bytes and hands out whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._chunks: Message = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next_message(self) -> Message | None:
        """The next whole message, or None while bytes are missing. Raises PeerError on what is not a frame."""
        at = 0
        try:
            while len(self._buffer) - at >= HEAD.size:
                tag, length = HEAD.unpack_from(self._buffer, at)
                self._refuse_oversize(tag, length)
                end = at + HEAD.size + length
                if len(self._buffer) < end:
                    return None
                body = bytes(self._buffer[at + HEAD.size : end])
                at = end
                if tag == END:
                    return self._close(body)
                self._chunks.append((tag, body))
                self._size += HEAD.size + length
            return None
        finally:
            del self._buffer[:at]

    def _close(self, body: bytes) -> Message:
        if body:
            raise PeerError("the end chunk carries bytes")
        chunks, self._chunks, self._size = self._chunks, [], 0
        return chunks

    def _refuse_oversize(self, tag: bytes, length: int) -> None:
        if not (tag.isalnum() or tag == END):
            raise PeerError(f"{tag!r} is no tag of the protocol")
        if length > MAX_CHUNK:
            raise PeerError(f"chunk {tag.decode()!r} of {length} bytes is over the limit of {MAX_CHUNK}")
        if self._size + length > MAX_MESSAGE:
            raise PeerError(f"the message is over the limit of {MAX_MESSAGE} bytes")


def exit_code(number: int) -> int:
    """The exit code that a number of the wire stands for: 0 to 255, or 256 + a signal. Raises PeerError."""
    if number == BY_SIGNAL or number > BY_SIGNAL + LAST_SIGNAL:
        raise PeerError(f"{number} is no exit code and no signal")
    return 128 + number - BY_SIGNAL if number > BY_SIGNAL else number


def encode(chunks: Iterable[Chunk]) -> bytes:
    """One message as bytes, end chunk included."""
    return b"".join(HEAD.pack(tag, len(body)) + body for tag, body in (*chunks, (END, b"")))
