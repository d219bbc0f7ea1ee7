"""Cypher (Neo4j, Memgraph): which of its statements delete whole kinds of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_DELETES = re.compile(r"\bDELETE\b(?!.*\bIF\b)", re.IGNORECASE | re.DOTALL)
_SOME = re.compile(r"\bWHERE\b|\{\s*\w+\s*:|\bLIMIT\b|\(\s*\w*\s*:", re.IGNORECASE)
_BEGINS = re.compile(r"\s*(?:(?:OPTIONAL\s+)?MATCH|UNWIND|CALL)\b", re.IGNORECASE)


def losing(text: str) -> Iterator[str]:
    """The statements of a text that delete without naming what."""
    yield from (one for one in text.split(";") if _DELETES.search(one) and not _SOME.search(one))


def is_cypher(text: str) -> bool:
    """Whether a text begins as a statement of Cypher does, and as none of SQL."""
    return _BEGINS.match(text) is not None
