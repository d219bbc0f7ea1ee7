"""Message framing of the wire protocol: encode and decode length-prefixed chunks (docs/protocol.md).

No socket here: bytes go in with ``feed``, messages come out.

Rules of this file:
1. A message is chunks ``tag(1) length(4, little-endian) bytes``, closed by an end chunk (tag ``.``, length 0).
2. A chunk over ``MAX_CHUNK`` or a message over ``MAX_MESSAGE`` is refused before it is buffered.
3. Nothing is guessed: bytes that cannot be a frame raise ``PeerError``.
"""

from __future__ import annotations

import string
import struct
from collections.abc import Iterable
from typing import NoReturn

from sentinel_guard.errors import PeerError

MAX_CHUNK = 4 << 20
MAX_MESSAGE = 8 << 20
HEAD = struct.Struct("<cI")
HEAD_SIZE = HEAD.size
END = b"."
LAST = HEAD.pack(END, 0)
TAGS = frozenset({END, *(c.encode() for c in f"{string.ascii_letters}{string.digits}")})
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
        buffer, at, size = self._buffer, 0, len(self._buffer)
        try:
            while size - at >= HEAD_SIZE:
                tag, length = HEAD.unpack_from(buffer, at)
                if length > MAX_CHUNK or tag not in TAGS or self._size + length > MAX_MESSAGE:
                    self._refuse(tag, length)
                start = at + HEAD_SIZE
                if size - start < length:
                    return None
                at = start + length
                body = bytes(buffer[start:at])
                if tag == END:
                    return self._close(body)
                self._chunks.append((tag, body))
                self._size += HEAD_SIZE + length
            return None
        finally:
            del buffer[:at]

    def _close(self, body: bytes) -> Message:
        if body:
            raise PeerError("the end chunk carries bytes")
        chunks, self._chunks, self._size = self._chunks, [], 0
        return chunks

    def _refuse(self, tag: bytes, length: int) -> NoReturn:
        if tag not in TAGS:
            raise PeerError(f"{tag!r} is no tag of the protocol")
        if length > MAX_CHUNK:
            raise PeerError(f"chunk {tag.decode()!r} of {length} bytes is over the limit of {MAX_CHUNK}")
        raise PeerError(f"the message is over the limit of {MAX_MESSAGE} bytes")


def exit_code(number: int) -> int:
    """The exit code that a number of the wire stands for: 0 to 255, or 256 + a signal. Raises PeerError."""
    if number == BY_SIGNAL or number > BY_SIGNAL + LAST_SIGNAL:
        raise PeerError(f"{number} is no exit code and no signal")
    return 128 + number - BY_SIGNAL if number > BY_SIGNAL else number


def encode(chunks: Iterable[Chunk]) -> bytes:
    """One message as bytes, end chunk included."""
    pack = HEAD.pack
    return b"".join([pack(tag, len(body)) + body for tag, body in chunks]) + LAST
