"""The lines that a commit, a push or named files add, as pieces of text to search for secrets.

Rules of this file:
1. A line is new where none of the files that the commit changes held it before, blanks at its ends apart: a file that
   moves and a change of line endings add nothing, a merge only what no side of it had.
2. What is text is told by its bytes; no attribute, extension, mark or setting takes a file out. Of what is none, what
   can be read in it is looked at, and so are the names of new files.
3. What is left out for its size is said, and small files come first: a large one hides none.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.secrets.model import Piece, SecretFind
from sentinel_guard.host.git import commit_contents, loose_objects
from sentinel_guard.host.git.commit_contents import Change, Environ
from sentinel_guard.host.secrets import binary_strings, text_chunks

MAX_FILE = 8 << 20
"""Bytes of one file that are looked at whole."""
LARGEST = 64 << 20
"""Bytes of a file of which the ends are searched, and all of it for the person's own values."""
MAX_ALL = 128 << 20
"""Bytes of all files together."""
_PORTION = 16 << 20
"""Bytes that are in memory at once."""
_FEW = 100
"""Objects that are looked for without asking git."""
_NAMED = 3
"""Large files that are told by name."""
_AROUND = 2
"""Lines before and after new ones that are looked at with them: a key may be new between its old first and last."""
_PARTLY = "is over {}: only its ends were searched for forms of secrets"
_NOT_TEXT = bytes({*range(32)} - {7, 8, 9, 10, 12, 13, 27}) + b"\x7f"
_HEAD = 1 << 16
_PEOPLE = ("author ", "committer ", "tagger ", "tag ", "encoding ")
_SCISSORS = " ------------------------ >8 ------------------------"


class Gap(NamedTuple):
    """What was not looked at, or not as a whole."""

    path: str
    """Empty for several files."""
    words: str
    """What is said behind the path, or alone."""


class Added(NamedTuple):
    """What is new, and where it stands."""

    pieces: tuple[Piece, ...]
    gaps: tuple[Gap, ...] = ()
    new: Mapping[tuple[str, str], frozenset[int]] = {}
    """Commit and path -> the numbers of the new lines; what is not named is new as a whole."""

    def joined(self, other: Added) -> Added:
        return Added(self.pieces + other.pieces, self.gaps + other.gaps, {**self.new, **other.new})

    @property
    def notes(self) -> tuple[str, ...]:
        """The gaps in a few words."""
        return in_words(self.gaps)

    def holds(self, piece: Piece, leak: SecretFind) -> bool:
        """Whether a find stands, with a part of it, in a new line and not only beside one."""
        lines = self.new.get((piece.commit, piece.path))
        if lines is None or piece.raw:
            return True
        starts = _starts(piece.text)
        first, last = (bisect_right(starts, at) for at in (leak.start, max(leak.start, leak.end - 1)))
        return any(piece.line + n - 1 in lines for n in range(first, last + 1))

    def texts(self) -> Added:
        """Without names: of files, of people."""
        return self._replace(pieces=tuple(p for p in self.pieces if p.line))


@lru_cache(maxsize=1)
def _starts(text: str) -> list[int]:
    """Where its lines begin: all finds of one text are asked about one after the other."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def in_words(gaps: Iterable[Gap]) -> tuple[str, ...]:
    """What was not looked at, a few files by name."""
    single = sorted({gap for gap in gaps if gap.path})
    notes = [f"{gap.path} {gap.words}" for gap in single[:_NAMED]]
    if len(single) > _NAMED:
        notes.append(f"and {_files(len(single) - _NAMED)} more over {_amount(MAX_FILE)}")
    return (*notes, *(gap.words for gap in gaps if not gap.path))


def added_lines(root: Path, changes: Iterable[Change], environ: Environ = None) -> Added:
    """The new lines of changes; those of a commit stand together in ``changes``. Raises HostError."""
    every = list(changes)
    adding = {c.commit for c in every if c.blob}
    given = [c for c in every if c.commit in adding]  # what a file held that goes: it may only have moved
    near = _near(root, [i for c in given for i in (c.blob, *c.old)], environ)
    size = {i: len(data) for i, data in near.items()}
    if far := [i for c in given for i in (c.blob, *c.old) if i and i not in near]:
        size |= commit_contents.sizes(root, far, environ)
    chosen, gaps = _chosen(given, size)
    pieces = [Piece(f"{c.path}\n", c.path, 0, c.commit, raw=True) for c in every if c.status == "A"]
    new: dict[tuple[str, str], frozenset[int]] = {}
    for portion in _portions(chosen, size):
        wanted = {i for c in portion for i in (c.blob, *c.old) if size.get(i, MAX_FILE + 1) <= MAX_FILE}
        held = near | commit_contents.contents(root, wanted - near.keys(), environ)
        for _, together in groupby(portion, key=lambda c: c.commit):
            for change, lines, numbers in _new_lines(list(together), held):
                new[change.commit, change.path] = numbers
                pieces += _pieces(change, lines, numbers)
        pieces += _unread(portion, held)
    for change in (c for c in chosen if size.get(c.blob, 0) > MAX_FILE):
        some = list(_ends(change, commit_contents.contents(root, [change.blob, *change.old], environ)))
        gaps += [Gap(change.path, _PARTLY.format(_amount(MAX_FILE)))] if len(some) > 1 else []
        pieces += some
    return Added(tuple(pieces), tuple(gaps), new)


def _near(root: Path, ids: Sequence[str], environ: Environ) -> dict[str, bytes]:
    """What a few objects hold that git would have to be asked for: what was just added is loose."""
    if len(ids) > _FEW:
        return {}
    given = os.environ if environ is None else environ
    try:
        folder = root / given.get("GIT_OBJECT_DIRECTORY", commit_contents.common_dir(root, given) / "objects")
    except OSError:
        return {}
    found = ((i, loose_objects.read(folder, i, MAX_FILE)) for i in ids)
    return {i: seen.data for i, seen in found if seen and seen.kind == "blob"}


def _chosen(changes: list[Change], size: Mapping[str, int]) -> tuple[list[Change], list[Gap]]:
    """The changes that are looked at, in their order, and words about the others."""
    left, much = MAX_ALL, 0
    gaps: list[Gap] = []
    absent = {c.blob for c in changes if c.blob and c.blob not in size}
    taken = set()
    for change in sorted(changes, key=lambda c: size.get(c.blob, 0)):
        need = size.get(change.blob, 0)
        if need > LARGEST:
            gaps.append(Gap(change.path, f"is over {_amount(LARGEST)} and was not searched for secrets"))
        elif need > left:
            much += 1
        else:
            left -= need
            taken.add(change)
    if much:
        words = f"{_files(much)} beyond the first {_amount(MAX_ALL)} of a commit or push: not searched for secrets"
        gaps.append(Gap("", words))
    if absent:
        gaps.append(Gap("", f"{_files(len(absent))} of a partial clone, not here and so not searched for secrets"))
    return [c for c in changes if c in taken], gaps


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
            yield from _around(change, lines, start, end)
            start = number
        start, end = start or number, number
    yield from _around(change, lines, start, end)


def _around(change: Change, lines: list[str], start: int, end: int) -> Iterator[Piece]:
    first = max(1, start - _AROUND)
    text = "".join(f"{line}\n" for line in lines[first - 1 : end + _AROUND])
    for part, line in text_chunks.parts(text, first):
        yield Piece(part, change.path, line, change.commit)


def _unread(changes: Iterable[Change], held: Mapping[str, bytes]) -> Iterator[Piece]:
    """What can be read in bytes that are no text, and was not there before."""
    for change in changes:
        if runs := _runs(held.get(change.blob, b"")):
            before = {run for i in change.old for run in _runs(held.get(i, b""))}
            text = "".join(f"{run}\n" for run in runs if run not in before)
            yield from (Piece(part, change.path, 1, change.commit, raw=True) for part, _ in text_chunks.parts(text, 1))


def _ends(change: Change, held: Mapping[str, bytes]) -> Iterator[Piece]:
    """A large file: what is new of its ends, and the middle, in which only known values are sought."""
    text, *old = (_readable(held.get(i, b"")) for i in (change.blob, *change.old))
    before = {line for was in old for part, _ in islice(text_chunks.ends(was), 2) for line in part.split("\n")}
    for part, line in text_chunks.ends(text):
        lines = part.split("\n") if len(part) <= text_chunks.LONGEST else [part]
        shown = "\n".join("" if row in before else row for row in lines)
        yield Piece(shown, change.path, line, change.commit, raw=True)


def files(root: Path, names: Iterable[str], environ: Environ = None) -> Added:
    """Whole files, as the index holds them; those that it does not hold, as they are on disk. Raises HostError."""
    wanted = list(dict.fromkeys(names))
    tracked = {c.path: c for c in commit_contents.tracked(root, environ) if c.path in set(wanted)}
    found = added_lines(root, tracked.values(), environ)
    loose = [_on_disk(root, name) for name in wanted if name not in tracked]
    pieces = tuple(Piece(text, name) for name, text in loose if text)
    return Added(found.pieces + pieces, found.gaps, found.new)


def _on_disk(root: Path, name: str) -> tuple[str, str]:
    try:
        descriptor = os.open(root / name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            return name, text_of(file.read(MAX_FILE))
    except OSError:  # it is gone, or no file: nothing of it is committed
        return name, ""


def message(data: bytes, *, edited: bool) -> Added:
    """The message of a commit as git will take it.

    Where a person ``edited`` it, all below the scissors line is cut. Comments are looked at: settings of git's may keep
    them, and its own hold nothing.
    """
    lines = text_of(data).split("\n")
    if edited:
        lines = lines[: next((n for n, line in enumerate(lines) if line.endswith(_SCISSORS)), len(lines))]
    return Added((Piece("".join(f"{line}\n" for line in lines)),))


def messages(root: Path, commits: Iterable[str], tags: Iterable[str], environ: Environ = None) -> Added:
    """What commits, and those ids among ``tags`` that are tags, say, and who wrote them. Raises HostError."""
    ids = tuple(commits)
    held = commit_contents.contents(root, (*ids, *tags), environ)
    said = {i: data.partition(b"\n\n") for i, data in held.items() if i in ids or data[:7] == b"object "}
    pieces = [Piece(text_of(text).rstrip("\n") + "\n", commit=i) for i, (_, _, text) in said.items() if text]
    return Added((*pieces, *(_named(_head(head), i) for i, (head, _, _) in said.items())))


def names(refs: Iterable[str]) -> Added:
    """Names of branches and tags."""
    return Added(tuple(_named(ref, "") for ref in refs))


def _named(text: str, commit: str) -> Piece:
    return Piece(f"{text}\n", "", 0, commit, raw=True)


def _head(data: bytes) -> str:
    """Who wrote a commit or a tag, and its name, in one line."""
    return " ".join(line for line in text_of(data).split("\n") if line.startswith(_PEOPLE))


def text_of(data: bytes) -> str:
    r"""The text that bytes are, line ends as ``\n``; empty for what is no text."""
    return _decoded(data, _coding(data))


def _decoded(data: bytes, coding: str) -> str:
    return data.decode(coding, "replace").replace("\r\n", "\n").replace("\0", " ") if coding else ""


def _runs(data: bytes) -> list[str]:
    """What can be read in bytes and is in no line of their text."""
    coding = _coding(data)
    if coding.startswith("utf-16"):
        return binary_strings.narrow(data)
    return binary_strings.wide(data) if coding else [*binary_strings.narrow(data), *binary_strings.wide(data)]


def _readable(data: bytes) -> str:
    """A text, or what can be read in what is none."""
    coding = _coding(data)
    return _decoded(data, coding) if coding else "\n".join(_runs(data))


def _coding(data: bytes) -> str:
    """How bytes are to be read as text; empty where most of them are none."""
    head = data[:_HEAD]
    if b"\0" not in head:
        return "utf-8-sig"
    even, odd = head[::2].count(0), head[1::2].count(0)
    few, many = sorted((even, odd))
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    # A mark alone proves nothing: it may stand before anything.
    if many * (20 if marked else 5) > len(head) * 2 and few * 20 < (many if marked else len(head)):
        return "utf-16" if marked else "utf-16-le" if odd > even else "utf-16-be"
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
