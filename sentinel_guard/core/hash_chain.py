"""The hash chain of the tamper-evident audit log: seal entries, verify them. Pure: entries in, breaks out.

Rules of this file:
1. An entry's hash covers the hash before it, its place and its content: sha256(prev, newline, canonical bytes).
2. A chain cannot know its own end. The head (the newest place and hash), kept in another file, does.
3. What a break means is said in words, with the place where a reader must look.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sentinel_guard.core.json_codec import dumps, quoted
from sentinel_guard.core.model import Entry
from sentinel_guard.core.value import value

GENESIS = "0" * 64
"""``prev`` of the first entry."""
SEARCH = 100
"""Places on each side where the home of a moved entry is looked for."""


@value
class Head:
    """The end of a chain."""

    seq: int = 0
    hash: str = GENESIS


@value
class ChainBreak:
    """Where a chain does not hold."""

    seq: int
    """The first place that is missing or not as it was recorded."""
    how: str
    """``cut``, ``edited``, ``reordered`` or ``truncated``."""
    words: str


def canonical(entry: Entry) -> bytes:
    """The bytes that the hash covers: place and content, without ``prev`` and ``hash``."""
    return _canonical(entry, dumps(entry.data))


def _canonical(entry: Entry, data: str) -> bytes:
    if not math.isfinite(entry.at):
        raise ValueError("not a time")
    words = f"{quoted(entry.session)},{quoted(entry.kind)},{quoted(entry.level)}"
    return f"[{entry.seq},{entry.at!r},{words},{data}]".encode("ascii")


def entry_hash(prev: str, entry: Entry, data: str = "") -> str:
    """The hash of an entry that follows ``prev``: 64 hex digits. ``data``: its data as JSON, where that is known."""
    covered = _canonical(entry, data or dumps(entry.data))
    return hashlib.sha256(prev.encode("ascii", "replace") + b"\n" + covered).hexdigest()


def seal(entry: Entry, head: Head, data: str = "") -> Entry:
    """The entry as the next one after ``head``. ``data`` as above."""
    at, session, kind, level, place = entry.at, entry.session, entry.kind, entry.level, head.seq + 1
    placed = Entry(at, session, kind, entry.data, level, place)
    return Entry(at, session, kind, entry.data, level, place, head.hash, entry_hash(head.hash, placed, data))


def verify(entries: Iterable[Entry], head: Head | None = None) -> ChainBreak | None:
    """The first break, or None for a chain that holds from entry 1 to the head."""
    return next(find_breaks(entries, head), None)


def find_breaks(entries: Iterable[Entry], head: Head | None = None) -> Iterator[ChainBreak]:
    """Every break, in order; after one, the chain is taken up again at the entry that stands there."""
    last = Head()
    for entry in entries:
        yield from _joint(last, entry)
        if head and entry.seq == head.seq and entry.hash != head.hash:
            yield ChainBreak(entry.seq, "edited", f"Entry {entry.seq} is not the one that the head file names.")
        last = Head(entry.seq, entry.hash)
    if head and head.seq > last.seq:
        gone = _span(last.seq + 1, head.seq)
        words = f"The log is truncated: the head file names entry {head.seq}, and {gone} missing."
        yield ChainBreak(last.seq + 1, "truncated", words)


def _joint(last: Head, entry: Entry) -> Iterator[ChainBreak]:
    if entry.seq > last.seq + 1:
        yield ChainBreak(last.seq + 1, "cut", f"The log is cut: {_span(last.seq + 1, entry.seq - 1)} missing.")
    elif entry.seq <= last.seq:
        yield ChainBreak(entry.seq, "reordered", f"Entry {entry.seq} stands after entry {last.seq}.")
    if entry_hash(entry.prev, entry) != entry.hash:
        yield _unsound(entry)
    elif entry.seq == last.seq + 1 and entry.prev != last.hash:
        yield _unchained(last, entry)


def _unsound(entry: Entry) -> ChainBreak:
    home = _home(entry)
    if home:
        return ChainBreak(entry.seq, "reordered", f"Entry {home} stands in the place of entry {entry.seq}.")
    return ChainBreak(entry.seq, "edited", f"Entry {entry.seq} was edited: its content does not give its hash.")


def _unchained(last: Head, entry: Entry) -> ChainBreak:
    if last.seq == 0:
        words = f"Entry {entry.seq} does not begin a log: it was chained to an entry that is missing."
        return ChainBreak(entry.seq, "cut", words)
    words = f"Entry {last.seq} was edited or replaced: entry {entry.seq} was chained to another."
    return ChainBreak(last.seq, "edited", words)


def _home(entry: Entry) -> int:
    """The place that a moved entry was sealed for; 0 for none near."""
    near = range(max(1, entry.seq - SEARCH), entry.seq + SEARCH + 1)
    return next((n for n in near if entry_hash(entry.prev, replace(entry, seq=n)) == entry.hash), 0)


def _span(first: int, last: int) -> str:
    return f"entry {first} is" if first == last else f"entries {first} to {last} are"
