"""What can be read in bytes that are no text, as ``strings`` shows it: letters of one, two or four bytes."""

from __future__ import annotations

import re

LEAST = 8
"""Characters of a run; in fewer no secret stands."""
_NARROW = re.compile(rb"[\t -~]{%d,}" % LEAST)
_WIDE = tuple(re.compile(rb"(?:[\t -~]\0{%d}){%d,}[\t -~]" % (gap, LEAST - 1)) for gap in (1, 3))


def narrow(data: bytes) -> list[str]:
    """The runs of ASCII characters."""
    return [run.decode("ascii") for run in _NARROW.findall(data)]


def wide(data: bytes) -> list[str]:
    """The runs of ASCII characters as UTF-16 and UTF-32 write them."""
    if b"\0" not in data:
        return []
    return [run.replace(b"\0", b"").decode("ascii") for form in _WIDE for run in form.findall(data)]
