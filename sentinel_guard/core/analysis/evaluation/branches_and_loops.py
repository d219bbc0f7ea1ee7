"""Evaluates if, case and loops: every branch is walked, and afterwards a variable is one of what they leave in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentinel_guard.core.analysis.evaluation.break_and_return import merge
from sentinel_guard.core.analysis.evaluation.conditions import assume, empties, ends, is_plain
from sentinel_guard.core.analysis.evaluation.loop_iterations import walk_iterations
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.glob_patterns import matches
from sentinel_guard.core.analysis.expansion.output_visibility import printing_command
from sentinel_guard.core.analysis.expansion.shell_state import Scope
from sentinel_guard.core.analysis.expansion.word_expansion import expand_one, pattern
from sentinel_guard.core.analysis.parser.syntax_tree import Arithmetic, Case, If, List, Loop, Simple, simple_commands
from sentinel_guard.core.model import Command, Effect, Kind


def if_(walk: Walker, node: If, place: WalkContext) -> str:
    place, outputs = walk.redirect(node.redirects, place)
    branches: list[WalkContext] = []
    failed: list[List] = []
    text = ""
    for condition, body in node.clauses:
        text += walk.node(condition, place)
        failed = [*failed, condition] if is_plain(condition) else []
        branches.append(_branch(place, failed, holds=True))
        text += walk.node(body, branches[-1])
    branches.append(_branch(place, failed, holds=False))
    if node.otherwise is not None:
        text += walk.node(node.otherwise, branches[-1])
    bodies = [*(body for _, body in node.clauses), node.otherwise]
    merge(place.scope, _going_on(zip(bodies, branches, strict=True)))
    return walk.keep(text and UNKNOWN, outputs, place)


def _branch(place: WalkContext, conditions: Sequence[List], *, holds: bool) -> WalkContext:
    """The place of a branch: the last of these conditions holds there, or none; those before it do not."""
    inner = place.inside()._replace(maybe=True)
    empty = place.empty
    for condition in conditions:
        so = holds and condition is conditions[-1]
        assume(condition, inner.scope, holds=so)
        empty |= empties(condition, inner.scope, holds=so)
    return inner._replace(empty=empty)


def _going_on(branches: Iterable[tuple[List | None, WalkContext]]) -> list[Scope]:
    """What those branches leave behind that do not end the shell; all, where there is no other."""
    each = list(branches)
    going = [branch.scope for body, branch in each if body is None or not ends(body, branch.scope, _EXIT)]
    return going or [branch.scope for _, branch in each]


_EXIT = frozenset(("exit",))


def case(walk: Walker, node: Case, place: WalkContext) -> str:
    """The first arm that matches, where that can be told; else all of them."""
    place, outputs = walk.redirect(node.redirects, place)
    walk.substitute(node.subject, place)
    subject = expand_one(node.subject, place.scope)
    branches: list[tuple[List | None, WalkContext]] = [(None, place.inside())]
    going: list[WalkContext] = []
    text = previous = ""
    sure, unmatched = False, True
    for arm in node.arms:
        walk.substitute(arm.patterns, place)
        patterns = [pattern(p, (going[-1] if going else place).scope) for p in arm.patterns]
        known = subject.known and None not in patterns
        hit = any(p is not None and _fits(p, subject.text, place) for p in patterns)
        if not (known and not hit) and not (going and sure):
            sure = known
            going.append(place.inside()._replace(maybe=place.maybe or not known))
        elif known and not hit and not (going and previous == ";&"):
            continue
        if going and not known and previous == ";;&":
            for here in going:
                other = here.inside()
                text += walk.node(arm.body, other)
                merge(here.scope, [here.scope.copy(), other.scope])
            previous = arm.end
            continue
        for here in going:
            text += walk.node(arm.body, here)
        previous = arm.end
        if previous in (";&", ";;&") and arm is not node.arms[-1]:
            continue
        branches += [(arm.body, here) for here in going]
        if sure:
            branches, going, unmatched = branches[-len(going) :], [], True
            break
        unmatched = unmatched and "*" not in patterns
        going = []
    branches += [(None, here) for here in going]
    merge(place.scope, _going_on(branches if unmatched else branches[1:]))
    return walk.keep(text and UNKNOWN, outputs, place)


def _fits(given: str, text: str, place: WalkContext) -> bool:
    folds = place.scope.is_on("nocasematch")
    return matches(given, text) or (folds and matches(given.lower(), text.lower()))


def loop(walk: Walker, node: Loop, place: WalkContext) -> str:
    said = printing_command(node) if node.redirects or node.words else None
    place, outputs = walk.redirect(node.redirects, place, said)
    walk.substitute(node.words or (), place._replace(shown=place.shown and said is not None))
    if _endless(node) and _forks(node.body):
        bomb = Command(node.kind, (node.kind,), via=place.via)
        walk.add(Effect(Kind.EXECUTE, node.kind, sure=False, how=frozenset(("forkbomb",)), command=bomb), place)
    inner = place._replace(maybe=True)
    return walk.keep(walk_iterations(walk, node, inner), outputs, place)


_PAUSES = frozenset(("wait", "sleep", "read", "break", "return", "exit", "inotifywait", "fswatch", "usleep"))


def _endless(node: Loop) -> bool:
    """``while true``, ``while :``, ``while ((1))``, ``until false``, ``for ((;;))``."""
    if node.kind == "arithmetic":
        header = node.words[0].source if node.words else ""
        return header.replace(" ", "") == ";;"
    if node.condition is None or len(node.condition.items) != 1:
        return False
    first = node.condition.items[0][0]
    if isinstance(first, Arithmetic):
        return node.kind == "while" and first.source.strip().isdigit() and first.source.strip("0 ") != ""
    words = [word.literal for word in first.words] if isinstance(first, Simple) else []
    return words in ((["true"], [":"]) if node.kind == "while" else (["false"],))


def _forks(body: List) -> bool:
    """Whether every round leaves something behind, and none waits."""
    behind = any(separator == "&" for _, separator in body.items)
    return behind and not any(c.words and c.words[0].literal in _PAUSES for c in simple_commands(body))
