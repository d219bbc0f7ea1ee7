"""Evaluates calls of shell functions that the script defines, and detects fork bombs among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation import simple_command
from sentinel_guard.core.analysis.evaluation.break_and_return import either_body
from sentinel_guard.core.analysis.evaluation.declare_builtin import restore
from sentinel_guard.core.analysis.evaluation.shell_builtins import BUILTINS
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.shell_state import DECIDES, Field
from sentinel_guard.core.analysis.parser.syntax_tree import Function, Node, simple_commands
from sentinel_guard.core.analysis.programs.registry import PROGRAMS
from sentinel_guard.core.model import Command, Effect, Kind

MAX_CALLS = 20
"""Functions inside functions."""
MAX_AGAIN = 4
"""How often one may call itself, each time with other arguments."""


def run_traps(walk: Walker, place: WalkContext) -> None:
    """What traps do at the end that they did not do when they were set."""
    for text in place.scope.traps:
        inner, begun = replace(place.inside(), maybe=True), len(walk.effects)
        inner.scope.options.pop(DECIDES, None)  # it may end before it comes there
        walk.text(text, inner)
        before = set(walk.effects[:begun])
        walk.effects[begun:] = [effect for effect in walk.effects[begun:] if effect not in before]


def define(node: Function, place: WalkContext) -> None:
    """From here on the name is this function's; or another's still, where this may not have been run."""
    functions = place.scope.functions
    old = functions.get(node.name, node.body) if place.maybe or place.calls else node.body
    functions[node.name] = either_body(old, node.body)


def call(walk: Walker, name: str, fields: Sequence[Field], place: WalkContext) -> str:
    """The body, with the arguments as ``$1 …``. One that calls itself twice and forks has no end: a fork bomb."""
    scope = place.scope
    body = scope.functions[name]
    given = tuple(f.text for f in fields)
    again = name in place.calls and walk.running.get(name) is body
    if again and (given == scope.positional or place.calls.count(name) > MAX_AGAIN):
        if place.forks and not place.maybe and _calls_again(walk, body, place.calls) > 1:
            own = Command(name, (name,), via=place.via)
            bomb = Effect(Kind.EXECUTE, name, how=frozenset(("forkbomb",)), command=own)
            walk.effects += [] if bomb in walk.effects else [bomb]
        if scope.options.pop(DECIDES, False):  # what a test has left out until now may come in a later call
            walk.node(body, replace(place.inside(), calls=(*place.calls, name), maybe=True))
        return UNKNOWN
    if len(place.calls) >= MAX_CALLS:
        walk.opaque(name, "name", place)
        return UNKNOWN
    saved, outer, mark = scope.positional, scope.locals, len(walk.effects)
    scope.positional = given if all(f.known for f in fields) else None
    scope.locals = {}
    walk.running[name] = body
    output = walk.node(body, replace(place, calls=(*place.calls, name), forks=False, maybe=False))
    restore(scope)
    scope.positional, scope.locals, scope.returned = saved, outer, False
    if name in PROGRAMS and not place.calls and _hands_on(walk, fields, mark):
        plain = place.inside()
        del plain.scope.functions[name]
        simple_command.command(walk, [Field(name), *fields], plain)
    return output


def _calls_again(walk: Walker, body: Node, names: Sequence[str]) -> int:
    commands = list(simple_commands(body))
    walk.world.budget.spend(len(commands))
    return sum(1 for c in commands if c.words and c.words[0].literal in names)


def _hands_on(walk: Walker, fields: Sequence[Field], mark: int) -> bool:
    """Whether a program that nobody knows was given these arguments: ``find() { exec -a bfs x "$@"; }``."""
    given = tuple(field.text for field in fields)
    started = (e.command for e in walk.effects[mark:] if e.kind is Kind.EXECUTE and e.command is not None)
    return bool(given) and any(
        c.program not in PROGRAMS and c.program not in BUILTINS and c.argv[-len(given) :] == given for c in started
    )
