"""What a change, a message or a request holds that must not leave, each find in its place and as it may be shown.

Rules of this file:
1. A value of the person's own counts everywhere but in a file that the policy allows, whatever a comment says.
2. Personal data counts by the file: thresholds hold for all pieces of one path together.
3. What was not looked at is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from sentinel_guard.core.leaks import comments as inline
from sentinel_guard.core.leaks import pii as personal
from sentinel_guard.core.leaks.base import Grade, Hit, Leak, Piece
from sentinel_guard.core.leaks.engine import scan, settled
from sentinel_guard.core.leaks.excerpt import Page
from sentinel_guard.core.leaks.known import NOTHING, Known
from sentinel_guard.core.leaks.skips import skipped, unattended
from sentinel_guard.core.policy import takes_in
from sentinel_guard.core.visible import visible

LONGEST = 4_000_000
"""Characters of a piece that are searched for formats: about half a second. Known values are sought in any."""
MOST = 500
"""Finds of one piece that are told; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Review:
    hits: tuple[Hit, ...]
    """In the order of the pieces, then of the places; those that are allowed too."""
    notes: tuple[str, ...]
    """What was not looked at, or not told, one line each."""


@dataclass(slots=True)
class _Looked:
    """A piece and what it holds."""

    piece: Piece
    leaks: list[Leak]
    personal: list[Leak]


def review(
    pieces: Iterable[Piece],
    *,
    known: Known = NOTHING,
    allow: tuple[str, ...] = (),
    pii: bool = True,
    comments: bool = True,
) -> Review:
    """All finds in ``pieces``. ``allow``: gitignore patterns of files that are not looked into.

    Without ``pii`` personal data is let be; without ``comments`` no comment in the text allows anything.
    """
    notes: list[str] = []
    looked = [_look(piece, known, pii, notes) for piece in pieces if not _allowed(piece, allow)]
    _grade(looked)
    hits = [hit for one in looked for hit in _hits(one, comments, notes)]
    return Review(tuple(hits), tuple(dict.fromkeys(notes)))


def _allowed(piece: Piece, allow: tuple[str, ...]) -> bool:
    return bool(piece.path) and bool(takes_in(allow, piece.path, ""))


def _look(piece: Piece, known: Known, pii: bool, notes: list[str]) -> _Looked:
    leaks = known.find(piece.text)
    if skipped(piece.path):
        return _Looked(piece, leaks, [])
    if len(piece.text) > LONGEST:
        notes.append(f"{_name(piece)}: {len(piece.text):,} characters, too long to be searched for forms of secrets")
        return _Looked(piece, leaks, [])
    leaks += scan(piece.text, generic=not unattended(piece.path))
    return _Looked(piece, leaks, personal.find(piece.text) if pii else [])


def _grade(looked: list[_Looked]) -> None:
    """Personal data gets the grade that the number of its finds in one file gives it."""

    def path(one: _Looked) -> str:
        return one.piece.path

    for key, group in groupby(sorted(looked, key=path), path):
        alike = list(group)
        graded = iter(personal.grade([leak for one in alike for leak in one.personal], key))
        for one in alike:
            one.personal = [next(graded) for _ in one.personal]


def _hits(looked: _Looked, comments: bool, notes: list[str]) -> Iterable[Hit]:
    everything = looked.leaks + looked.personal
    counted = [leak for leak in settled(everything) if leak.grade > Grade.NOTE]
    if not counted:
        return
    if len(counted) > MOST:
        notes.append(f"{_name(looked.piece)}: {len(counted) - MOST:,} more finds are not listed")
    page = Page(looked.piece.text, everything)
    for leak in counted[:MOST]:
        line, column = page.place(leak)
        allowed = "comment" if comments and leak.kind != "known" and inline.allows(page.lines(leak)) else ""
        piece = looked.piece
        yield Hit(leak, piece.path, piece.line + line - 1, column, page.excerpt(leak), piece.commit, allowed)


def _name(piece: Piece) -> str:
    return visible(piece.path) or "the text"
