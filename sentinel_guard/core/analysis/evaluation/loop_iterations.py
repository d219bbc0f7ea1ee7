"""Loop unrolling: walks the iterations that are known to run, else one, and a second with changed variables unknown."""

from __future__ import annotations

from collections.abc import Callable

from sentinel_guard.core.analysis.evaluation.break_and_return import changed_names, jumps
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.shell_state import Field, PartlyKnownText, Scope
from sentinel_guard.core.analysis.expansion.word_expansion import expand, number
from sentinel_guard.core.analysis.parser.syntax_tree import Arithmetic, Literal, Loop, Part, Simple, simple_commands

MAX_ITERATIONS = 200
"""Rounds of one loop."""

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
}


def walk_iterations(walk: Walker, node: Loop, place: WalkContext) -> str:
    """Walks a loop; gives its output."""
    scope = place.scope
    before = dict(scope.variables)
    leaves = jumps(node.body)
    if node.kind in ("for", "select"):
        text = _for(walk, node, place)
    elif node.condition is not None and any(_is_read(c) for c in simple_commands(node.condition)):
        text = _reads(walk, node, place)
    else:
        text = _counted(walk, node, place, leaves)
    if leaves:
        scope.forget(changed_names(scope, before))
    return text and UNKNOWN if leaves else text


def _for(walk: Walker, node: Loop, place: WalkContext) -> str:
    scope = place.scope
    if node.words is None:
        given = scope.positional
        fields = [Field("$@", known=False)] if given is None else [Field(text) for text in given]
    else:
        fields = [field for word in node.words for field in expand(word, scope)]
    text, before, leaves = "", dict(scope.variables), jumps(node.body)
    for field in fields[:MAX_ITERATIONS]:
        scope.put(node.variable, (field.text,) if field.known else None)
        text += walk.node(node.body, place)
        if leaves or not field.known:
            scope.forget(set(changed_names(scope, before)) - {node.variable})
    if len(fields) > MAX_ITERATIONS:
        scope.put(node.variable, None)
        text += walk.node(node.body, place)
    return text if all(f.known for f in fields) else text and UNKNOWN


def _reads(walk: Walker, node: Loop, place: WalkContext) -> str:
    """One round for each line that ``while read`` is known to get."""
    scope = place.scope
    before = dict(scope.variables)
    inner = any(_is_read(c) for c in simple_commands(node.body))
    known = UNKNOWN not in place.stdin and not isinstance(place.stdin, PartlyKnownText)
    plain = bool(place.stdin) and known and not inner
    text, size = "", len(place.stdin)
    scope.reading = place.stdin, 0
    for _ in range(MAX_ITERATIONS if plain else 0):
        done = scope.reading[1]
        text += _round(walk, node, place)
        if scope.reading[0] is not place.stdin or scope.reading[1] in (done, size):
            break
    if plain and scope.reading == (place.stdin, size) and node.condition is not None:
        # The end of the input leaves empty names; a break does not.
        walk.node(node.condition, place._replace(stdin=UNKNOWN if jumps(node.body) else "\n"))
        return text
    text += _round(walk, node, place._replace(stdin=UNKNOWN))
    others = changed_names(scope, before)
    scope.forget(others)
    return (text + _round(walk, node, place._replace(stdin=UNKNOWN)) if others else text) and UNKNOWN


def _counted(walk: Walker, node: Loop, place: WalkContext, leaves: bool) -> str:
    """While the condition is known; ``for ((…))``, ``while ((…))``, ``while [ … ]``."""
    scope, text = place.scope, ""
    start, test, step = _header(node)
    number(start, scope)
    before = dict(scope.variables)
    done = 0
    while not leaves and done < MAX_ITERATIONS:
        holds = _holds(node, test, scope)
        if holds is None:
            break
        if not holds:
            if not done:
                _round(walk, node, place.inside())
            elif node.condition is not None:
                walk.node(node.condition, place)
            return text
        text += _round(walk, node, place)
        number(step, scope)
        done += 1
    text += _round(walk, node, place)
    number(step, scope)
    others = changed_names(scope, before)
    if others:
        scope.forget(others)
        text += _round(walk, node, place)
        scope.forget(others)
    return text and UNKNOWN


def _round(walk: Walker, node: Loop, place: WalkContext) -> str:
    if node.condition is not None:
        walk.node(node.condition, place)
    return walk.node(node.body, place)


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
        holds = _truth(items[0][0], scope) if len(items) == 1 else None
    return holds if holds is None or node.kind == "while" else not holds


def _truth(node: object, scope: Scope) -> bool | None:
    """``[ $n -lt 3 ]``, ``test a = b``, with known words."""
    if not isinstance(node, Simple) or node.assignments or not node.words:
        return None
    if node.words[0].literal not in ("[", "test"):
        return None
    fields = [f for word in node.words for f in expand(word, scope.copy())]
    if not all(f.known for f in fields):
        return None
    argv = [f.text for f in fields][1 : -1 if fields[0].text == "[" else None]
    if len(argv) == 2 and argv[0] in ("-n", "-z"):
        return bool(argv[1]) == (argv[0] == "-n")
    if len(argv) != 3:
        return None
    left, sign, right = argv
    if sign in ("=", "==", "!="):
        return (left == right) == (sign != "!=")
    try:
        return _NUMBERS[sign](int(left), int(right)) if sign in _NUMBERS else None
    except ValueError:
        return None


def _is_read(command: Simple) -> bool:
    return bool(command.words) and command.words[0].literal == "read"
