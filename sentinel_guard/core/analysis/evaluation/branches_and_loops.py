"""Evaluates if, case and loops: every branch that may be taken is walked, and afterwards a variable is one of what they
leave in it. And ``[[ … ]]`` and ``(( … ))``, which they ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation import secret_output
from sentinel_guard.core.analysis.evaluation.break_and_return import merge
from sentinel_guard.core.analysis.evaluation.builtin_code import texts_of_test
from sentinel_guard.core.analysis.evaluation.conditions import absent, assume, empties, ends, is_plain, surely, told
from sentinel_guard.core.analysis.evaluation.loop_iterations import walk_iterations
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.file_overlay import WAITED
from sentinel_guard.core.analysis.expansion.glob_patterns import matches
from sentinel_guard.core.analysis.expansion.output_visibility import (
    compared_values,
    printing_command,
    values_in_expression,
)
from sentinel_guard.core.analysis.expansion.shell_state import Scope
from sentinel_guard.core.analysis.expansion.word_expansion import expand_one, number, pattern
from sentinel_guard.core.analysis.expansion.written_files import States
from sentinel_guard.core.analysis.parser.find_substitutions import may_substitute
from sentinel_guard.core.analysis.parser.syntax_tree import (
    Arithmetic,
    Case,
    If,
    List,
    Loop,
    Redirect,
    Simple,
    Test,
    simple_commands,
)
from sentinel_guard.core.analysis.programs import acts_on_many
from sentinel_guard.core.model import Command, Effect, Kind


def if_(walk: Walker, node: If, place: WalkContext) -> str:
    place, outputs = walk.redirect(node.redirects, place)
    branches: list[WalkContext] = []
    bodies: list[List | None] = []
    failed: list[List] = []
    text, world, left = "", walk.world, list[States]()
    for condition, body in node.clauses:
        begun = world.mark()
        text += walk.node(condition, place)
        world.may_have_ended([begun] if branches else [])
        so = told(condition, place.scope)
        if so is False:
            continue
        failed = [*failed, condition] if is_plain(condition) else []
        inner = _branch(place, failed, holds=True)
        if not branches and surely(condition, place.scope, holds=True):
            inner = replace(inner, maybe=place.maybe)
        branches.append(inner)
        begun = world.mark()
        text += walk.node(body, inner)
        if inner.scope.ended or inner.scope.returned:
            merge(place.scope, [inner.scope])
            world.may_have_ended([begun] if left else [])
            return walk.keep(text and UNKNOWN, outputs, place)
        bodies.append(body)
        left.append(world.leave(begun))
        if so:
            break
    else:
        branches.append(_branch(place, failed, holds=False))
        bodies.append(node.otherwise)
        begun = world.mark()
        if node.otherwise is not None:
            text += walk.node(node.otherwise, branches[-1])
        left.append(world.leave(begun))
    world.join(left)
    merge(place.scope, _going_on(zip(bodies, branches, strict=True)))
    return walk.keep(text and UNKNOWN, outputs, place)


def _branch(place: WalkContext, conditions: Sequence[List], *, holds: bool) -> WalkContext:
    """The place of a branch: the last of these conditions holds there, or none; those before it do not."""
    inner = replace(place.inside(), maybe=True)
    empty, gone = place.empty, place.absent
    for condition in conditions:
        so = holds and condition is conditions[-1]
        assume(condition, inner.scope, holds=so)
        empty |= empties(condition, inner.scope, holds=so)
        gone |= absent(condition, inner.scope, holds=so)
    return replace(inner, empty=empty, absent=gone)


def _going_on(branches: Iterable[tuple[List | None, WalkContext]]) -> list[Scope]:
    """What those branches leave behind that do not end the shell; all, where there is no other."""
    each = list(branches)
    going = [branch.scope for body, branch in each if body is None or not ends(body, branch.scope, _EXIT)]
    return going or [branch.scope for _, branch in each]


_EXIT = frozenset(("exit",))


def case(walk: Walker, node: Case, place: WalkContext) -> str:
    """Each arm with what is known where it is entered: by those who still look for one, or fall into it (``;&``)."""
    place, outputs = walk.redirect(node.redirects, place)
    walk.substitute(node.subject, place)
    subject = expand_one(node.subject, place.scope)
    looking, falling = [place.scope.copy()], list[Scope]()
    done: list[tuple[List | None, WalkContext]] = []
    text, world, left = "", walk.world, list[States]()
    for arm in node.arms:
        begun = world.mark()
        walk.substitute(arm.patterns, place)
        patterns = [pattern(p, (looking or falling or [place.scope])[-1]) for p in arm.patterns]
        known = subject.tells and None not in patterns
        hit = not known or any(p is not None and _fits(p, subject.text, place) for p in patterns)
        entering = [*falling, *(looking if hit else [])]
        if not entering:
            text += "" if known else walk.node(arm.body, replace(place.inside(), maybe=True))
            world.leave(begun)
            continue
        here = replace(place, scope=entering[0].copy(), maybe=place.maybe or not known)
        if len(entering) > 1:
            merge(here.scope, entering)
        text += walk.node(arm.body, here)
        looking = [] if hit and (known or "*" in patterns) else looking
        falling = [here.scope] if arm.end == ";&" else []
        looking = [*looking, here.scope] if arm.end == ";;&" else looking
        done += [(arm.body, here)] if arm.end in (";;", "") else []
        if arm.end in (";;", ""):
            left.append(world.leave(begun))
        else:
            world.may_have_ended([begun])
    done += [(None, replace(place, scope=scope)) for scope in (*looking, *falling)]
    world.join([*left, *([{}] if looking or falling else [])])
    merge(place.scope, _going_on(done))
    return walk.keep(text and UNKNOWN, outputs, place)


def _fits(given: str, text: str, place: WalkContext) -> bool:
    folds = place.scope.is_on("nocasematch")
    return matches(given, text) or (folds and matches(given.lower(), text.lower()))


def test(walk: Walker, node: Test, place: WalkContext) -> str:
    walk.substitute(node.words, place)
    if any("$" in word.source for word in node.words):
        secret_output.add_errors(walk, compared_values(node.words), node.words, node.redirects, place)
    if any("[" in word.source for word in node.words):
        for text in texts_of_test([expand_one(word, place.scope) for word in node.words]):
            walk.text(text, place.inside())
    return _print_nothing(walk, node.redirects, place)


def arithmetic(walk: Walker, node: Arithmetic, place: WalkContext) -> str:
    walk.substitute(node.word, place)
    secret_output.add_errors(walk, values_in_expression(node.source), [node.word], node.redirects, place)
    number(node.word.parts, place.scope)
    return _print_nothing(walk, node.redirects, place)


def _print_nothing(walk: Walker, redirects: Sequence[Redirect], place: WalkContext) -> str:
    place, outputs = walk.redirect(redirects, place)
    return walk.keep("", outputs, place)


def _printing(walk: Walker, node: Loop) -> Command | None:
    """The command of a loop that says what it was given; a tree does not change, however often the loop comes by."""
    known = walk.printing.get(id(node))
    if known is None:
        known = walk.printing[id(node)] = node, printing_command(node)
    return known[1]


def loop(walk: Walker, node: Loop, place: WalkContext) -> str:
    given = node.redirects or any(may_substitute(word.source) for word in node.words or ())
    said = _printing(walk, node) if given else None
    place, outputs = walk.redirect(node.redirects, place.opened(), said)
    walk.substitute(node.words or (), replace(place, shown=place.shown and said is not None))
    if _endless(node) and _forks(node.body):
        bomb = Command(node.kind, (node.kind,), via=place.via)
        walk.add(Effect(Kind.EXECUTE, node.kind, sure=False, how=frozenset(("forkbomb",)), command=bomb), place)
    inner = replace(place, maybe=True)
    mark, begun = len(walk.effects), walk.world.mark()
    text = walk_iterations(walk, node, inner)
    if node.kind != "for":
        walk.world.unmake(WAITED)
    walk.world.may_have_ended([] if _surely_begins(node) else [begun])
    counted = node.kind == "for" and not any("$(" in word.source or "`" in word.source for word in node.words or ())
    if on := acts_on_many.in_loop(walk.effects[mark:], counted=counted):
        own = Command(node.kind, (node.kind,), via=place.via)
        walk.add(Effect(Kind.DEPLOY, f"each round: {on}"[:200], sure=False, command=own), place)
    return walk.keep(text, outputs, place)


def _surely_begins(node: Loop) -> bool:
    """Whether there is a first round."""
    words = node.words or () if node.kind == "for" else ()
    return any(word.literal is not None for word in words) or _endless(node)


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
