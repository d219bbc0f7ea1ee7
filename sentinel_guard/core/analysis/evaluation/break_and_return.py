"""Commands behind ``break``, ``continue``, ``return`` or ``||`` may not run: joins the possible shell states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sentinel_guard.core.analysis.expansion.shell_state import UNASSIGNED, Outer, Scope
from sentinel_guard.core.analysis.parser.syntax_tree import (
    Arithmetic,
    Function,
    Group,
    If,
    List,
    Loop,
    Node,
    Pipeline,
    Simple,
    Test,
)

_QUESTIONS = ("[", "test", "false", "grep", "command", "which", "type", "hash", "pgrep", "diff", "cmp")
_JUMPS = ("break", "continue", "return")
_HOLD_COMMANDS = (List, If, Group, Pipeline, Loop)


def jumps(node: object) -> bool:
    """Whether a node may leave the list that it stands in, and what follows it is skipped."""
    if type(node) is Simple:
        return bool(node.words) and node.words[0].literal in _JUMPS
    if type(node) is Pipeline and len(node.commands) > 1:
        return False
    if isinstance(node, Function) or not _may_jump(node):
        return False
    if isinstance(node, Loop):
        return _leaves(node.body)
    return any(jumps(child) for child in _children(node))


def _children(node: object) -> list[object]:
    if isinstance(node, List):
        return [item for item, separator in node.items if separator != "&"]
    if isinstance(node, If):
        return [*(part for clause in node.clauses for part in clause), node.otherwise]
    if isinstance(node, Group):
        return [node.body]
    if isinstance(node, Pipeline):
        return list(node.commands) if len(node.commands) == 1 else []
    return [arm.body for arm in getattr(node, "arms", ())]


def is_test(node: object) -> bool:
    """Whether a node only asks a question, so that what depends on it often does not happen."""
    if type(node) is Simple:
        return bool(node.words) and node.words[0].literal in _QUESTIONS
    if isinstance(node, Pipeline):
        return node.negated or (bool(node.commands) and is_test(node.commands[-1]))
    return isinstance(node, Test | Arithmetic)


def _may_jump(node: object) -> bool:
    return isinstance(node, _HOLD_COMMANDS) or hasattr(node, "arms")


def _leaves(node: object) -> bool:
    """Whether a loop's body leaves more than the loop: ``return``, ``break 2``."""
    if type(node) is Simple:
        if not node.words or node.words[0].literal not in _JUMPS:
            return False
        return node.words[0].literal == "return" or len(node.words) > 1
    return any(_leaves(child) for child in _children(node)) or (isinstance(node, Loop) and _leaves(node.body))


Known = dict[str, tuple[str, ...] | None]
"""Variables, as a scope holds them."""


def changed_names(scope: Scope, before: Known) -> list[str]:
    """Names whose known value is another one than it was."""
    return [n for n, v in scope.variables.items() if v is not None and (n not in before or before[n] != v)]


def merge(scope: Scope, branches: Sequence[Scope]) -> None:
    """After branches: what is the same in all of them; a variable that differs is one of what they leave in it."""
    first = branches[0]
    merge_variables(scope, branches)
    scope.cwd = first.cwd if all(b.cwd == first.cwd for b in branches) else None
    scope.positional = first.positional if all(b.positional == first.positional for b in branches) else None
    scope.options = merge_options([branch.options for branch in branches])
    _merge_input(scope, branches)
    scope.ended = first.ended if all(b.ended == first.ended for b in branches) else False
    scope.returned = all(branch.returned for branch in branches)
    scope.exported = scope.exported.intersection(*(branch.exported for branch in branches))
    for branch in branches:
        for name, body in branch.functions.items():
            scope.functions[name] = either_body(scope.functions.get(name, body), body)
        scope.aliases.update(branch.aliases)
        scope.traps += [text for text in branch.traps if text not in scope.traps]
        merge_attributes(scope, branch.attributes)
    _merge_locals(scope, branches)


_ANY = List(())
"""The condition of a body that stands for several."""


def either_body(one: Node, other: Node) -> Node:
    """The body of a function that is one of these."""
    bodies = {id(body): body for body in (*_bodies(one), *_bodies(other))}
    first, *others = bodies.values()
    return If(tuple((_ANY, List(((body, ""),))) for body in others), List(((first, ""),))) if others else first


def _bodies(node: Node) -> list[Node]:
    if not (isinstance(node, If) and node.clauses[0][0] is _ANY and node.otherwise is not None):
        return [node]
    return [body.items[0][0] for body in (node.otherwise, *(body for _, body in node.clauses))]


def _merge_input(scope: Scope, branches: Sequence[Scope]) -> None:
    """Of standard input, what one of them opened may be read from here on."""
    opened = [branch.input for branch in branches if branch.input is not None]
    scope.input = opened[0] if opened else None
    last = branches[0].last
    scope.last = None if [branch for branch in branches if branch.last != last] else last


def _merge_locals(scope: Scope, branches: Sequence[Scope]) -> None:
    """What a function's local names hold outside of it, where they were made local in a branch."""
    if scope.locals is None:
        return
    for name in {name for branch in branches for name in branch.locals or ()} - scope.locals.keys():
        outer = [(branch.locals or {}).get(name) or outside(branch, name) for branch in branches]
        known = [held for held, _, _ in outer if held is not None]
        items, letters = outer[0][1:]
        scope.locals[name] = (
            frozenset().union(*known) if len(known) == len(outer) else None,
            items if all(one[1] == items for one in outer) else None,
            letters,
        )


def outside(scope: Scope, name: str) -> Outer:
    """What a variable holds that is about to become a function's own."""
    return scope.possible(name), scope.variables.get(name), scope.attributes.get(name, "")


def merge_variables(scope: Scope, branches: Sequence[Scope]) -> None:
    """After branches: what the variables may hold, and which files they may come from."""
    first = branches[0]
    names = {name for branch in branches[1:] for name in differing_names(first, branch)}
    scope.variables, scope.choices = first.variables.copy(), first.choices.copy()
    scope.written = {n: v for n, v in first.written.items() if all(b.written.get(n) == v for b in branches[1:])}
    for name in names:
        scope.take(name, [branch.possible(name) for branch in branches])
    for branch in branches:
        for name, files in branch.loaded.items():
            held = scope.loaded.get(name, ())
            scope.loaded[name] = held if held == files else tuple(dict.fromkeys((*held, *files)))


def _held(scope: Scope) -> tuple[Mapping[str, object], ...]:
    return scope.variables, scope.choices


def _differing(ones: Sequence[Mapping[str, object]], others: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Names that do not hold the same at two times."""
    for one, other in zip(ones, others, strict=True):
        if one != other:
            yield from (name for name in {*one, *other} if one.get(name, UNASSIGNED) != other.get(name, UNASSIGNED))


def differing_names(scope: Scope, other: Scope) -> set[str]:
    """Variables that do not hold the same in two scopes."""
    return set(_differing(_held(scope), _held(other)))


def merge_attributes(scope: Scope, before: dict[str, str]) -> None:
    """Attributes that a name may have, or not."""
    for name in {*scope.attributes, *before}:
        if scope.attributes.get(name, "") != before.get(name, ""):
            scope.attributes[name] = "?"


def merge_options(options: Sequence[dict[str, bool | None]]) -> dict[str, bool | None]:
    """Options that may be so or so are None."""
    found: dict[str, bool | None] = {}
    for name in {name for one in options for name in one}:
        values = {one.get(name, False) for one in options}
        found[name] = values.pop() if len(values) == 1 else None
    return found


def _holds_same(one: Scope, other: Scope) -> bool:
    """Whether two scopes are the same in all that ``join`` joins but standard input and ``$_``."""
    return (
        one.variables == other.variables
        and one.choices == other.choices
        and one.written == other.written
        and one.loaded == other.loaded
        and one.positional == other.positional
        and one.options == other.options
        and one.attributes == other.attributes
        and one.exported == other.exported
    )


def join(scope: Scope, states: Sequence[Scope], *, with_own: bool = True) -> None:
    """The shell goes on from here with what it has, or with what one of these states has. Where it is, stays."""
    if not states:
        return
    if not [state for state in states if not _holds_same(scope, state)]:
        _merge_input(scope, [scope, *states])
        return
    lists = [name for name, held in scope.variables.items() if held is not None and len(held) > 1]
    merge_variables(scope, [scope.copy(), *states] if with_own else states)
    scope.attributes |= {name: "?" for name in lists if scope.variables.get(name) is None}
    _merge_input(scope, [scope, *states])
    scope.exported = scope.exported.intersection(*(state.exported for state in states))
    for state in states:
        if scope.positional != state.positional:
            scope.positional = None
        if scope.options != state.options:
            scope.options = merge_options([scope.options, state.options])
        if scope.attributes != state.attributes:
            merge_attributes(scope, state.attributes)
