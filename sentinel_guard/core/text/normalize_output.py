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
from typing import NamedTuple

_CLOCK = r"\d{1,2}[:_]\d{2}(?:[:_]\d{2}(?:[.,_]\d{1,9})?)?(?:[ \t]?[ap]m\b)?(?:z\b|[+-]\d{2}:?\d{2}\b)?"
_UNIT = r"(?:milliseconds?|microseconds?|nanoseconds?|seconds?|secs?|minutes?|mins?|hours?|ms|us|µs|ns|s)"


class Mask(NamedTuple):
    """What a pattern finds becomes the token."""

    token: str
    pattern: re.Pattern[str]
    needles: tuple[str, ...] = ()
    """Of which a text, case folded, holds one wherever the pattern finds something; empty for no such thing."""


MASKS = (
    Mask("<uuid>", re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), ("-",)),
    Mask("<date>", re.compile(rf"\b\d{{4}}[-/]\d{{2}}[-/]\d{{2}}(?:[t_ ]{_CLOCK}|\b)")),
    Mask("<time>", re.compile(rf"(?<![\d:.\w]){_CLOCK}(?![\d:])")),
    Mask("<took>", re.compile(rf"\b(?:\d+m ?)?\d+(?:\.\d+)? ?{_UNIT}\b")),
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
    Mask(r"\1<port>", re.compile(r"((?:\d\.\d{1,3}|localhost|\]):)(?:3[3-9]\d{3}|[45]\d{4}|6[0-5]\d{3})\b"), (":",)),
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
    Mask("<hex>", re.compile(r"\b(?=[a-f]{0,40}\d)[0-9a-f]{12,}\b")),
    # Prose that ends in a line number names no tool's place ("line 3: ..." and "line 3, in f" do, and stay).
    Mask("line <n>", re.compile(r"\bline \d+$", re.MULTILINE), ("line ",)),
)

_CHANGING = re.compile(r"\d|tmp|id\"|-[a-f]{4}-")
"""What a line holds that a mask changes."""

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
        masked = _once("\n".join(lines[n] for n in todo)).split("\n")
        changed = [(n, line) for n, line in zip(todo, masked, strict=True) if line != lines[n]]
        for n, line in changed:
            lines[n] = line
        todo = [n for n, _ in changed]
    return "\n".join(lines)


@functools.lru_cache(maxsize=32)
def digest(text: str) -> str:
    """The identity of an output: SHA-256 (hex) of the masked text. The same failure gives the same digest."""
    return hashlib.sha256(mask(text).encode("utf-8", "surrogateescape")).hexdigest()


def _once(text: str) -> str:
    for token, pattern, needles in MASKS:
        if not needles or any(needle in text for needle in needles):
            text = pattern.sub(token, text)
    return text


BLANK = digest("")
"""The digest of an output that was seen to be empty: two commands that say nothing have not failed in the same way."""
UNSEEN = "unseen"
"""Stands for the digest of an error that nobody saw."""
