"""Loop unrolling: walks the iterations that are known to run, else one, and a second with changed variables unknown.

Behind it a variable is one of what it was before, and of what each iteration may leave in it.
A round that asked for nothing that is another thing in the next one, and left all as it was, is walked once for all.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from sentinel_guard.core.analysis.evaluation.break_and_return import differing_names, jumps, merge_variables
from sentinel_guard.core.analysis.evaluation.conditions import truth, variables_in
from sentinel_guard.core.analysis.evaluation.environment_variables import reassigned
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.command_words import expand_all
from sentinel_guard.core.analysis.expansion.output_visibility import COPIERS
from sentinel_guard.core.analysis.expansion.partly_known_output import NothingPrinted, PartlyKnownText
from sentinel_guard.core.analysis.expansion.shell_state import DECIDES, NEW_NAME, Field, Scope, Values
from sentinel_guard.core.analysis.expansion.word_expansion import number
from sentinel_guard.core.analysis.parser.syntax_tree import (
    Arithmetic,
    Literal,
    Loop,
    Node,
    Part,
    Simple,
    simple_commands,
)
from sentinel_guard.core.analysis.step_budget import TOO_MUCH, RoundsExceeded

MAX_ITERATIONS = 200
"""Rounds of one loop, where the budget has as many (step_budget.py)."""


_REST = Field("…", known=False)
"""What a loop goes over that is not looked at word by word."""
_OF_SYSTEM = 3
"""Parts of a path below which it may be one of the system, or a home."""
_NAMED = 16
"""Words of that which are looked at all the same, because of what they name."""


def walk_iterations(walk: Walker, node: Loop, place: WalkContext) -> str:
    """Walks a loop; gives its output."""
    before = place.scope.copy()
    try:
        return _iterations(walk, node, place)
    except RoundsExceeded:
        walk.opaque(TOO_MUCH, "parse", place)
        _forget_changes(place.scope, before)
        return UNKNOWN


def _forget_changes(scope: Scope, before: Scope) -> None:
    """What rounds that were not looked at may leave behind."""
    scope.forget(differing_names(before, scope))
    scope.cwd = scope.cwd if scope.cwd == before.cwd else None
    scope.positional = scope.positional if scope.positional == before.positional else None


def _iterations(walk: Walker, node: Loop, place: WalkContext) -> str:
    leaves = jumps(node.body)
    if node.kind in ("for", "select"):
        text = _for(walk, node, place, leaves)
    elif node.condition is not None and _has_read(walk, node.condition):
        text = _reads(walk, node, place)
    else:
        text = _counted(walk, node, place, leaves)
    return text and UNKNOWN if leaves else text


def _for(walk: Walker, node: Loop, place: WalkContext, leaves: bool) -> str:
    scope = place.scope
    if node.words is None:
        given = scope.positional
        fields = [Field("$@", known=False)] if given is None else [Field(text) for text in given]
    else:
        fields = expand_all(node.words, scope)
    if len(fields) > MAX_ITERATIONS:
        fields[MAX_ITERATIONS:] = _rest(fields[MAX_ITERATIONS:], place)
    text, ends, whole = "", [], True
    rounds, done = _Rounds(walk, node, place), 0
    while done < len(fields):
        if whole and done and walk.world.budget.rounds < 0:
            fields[done:], whole = _rest(fields[done:], place), False
        field = fields[done]
        if field.known:
            text += _again(walk, done, partial(rounds.walk, field))
        else:
            text += _any_number(walk, place, partial(_try, walk, node, place, field))
        for path in field.unseen:
            _again(walk, 1, partial(_suppose, walk, node, place, path))
        ends += [scope.copy()] if leaves else []
        done += 1
    if ends:
        merge_variables(scope, ends)
    return text if all(f.known for f in fields) else text and UNKNOWN


def _rest(fields: Sequence[Field], place: WalkContext) -> list[Field]:
    """One word in place of many, behind those that count by their own name, and the last one: it stays."""
    named = (field for field in fields if field.known and _counts_by_name(field.text, place.scope))
    return [*itertools.islice(named, _NAMED), _REST, *fields[-1:]]


def _counts_by_name(text: str, scope: Scope) -> bool:
    """A secret, what a rule names, the folder itself and those above it, a part of the system."""
    folder = scope.cwd or "/"
    path = posixpath.normpath(posixpath.join(folder, text))
    return path.count("/") < _OF_SYSTEM or f"{folder}/".startswith(f"{path}/") or scope.world.matters(path)


def _again(walk: Walker, done: int, iteration: Callable[[], str]) -> str:
    """Walks a round, which is paid for where it is not the first one."""
    if not done:
        return iteration()
    with walk.world.budget.round():
        return iteration()


class _Rounds:
    """The rounds of a loop over words that are known.

    The second one tells of the rest: where it has not asked for the loop's variable, and leaves everything else as the
    first one left it, all others give the same effects and output. (The first one finds what was before.)
    Names in upper case may be read by programs, without the text asking for them.
    """

    def __init__(self, walker: Walker, node: Loop, place: WalkContext) -> None:
        self._walker, self._node, self._place = walker, node, place
        self._before: list[str] = []
        self._same: str | None = None
        """The output of all further rounds, where they are the same."""
        self._sets = False
        """Whether these set the loop's variable themselves."""

    def walk(self, field: Field) -> str:
        """Walks a round; gives its output."""
        if self._same is not None:
            self._walker.world.budget.spend(1 + (len(self._same) >> 6))
            if not self._sets:
                self._place.scope.put(self._node.variable, (field.text,))
            return self._same
        second = len(self._before) == 1 and self._may_be_spared()
        text = self._second(field) if second else _with(self._walker, self._node, self._place, (field.text,))
        self._before.append(field.text)
        return text

    def _second(self, field: Field) -> str:
        scope, name, held = self._place.scope, self._node.variable, (field.text,)
        asked, was, before = name in scope.asked, scope.variables.get(name), self._state()
        scope.asked.discard(name)
        text = _with(self._walker, self._node, self._place, held)
        left = scope.variables.get(name)
        # The very tuple: a round may set the variable to what it holds.
        self._sets = left is not held
        told = not self._sets or (left is not None and left == was and field.text != self._before[0])
        if told and name not in scope.asked and self._state() == before:
            self._same = text
        scope.asked |= {name} if asked else set()
        return text

    def _may_be_spared(self) -> bool:
        name = self._node.variable
        return name.islower() and name not in self._place.scope.attributes

    def _state(self) -> tuple[object, ...]:
        """All that a round may find another thing than the one before, but for the loop's variable."""
        scope = self._place.scope.copy()
        scope.traps = [*self._place.scope.traps]
        scope.hold(self._node.variable, ())
        return scope, self._walker.world.changes()


def _with(walk: Walker, node: Loop, place: WalkContext, held: tuple[str, ...] | None) -> str:
    reassigned(walk, place, lambda: place.scope.put(node.variable, held))
    return walk.node(node.body, place)


def _suppose(walk: Walker, node: Loop, place: WalkContext, path: str) -> str:
    """A round over a file that may be there; of it counts what is shown, and nothing else."""
    mark = len(walk.effects)
    _with(walk, node, replace(place.inside(), elsewhere=True), (path,))
    walk.effects[mark:] = [
        effect
        for effect in walk.effects[mark:]
        if "shown" in effect.how and not (effect.command and effect.command.program in COPIERS)
    ]
    return ""


def _try(walk: Walker, node: Loop, place: WalkContext, field: Field, exits: list[Scope]) -> str:
    exits.append(place.scope.copy())
    text = _with(walk, node, place, (field.text,) if field.known else None)
    exits.append(place.scope.copy())
    return text


def _any_number(walk: Walker, place: WalkContext, iteration: Callable[[list[Scope]], str]) -> str:
    """Iterations of which nobody knows how many there are: none, one, or more.

    ``iteration`` walks one, and adds to its list what is known where the loop may end.
    """
    scope, exits = place.scope, list[Scope]()
    before = scope.copy()
    decides = scope.options.pop(DECIDES, False)  # a value may come in a later round than is walked
    given = first = scope.positional
    text, done = iteration(exits), 0
    while scope.positional not in (None, given) and done < MAX_ITERATIONS and walk.world.budget.rounds >= 0:
        given, done = scope.positional, done + 1  # each round has shifted them
        text += _again(walk, done, partial(iteration, exits))
    changed = differing_names(before, scope)
    for done in (1, 2) if changed or scope.positional != first else ():
        merge_variables(scope, [before, scope.copy()])
        scope.forget(name for name in changed if _counts(scope, name))
        before = scope.copy()
        text += _again(walk, done, partial(iteration, exits))
        changed |= differing_names(before, scope)
        if all(_within(scope.possible(name), before.possible(name)) for name in changed):
            break
        scope.forget(changed)
    scope.options |= {DECIDES: decides} if decides else {}
    merge_variables(scope, exits)
    return text


def _counts(scope: Scope, name: str) -> bool:
    """Whether a variable looks like a counter, which has another value each time."""
    return any(text[-1:].isdigit() for held in scope.possible(name) or () for text in held)


def _within(values: Values | None, others: Values | None) -> bool:
    return others is None or (values is not None and values <= others)


def _reads(walk: Walker, node: Loop, place: WalkContext) -> str:
    """One round for each line that ``while read`` is known to get."""
    scope = place.scope
    if isinstance(place.stdin, NothingPrinted):
        place = replace(place, stdin=f"{NEW_NAME}\n")  # what came all the same would have been made meanwhile
    inner = _has_read(walk, node.body)
    known = UNKNOWN not in place.stdin and not isinstance(place.stdin, PartlyKnownText)
    plain = bool(place.stdin) and known and not inner
    text, size = "", len(place.stdin)
    scope.reading = place.stdin, 0
    for number_done in range(MAX_ITERATIONS if plain else 0):
        done = scope.reading[1]
        text += _again(walk, number_done, partial(_round, walk, node, place))
        if scope.reading[0] is not place.stdin or scope.reading[1] in (done, size) or walk.world.budget.rounds < 0:
            break
    if plain and scope.reading == (place.stdin, size) and node.condition is not None:
        # The end of the input leaves empty names; a break does not.
        walk.node(node.condition, replace(place, stdin=UNKNOWN if jumps(node.body) else "\n"))
        return text
    unread = replace(place, stdin=UNKNOWN)
    return (text + _any_number(walk, place, lambda exits: _round(walk, node, unread, exits))) and UNKNOWN


def _counted(walk: Walker, node: Loop, place: WalkContext, leaves: bool) -> str:
    """While the condition is known; ``for ((…))``, ``while ((…))``, ``while [ … ]``."""
    scope, text = place.scope, ""
    start, test, step = _header(node)
    number(start, scope)
    done = 0
    while not leaves and done < MAX_ITERATIONS and walk.world.budget.rounds >= 0:
        holds = _holds(node, test, scope)
        if holds is None:
            break
        if not holds:
            if not done:
                _round(walk, node, place.inside())
            elif node.condition is not None:
                walk.node(node.condition, place)
            return text
        text += _again(walk, done, partial(_round, walk, node, place))
        number(step, scope)
        done += 1

    def iteration(exits: list[Scope]) -> str:
        text = _round(walk, node, place, exits)
        number(step, scope)
        exits.extend([scope.copy()] if node.kind == "arithmetic" else [])
        return text

    return (text + _any_number(walk, place, iteration)) and UNKNOWN


def _round(walk: Walker, node: Loop, place: WalkContext, exits: list[Scope] | None = None) -> str:
    """The condition, where the loop may end, and the body, within which it may where something in it leaves."""
    if node.condition is not None:
        walk.node(node.condition, place)
    if exits is not None:
        exits.append(place.scope.copy())
    text = walk.node(node.body, place)
    if exits is not None and jumps(node.body):
        exits.append(place.scope.copy())
    return text


def _header(node: Loop) -> tuple[tuple[Part, ...], tuple[Part, ...], tuple[Part, ...]]:
    """The three parts of ``for ((a; b; c))``; of ``while ((b))`` the one."""
    if node.kind == "arithmetic":
        found: list[list[Part]] = [[]]
        for part in node.words[0].parts if node.words else ():
            first, *rest = part.text.split(";") if isinstance(part, Literal) and not part.quoted else [part]
            found[-1].append(Literal(first) if isinstance(first, str) else first)
            found += [[Literal(text)] for text in rest if isinstance(text, str)]
        parts = [tuple(p) for p in (*found, [], [])]
        return parts[0], parts[1], parts[2]
    items = node.condition.items if node.condition is not None else ()
    only = items[0][0] if len(items) == 1 else None
    return (), only.word.parts if isinstance(only, Arithmetic) else (), ()


def _holds(node: Loop, test: tuple[Part, ...], scope: Scope) -> bool | None:
    """Whether there is one more round, on a copy: the walk makes the condition's own changes."""
    if node.kind == "arithmetic":
        blank = not any(not isinstance(p, Literal) or p.text.strip() for p in test)
        found = "1" if blank else number(test, scope)
        return None if found is None else found != "0"
    if test:
        found = number(test, scope.copy())
        holds = None if found is None else found != "0"
    else:
        items = node.condition.items if node.condition is not None else ()
        # A constant says nothing of how many rounds there are.
        asks = len(items) == 1 and (variables_in(items[0][0]) or _asks_arguments(node))
        holds = truth(items[0][0], scope) if asks else None
    return holds if holds is None or node.kind == "while" else not holds


def _asks_arguments(node: Loop) -> bool:
    """``while [ $# -gt 0 ]``, ``while [[ -n ${1:-} ]]``."""
    words = (
        word
        for command in (node.condition.items if node.condition else ())
        for word in getattr(command[0], "words", ())
    )
    return any(_ARGUMENT.search(word.source) for word in words)


_ARGUMENT = re.compile(r"\$\{?[#1]")


def _has_read(walk: Walker, node: Node) -> bool:
    """Whether anything in a loop's part reads a line; a tree does not change, however often the loop comes by."""
    known = walk.reading.get(id(node))
    if known is None:
        known = walk.reading[id(node)] = node, any(_is_read(c) for c in simple_commands(node))
    return known[1]


def _is_read(command: Simple) -> bool:
    return bool(command.words) and command.words[0].literal == "read"
