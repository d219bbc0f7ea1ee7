"""``sentinel-guard secrets scan``: searches files or the git history for secrets. Changes nothing, needs no daemon.

Rules of this file:
1. No value is printed: a find is its place, its rule, and the line with the value masked.
2. What was not looked into, and what was let be, is counted and said.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from sentinel_guard.core.secrets.allowlisted_findings import NAME, Allowlist
from sentinel_guard.core.secrets.model import Grade, Hit, Piece, SecretFind
from sentinel_guard.core.secrets.scan_outgoing_content import scan_pieces
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host import policy_files
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.secrets import allowlist_file, scanned_files, user_secret_files
from sentinel_guard.host.secrets.added_lines import Added
from sentinel_guard.humans.terminal_prompts import visible

NOTES = 10
"""What was not looked into: so many lines of it."""
ALIKE = 3
"""Finds of one rule in one file that are shown; the others are counted."""
_AWHILE = 0.5
"""Seconds after which a terminal is told how far the search is."""
NEXT = """\
Next: take each out of its file and make it void where it was given out, if anybody else has seen the file.
A false find: 'sentinel: allow' in a comment of its line; all that is here today: sentinel-guard secrets baseline"""
PAST = """\
Next: make each void where it was given out, if anybody else has seen it: it stays in the history.
To let a push pass whose commits hold it: sentinel-guard secrets baseline --history"""


@dataclass(slots=True)
class Found:
    """What a search found, and how much it looked into."""

    hits: list[Hit] = field(default_factory=list)
    """Those that are let be too."""
    notes: list[str] = field(default_factory=list)
    files: int = 0
    size: int = 0
    """Bytes."""
    others: int = 0
    """Files that are no text."""
    began: float = field(default_factory=time.monotonic)

    @property
    def open(self) -> list[Hit]:
        """Those that nothing lets be, however grave."""
        return [h for h in self.hits if not h.allowed]

    @property
    def standing(self) -> list[Hit]:
        """What a commit or a push is refused for."""
        return [h for h in self.open if h.leak.grade is Grade.BLOCK]

    @property
    def warnings(self) -> list[Hit]:
        return [h for h in self.open if h.leak.grade is Grade.WARN]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person wants to be looked into; without any of it, the whole work tree."""

    paths: tuple[Path, ...] = ()
    staged: bool = False
    history: bool = False
    warnings: bool = False
    """Show what only warns, too."""
    as_json: bool = False


class Search:
    """Looks into pieces of text under one policy and one baseline, for values of the person's own too."""

    def __init__(self, allow: tuple[str, ...], known: UserSecrets, baseline: Allowlist) -> None:
        self._allow, self._known, self._baseline = allow, known, baseline
        self.found = Found()

    def look(
        self, pieces: Iterable[Piece], new: Callable[[Piece, SecretFind], bool] = lambda _piece, _leak: True
    ) -> list[Hit]:
        """The finds of pieces that belong together; they are added to what was found. ``new``: as in ``review``."""
        given = [p for p in pieces if p.path.rpartition("/")[2] != NAME]
        # A message names the people who wrote and signed: their addresses are there to be read.
        personal = any(p.path for p in given)
        said = scan_pieces(given, known=self._known, allow=self._allow, pii=personal, new=new)
        hits = [replace(h, allowed="baseline") if self._lets_be(h) else h for h in said.hits]
        self.found.hits += hits
        self.found.notes += said.notes
        return hits

    def files(self, given: Iterable[scanned_files.Source]) -> Found:
        for source in given:
            if source.note:
                self.found.notes.append(source.note)
            if source.piece:
                self.found.files += 1
                self.found.size += source.size
                self.look([source.piece])
            elif source.size:
                self.found.others += 1
            _tell(self.found)
        return self.found

    def lines(self, given: Iterable[Added]) -> Found:
        for lines in given:
            self.look(lines.pieces, lines.holds)
            self.found.notes += lines.notes
            self.found.files += len({(p.path, p.commit) for p in lines.pieces if p.path})
            self.found.size += sum(len(p.text) for p in lines.pieces)
            _tell(self.found)
        return self.found

    def _lets_be(self, hit: Hit) -> bool:
        return not hit.allowed and self._baseline.allows(hit)


def scan(places: StatePaths, cwd: Path, asked: Asked) -> int:
    """Print every find of the work tree, of ``paths``, of what is staged, or of the history.

    1 if there is one for which a commit would be refused, else 0. Raises ConfigError for a broken baseline or a path
    that is in no repository while others are in one, HostError.
    """
    root = _top(cwd, asked.paths)
    search = begin(places, root, allowlist_file.load(root) if root else Allowlist(b""))
    if asked.staged or asked.history:
        here = root or commit_contents.top(cwd)
        found = search.lines([scanned_files.index(here)] if asked.staged else scanned_files.history(here))
    else:
        found = search.files(_whole(root, asked.paths) if root else _loose(asked.paths))
    end_of_telling()
    if asked.as_json:
        print(json.dumps(_document(found, asked)))
    else:
        show(found, root, cwd, warnings=asked.warnings, way=PAST if asked.history else NEXT)
    return 1 if found.standing else 0


def begin(places: StatePaths, root: Path | None, baseline: Allowlist) -> Search:
    """A search in a repository (or outside of one), under its policy."""
    policy = policy_files.load_paths(places, root) if root else policy_files.load(places)
    known = user_secret_files.collect(root, policy, os.environ) if root else NOTHING
    search = Search(policy.leaks.allow, known, baseline)
    search.found.notes += policy.warnings
    return search


def whole(root: Path) -> Iterator[scanned_files.Source]:
    """Every file of a work tree that git tracks or would track. Raises HostError."""
    return _whole(root, ())


def _top(cwd: Path, paths: Sequence[Path]) -> Path | None:
    """The one repository that all is in; None where it is in none."""
    if not paths:
        return commit_contents.top(cwd)
    tops = {_repository(path) for path in paths}
    if len(tops) > 1:
        raise ConfigError("The paths are in different repositories.", "Search them one after the other.")
    return tops.pop()


def _repository(path: Path) -> Path | None:
    try:
        return commit_contents.top(path if path.is_dir() else path.absolute().parent)
    except SentinelError:
        return None


def _whole(root: Path, paths: Sequence[Path]) -> Iterator[scanned_files.Source]:
    folders = [Path(os.path.realpath(p)) for p in paths if p.is_dir()]
    for path in paths:
        if not path.is_dir():
            # As a person names it: git may ignore it, and a link is followed.
            yield scanned_files.read(path, os.path.relpath(path.absolute(), root), follow=True)
    if folders or not paths:
        for name in scanned_files.tracked(root, folders):
            yield scanned_files.read(root / name, name)


def _loose(paths: Sequence[Path]) -> Iterator[scanned_files.Source]:
    for path in paths:
        for file in scanned_files.walked(path) if path.is_dir() else [path]:
            yield scanned_files.read(file, str(file), follow=file == path)


def show(found: Found, root: Path | None, cwd: Path, *, warnings: bool = False, way: str = NEXT) -> None:
    """Finds, a line each, then how much was looked into, and what to do."""
    hits = found.standing + (found.warnings if warnings else [])
    for text in lines(hits, root, cwd):
        print(text)
    if hits:
        print()
    for note in found.notes[:NOTES]:
        print(f"Note: {visible(note)}")
    if len(found.notes) > NOTES:
        print(f"Note: and {len(found.notes) - NOTES:,} more were not looked into.")
    print(_sum(found, shown=warnings))
    if found.standing:
        print(way)


def lines(hits: Iterable[Hit], root: Path | None, cwd: Path) -> Iterator[str]:
    """A line for each find; of a list of alike ones its head and their number."""
    for (path, rule, _), group in groupby(hits, lambda h: (h.path, h.leak.rule, h.commit)):
        alike = list(group)
        yield from (line(hit, root, cwd) for hit in alike[:ALIKE])
        more = len(alike) - ALIKE
        if more > 0:
            yield f"  ... and {more:,} more of {rule} in {visible(path) or 'the message'}"


def line(hit: Hit, root: Path | None, cwd: Path) -> str:
    """``path:line:column  rule  excerpt``; the path as a person in ``cwd`` would write it."""
    path = os.path.relpath(root / hit.path, os.path.realpath(cwd)) if root and hit.path else hit.path
    place = f"{visible(path) or 'message'}:{hit.line}:{hit.column}" if hit.line else "a name"
    commit = f"{hit.commit[:10]} " if hit.commit else ""
    weight = "" if hit.leak.grade is Grade.BLOCK else "  (warning)"
    many = f"{hit.leak.what}, the first: " if hit.count > 1 else ""
    return f"{commit}{place}  {hit.leak.rule}{weight}  {many}{hit.excerpt}"


def _sum(found: Found, *, shown: bool) -> str:
    standing = found.standing
    files = len({(h.commit, h.path) for h in standing})
    heads = f"{count(len(standing), 'find')} in {count(files, 'file')}" if standing else "Nothing found"
    seconds = time.monotonic() - found.began
    others = f", {found.others:,} that are no text" if found.others else ""
    parts = [f"{heads}: {count(found.files, 'file')}, {found.size / 1e6:,.1f} MB{others}, {seconds:.1f} s."]
    for word, why in (("comment", "a comment in its line"), ("baseline", "the baseline")):
        if number := sum(h.allowed == word for h in found.hits):
            parts.append(f"{number} let be by {why}.")
    if found.warnings and not shown:
        parts.append(f"{count(len(found.warnings), 'warning')} not shown, which refuse nothing: --warnings")
    return "\n".join(parts)


def count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _document(found: Found, asked: Asked) -> dict[str, object]:
    hits = found.hits if asked.warnings else [h for h in found.hits if h.leak.grade is Grade.BLOCK]
    return {
        "findings": [
            {
                "path": visible(h.path) if h.line else h.excerpt, "line": h.line, "column": h.column,
                "rule": h.leak.rule, "kind": h.leak.kind, "what": h.leak.what, "grade": h.leak.grade.name.lower(),
                "excerpt": h.excerpt, "commit": h.commit, "allowed": h.allowed,
            }
            for h in hits
        ],
        "notes": [visible(note) for note in found.notes],
        "files": found.files,
        "bytes": found.size,
    }  # fmt: skip


def _tell(found: Found) -> None:
    if sys.stderr.isatty() and time.monotonic() - found.began > _AWHILE and found.files % 20 == 0:
        print(f"\r{found.files:,} files, {found.size / 1e6:,.0f} MB ...\x1b[K", end="", file=sys.stderr, flush=True)


def end_of_telling() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
