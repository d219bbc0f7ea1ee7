"""Conditionals of a Makefile (``ifeq``, ``ifdef``, ...): which of its lines count (GNU make manual, section 7).

Rules of this file:
1. Only what is certain is decided: variables that nobody sets, and those of the command line. Else both branches count.
2. A file in which anything may set a variable unseen (``include``, ``define``, ``$(eval …)``) decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN

Value = Callable[[str], str | None]
"""What a variable holds, empty for one that nobody sets; None where it is not known."""
_DIRECTIVE = re.compile(r" *(ifeq|ifneq|ifdef|ifndef|else|endif)\b[ \t]*(.*?)[ \t]*(?:#.*)?$")
_COMPARED = re.compile(r"\(([^,$]*|\$[({]\w+[)}]),([^,$]*|\$[({]\w+[)}])\)|([\"'])([^\"']*)\3[ \t]*([\"'])([^\"']*)\5")
_VARIABLE = re.compile(r"\$[({](\w+)[)}]")
_UNSEEN = re.compile(
    r"(?m)^ *-?s?(?:include|define|undefine|override|load)\b|\$[({](?:eval|call|file)\b|\.RECIPEPREFIX"
)
_USE = re.compile(r"\$[({]\s*$|^ *(?:else +)?ifn?def +$")
_OWN = re.compile(
    r"MAKE\w*|MFLAGS|GNUMAKE|CURDIR|SUFFIXES|SHELL|VPATH|RM|AR|AS|CC|CXX|CPP|FC|F77|PC|M2C|CO|GET|LD|LEX|YACC|LINT"
    r"|TEX|TEXI2DVI|WEAVE|CWEAVE|TANGLE|CTANGLE|MAKEINFO|OBJC|CHECKOUT|OUTPUT_OPTION|ARFLAGS|\w+FLAGS"
)
"""Variables that make sets itself."""


def taken(lines: Sequence[str], given: Mapping[str, str], inherited: Value) -> Iterator[str]:
    """The lines that count, no directives. ``given``: on the command line; ``inherited``: the environment's."""
    text = "\n".join(lines)
    certain = _UNSEEN.search(text) is None

    def value(name: str) -> str | None:
        if not certain or _OWN.fullmatch(name):
            return None
        if name in given:
            return None if UNKNOWN in given[name] else given[name]
        return None if _is_named(name, text) else inherited(name)

    open_: list[tuple[bool | None, bool | None]] = []  # of each conditional: this branch, and whether one was taken
    for line in lines:
        found = None if line.startswith("\t") else _DIRECTIVE.match(line)
        if found is None:
            if all(branch is not False for branch, _ in open_):
                yield line
        elif found[1] == "endif":
            del open_[-1:]
        elif found[1] != "else":
            holds = _holds(found[1], found[2], value)
            open_.append((holds, holds))
        elif open_:
            open_[-1] = _otherwise(open_[-1][1], found[2], value)


def _is_named(name: str, text: str) -> bool:
    """Whether a name stands anywhere but where it is asked for, as it does where it is set."""
    found = re.finditer(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text)
    return any(_USE.search(text[text.rfind("\n", 0, at.start()) + 1 : at.start()]) is None for at in found)


def _otherwise(before: bool | None, rest: str, value: Value) -> tuple[bool | None, bool | None]:
    """An ``else``, perhaps with a condition of its own, after branches of which one was taken, none, or who knows."""
    if before:
        return False, True
    directive = _DIRECTIVE.match(rest)
    holds = _holds(directive[1], directive[2], value) if directive else True
    if before is None:
        return (False if holds is False else None), None
    return holds, holds


def _holds(word: str, rest: str, value: Value) -> bool | None:
    if word in ("ifdef", "ifndef"):
        held = value(rest) if rest.isidentifier() else None
        return None if held is None else bool(held) is (word == "ifdef")
    compared = _COMPARED.fullmatch(rest)
    if compared is None or "\\" in rest:
        return None
    one, two = (_text(side or "", value) for side in (compared[1] or compared[4], compared[2] or compared[6]))
    return None if one is None or two is None else (one == two) is (word == "ifeq")


def _text(side: str, value: Value) -> str | None:
    """One side of a comparison: a constant, or one variable."""
    side = side.strip()
    if variable := _VARIABLE.fullmatch(side):
        held = value(variable[1])
        return None if held is None or held != held.strip() or "$" in held else held
    return None if "$" in side else side
