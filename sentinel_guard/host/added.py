"""The lines that a commit, a push or named files add, as pieces of text in which leaks are looked for.

Rules of this file:
1. A line is new where none of the files that the commit changes held it before, blanks at its ends apart: a file that
   moves and a change of line endings add nothing, a merge only what no side of it had.
2. What is text is told by its bytes; no attribute, extension or setting takes a file out.
3. What is left out for its size is said, and small files come first: a large one hides none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.leaks.base import Hit, Piece
from sentinel_guard.host import staged
from sentinel_guard.host.staged import Change, Environ

MAX_FILE = 8 << 20
"""Bytes of one file that are looked at."""
MAX_ALL = 64 << 20
"""Bytes of all files together."""
_PORTION = 16 << 20
"""Bytes that are in memory at once."""
_AROUND = 2
"""Lines before and after new ones that are looked at with them: a key may be new between its old first and last."""
_NOT_TEXT = bytes({*range(32)} - {7, 8, 9, 10, 12, 13, 27}) + b"\x7f"
_HEAD = 1 << 16
_SCISSORS = " ------------------------ >8 ------------------------"


class Added(NamedTuple):
    """What is new, and where it stands."""

    pieces: tuple[Piece, ...]
    notes: tuple[str, ...] = ()
    """What was not looked at, in words."""
    new: Mapping[tuple[str, str], frozenset[int]] = {}
    """Commit and path -> the numbers of the new lines; what is not named is new as a whole."""

    def joined(self, other: Added) -> Added:
        return Added(self.pieces + other.pieces, self.notes + other.notes, {**self.new, **other.new})

    def holds(self, hit: Hit) -> bool:
        """Whether a find stands, with a part of it, in a new line and not only beside one."""
        lines = self.new.get((hit.commit, hit.path))
        return lines is None or any(n in lines for n in range(hit.line, hit.line + hit.leak.value.count("\n") + 1))


def of(root: Path, changes: Iterable[Change], environ: Environ = None) -> Added:
    """The new lines of changes; those of a commit stand together in ``changes``. Raises HostError."""
    every = list(changes)
    adding = {c.commit for c in every if c.blob}
    given = [c for c in every if c.commit in adding]  # what a file held that goes: it may only have moved
    size = staged.sizes(root, [i for c in given for i in (c.blob, *c.old)], environ) if given else {}
    chosen, notes = _chosen(given, size)
    pieces: list[Piece] = []
    new: dict[tuple[str, str], frozenset[int]] = {}
    for portion in _portions(chosen, size):
        wanted = (i for c in portion for i in (c.blob, *c.old) if size.get(i, MAX_FILE + 1) <= MAX_FILE)
        held = staged.contents(root, wanted, environ)
        for _, together in groupby(portion, key=lambda c: c.commit):
            for change, lines, numbers in _new_lines(list(together), held):
                new[change.commit, change.path] = numbers
                pieces += _pieces(change, lines, numbers)
    return Added(tuple(pieces), notes, new)


def _chosen(changes: list[Change], size: Mapping[str, int]) -> tuple[list[Change], tuple[str, ...]]:
    """The changes that are looked at, in their order, and words about the others."""
    left, large, much = MAX_ALL, [], 0
    absent = {c.blob for c in changes if c.blob and c.blob not in size}
    taken = set()
    for change in sorted(changes, key=lambda c: size.get(c.blob, 0)):
        need = size.get(change.blob, 0)
        if need > MAX_FILE:
            large.append(change.path)
        elif need > left:
            much += 1
        else:
            left -= need
            taken.add(change)
    notes = [f"{path} is over {_amount(MAX_FILE)} and was not searched for secrets" for path in sorted(set(large))]
    if much:
        notes.append(
            f"{_files(much)} beyond the first {_amount(MAX_ALL)} of a commit or push: not searched for secrets"
        )
    if absent:
        notes.append(f"{_files(len(absent))} of a partial clone, not here and so not searched for secrets")
    return [c for c in changes if c in taken], tuple(notes)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _amount(size: int) -> str:
    return f"{size >> 20} MB" if size >> 20 else f"{size} bytes"


def _portions(changes: list[Change], size: Mapping[str, int]) -> Iterator[list[Change]]:
    """The changes in runs of whole commits, each of about a _PORTION of bytes."""
    portion: list[Change] = []
    weight = 0
    for _, together in groupby(changes, key=lambda c: c.commit):
        run = list(together)
        portion += run
        weight += sum(size.get(i, 0) for c in run for i in (c.blob, *c.old))
        if weight >= _PORTION:
            yield portion
            portion, weight = [], 0
    if portion:
        yield portion


def _new_lines(changes: list[Change], held: Mapping[str, bytes]) -> Iterator[tuple[Change, list[str], frozenset[int]]]:
    """Of each change of one commit: the file's lines, and the numbers (from 1) of the new ones."""
    before = {line.strip() for c in changes for i in c.old for line in _lines(held.get(i, b""))}
    for change in changes:
        lines = _lines(held.get(change.blob, b""))
        numbers = frozenset(n for n, line in enumerate(lines, 1) if line.strip() and line.strip() not in before)
        if numbers:
            yield change, lines, numbers


def _pieces(change: Change, lines: list[str], numbers: frozenset[int]) -> Iterator[Piece]:
    """The new lines with those around them, in runs."""
    start = end = 0
    for number in sorted(numbers):
        if end and number > end + 2 * _AROUND + 1:
            yield _piece(change, lines, start, end)
            start = number
        start, end = start or number, number
    yield _piece(change, lines, start, end)


def _piece(change: Change, lines: list[str], start: int, end: int) -> Piece:
    first = max(1, start - _AROUND)
    text = "".join(f"{line}\n" for line in lines[first - 1 : end + _AROUND])
    return Piece(text, change.path, first, change.commit)


def files(root: Path, names: Iterable[str], environ: Environ = None) -> Added:
    """Whole files, as the index holds them; those that it does not hold, as they are on disk. Raises HostError."""
    wanted = list(dict.fromkeys(names))
    tracked = {c.path: c for c in staged.tracked(root, environ) if c.path in set(wanted)}
    found = of(root, tracked.values(), environ)
    loose = [_on_disk(root, name) for name in wanted if name not in tracked]
    pieces = tuple(Piece(text, name) for name, text in loose if text)
    return Added(found.pieces + pieces, found.notes, found.new)


def _on_disk(root: Path, name: str) -> tuple[str, str]:
    try:
        descriptor = os.open(root / name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            return name, text_of(file.read(MAX_FILE))
    except OSError:  # it is gone, or no file: nothing of it is committed
        return name, ""


def message(data: bytes, *, edited: bool) -> Added:
    """The message of a commit as git will take it.

    Where a person ``edited`` it, comments and all below the scissors line are cut; what came by ``-m`` stays as it is.
    """
    lines = text_of(data).split("\n")
    if edited:
        cut = next((n for n, line in enumerate(lines) if line.endswith(_SCISSORS)), len(lines))
        comment = lines[cut].removesuffix(_SCISSORS) if cut < len(lines) else "#"
        lines = ["" if line.startswith(comment) else line for line in lines[:cut]]
    return Added((Piece("".join(f"{line}\n" for line in lines)),))


def messages(root: Path, commits: Iterable[str], tags: Iterable[str], environ: Environ = None) -> Added:
    """The messages of commits, and of those ids among ``tags`` that are tags with one. Raises HostError."""
    ids = tuple(commits)
    held = staged.contents(root, (*ids, *tags), environ)
    said = {i: text_of(data.partition(b"\n\n")[2]) for i, data in held.items() if i in ids or data[:7] == b"object "}
    return Added(tuple(Piece(text.rstrip("\n") + "\n", commit=i) for i, text in said.items() if text))


def text_of(data: bytes) -> str:
    r"""The text that bytes are, line ends as ``\n``; empty for what is no text."""
    coding = _coding(data)
    return data.decode(coding, "replace").replace("\r\n", "\n").replace("\0", " ") if coding else ""


def _coding(data: bytes) -> str:
    """How bytes are to be read as text; empty where most of them are none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    head = data[:_HEAD]
    if b"\0" not in head:
        return "utf-8-sig"
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 5 > len(head) * 2 and min(even, odd) * 20 < len(head):
        return "utf-16-le" if odd > even else "utf-16-be"
    odd_ones = _NOT_TEXT if _is_utf8(head) else _NOT_TEXT + bytes(range(128, 256))
    return "utf-8-sig" if (len(head) - len(head.translate(None, odd_ones))) * 10 < len(head) * 3 else ""


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as e:
        return e.start > len(head) - 4  # a character that the end cuts
    return True


def _lines(data: bytes) -> list[str]:
    text = text_of(data)
    return text.removesuffix("\n").split("\n") if text else []
