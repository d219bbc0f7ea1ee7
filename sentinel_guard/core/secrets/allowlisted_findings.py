"""The allowlist (``.sentinel-secrets.toml``): known finds that are not asked about again, with a person's verdicts.

Rules of this file:
1. No value stands in it: a salted hash that takes milliseconds does, so that a guess at a short password costs time.
2. ``false`` says something of the value, and holds in every file. ``accepted`` and ``unreviewed`` hold in their own
   file only: a real secret that is copied elsewhere has leaked further. A file that moves keeps its verdicts
   (``updated``).
3. Inside a guarded session only what a person has marked counts (``reviewed``).
4. A value of the person's own (``known``) is never let through by a baseline.
5. What it does not know (a key, a verdict, a version) is an error: it must not let pass what nobody meant.
"""

from __future__ import annotations

import enum
import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from sentinel_guard.core.secrets.model import Hit
from sentinel_guard.errors import ConfigError

NAME = ".sentinel-secrets.toml"
"""At the top of the repository."""
VERSION = 1
ANY = "any"
"""The hash of a row of personal data: such data counts by the file, so one row holds for all of a rule in a file."""
_COST = {"n": 1 << 11, "r": 8, "p": 1, "dklen": 8}
"""Four milliseconds and 2 MB of memory a value."""
_KEYS = frozenset({"path", "rule", "hash", "line", "verdict"})
_HINT = f"Correct {NAME}, or take it away and write it again: sentinel-guard secrets baseline"


class ReviewStatus(enum.StrEnum):
    """What is known of a find."""

    UNREVIEWED = "unreviewed"
    """It was there when the baseline was written; nobody has looked at it."""
    FALSE = "false"
    """No secret."""
    ACCEPTED = "accepted"
    """A secret, and it may stay where it is."""
    REAL = "real"
    """A secret that must go: it stays refused."""


@dataclass(frozen=True, slots=True)
class Row:
    """One find, without its value."""

    path: str
    """As ``place`` writes it; empty for a message or a name."""
    rule: str
    hash: str
    line: int
    """Where it stood, as a hint for people."""
    said: ReviewStatus = ReviewStatus.UNREVIEWED

    def table(self) -> Mapping[str, object]:
        return {"path": self.path, "rule": self.rule, "hash": self.hash, "line": self.line, "verdict": self.said.value}


class Update(NamedTuple):
    """What writing the baseline anew does."""

    baseline: Allowlist
    new: tuple[Row, ...]
    moved: tuple[Row, ...]
    """Rows that keep their verdict in another file."""
    gone: tuple[Row, ...]


class Allowlist:
    """The rows of one repository. ``allows`` costs a hash only where a row of the same rule could hold."""

    def __init__(self, salt: bytes, rows: Iterable[Row] = ()) -> None:
        self.salt, self.rows = salt, tuple(rows)
        self._hashes: dict[tuple[str, str], str] = {}

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what ``document`` wrote. Raises ConfigError that names the row."""
        try:
            return cls(*_parsed(tomllib.loads(text)))
        except (ValueError, TypeError, RecursionError) as e:
            raise ConfigError(f"{NAME} cannot be read: {e}", _HINT) from e

    def document(self) -> dict[str, Mapping[str, object] | list[Mapping[str, object]]]:
        """The file as tables: ``parse`` reads it back."""
        return {"baseline": {"version": VERSION, "salt": self.salt.hex()}, "find": [r.table() for r in self.rows]}

    def reviewed(self) -> Allowlist:
        """Only what a person has marked: for what an agent does."""
        return Allowlist(self.salt, (r for r in self.rows if r.said is not ReviewStatus.UNREVIEWED))

    def allows(self, hit: Hit) -> bool:
        """Whether the find is let be."""
        row = self.row(hit)
        return row is not None and row.said is not ReviewStatus.REAL

    def row(self, hit: Hit) -> Row | None:
        """The row that holds for a find; where several do, the one that a person marked."""
        if hit.leak.kind == "known":
            return None
        path = place(hit)
        near = [r for r in self.rows if r.rule == hit.leak.rule and (r.path == path or r.said is ReviewStatus.FALSE)]
        near = [r for r in near if (r.hash == ANY and r.path == path) or r.hash == self._hash(hit)]
        return min(near, key=lambda r: (r.path != path, r.said is ReviewStatus.UNREVIEWED), default=None)

    def with_verdicts(self, said: Mapping[Row, ReviewStatus]) -> Allowlist:
        """With other verdicts for some of its rows."""
        return self._with(replace(r, said=said.get(r, r.said)) for r in self.rows)

    def updated(self, hits: Iterable[Hit], past: Iterable[Hit] = ()) -> Update:
        """With a row for every find and none for what is gone; verdicts stay, in a file that was moved too.

        ``past``: finds of commits that may still be pushed: a row of one stays where it is.
        """
        found, earlier = self._rows(hits), self._rows(past)
        old = {(r.path, r.rule, r.hash): r for r in self.rows}
        loose = [r for key, r in old.items() if key not in found]
        rows, new, moved = [], [], []
        for key, row in found.items():
            before = next((r for r in loose if (r.rule, r.hash) == key[1:] and r.hash != ANY), None)
            if key in old:
                rows.append(replace(row, said=old[key].said))
            elif before:
                loose.remove(before)
                moved.append(replace(row, said=before.said))
            else:
                new.append(row)
        new += [row for key, row in earlier.items() if key not in found and key not in old]
        kept = [row for key, row in old.items() if key not in found and key in earlier]
        every = sorted([*rows, *moved, *new, *kept], key=lambda r: (r.path, r.line, r.rule, r.hash))
        return Update(self._with(every), tuple(new), tuple(moved), tuple(r for r in loose if r not in kept))

    def _rows(self, hits: Iterable[Hit]) -> dict[tuple[str, str, str], Row]:
        """A row for each find; the first of equal ones."""
        found: dict[tuple[str, str, str], Row] = {}
        for hit in hits:
            if hit.leak.kind != "known":
                key = self.key(hit)
                found.setdefault(key, Row(*key, hit.line))
        return found

    def key(self, hit: Hit) -> tuple[str, str, str]:
        """Path, rule and hash of the row that a find has, or would have."""
        return place(hit), hit.leak.rule, ANY if hit.leak.kind == "pii" else self._hash(hit)

    def _hash(self, hit: Hit) -> str:
        """Of the rule and the value, so that one value under two rules is not seen to be one."""
        key = hit.leak.rule, hit.leak.value
        if key not in self._hashes:
            text = "\0".join(key).encode("utf-8", "surrogatepass")
            self._hashes[key] = hashlib.scrypt(text, salt=self.salt, **_COST).hex()
        return self._hashes[key]

    def _with(self, rows: Iterable[Row]) -> Allowlist:
        other = Allowlist(self.salt, rows)
        other._hashes = self._hashes
        return other


NONE = Allowlist(b"")
"""No file: nothing is let be."""


def place(hit: Hit) -> str:
    """The path of the row that a find has; none for a find in a name, which would stand here."""
    return stored(hit.path) if hit.line else ""


def stored(path: str) -> str:
    """A path as TOML can hold it: bytes that are not UTF-8 are written out."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _parsed(document: Mapping[str, object]) -> tuple[bytes, list[Row]]:
    head = document.get("baseline")
    if not isinstance(head, dict) or head.get("version") != VERSION:
        raise ValueError(f"[baseline] must say version = {VERSION}")
    if unknown := (document.keys() - {"baseline", "find"}) | (head.keys() - {"version", "salt"}):
        raise ValueError(f"unknown key {min(unknown)!r}")
    salt, rows = bytes.fromhex(str(head.get("salt", ""))), document.get("find", [])
    if len(salt) < 16 or not isinstance(rows, list):
        raise ValueError("salt must be 16 bytes in hex, and find a list of tables")
    return salt, [_row(number, row) for number, row in enumerate(rows, 1)]


def _row(number: int, row: object) -> Row:
    if not isinstance(row, dict) or row.keys() != _KEYS or not isinstance(row["line"], int):
        raise ValueError(f"find {number} must have exactly: {', '.join(sorted(_KEYS))}")
    if not all(isinstance(row[key], str) for key in _KEYS - {"line"}):
        raise ValueError(f"find {number}: all but line are texts")
    try:
        said = ReviewStatus(row["verdict"])
    except ValueError:
        raise ValueError(f"find {number}: verdict is one of {', '.join(ReviewStatus)}") from None
    return Row(row["path"], row["rule"], row["hash"], row["line"], said)
