"""Containers, compose projects, ports, databases, roles and topics that a text makes, proved by its success.

``docker run --name x`` and ``createdb x`` fail where the name is taken. So where all commands of a text had to succeed
for it to succeed, what it made is the session's own from then on (ADR 0022).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.parser.syntax_tree import List, Simple
from sentinel_guard.core.model import Effect, Kind

_KINDS = ("container ", "compose project ", "port ", "database ", "role ", "topic ")
MOST = 20
"""Names of one text."""


def effects(own: Collection[str], text: str | None) -> Iterator[Effect]:
    """One for each name that this text (None: one command) makes, and could not make where it is taken."""
    names = sorted(name for name in own if name.startswith(_KINDS)) if own else []
    if names and (text is None or _needs_all(bash_parser.parse(text).body)):
        for name in names[:MOST]:
            yield Effect(Kind.EXECUTE, name, how=frozenset(("makes",)))


def _needs_all(body: List) -> bool:
    """Whether it is ``a && b && c``, of commands whose own exit code each is."""
    signs = [sign for _, sign in body.items[:-1]]
    last = body.items[-1][1] if body.items else ""
    return set(signs) <= {"&&"} and last != "&" and all(isinstance(node, Simple) for node, _ in body.items)
