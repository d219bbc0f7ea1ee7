"""Taint tracking of file content through shell variables to the commands that print it: ``x=$(cat .env); echo $x``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion import one_key
from sentinel_guard.core.analysis.expansion.output_visibility import prints_arguments
from sentinel_guard.core.analysis.expansion.secret_variables import ANY, ENVIRONMENT, secret_variables
from sentinel_guard.core.analysis.expansion.shell_state import Scope
from sentinel_guard.core.analysis.parser.syntax_tree import Simple
from sentinel_guard.core.analysis.secret_names import names_secret
from sentinel_guard.core.model import Command, Effect, Kind

_SOURCES = frozenset(("source", "."))
_READERS = frozenset(("read", "mapfile", "readarray"))
_DECLARES = frozenset(("export", "declare", "typeset", "local", "readonly"))
_HOLDS = _DECLARES | {"curl"}
NOTED = _SOURCES | _READERS | _DECLARES
"""Commands that may give variables what they read, beside those with assignments."""
_USED = re.compile(r"\$\{?[#!]?([A-Za-z_]\w*)")
_PRINTS = re.compile(r"(?:env|printenv|set|export(?: -p)?|(?:declare|typeset)(?: -\w+)?|env -0|compgen -v)")
"""Without operands these print every variable."""


def record_taint(node: Simple, scope: Scope, found: Sequence[Effect]) -> None:
    """Remembers what was read while a command set variables."""
    first = node.words[0].literal if node.words else None
    for item in node.assignments if "$" in node.source else ():
        for name in _USED.findall(item.value.source):
            if name in scope.loaded:
                scope.loaded[item.name] = scope.loaded[name]
        if secret_variables(item.value.source, scope) and item.name not in scope.loaded:
            scope.loaded[item.name] = (ENVIRONMENT,)
    files = tuple(e.target for e in found if e.kind is Kind.READ and not e.target.startswith("/dev/"))
    if files:
        for name in (*(item.name for item in node.assignments), *_names(first, node)):
            scope.loaded[name] = (*scope.loaded.get(name, ()), *files)


def mark_keys(walk: Walker, node: Simple, mark: int, scope: Scope) -> None:
    """Reads that give a variable, or a word of curl, one key of a file are told by the key's name; not where the shell
    shows what it runs.
    """
    taken = not node.words or node.words[0].literal in _HOLDS
    reads = [at for at in range(mark, len(walk.effects)) if walk.effects[at].kind is Kind.READ]
    if not (reads and taken) or scope.is_on("xtrace") or not (names := one_key.names(node.source)):
        return
    for at in reads:
        effect = walk.effects[at]
        if effect.command is not None and effect.command.program in one_key.PROGRAMS and "shown" not in effect.how:
            walk.effects[at] = replace(effect, how=effect.how | {"key"}, written=names)


def _names(first: str | None, node: Simple) -> list[str]:
    words = [word.source for word in node.words[1:] if word.source[:1] != "-"]
    if first in _READERS:
        return words
    if first in _DECLARES:
        return [name if eq and name.isidentifier() else ANY for name, eq, _ in (w.partition("=") for w in words)]
    return [ANY] if first in _SOURCES else []


def _said(node: Simple) -> str:
    """The words of a command, and its here-texts."""
    here = [part.source for r in node.redirects for part in (r.target, r.heredoc) if part is not None]
    return " ".join([*(word.source for word in node.words[1:]), *here])


def report_printed_taint(walk: Walker, node: Simple, place: WalkContext) -> None:
    """What a command prints of what was loaded counts as read here."""
    loaded = place.scope.loaded
    if not node.words:
        return
    first = node.words[0].literal or ""
    files: list[str] = []
    if prints_arguments(node.words):
        for name in _USED.findall(_said(node)):
            unnamed = loaded.get(ANY, ()) if names_secret(name) else ()
            files += loaded.get(name, unnamed)
    elif _PRINTS.fullmatch(" ".join(word.source for word in node.words)):
        files = [file for each in loaded.values() for file in each]
    elif first in ("printenv", "declare", "typeset", "export"):
        names = [word.source for word in node.words[1:] if names_secret(word.source)]
        files = [file for name in names for file in loaded.get(name, loaded.get(ANY, ()))]
    command = Command(first, tuple(word.source for word in node.words), via=place.via)
    how = frozenset(("shown",) if place.shown and not place.disk else ())
    for file in dict.fromkeys(f for f in files if f != ENVIRONMENT):
        walk.add(Effect(Kind.READ, file, how=how, command=command), place)
