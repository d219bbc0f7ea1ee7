"""Conditionals of a Makefile (``ifeq``, ``ifdef``, ...): which of its lines count (GNU make manual, section 7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

Inherited = Callable[[str], str | None]
"""The environment's value of a name, empty for none; None where it is not known."""

_DIRECTIVE = re.compile(r" *(ifeq|ifneq|ifdef|ifndef|else|endif)\b[ \t]*(.*?)[ \t]*(?:#.*)?$")
_COMPARED = re.compile(r"\(([^,]*),(.*)\)|([\"'])(.*?)\3[ \t]*([\"'])(.*?)\5")
_USE = re.compile(r"\$(?:\((\w[\w.]*)\)|\{(\w[\w.]*)\})")
_NESTED = 20
"""Variables that a text may hold, or stand for."""


def taken(lines: Iterable[str], variables: Mapping[str, str], inherited: Inherited) -> Iterator[str]:
    """The lines that count, without the directives; those of both branches where a condition cannot be told.

    ``variables`` may grow while the lines are taken: a condition sees what stands above it.
    """
    open_: list[tuple[bool | None, bool | None]] = []  # of each conditional: this branch, and whether one was taken
    for line in lines:
        found = None if line.startswith("\t") else _DIRECTIVE.match(line)
        if found is None:
            if all(branch is not False for branch, _ in open_):
                yield line
        elif found[1] == "endif":
            del open_[-1:]
        elif found[1] != "else":
            holds = _holds(found[1], found[2], variables, inherited)
            open_.append((holds, holds))
        elif open_:
            open_[-1] = _otherwise(open_[-1][1], found[2], variables, inherited)


def _otherwise(
    before: bool | None, rest: str, variables: Mapping[str, str], inherited: Inherited
) -> tuple[bool | None, bool | None]:
    """An ``else``, perhaps with a condition of its own, after branches of which one was taken, none, or who knows."""
    if before:
        return False, True
    directive = _DIRECTIVE.match(rest)
    holds = _holds(directive[1], directive[2], variables, inherited) if directive else True
    if before is None:
        return (False if holds is False else None), None
    return holds, holds


def _holds(word: str, rest: str, variables: Mapping[str, str], inherited: Inherited) -> bool | None:
    if word in ("ifdef", "ifndef"):
        value = variables.get(rest, inherited(rest))
        return None if value is None else bool(value) is (word == "ifdef")
    compared = _COMPARED.fullmatch(rest)
    if compared is None:
        return None
    one, two = (
        _value(text or "", variables, inherited) for text in (compared[1] or compared[4], compared[2] or compared[6])
    )
    return None if one is None or two is None else (one == two) is (word == "ifeq")


def _value(text: str, variables: Mapping[str, str], inherited: Inherited) -> str | None:
    """A text with its variables; None where one is not known, or a function stands in it."""
    text = text.strip()
    for _ in range(_NESTED):
        if "$" not in text:
            return text.strip()
        use = _USE.search(text)
        value = variables.get(use[1] or use[2], inherited(use[1] or use[2])) if use else None
        if use is None or value is None:
            return None
        text = f"{text[: use.start()]}{value}{text[use.end() :]}"
    return None
