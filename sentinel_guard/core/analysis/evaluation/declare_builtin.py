"""The declare, typeset, local, export and readonly builtins: assignments with attributes, and local variables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation.break_and_return import outside
from sentinel_guard.core.analysis.evaluation.builtin_code import subscript_texts
from sentinel_guard.core.analysis.evaluation.environment_variables import (
    doubt_printed,
    environment,
    reassigned,
)
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.assignments import assign
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.shell_state import Field, Keyed, Scope
from sentinel_guard.core.analysis.expansion.word_expansion import expand, expand_one
from sentinel_guard.core.analysis.parser.simple_command_parser import assignment
from sentinel_guard.core.analysis.parser.syntax_tree import Assignment, Literal, Word

_TEXT = re.compile(r"([A-Za-z_]\w*)(?:\[([^]]*)\])?(\+?)=(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*(?=[=+]|$)")
_HASHES = {"BASH_ALIASES", "BASH_CMDS"}


def run_assignment(walk: Walker, item: Assignment, place: WalkContext) -> None:
    """One assignment, with the effects that its name has."""
    scope = place.scope
    if item.name in _HASHES and item.index is not None and (name := item.index.literal):
        found = expand_one(item.value, scope)
        scope.aliases |= {name: found.text} if found.known else {}
        return
    name, was = scope.named(item.name), scope.scalar("PATH")
    assign(item, scope)
    if item.index is None and not item.append and scope.variables.get(name) is None:
        scope.written[name] = item.value.source
    value = scope.variables.get(name)
    known = value is not None and len(value) == 1
    given = Field(value[0] if value and known else item.value.source, known)
    environment(walk, name, given, f"${name}" * item.append + item.value.source, place, was=was)
    if "i" in scope.attributes.get(name, ""):
        given = expand_one(item.value, scope)
    if known or given.known:
        for text in subscript_texts([given]):
            walk.text(text, replace(place.inside(), maybe=True))


def declare(walk: Walker, words: Sequence[Word], fields: Sequence[Field], place: WalkContext) -> str:
    """What is an assignment is done; gives its output."""
    name, scope = fields[0].text, place.scope
    letters = "".join(f.text[1:] for f in fields[1:] if f.text[:1] == "-")
    gone = "".join(f.text[1:] for f in fields[1:] if f.text[:1] == "+")
    operands = [word for word in words[1:] if word.source[:1] not in ("-", "+")]
    if set(letters) & set("pfF") or not operands or (name == "local" and scope.locals is None):
        return UNKNOWN  # outside of a function ``local`` fails
    own = scope.locals is not None and (name == "local" or (name in ("declare", "typeset") and "g" not in letters))
    exports = not own and (name == "export" or "x" in letters)
    if exports or "x" in gone:
        _export(scope, operands, more=exports and "n" not in letters)
    letters = "".join(set(letters) & set("Aiuln")) + ("r" if name == "readonly" or "r" in letters else "")
    for word in operands:
        for item in _items(walk, word, place):
            if own:
                _localise(walk, item, place, alone=word.source == item.name)
            gone = gone + "n" if "n" in letters else gone
            _attribute(item.name, letters.translate({ord("n"): None, ord("r"): None}), gone, scope)
            if word.source != item.name:
                run_assignment(walk, item, place)
                # Braces make several words of one: the value is not what it says.
                if "{" in word.source and "${" not in word.source:
                    scope.forget([item.name])
            elif "A" in letters and not isinstance(scope.variables.get(item.name), Keyed):
                scope.hold(item.name, Keyed.of({}))
            _attribute(item.name, "".join(c for c in letters if c in "nr"), "", scope)
    return ""


def _export(scope: Scope, operands: Sequence[Word], *, more: bool) -> None:
    names = frozenset(match[0] for word in operands if (match := _NAME.match(word.source)))
    scope.exported = scope.exported | names if more else scope.exported - names


def _items(walk: Walker, word: Word, place: WalkContext) -> list[Assignment]:
    """The assignments of an operand; a name alone is one whose word is that name."""
    item = assignment(word)
    if item is not None:
        return [item]
    found = []
    for one in expand(word, place.scope):
        match = _TEXT.fullmatch(one.text)
        if match and one.known:
            index = None if match[2] is None else _quoted(match[2])
            found.append(Assignment(match[1], index, bool(match[3]), _quoted(match[4])))
        elif one.text.isidentifier():
            found.append(Assignment(one.text, None, False, _quoted("")))
        elif not one.known:
            doubt_printed(walk, word.source, place)
    return found


def _quoted(text: str) -> Word:
    return Word((Literal(text, quoted=True),), text)


def _localise(walk: Walker, item: Assignment, place: WalkContext, *, alone: bool) -> None:
    """From here to the end of the function the name is its own, and empty; its new value still sees the old one."""
    name, scope = item.name, place.scope
    if scope.locals is not None and name not in scope.locals:
        scope.locals[name] = outside(scope, name)
        scope.attributes.pop(name, None)
        if alone or item.append:
            reassigned(walk, place, lambda: scope.hold(name, ()))


def restore(scope: Scope) -> None:
    """At the end of a function: its own names are what they were."""
    for name, (possible, items, letters) in (scope.locals or {}).items():
        if items is None:
            scope.take(name, [possible])
        else:
            scope.hold(name, items)
        scope.attributes[name] = letters


def _attribute(name: str, letters: str, gone: str, scope: Scope) -> None:
    held = scope.attributes.get(name, "")
    if letters or (gone and held):
        scope.attributes[name] = "".join(c for c in held if c not in gone + letters) + letters
