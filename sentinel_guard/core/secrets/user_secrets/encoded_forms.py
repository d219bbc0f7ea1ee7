"""Encoded forms of a known secret: percent-encoding, escapes, base64, hexadecimal, lines of one length.

Rules of this file:
1. A form is what an encoding makes of the value alone, whatever stands before and behind it.
2. Time is linear in the text.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote, quote_plus

_FOLDED = re.compile(r"^(?:[A-Za-z0-9+/_-]{40,100}\r?\n)+[A-Za-z0-9+/=_-]{1,100}\r?$", re.MULTILINE)
"""``base64`` folds at 76, ``xxd -p`` at 60, keys at 64."""


class Folded(NamedTuple):
    """Lines that were one."""

    text: str
    starts: tuple[int, ...]
    """Where each line begins in ``text``."""
    places: tuple[int, ...]
    """And where in what it was taken from."""

    def place(self, at: int) -> int:
        """The offset, in what it was taken from, of a character of ``text``."""
        line = bisect_right(self.starts, at) - 1
        return self.places[line] + at - self.starts[line]


def alike(value: str) -> set[str]:
    """Forms that are words where the value is one: per cent signs, escapes."""
    quoted = {quote(value, safe=safe, errors="surrogateescape") for safe in ("", "/", "/:=+")}
    return quoted | {
        quote_plus(value, errors="surrogateescape"), value.replace("/", "\\/"), value.replace('"', '\\"')
    }  # fmt: skip


def inside(value: str) -> set[str]:
    """Forms that stand in the midst of others of their kind: base64 in both alphabets, hexadecimal digits."""
    data = value.encode("utf-8", "surrogatepass")
    encoded = {form for text in _base64(data) for form in (text, text.replace("+", "-").replace("/", "_"))}
    return encoded | {data.hex(), data.hex().upper(), "".join(f"\\x{byte:02x}" for byte in data)}


def _base64(data: bytes) -> Iterator[str]:
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode()
        yield whole[-(-8 * before // 6) : 8 * (before + len(data)) // 6]


def unfolded(text: str) -> Iterator[Folded]:
    """Every run of lines that look like one which was folded."""
    for seen in _FOLDED.finditer(text):
        lines = seen[0].splitlines(keepends=True)
        kept = [line.rstrip("\r\n") for line in lines]
        starts = accumulate(map(len, kept[:-1]), initial=0)
        places = accumulate(map(len, lines[:-1]), initial=seen.start())
        yield Folded("".join(kept), tuple(starts), tuple(places))
