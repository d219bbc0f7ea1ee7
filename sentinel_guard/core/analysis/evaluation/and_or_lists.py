"""Evaluates lists of commands: what stands behind ``&&`` and ``||`` runs with what is known where it does run.

Rules of this file:
1. Where an item is skipped, the state of then is kept aside, with the status that the list has there.
2. An item runs in the states that have the status it asks for; where that is none, it is seen all the same.
3. Behind the list the shell has one of the states that were kept, or the last; so have the files.
   A ``cd`` counts, but where one only asked.
4. What stands behind an ``exit`` that surely ends the shell of a script is not looked at, nor what a test leaves out
   in one whose tests decide.
"""

from __future__ import annotations

from dataclasses import replace

from sentinel_guard.core.analysis.evaluation import made_names
from sentinel_guard.core.analysis.evaluation.break_and_return import is_test, join, jumps
from sentinel_guard.core.analysis.evaluation.conditions import (
    absent,
    assume,
    empties,
    ends,
    is_builtin,
    is_plain,
    never_fails,
    surely,
    told,
)
from sentinel_guard.core.analysis.evaluation.possible_values import with_files
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.shell_state import Scope
from sentinel_guard.core.analysis.parser.syntax_tree import List, Node, Simple, simple_commands

_JOINTS = ("&&", "||")
_SAYS = ("echo", "true", ":")
_MOVES = ("cd", "pushd", "chdir")
_WELL = ("printf", "mkdir", "export", "set", "local", "declare", "source", ".", "shopt", "umask", "exec", "builtin")
"""What is taken for going well where what stands behind it prints something."""
_LEAVES = frozenset(("exit", "return", "break", "continue", "exec"))


def items(walk: Walker, node: List, place: WalkContext) -> str:
    """The items in order."""
    output: list[str] = []
    chain: _Chain | None = None
    left: list[Scope] = []
    marks = [walk.world.mark()] if place.elsewhere else []  # what is written there is no file of this machine
    before, status = "", None  # what is known of how the list has ended so far
    made = frozenset(walk.world.own)
    for at, (item, separator) in enumerate(node.items):
        if chain is None and before in _JOINTS and status is not None:
            before, skipped = separator, status is not (before == "&&")
            if skipped:
                continue
            before = ""
        moves = type(item) is Simple and bool(item.words) and item.words[0].literal in _MOVES
        here = replace(place, stumbles=True) if moves and _may_stumble(node, at, place) else place
        if before in _JOINTS:
            chain = chain or _Chain(place, walk.world)
            here = chain.place(node.items[at - 1][0], before, here)
        if before not in _JOINTS:
            made = frozenset(walk.world.own)
        gone = made_names.may_fail(walk.world, made) if before == "||" else None
        if separator == "&":
            output.append(_run_beside(walk, item, here))
        else:
            text = _run(walk, item, here)
            output.append(_as_far_as_known(text, before, node.items[at - 1][0], place.scope))
        if gone and _leaves(item, place.scope):
            walk.world.own |= gone
        if jumps(item):
            left.append(place.scope.copy())
            marks.append(walk.world.mark())
        if chain is not None and separator not in _JOINTS:
            chain.end(item, place.scope)
            chain = None
        before, status = separator, told(item, place.scope) if separator in _JOINTS and chain is None else None
        if place.scope.ended or place.scope.returned:
            break
    join(place.scope, left)
    walk.world.may_have_ended(marks)
    return "".join(output)


def _as_far_as_known(text: str, joint: str, last: Node, scope: Scope) -> str:
    """What an item prints, which behind a joint it may not."""
    if not text or joint not in _JOINTS:
        return text
    goes_well = isinstance(last, Simple) and (not last.words or last.words[0].literal in (*_SAYS, *_MOVES, *_WELL))
    return UNKNOWN if joint == "||" else text if goes_well or told(last, scope) else text + UNKNOWN


def _run(walk: Walker, item: Node, place: WalkContext) -> str:
    return (
        with_files(walk, place, lambda one: walk.node(item, one)) if walk.world.may_differ else walk.node(item, place)
    )


def _run_beside(walk: Walker, item: Node, place: WalkContext) -> str:
    """In the background: what follows may be faster."""
    with walk.world.beside():
        text = _run(walk, item, replace(place.inside(), forks=True))
    return text and UNKNOWN


class _Chain:
    """The states of an and-or list, from its second item on."""

    def __init__(self, place: WalkContext, world: Overlay) -> None:
        self._world = world
        self._cwd, self._asked = place.scope.cwd, False
        self._kept: list[tuple[bool, Scope, int]] = []
        """Where items are skipped: whether what ran last went well, what is known there, and when that was."""
        self._empty, self._absent = place.empty, place.absent
        self._otherwise: frozenset[str] | None = None
        """What is absent where the first test fails, while nothing behind it can."""
        self._joints: set[str] = set()

    def place(self, last: Node, joint: str, here: WalkContext) -> WalkContext:
        """Where an item runs behind this one and this joint."""
        scope, wanted, asks = here.scope, joint == "&&", is_plain(last)
        maybe = here.maybe or bool(self._joints) or not (asks and surely(last, scope, holds=wanted))
        self._asked = self._asked or (not self._joints and is_test(last))
        self._joints.add(joint)
        skipped = scope.copy()
        if asks:
            assume(last, skipped, holds=not wanted)
            assume(last, scope, holds=wanted)
        joining = [kept for kept in self._kept if kept[0] is wanted]
        if joining:
            self._kept = [kept for kept in self._kept if kept[0] is not wanted]
        if not (wanted and never_fails(last)):
            self._kept.append((not wanted, skipped, self._world.mark()))
        if joining:
            join(scope, [state for _, state, _ in joining], with_own=wanted or not never_fails(last))
            self._world.may_have_ended([mark for _, _, mark in joining])
        if len(self._joints) == 1:
            self._empty |= empties(last, scope, holds=wanted) if asks else frozenset()
            if joint == "&&" and self._otherwise is None:
                self._otherwise = self._absent | (absent(last, scope, holds=False) if asks else frozenset())
            elif self._otherwise is not None and not _only_says(last, scope):
                self._otherwise = frozenset()
            self._absent |= absent(last, scope, holds=wanted) if asks else frozenset()
            return here.after_test(maybe=maybe, empty=self._empty, absent=self._absent)
        otherwise = self._otherwise if joint == "||" and self._otherwise and _only_says(last, scope) else here.absent
        return here.after_test(maybe=maybe, empty=here.empty, absent=otherwise)

    def end(self, last: Node, scope: Scope) -> None:
        """Behind the list: any of its states but one that has left."""
        kept = [state for _, state, _ in self._kept]
        self._world.may_have_ended([mark for _, _, mark in self._kept])
        join(scope, kept, with_own=not (kept and ends(last, scope, _LEAVES)))
        if self._asked and scope.cwd != self._cwd:
            scope.cwd = None


def _only_says(node: Node, scope: Scope) -> bool:
    """Whether an item does nothing but print: ``test -f .env && echo there || cp .env.example .env``."""
    if not isinstance(node, Simple) or node.redirects or not node.words:
        return False
    name, plain = node.words[0].literal, all(word.literal is not None for word in node.words)
    return plain and name in _SAYS and is_builtin(name, scope)


def _may_stumble(node: List, at: int, place: WalkContext) -> bool:
    """Whether this ``cd`` may fail, and what follows runs all the same."""
    if node.items[at][1] not in (";", "\n", "", "||"):
        return False
    return not (place.wanted or place.scope.is_on("errexit") or _gives_up(node, at))


def _leaves(node: Node, scope: Scope) -> bool:
    """Whether what follows an item is not run behind it: an exit, or a function that ends so."""
    name = node.words[0].literal if type(node) is Simple and node.words else None
    body = scope.functions.get(name) if name else None
    return ends(node if body is None else body, scope, _LEAVES)


def _gives_up(node: List, at: int) -> bool:
    """Whether what stands behind the ``||`` of an item leaves: ``cd x || exit 1``."""
    if node.items[at][1] != "||" or at + 1 >= len(node.items):
        return False
    return any(c.words and c.words[0].literal in _LEAVES for c in simple_commands(node.items[at + 1][0]))
