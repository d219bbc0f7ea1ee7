"""if, case and loops: every branch is walked, and what differs between them is unknown behind them."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from sentinel_guard.core.analysis.commands import UNKNOWN
from sentinel_guard.core.analysis.place import Place, Walker
from sentinel_guard.core.analysis.scope import Field, Scope
from sentinel_guard.core.analysis.syntax import Case, If, Loop, Simple, simple_commands
from sentinel_guard.core.analysis.words import expand, expand_one

MAX_ROUNDS = 200
"""Rounds of one loop."""

Known = dict[str, tuple[str, ...] | None]
"""Variables, as a scope holds them."""


def if_(walk: Walker, node: If, place: Place) -> str:
    place, outputs = walk.redirect(node.redirects, place)
    branches: list[Place] = []
    text = ""
    for condition, body in node.clauses:
        text += walk.node(condition, place)
        branches.append(place.inside()._replace(maybe=True))
        text += walk.node(body, branches[-1])
    branches.append(place.inside()._replace(maybe=True))
    if node.otherwise is not None:
        text += walk.node(node.otherwise, branches[-1])
    _merge(place.scope, [b.scope for b in branches])
    return walk.keep(text and UNKNOWN, outputs, place)


def case(walk: Walker, node: Case, place: Place) -> str:
    """The first arm that matches, where that can be told; else all of them."""
    place, outputs = walk.redirect(node.redirects, place)
    walk.substitute(node.subject, place)
    subject = expand_one(node.subject, place.scope)
    branches: list[Place] = [place.inside()]
    text = ""
    for arm in node.arms:
        walk.substitute(arm.patterns, place)
        patterns = [expand_one(p, place.scope) for p in arm.patterns]
        known = subject.known and all(p.known for p in patterns)
        hit = any(fnmatch.fnmatchcase(subject.text, p.text) for p in patterns)
        if known and not hit:
            continue
        branches.append(place.inside()._replace(maybe=place.maybe or not known))
        text += walk.node(arm.body, branches[-1])
        if known and arm.end != ";;&":
            branches = branches[-1:]
            break
    _merge(place.scope, [b.scope for b in branches])
    return walk.keep(text and UNKNOWN, outputs, place)


def loop(walk: Walker, node: Loop, place: Place) -> str:
    place, outputs = walk.redirect(node.redirects, place)
    walk.substitute(node.words or (), place)
    inner = place._replace(maybe=True)
    text = _for(walk, node, inner) if node.kind in ("for", "select") else _while(walk, node, inner)
    return walk.keep(text and UNKNOWN, outputs, place)


def _for(walk: Walker, node: Loop, place: Place) -> str:
    scope = place.scope
    if node.words is None:
        given = scope.positional
        fields = [Field("$@", known=False)] if given is None else [Field(text) for text in given]
    else:
        fields = [field for word in node.words for field in expand(word, scope)]
    text = ""
    for field in fields[:MAX_ROUNDS]:
        scope.variables[node.variable] = (field.text,) if field.known else None
        text += walk.node(node.body, place)
    if len(fields) > MAX_ROUNDS:
        scope.variables[node.variable] = None
        text += walk.node(node.body, place)
    return text


def _while(walk: Walker, node: Loop, place: Place) -> str:
    """One round for each line that ``while read`` is known to get; else twice if the first round changed something."""
    scope = place.scope
    before = dict(scope.variables)
    reads = node.condition is not None and any(_is_read(c) for c in simple_commands(node.condition))
    lines = place.stdin.splitlines(keepends=True) if reads and UNKNOWN not in place.stdin else []
    text = ""
    for line in lines[:MAX_ROUNDS]:
        text += _round(walk, node, place._replace(stdin=line))
    if not lines or len(lines) > MAX_ROUNDS:
        text += _round(walk, node, place._replace(stdin=UNKNOWN) if reads else place)
    others = changed(scope, before)
    scope.variables.update(dict.fromkeys(others))
    return text + _round(walk, node, place._replace(stdin=UNKNOWN)) if others and not lines else text


def _round(walk: Walker, node: Loop, place: Place) -> str:
    if node.condition is not None:
        walk.node(node.condition, place)
    return walk.node(node.body, place)


def changed(scope: Scope, before: Known) -> list[str]:
    """Names whose known value is another one than it was."""
    return [n for n, v in scope.variables.items() if v is not None and (n not in before or before[n] != v)]


def _merge(scope: Scope, branches: Sequence[Scope]) -> None:
    """After branches: what is the same in all of them."""
    first = branches[0]
    names = {name for branch in branches for name in branch.variables}
    same = {n for n in names if all(b.variables.get(n, ()) == first.variables.get(n, ()) for b in branches)}
    scope.variables = {n: first.variables.get(n, ()) if n in same else None for n in names}
    scope.cwd = first.cwd if all(b.cwd == first.cwd for b in branches) else None
    for branch in branches:
        scope.functions.update(branch.functions)
        scope.aliases.update(branch.aliases)


def _is_read(command: Simple) -> bool:
    return bool(command.words) and command.words[0].literal == "read"
