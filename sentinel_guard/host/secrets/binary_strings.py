"""Extracts readable text from binary data, as ``strings`` does: characters of one, two or four bytes."""

from __future__ import annotations

import re

LEAST = 8
"""Characters of a run; in fewer no secret stands."""
_PRINTABLE = re.compile(rb"[\t -~]")
_NARROW = re.compile(rb"[\t -~]{%d,}" % LEAST)
# They begin with a zero byte, so that they are quick; the letter before it belongs to the run.
_WIDE = tuple(re.compile(rb"\0{%d}(?:[\t -~]\0{%d}){%d,}[\t -~]?" % (gap, gap, LEAST - 2)) for gap in (1, 3))


def narrow(data: bytes) -> list[str]:
    """The runs of ASCII characters."""
    return [run.decode("ascii") for run in _NARROW.findall(data)]


def wide(data: bytes) -> list[str]:
    """The runs of ASCII characters as UTF-16 and UTF-32 write them."""
    return [_run(data, *match.span()) for form in _WIDE for match in form.finditer(data)]


def _run(data: bytes, start: int, end: int) -> str:
    before = data[max(0, start - 1) : start]
    first = before if _PRINTABLE.fullmatch(before) else b""
    return (first + data[start:end].replace(b"\0", b"")).decode("ascii")
