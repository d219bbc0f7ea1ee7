"""Containers, ports, databases, clusters and other ends that a text makes, proved by its success.

``docker run --name x`` and ``createdb x`` fail where the name is taken. So where all commands of a text had to succeed
for it to succeed, what it made is the session's own from then on (ADR 0022).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.parser.syntax_tree import List, Simple, simple_commands
from sentinel_guard.core.model import Effect, Kind

_KINDS = (
    *("container ", "compose project ", "port ", "database ", "role ", "topic "),
    *(
        "kubeconfig ",
        "current cluster",
        "machines of ",
        "cluster ",
        "mc ",
        "mc! ",
        "repository ",
        "context ",
        "volume ",
    ),
)
_CHOSEN = ("compose project ", "volume ")
"""What starts one succeeds where it is there, too: that nothing says its name is the witness, and no exit code."""
MOST = 20
"""Names of one text."""


def effects(own: Collection[str], text: str | None) -> Iterator[Effect]:
    """One for each name that this text (None: one command) makes, and could not make where it is taken; and for each
    that it chose.
    """
    names = sorted(name for name in own if name.startswith(_KINDS)) if own else []
    if names and text is not None and not _proves(bash_parser.parse(text).body):
        names = [name for name in names if name.startswith(_CHOSEN)]
    for name in names[:MOST]:
        yield Effect(Kind.EXECUTE, name, how=frozenset(("makes",)))


_MAKES = re.compile(r"(?i)run|create|\bup\b|start|alias|initdb|clone")
"""What makes one of them has one of these words."""


_HIDES = ("bash", "sh", "zsh", "dash", "eval", "source", ".")
"""What runs a text of which not each command had to succeed."""


def _proves(body: List) -> bool:
    """Whether each command that may make something had to succeed: they stand in the last ``a && b && c``, and what
    stands before it, or is no simple command, makes nothing.
    """
    chain = len(body.items) - 1
    while chain > 0 and body.items[chain - 1][1] == "&&":
        chain -= 1
    if not body.items or body.items[-1][1] == "&" or (chain and body.items[chain - 1][1] == "||"):
        return False
    before = [item for item, _ in body.items[:chain]]
    within = [item for item, _ in body.items[chain:] if not isinstance(item, Simple)]
    if any(
        node.words[:1] and node.words[0].literal in _HIDES for item, _ in body.items for node in simple_commands(item)
    ):
        return False
    return not any(_MAKES.search(node.source) for item in (*before, *within) for node in simple_commands(item))
