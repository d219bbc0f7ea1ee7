"""Pieces -> fields: the last steps of an expansion, splitting and globs."""

from __future__ import annotations

import re
from typing import NamedTuple

from sentinel_guard.core.analysis.parameters import escape
from sentinel_guard.core.analysis.scope import Field, Scope

MAX_MATCHES = 1000
"""As many as ``World.glob`` gives: at that size there may be more."""

_MAGIC = re.compile(r"[*?\[]")


class Piece(NamedTuple):
    """A run of characters of one kind on its way into fields."""

    text: str
    quoted: bool = False
    known: bool = True
    split: bool = False
    """From an unquoted expansion: IFS splits it."""


BREAK = Piece("\0break")
"""Stands between the words of ``"$@"``."""


def separators(scope: Scope) -> str:
    value = scope.lookup("IFS")
    return "".join(value.items[:1]) if value.known else " \t\n"


def split(pieces: list[Piece], ifs: str) -> list[list[Piece]]:
    fields: list[list[Piece]] = []
    current: list[Piece] = []
    for piece in pieces:
        if piece is BREAK:
            fields.append(current)
            current = []
        elif not (piece.split and piece.known and ifs):
            current.append(piece)
        else:
            for chunk, ends in _chunks(piece.text, ifs):
                if chunk:
                    current.append(piece._replace(text=chunk))
                if ends and (current or ends.strip()):
                    fields.append(current)
                    current = []
    fields.append(current)
    return [f for f in fields if any(p.text or p.quoted or not p.known for p in f)]


def _chunks(text: str, ifs: str) -> list[tuple[str, str]]:
    """Runs of text, each with the separator behind it."""
    blank = "".join(c for c in ifs if c in " \t\n")
    other = "".join(c for c in ifs if c not in " \t\n")
    spaces = f"[{re.escape(blank)}]" if blank else "(?!)"
    pattern = f"({spaces}*[{re.escape(other)}]{spaces}*|{spaces}+)" if other else f"({spaces}+)"
    found = re.split(pattern, text)
    return list(zip(found[::2], [*found[1::2], ""], strict=True))


def glob_fields(pieces: list[Piece], scope: Scope, source: str) -> tuple[Field, ...]:
    text = "".join(p.text for p in pieces)
    known = all(p.known for p in pieces)
    if not any(not p.quoted and _MAGIC.search(p.text) for p in pieces if p.known):
        return (Field(text, known, source=source),)
    unmatched = Field(text, known, pattern=True, source=source)
    pattern = "".join(escape(p.text) if p.quoted else p.text for p in pieces)
    if not known or (scope.cwd is None and not text.startswith("/")):
        return (unmatched,)
    base = "" if text.startswith("/") else scope.cwd.rstrip("/") + "/" if scope.cwd else ""
    matches = scope.world.glob(escape(base) + pattern)
    fields = tuple(Field(match.removeprefix(base), source=source) for match in matches)
    # Without globstar bash takes ** for *: what the deep look has missed is no doubt then.
    if scope.world.cut and "**" not in pattern:
        return (*fields, Field(text, known=False, pattern=True, source=source))
    if not fields or len(matches) >= MAX_MATCHES:
        return (*fields, unmatched)
    return fields
