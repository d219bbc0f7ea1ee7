"""Normalise command output before comparison: mask times, ids and whatever else differs by run (DESIGN section 6).

Rules of this file:
1. Times, dates, durations, process ids, addresses, uuids, long hex, temporary names, short-lived ports, request ids go.
2. Line numbers, counts, file names, server ports and messages stay: a failure that moved is progress.
3. What a pattern puts in its place matches no pattern, and masking goes on until nothing changes: twice is once.
4. No pattern can backtrack over more than a short, bounded stretch: the time is linear in the text.
5. No pattern reaches over the end of a line, and none is looked for in a text, or a line, without what it needs.
"""

from __future__ import annotations

import functools
import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from sentinel_guard.core.text.aho_corasick import KeywordSearch

_CLOCK = r"\d{1,2}[:_]\d{2}(?:[:_]\d{2}(?:[.,_]\d{1,9})?)?(?:[ \t]?[ap]m\b)?(?:z\b|[+-]\d{2}:?\d{2}\b)?"
_UNIT = r"(?:milliseconds?|microseconds?|nanoseconds?|seconds?|secs?|minutes?|mins?|hours?|ms|us|µs|ns|s)"
_WITH_UNITS = tuple(f"0{blank}{unit}" for blank in ("", " ") for unit in "smuµn\u03bch")
_UUID, _LONG_HEX = "00000000-0000-0000-0000-000000000000", "0" * 12
HEX_SHAPES = frozenset({_UUID, _LONG_HEX})


class Mask(NamedTuple):
    """What a pattern finds becomes the token."""

    token: str
    pattern: re.Pattern[str]
    needles: tuple[str, ...]
    """Of which a line, case folded, holds one where the pattern finds something; ``0`` stands for any ASCII digit, and
    where it is one of HEX_SHAPES for any hexadecimal one.
    """


MASKS = (
    Mask("<uuid>", re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), (_UUID,)),
    Mask(
        "<date>",
        re.compile(rf"\b\d{{4}}[-/]\d{{2}}[-/]\d{{2}}(?:[t_ ]{_CLOCK}|\b)"),
        ("0000-00-00", "0000-00/00", "0000/00-00", "0000/00/00"),
    ),
    Mask("<time>", re.compile(rf"(?<![\d:.\w]){_CLOCK}(?![\d:])"), ("0:00", "0_00")),
    Mask("<took>", re.compile(rf"\b(?:\d+m ?)?\d+(?:\.\d+)? ?{_UNIT}\b"), _WITH_UNITS),
    Mask("<address>", re.compile(r"\b0x[0-9a-f]+\b"), ("0x",)),
    Mask(
        r"\1<temporary>",  # mktemp, Python's tempfile, or a folder with a number in its name
        re.compile(
            r"(/(?:tmp|var/tmp|dev/shm)/)"
            r"(?:tmp(?:\.[a-z0-9]{6,12}|[a-z0-9_]{8})(?![\w.])|(?=[a-z._-]{0,40}\d)[\w.-]+(?=/))"
        ),
        ("tmp/", "shm/"),
    ),
    Mask("pytest-<run>", re.compile(r"\bpytest-\d+\b"), ("pytest-",)),
    Mask(
        r"\1<port>", re.compile(r"((?:\d\.\d{1,3}|localhost|\]):)(?:3[3-9]\d{3}|[45]\d{4}|6[0-5]\d{3})\b"), (":00000",)
    ),
    Mask(
        r"\1<pid>",
        re.compile(r"\b((?:pid|process|thread|goroutine|job)[ :=#]{1,2})\d+\b"),
        ("pid", "process", "thread", "goroutine", "job"),
    ),
    Mask(r"\1[<pid>]:", re.compile(r"(\w)\[\d+\]:"), ("]:",)),
    Mask(r"\1<pid>)", re.compile(r"(\(node:)\d+\)"), ("(node:",)),
    Mask(
        r"\1<id>",
        re.compile(r"\b((?:request|req|trace|correlation|id)(?:[_-]?id)?[ _:=#\"'-]{1,3})(?=[a-z_-]{0,40}\d)[\w-]{5,}"),
        ("req", "trace", "correlation", "id"),
    ),
    Mask(r"\1<id>", re.compile(r"(\b[a-z_]{0,30}id\" ?: ?\")[^\"\n]{1,100}"), ('id"',)),  # JSON: "messageId": "om_0"
    Mask("<hex>", re.compile(r"\b(?=[a-f]{0,40}\d)[0-9a-f]{12,}\b"), (_LONG_HEX,)),
    # Prose that ends in a line number names no tool's place ("line 3: ..." and "line 3, in f" do, and stay).
    Mask("line <n>", re.compile(r"\bline \d+$", re.MULTILINE), ("line ",)),
)

_CHANGING = re.compile(r"\d|tmp|id\"|-[a-f]{4}-")
"""What a line holds that a mask changes."""
_DIGITS = str.maketrans("123456789", "0" * 9)
_HEX_DIGITS = str.maketrans("123456789abcdef", "0" * 15)
_NEEDLES = {n: tuple(at for at, m in enumerate(MASKS) if n in m.needles) for mask in MASKS for n in mask.needles}
_IN_DIGITS, _IN_HEX = (
    KeywordSearch({n: masks for n, masks in _NEEDLES.items() if (n in HEX_SHAPES) is hexadecimal})
    for hexadecimal in (False, True)
)
"""Needle -> the places of its masks. One pass takes a hundredth of the time of all patterns."""

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])?")
"""ANSI: CSI and OSC sequences, the two-character escapes, and an escape that is followed by none of these."""


def plain(text: str) -> str:
    """The text without terminal escapes; of a line that was redrawn with carriage returns the last state."""
    lines = ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in lines).strip("\n")


def mask(text: str) -> str:
    """The text with everything that changes from run to run replaced by its kind; case folded."""
    lines = plain(text).casefold().split("\n")
    todo = [n for n, line in enumerate(lines) if _CHANGING.search(line)]
    while todo:
        masked = _once([lines[n] for n in todo])
        for at, line in masked.items():
            lines[todo[at]] = line
        todo = [todo[at] for at in masked]
    return "\n".join(lines)


@functools.lru_cache(maxsize=32)
def digest(text: str) -> str:
    """The identity of an output: SHA-256 (hex) of the masked text. The same failure gives the same digest."""
    return hashlib.sha256(mask(text).encode("utf-8", "surrogateescape")).hexdigest()


def _once(lines: list[str]) -> dict[int, str]:
    """All masks in their order: the lines that become others, by their places."""
    wanted, changed = _candidates(enumerate(lines)), dict[int, str]()
    for at, (token, pattern, _) in enumerate(MASKS):
        if places := sorted(wanted[at]):
            before = [changed.get(place, lines[place]) for place in places]
            after = pattern.sub(token, "\n".join(before)).split("\n")
            new = {place: b for place, a, b in zip(places, before, after, strict=True) if a != b}
            changed |= new
            if new:  # what a mask has put in may be another one's
                wanted = [(old - new.keys()) | more for old, more in zip(wanted, _candidates(new.items()), strict=True)]
    return changed


def _candidates(lines: Iterable[tuple[int, str]]) -> list[set[int]]:
    """For each mask the places of the lines in which it may find something: all that have letters beyond ASCII."""
    rows, beyond = list[tuple[int, str]](), set[int]()
    for at, line in lines:
        if line.isascii():
            rows.append((at, line))
        else:
            beyond.add(at)
    found = [{*beyond} for _ in MASKS]
    text, ends = "\n".join(line for _, line in rows), [*accumulate(len(line) + 1 for _, line in rows)]
    for search, table in ((_IN_DIGITS, _DIGITS), (_IN_HEX, _HEX_DIGITS)):
        for start, _, masks in search.places(text.translate(table)):
            place = rows[bisect_right(ends, start)][0]
            for at in masks:
                found[at].add(place)
    return found


BLANK = digest("")
"""The digest of an output that was seen to be empty: two commands that say nothing have not failed in the same way."""
UNSEEN = "unseen"
"""Stands for the digest of an error that nobody saw."""
