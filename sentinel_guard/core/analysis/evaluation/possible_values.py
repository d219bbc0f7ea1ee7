"""Runs a command once for each value that its variables may hold where branches joined: ``rm -rf $d`` for every ``d``;
and for each text that a file may hold which it reads: ``c && echo x > f; sh f``.

All that is found counts, so that the worst of the values decides. Beyond MAX_WAYS a variable stays unknown, and beyond
MAX_TEXTS a file holds anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation.break_and_return import join, merge
from sentinel_guard.core.analysis.evaluation.conditions import NAMES
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.shell_state import UNASSIGNED, Scope
from sentinel_guard.core.analysis.expansion.written_files import ANYTHING, Content, States
from sentinel_guard.core.analysis.parser.syntax_tree import Simple
from sentinel_guard.core.model import Effect

MAX_WAYS = 16
"""Runs of one command."""
_WAY = 40
"""Steps for going back and joining what ways leave."""
MAX_TEXTS = 6
"""Ways in which a command runs with what its files hold."""


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


def each(walk: Walker, place: WalkContext, inner: Sequence[WalkContext], run: Callable[[WalkContext], str]) -> str:
    """Runs a command at each of these places; gives its output, as far as it is the same."""
    texts, left, mark = set[str](), list[States](), walk.world.mark()
    for one in inner:
        texts.add(run(one))
        left.append(walk.world.leave(mark))
    walk.world.join(left)
    merge(place.scope, [one.scope for one in inner])
    return texts.pop() if len(texts) == 1 else UNKNOWN


def with_files(walk: Walker, place: WalkContext, run: Callable[[WalkContext], str]) -> str:
    """Runs a command with each text that the files may hold which it reads. Where its output goes on, who takes it has
    to run with each of them, too: that is left to what runs both, where it can tell them.
    """
    world, asked, tried = walk.world, walk.world.asked, walk.world.tried
    passed = tried if place.wanted else frozenset[str]()
    world.asked, world.tried = set(), world.doubtful
    try:
        return _EachText(walk, place, passed).run(run)
    finally:
        world.asked, world.tried = asked | (world.asked & passed), tried


class _EachText:
    """The ways in which a command may run, by what some files hold."""

    def __init__(self, walk: Walker, place: WalkContext, passed: frozenset[str]) -> None:
        self._walk, self._place, self._passed = walk, place, passed
        self._before, self._mark = place.scope.copy(), walk.world.mark()
        self._known: list[dict[str, Content]] = [{}]
        self._todo: list[dict[str, Content]] = []
        self._scopes, self._left, self._found = list[Scope](), list[States](), set[Effect]()

    def run(self, run: Callable[[WalkContext], str]) -> str:
        """What the first way prints, as far as it is the same in all."""
        begun, world = len(self._walk.effects), self._walk.world
        text = run(self._place)
        if world.asked <= self._passed:
            return text
        self._found.update(self._walk.effects[begun:])
        self._end({}, world.asked)
        try:
            while self._todo:
                text = text if self._along(self._todo.pop(), run) == text else UNKNOWN
        finally:
            world.join(self._left)
            join(self._place.scope, self._scopes)
        return text

    def _along(self, way: dict[str, Content], run: Callable[[WalkContext], str]) -> str:
        place, world, asked = replace(self._place, scope=self._before.copy()), self._walk.world, self._walk.world.asked
        world.budget.spend(_WAY)
        for path, content in way.items():
            world.suppose(path, content)
        begun, world.asked = len(self._walk.effects), set()
        try:
            text = run(place)
        finally:
            new = [effect for effect in self._walk.effects[begun:] if effect not in self._found]
            self._walk.effects[begun:] = new
            self._found.update(new)
            self._scopes.append(place.scope)
            self._end(way, world.asked)
            world.asked |= asked
        return text

    def _end(self, way: dict[str, Content], asked: set[str]) -> None:
        """The end of a way: others begin where it asked for what a file holds."""
        self._left.append(self._walk.world.leave(self._mark))
        for path in sorted(asked - self._passed - way.keys()):
            for content in self._walk.world.contents(path)[1:]:
                if (one := way | {path: content}) not in self._known:
                    self._known.append(one)
                    self._todo.append(one)
        if len(self._known) > MAX_TEXTS and self._todo:
            known = dict.fromkeys((path for one in self._known for path in one), ANYTHING)
            self._todo = [] if known in self._known else [known]
            self._known.append(known)
