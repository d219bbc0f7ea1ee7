"""Which modes of chmod(1) and chmod(2) let others than the owner read or write: ``644``, ``go+r``, ``0o777``."""

from __future__ import annotations

import re

_OPEN = re.compile(r"(?:0o)?[0-7]*?(?:[2-7][0-7]|[0-7][2-7])")
_CLAUSE = re.compile(r"([ugoa]*)[+=]([rwxXstugo]*)")
_OTHERS = 0o066


def opens(mode: object) -> bool:
    """Whether a mode gives group or others a right to read or write. A number, or a text as chmod(1) or a language has
    it; an execute bit alone opens nothing. What is neither is not known to open.
    """
    if isinstance(mode, int):
        return bool(mode & _OTHERS)
    text = str(mode)
    if text[:1].isdigit():
        return _OPEN.fullmatch(text) is not None
    clauses = [_CLAUSE.fullmatch(clause) for clause in text.split(",")]
    return any(c is not None and (not c[1] or set(c[1]) & set("goa")) and set(c[2]) & set("rwugo") for c in clauses)


def entry_opens(entries: str) -> bool:
    """Whether entries of ``setfacl -m`` give a right to read or write: ``u:bob:rwX``."""
    return any(set(entry.rpartition(":")[2]) & set("rw4567236") for entry in entries.split(","))
