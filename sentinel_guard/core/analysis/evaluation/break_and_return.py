"""Commands behind ``break``, ``continue``, ``return`` or ``||`` may not run: merges the possible shell states."""

from __future__ import annotations

from collections.abc import Sequence

from sentinel_guard.core.analysis.expansion.shell_state import Scope
from sentinel_guard.core.analysis.parser.syntax_tree import (
    Arithmetic,
    Function,
    Group,
    If,
    List,
    Loop,
    Pipeline,
    Simple,
    Test,
)

_QUESTIONS = ("[", "test", "false", "grep", "command", "which", "type", "hash", "pgrep", "diff", "cmp")
_JUMPS = ("break", "continue", "return")


def jumps(node: object) -> bool:
    """Whether a node may leave the list that it stands in, and what follows it is skipped."""
    if type(node) is Simple:
        return bool(node.words) and node.words[0].literal in _JUMPS
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
    if isinstance(node, Pipeline):
        return node.negated or (bool(node.commands) and is_test(node.commands[-1]))
    if type(node) is Simple:
        return bool(node.words) and node.words[0].literal in _QUESTIONS
    return isinstance(node, Test | Arithmetic)


def _may_jump(node: object) -> bool:
    return isinstance(node, List | If | Group | Pipeline | Loop) or hasattr(node, "arms")


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
    """After branches: what is the same in all of them."""
    first = branches[0]
    others = [b for b in branches if b.variables != first.variables]
    names = {name for branch in others for name in branch.variables} | first.variables.keys()
    same = {n for n in names if all(_held(b, n) == _held(first, n) for b in others)} if others else names
    scope.variables = {n: first.variables[n] if n in same else None for n in names}
    for name in names - same:
        scope.choose(name, [b.possible(name) for b in branches])
    scope.cwd = first.cwd if all(b.cwd == first.cwd for b in branches) else None
    scope.positional = first.positional if all(b.positional == first.positional for b in branches) else None
    scope.options = merge_options([branch.options for branch in branches])
    for branch in branches:
        scope.functions.update(branch.functions)
        scope.aliases.update(branch.aliases)
        if scope.locals is not None:
            scope.locals = (branch.locals or {}) | scope.locals
        merge_attributes(scope, branch.attributes)


def _held(scope: Scope, name: str) -> object:
    return scope.variables.get(name, scope)


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


class AndOrState:
    """What an and-or list changes behind its first item: it may not have happened."""

    def __init__(self, scope: Scope, *, asked: bool) -> None:
        self.before = scope.copy()
        self.variables = self.before.variables
        self.held: dict[str, list[frozenset[str] | None]] = {}
        self.positional = scope.positional
        self.options, self.attributes = dict(scope.options), dict(scope.attributes)
        self.cwd, self.asked = scope.cwd, asked
        self.names: set[str] = set()

    def settle(self, scope: Scope, *, ends: bool = False) -> None:
        """At each ``||`` and at the end: what was changed is not known. A ``cd`` counts, but where one only asked."""
        self.names.update(changed_names(scope, self.variables))
        for name in self.names:
            self.held.setdefault(name, [self.before.possible(name)]).append(scope.possible(name))
        lists = [name for name in self.names if len(scope.variables.get(name) or ()) > 1]
        scope.doubt(self.names)
        scope.attributes |= dict.fromkeys(lists, "?")
        for name in self.names:
            scope.choose(name, self.held[name])
        if scope.positional != self.positional:
            scope.positional = None
        if scope.options != self.options:
            scope.options = merge_options([scope.options, self.options])
        if scope.attributes != self.attributes:
            merge_attributes(scope, self.attributes)
        if ends and self.asked and scope.cwd != self.cwd:
            scope.cwd = None
