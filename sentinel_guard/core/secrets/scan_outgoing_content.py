"""Scan changes, messages and requests for secrets and personal data: each find with its place and redacted excerpt.

Rules of this file:
1. A value of the person's own counts everywhere but in a file that the policy allows, whatever a comment says.
2. Personal data counts by the file: thresholds hold for all pieces of one path together.
3. What was not looked at is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from sentinel_guard.core.policy.policy import last_matching_pattern
from sentinel_guard.core.secrets.model import Grade, Hit, Piece, SecretFind
from sentinel_guard.core.secrets.redacted_excerpt import ScannedText
from sentinel_guard.core.secrets.scan_text import scan, without_overlaps
from sentinel_guard.core.secrets.skipped_files import is_test_or_document, skipped
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets
from sentinel_guard.core.text.control_characters import visible

LONGEST = 4_000_000
"""Characters of a piece that are searched for formats: about half a second. Known values are sought in any."""
MOST = 500
"""Finds of one piece that are told; the rest is counted."""
FEW = 3
"""Finds of personal data of one kind in one file that are told one by one."""
_KINDS = {"pii-card": "payment card numbers", "pii-email": "e-mail addresses"}
"""What many of them are; an ``s`` makes the others many."""


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
    leaks: list[SecretFind]
    personal: list[SecretFind]
    beside: list[SecretFind] = field(default_factory=list)
    """What does not count, and is masked."""
    lists: Mapping[str, int] = field(default_factory=dict)
    """Rules of personal data that are told once for the file, and how many they are: no comment allows them."""


def _counts(_piece: Piece, _leak: SecretFind) -> bool:
    return True


def scan_pieces(
    pieces: Iterable[Piece],
    *,
    known: UserSecrets = NOTHING,
    allow: tuple[str, ...] = (),
    pii: bool = True,
    comments: bool = True,
    new: Callable[[Piece, SecretFind], bool] = _counts,
) -> Review:
    """All finds in ``pieces``. ``allow``: gitignore patterns of files that are not looked into.

    Without ``pii`` personal data is let be; without ``comments`` no comment in the text allows anything.
    ``new``: whether a find counts at all, or only stands beside what is looked at.
    """
    notes: list[str] = []
    looked = [_look(piece, known, pii, new, notes) for piece in pieces if not _allowed(piece, allow)]
    _grade(looked)
    hits = [hit for one in looked for hit in _hits(one, comments, notes)]
    return Review(tuple(hits), tuple(dict.fromkeys(notes)))


def _allowed(piece: Piece, allow: tuple[str, ...]) -> bool:
    return bool(piece.path) and bool(last_matching_pattern(allow, piece.path, ""))


def _look(
    piece: Piece, known: UserSecrets, pii: bool, new: Callable[[Piece, SecretFind], bool], notes: list[str]
) -> _Looked:
    found, quiet = known.find(piece.text, piece.path), skipped(piece.path) and not piece.raw
    if not quiet and len(piece.text) > LONGEST:
        notes.append(f"{_name(piece)}: {len(piece.text):,} characters, too long to be searched for forms of secrets")
    elif not quiet:
        found += scan(piece.text, generic=not (piece.raw or is_test_or_document(piece.path)))
        found += _personal(piece) if pii and not piece.raw else []
    looked = _Looked(piece, [], [])
    for leak in found:
        kind = looked.personal if leak.kind == "pii" else looked.leaks
        (kind if new(piece, leak) else looked.beside).append(leak)
    return looked


def _personal(piece: Piece) -> list[SecretFind]:
    from sentinel_guard.core.secrets.pii import scan_pii  # noqa: PLC0415 - a message of a commit is not searched for it

    return scan_pii.find(piece.text)


def _graded(leaks: list[SecretFind], path: str) -> list[SecretFind]:
    if not leaks:
        return []
    from sentinel_guard.core.secrets.pii import scan_pii  # noqa: PLC0415 - as in _personal

    return scan_pii.grade(leaks, path)


def _grade(looked: list[_Looked]) -> None:
    """Personal data gets the grade that the number of its finds in one file gives it."""

    def path(one: _Looked) -> str:
        return one.piece.path

    for key, group in groupby(sorted(looked, key=path), path):
        alike = list(group)
        graded = _graded([leak for one in alike for leak in one.personal], key)
        counts = Counter(leak.rule for leak in graded if leak.grade > Grade.NOTE)
        lists = {rule: count for rule, count in counts.items() if count > FEW}
        told = _lists(graded, lists)
        for one in alike:
            one.lists = lists
            one.personal = [next(told) for _ in one.personal]


def _lists(leaks: Iterable[SecretFind], lists: Mapping[str, int]) -> Iterator[SecretFind]:
    """Of a list only the first find is told, for all; the others are masked."""
    seen: set[str] = set()
    for leak in leaks:
        if leak.rule not in lists or leak.grade is Grade.NOTE:
            yield leak
        elif leak.rule in seen:
            yield replace(leak, grade=Grade.NOTE)
        else:
            seen.add(leak.rule)
            yield replace(leak, what=_many(leak, lists[leak.rule]))


def _many(leak: SecretFind, count: int) -> str:
    """``134 e-mail addresses``."""
    kind = _KINDS.get(leak.rule) or re.sub(r"^(?:an?|the) ", "", leak.what)
    return f"{count:,} {kind if kind.endswith('s') else f'{kind}s'}"


def _hits(looked: _Looked, comments: bool, notes: list[str]) -> Iterator[Hit]:
    counted = without_overlaps(leak for leak in looked.leaks + looked.personal if leak.grade > Grade.NOTE)
    if not counted:
        return
    if len(counted) > MOST:
        notes.append(f"{_name(looked.piece)}: {len(counted) - MOST:,} more finds are not listed")
    page = ScannedText(looked.piece.text, looked.leaks + looked.personal + looked.beside)
    for leak in counted[:MOST]:
        line, column = page.place(leak)
        lenient = comments and leak.kind != "known" and leak.rule not in looked.lists
        allowed = "comment" if lenient and page.commented(leak) else ""
        piece = looked.piece
        place = piece.path, piece.line + line - 1, column
        yield Hit(leak, *place, page.excerpt(leak), piece.commit, allowed, looked.lists.get(leak.rule, 1))


def _name(piece: Piece) -> str:
    return visible(piece.path) or "the text"
