"""The data model of secret scanning: a text to scan, a secret format, a find.

A value that was found stays in memory: what is shown is its mask, what is kept is its keyed hash (R3).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple


class Grade(enum.IntEnum):
    """How much a find weighs. Only ``BLOCK`` stops anything."""

    NOTE = 0
    """Counts towards a threshold (one e-mail address)."""
    WARN = 1
    BLOCK = 2


class Format(NamedTuple):
    """One kind of secret: public facts of its provider (prefix, alphabet, length, checksum), and examples."""

    rule: str
    """``github-pat``: small letters, digits and dashes; stands in refusals, logs and the baseline."""
    what: str
    """``a GitHub personal access token``: for people."""
    needles: tuple[str, ...]
    """Lower case: a text without any of them is not searched; matched in the lowered text."""
    pattern: str
    """For ``re`` and RE2 alike (no lookaround, no backreference), matched on the window of lines around a needle.
    The group ``value`` is the secret, else group 1, else the whole."""
    hit: tuple[str, ...]
    """Texts in which it must be found."""
    miss: tuple[str, ...] = ()
    """Texts in which it must not."""
    entropy: float = 0.0
    """Bits a character (Shannon) that the value must have."""
    hosts: tuple[str, ...] = ()
    """Hosts that give it out: sending it there is logging in, no leak. ``x.com`` takes its subdomains in."""
    grade: Grade = Grade.BLOCK
    reach: int = 0
    """Characters after a needle that a whole match may take (a key of many lines); 0: some hundred, as most need."""


@dataclass(frozen=True, slots=True)
class SecretFind:
    """One find in a text."""

    rule: str
    kind: str
    """``secret``, ``pii`` or ``known`` (a value of the person's own)."""
    what: str
    grade: Grade
    start: int
    """Offset of the value in the text, in characters."""
    end: int
    value: str = field(repr=False)
    """Never shown, logged or stored."""
    hosts: tuple[str, ...] = ()
    """As in ``Format``."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that is looked at as one: added lines of a file, a message, a command, the body of a request."""

    text: str
    """Lines end in ``\\n``."""
    path: str = ""
    """Relative to the top of the repository, ``surrogateescape`` text; empty for what is no file."""
    line: int = 1
    """Number of its first line."""
    commit: str = ""
    """The commit that adds it; empty for what is staged or no commit."""
    raw: bool = False
    """No text that a person wrote (a name, what is printable in a binary file): only forms of providers and values of
    the person's own are looked for."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One find, where it stands, and as it may be shown."""

    leak: SecretFind
    path: str
    line: int
    """From 1."""
    column: int
    """From 1, in characters."""
    excerpt: str
    """The line with every secret masked, visible text, at most 160 characters."""
    commit: str = ""
    allowed: str = ""
    """Why it does not count: ``comment``, ``baseline``; empty where it does."""
    count: int = 1
    """Of how many finds in the file it is the first; ``leak.what`` names them all: ``4 payment card numbers``."""
