"""Reads loose git objects without a git process: what was just added or committed is one, and a commit waits.

A packed object, a damaged one, one under a false name, or one that is too large is None: git is asked then.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.host.machine.atomic_files import read_regular

_HEAD = 64
_NAME = re.compile(r"[0-9a-f]{40}")


class Loose(NamedTuple):
    """One object."""

    kind: str
    data: bytes


def read(objects: Path, identity: str, most: int) -> Loose | None:
    """The object of that name (40 hex digits) in a folder of objects; ``most``: bytes that it may have."""
    if not _NAME.fullmatch(identity):
        return None
    try:
        packed = read_regular(objects / identity[:2] / identity[2:]) if most else b""
        stream = zlib.decompressobj()
        raw = stream.decompress(packed, most + _HEAD)
    except (OSError, zlib.error):
        return None
    head, _, data = raw.partition(b"\0")
    kind, _, size = head.partition(b" ")
    named = hashlib.sha1(raw, usedforsecurity=False).hexdigest() == identity
    return Loose(kind.decode("ascii"), data) if named and stream.eof and size == b"%d" % len(data) else None
