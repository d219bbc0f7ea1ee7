"""Tilde expansion: ``~``, ``~/x``, ``~+``, ``~-``, at the start of a word and in the values of assignments."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion.shell_state import Scope
from sentinel_guard.core.analysis.parser.syntax_tree import Literal, Parameter, Part

_OPERAND = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")


def tilde(parts: tuple[Part, ...], scope: Scope) -> tuple[Part, ...]:
    """The parts of a word, a tilde at its start expanded; of another user it is not known."""
    first = parts[0] if parts else None
    if not isinstance(first, Literal) or first.quoted or not first.text.startswith("~"):
        return parts
    user, slash, rest = first.text.partition("/")
    if len(parts) > 1 and not slash:
        return parts
    name = {"~": "HOME", "~+": "PWD", "~-": "OLDPWD"}.get(user)
    if name is None and user == "~root":
        return (Literal("/root" + slash + rest), *parts[1:])
    if name is None:
        return (Parameter(user, None, "unknown", None, None, user), Literal(slash + rest), *parts[1:])
    value = scope.lookup(name)
    home = Literal(value.items[0], quoted=True) if value.known else Parameter(name, None, "unknown", None, None, user)
    return (home, Literal(slash + rest), *parts[1:])


def expand_assignment_tildes(parts: tuple[Part, ...], scope: Scope) -> tuple[Part, ...]:
    """The value of an assignment, where a tilde counts at the start and behind each colon."""
    found: list[Part] = []
    start = True
    for at, part in enumerate(parts):
        if not isinstance(part, Literal) or part.quoted:
            found.append(part)
            start = False
            continue
        runs = re.split("(:)", part.text)
        for place, run in enumerate(runs):
            ends = place + 1 < len(runs) or at + 1 == len(parts) or "/" in run
            found += tilde((Literal(run),), scope) if start and ends else [Literal(run)] if run else []
            start = run == ":" or (start and not run)
    return tuple(found)


def tilded_operand(parts: tuple[Part, ...], scope: Scope) -> tuple[Part, ...]:
    """``x=~/a`` as an argument."""
    first = parts[0] if parts else None
    if not isinstance(first, Literal) or first.quoted or not (match := _OPERAND.match(first.text)):
        return parts
    rest = first.text[match.end() :]
    return (Literal(match[0]), *expand_assignment_tildes((*([Literal(rest)] if rest else []), *parts[1:]), scope))
