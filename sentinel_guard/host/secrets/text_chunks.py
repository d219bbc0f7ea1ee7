"""Splits long texts into chunks for the secret scan: cut at line ends, and overlapping, for a key has many lines.

A file that is too large to be searched whole is searched at its ends; the middle is given as one part, in which only
values of the person's own are sought (``scan_outgoing_content.LONGEST``).
"""

from __future__ import annotations

from collections.abc import Iterator

LONGEST = 3_000_000
"""Characters of a part; more than ``review`` searches for formats must not be in one."""
OVERLAP = 10_000
END = 1 << 20
"""Characters at each end of a large file that are searched like any text."""


def parts(text: str, line: int) -> Iterator[tuple[str, int]]:
    """The text in parts, each with the number of its first line; ``line``: that of the text."""
    start = 0
    while len(text) - start > LONGEST:
        end = _cut(text, start + LONGEST)
        yield text[start:end], line
        after = _cut(text, end - OVERLAP)
        line += text.count("\n", start, after)
        start = after
    yield text[start:], line


def ends(text: str) -> Iterator[tuple[str, int]]:
    """The first part, the last part and the middle of a large text, each with the number of its first line."""
    if len(text) <= LONGEST:
        yield text, 1
        return
    first, last = _cut(text, END), _cut(text, len(text) - END)
    for start, end in ((0, first), (last, len(text)), (first, last)):
        yield text[start:end], 1 + text.count("\n", 0, start)


def _cut(text: str, most: int) -> int:
    """Where a text may be cut before ``most``: behind a line, else behind a blank, else there."""
    low = most - OVERLAP
    return text.rfind("\n", low, most) + 1 or text.rfind(" ", low, most) + 1 or most
