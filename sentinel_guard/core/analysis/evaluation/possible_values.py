"""Runs a command once for each value that its variables may hold where branches joined: ``rm -rf $d`` for every ``d``.

All that is found counts, so that the worst of the values decides. Beyond MAX_WAYS a variable stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation.break_and_return import merge
from sentinel_guard.core.analysis.evaluation.conditions import NAMES
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.shell_state import UNASSIGNED, Scope
from sentinel_guard.core.analysis.parser.syntax_tree import Simple

MAX_WAYS = 16
"""Runs of one command."""


def sources(node: Simple) -> list[str]:
    """All texts of a command in which a variable may stand."""
    return [node.source, *(r.heredoc.source for r in node.redirects if r.heredoc is not None)]


def places(texts: Sequence[str], place: WalkContext) -> list[WalkContext]:
    """A place for each of the values that the variables in these texts may hold; none where they hold but one."""
    choices = place.scope.choices
    if not choices:
        return []
    names = dict.fromkeys(name for text in texts for name in NAMES.findall(text) if name in choices)
    ways: list[dict[str, tuple[str, ...]]] = [{}]
    for name in names:
        if len(ways) * len(choices[name]) <= MAX_WAYS:
            ways = [way | {name: held} for way in ways for held in sorted(choices[name])]
    return [_along(way, place) for way in ways] if len(ways) > 1 else []


def _along(way: dict[str, tuple[str, ...]], place: WalkContext) -> WalkContext:
    """The same place in a shell of its own, where the variables hold these values. That they do is a guess."""
    inner = place.inside()
    for name, held in way.items():
        inner.scope.take(name, [frozenset((_value(name, held, inner.scope),))])
    return replace(inner, maybe=True, elsewhere=True)


def _value(name: str, held: tuple[str, ...], scope: Scope) -> tuple[str, ...]:
    """What no branch has assigned and nobody has given is not set: the text itself speaks of it as its own."""
    return () if held == UNASSIGNED and not scope.inherits(name) else held


def each(place: WalkContext, inner: Sequence[WalkContext], run: Callable[[WalkContext], str]) -> str:
    """Runs a command at each of these places; gives its output, as far as it is the same."""
    texts = {run(one) for one in inner}
    merge(place.scope, [one.scope for one in inner])
    return texts.pop() if len(texts) == 1 else UNKNOWN
