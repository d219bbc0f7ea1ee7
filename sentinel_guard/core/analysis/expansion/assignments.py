"""Evaluates shell assignments into the shell state: ``x=1``, ``x+=1``, ``a[i]=x``, ``a=(x y [k]=z)``."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion.arithmetic import evaluate
from sentinel_guard.core.analysis.expansion.shell_state import Field, Keyed, Numbers, Scope, Value, indexed, keys_of
from sentinel_guard.core.analysis.expansion.tilde_expansion import expand_assignment_tildes
from sentinel_guard.core.analysis.expansion.word_expansion import MAX_LENGTH, MAX_PIECES, expand, expand_one, key_of
from sentinel_guard.core.analysis.parser.syntax_tree import ArrayLiteral, Assignment, Literal, Part, Word

_KEYED = re.compile(r"\[.*\]\+?=", re.DOTALL)
_CLOSED = re.compile(r"\](\+?)=")


def assign(assignment: Assignment, scope: Scope) -> None:
    """Does an assignment. What is not wholly known becomes an unknown variable."""
    name, value = assignment.name, assignment.value
    if value.parts and isinstance(value.parts[0], ArrayLiteral):
        items = _array(assignment, value.parts[0], scope)
        if scope.attributes.get(name) == "?" and not assignment.append:
            del scope.attributes[name]
        scope.put(name, items)
        return
    one = _value(value, scope)
    text = one.text if one.known and len(one.text) <= MAX_LENGTH else None
    key = None if assignment.index is None else key_of(name, assignment.index, scope)
    if assignment.append and text is not None:
        before = scope.scalar(name) if assignment.index is None else scope.element(name, key or "")
        text = _appended(before, text, scope.attributes.get(scope.named(name), ""), scope)
    if assignment.index is not None:
        scope.put_element(name, key, text)
        return
    held = scope.variables.get(scope.named(name)) or ()
    if text is not None and (isinstance(held, Keyed) or len(held) > 1):
        scope.put_element(name, "0", text)
    else:
        scope.put(name, None if text is None else (text,))


def _value(value: Word, scope: Scope) -> Field:
    if "~" not in value.source:
        return expand_one(value, scope)
    return expand_one(Word(expand_assignment_tildes(value.parts, scope), value.source), scope)


def _appended(before: Value, text: str, letters: str, scope: Scope) -> str | None:
    if not before.known:
        return None if before.isset else text
    if "i" not in letters:
        return "".join(before.items) + text
    number = evaluate(f"({''.join(before.items) or 0})+({text or 0})", Numbers(scope))
    return None if number is None else str(number)


def _array(assignment: Assignment, literal: ArrayLiteral, scope: Scope) -> tuple[str, ...] | None:
    """The items of ``(a b [k]=c)``, behind those that are there; None where one is not known."""
    names = "A" in scope.attributes.get(scope.named(assignment.name), "")
    before = scope.variables.get(scope.named(assignment.name), ()) if assignment.append else ()
    if before is None:
        return None
    made = dict(zip(keys_of(before), before, strict=True))
    scope.budget.spend(len(made) >> 1)
    at = 0 if names else 1 + max(map(int, made), default=-1)
    loose: list[str] = []
    for word in literal.words:
        pair = keyed(word) if _KEYED.match(word.source) else None
        if pair is not None:
            done = _pair(assignment.name, pair, scope)
            if done is None:
                return None
            made[done[0]] = made.get(done[0], "") * pair[2] + done[1]
            at = at if names else int(done[0]) + 1
            continue
        fields = expand(word, scope, operand=False)
        if not all(f.known for f in fields) or len(made) + len(fields) > MAX_PIECES:
            return None
        loose += [f.text for f in fields]
        made |= {} if names else {str(at + n): f.text for n, f in enumerate(fields)}
        at += len(fields)
    if names:
        return Keyed.of(made | dict(zip(loose[::2], [*loose[1::2], ""], strict=False)))
    return indexed({int(k): v for k, v in made.items()})


def _pair(name: str, pair: tuple[Word, Word, bool], scope: Scope) -> tuple[str, str] | None:
    key, value = key_of(name, pair[0], scope), _value(pair[1], scope)
    return (key, value.text) if key is not None and value.known else None


def keyed(word: Word) -> tuple[Word, Word, bool] | None:
    """Key, value and whether it is appended, of ``[key]=value`` in an array literal."""
    key: list[Part] = []
    for at, part in enumerate(word.parts):
        if isinstance(part, Literal) and not part.quoted:
            text = part.text if key else part.text[1:]
            if end := _CLOSED.search(text):
                key += [Literal(text[: end.start()])] if end.start() else []
                rest = text[end.end() :]
                value = (*([Literal(rest)] if rest else []), *word.parts[at + 1 :])
                return Word(tuple(key), word.source), Word(value, word.source), bool(end[1])
            key += [Literal(text)] if text else []
        else:
            key.append(part)
    return None
