"""Reads the wire vectors (README.md beside it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sentinel_guard.core.wire_framing import Message

FOLDER = Path(__file__).parent


@dataclass
class Vector:
    name: str
    data: bytes = b""
    messages: list[Message] = field(default_factory=list)
    """The messages that must come out."""
    refused: str = ""


def unescape(text: str) -> bytes:
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def parse(block: str) -> Vector:
    vector = Vector("")
    open_message: Message = []
    for line in block.splitlines():
        key, _, text = line.partition(":")
        text = text.removeprefix(" ")
        if key == "name":
            vector.name = text
        elif key == "bytes":
            vector.data = unescape(text)
        elif key == "chunk":
            open_message.append((text[0].encode(), unescape(text[2:])))
        elif key == "end":
            vector.messages.append(open_message)
            open_message = []
        elif key == "refused":
            vector.refused = text
        elif line and not line.startswith(("#", "why:")):
            raise ValueError(f"{vector.name}: {line!r} is no line of a vector")
    return vector


def load() -> list[Vector]:
    blocks = "\n\n".join(path.read_text() for path in sorted(FOLDER.glob("*.txt"))).split("\n\n")
    return [v for v in map(parse, blocks) if v.name]


VECTORS = load()


def message(name: str) -> Message:
    """The one message of a vector."""
    [found] = [vector.messages for vector in VECTORS if vector.name == name]
    return found[0]
