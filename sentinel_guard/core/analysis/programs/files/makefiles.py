"""Makefiles: targets, what they need, and the shell lines of their recipes, variables filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sentinel_guard.core.analysis.programs.files import make_conditionals

_MAKE_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?!=)\s*([^=;]*?)\s*(?:;(.*))?$")
MAKE_SET = re.compile(r"(?:export\s+|override\s+)?([A-Za-z_][\w.]*)\s*(\+|\?|:{1,3}|!)?=\s*(.*)$")
_MAKE_USE = re.compile(r"\$(?:\$|\((\w[\w.]*)\)|\{(\w[\w.]*)\}|(\w|@|<|\^))")
_UNMODELLED = frozenset(
    (
        *("MAKEFILE_LIST", "MAKECMDGOALS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKE_VERSION"),
        *("MAKE_HOST", "MAKE_TERMOUT", "MAKE_COMMAND", "SUFFIXES", ".VARIABLES", ".FEATURES"),
    )
)
"""Variables that make sets itself: nobody knows here what they hold, but they are not empty."""
_SAID_BY_MAKE = "$( make-variable)"
"""What stands for one of them: the output of a program that nobody knows."""
TARGETS = 40
"""Prerequisites that are followed."""


@dataclass(slots=True)
class Makefile:
    """Targets with their prerequisites and recipes; variables as texts."""

    recipes: dict[str, list[str]] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    """Targets with more than one recipe, of which make takes the last."""
    first: str = ""


def parse(text: str, cwd: str, given: Mapping[str, str], inherited: make_conditionals.Value) -> Makefile:
    """The rules of a Makefile; functions are not evaluated, and where a condition cannot be told both branches count.

    ``given``: variables of the command line, which only ``override`` changes. ``inherited``: the value of a name
    in the environment, empty for none; None where it is not known.
    """
    made = Makefile(variables={"SHELL": "/bin/sh", "CURDIR": cwd} | dict(given))
    current: list[str] = []
    header, begun = 0, dict[str, int]()
    for line in make_conditionals.taken(text.replace("\\\n", " ").splitlines(), given, inherited):
        if line.startswith("\t"):
            for name in current:
                made.recipes[name].append(line[1:])
                if begun.setdefault(name, header) != header:
                    made.repeated.add(name)
        elif match := MAKE_SET.match(line.lstrip(" ")):
            name, how, value = match.groups()
            if name in given and not line.lstrip().startswith("override"):
                continue
            old = made.variables.get(name, "")
            if how == "?":
                value = old or inherited(name) or value
            made.variables[name] = f"{old} {value}".strip() if how == "+" else value
        elif match := _MAKE_RULE.match(line):
            current, header = match[1].split(), header + 1
            add_rule(made, current, match[2].split(), match[3])
    return made


def add_rule(made: Makefile, names: list[str], needs: list[str], recipe: str | None) -> None:
    for name in names:
        made.needs.setdefault(name, []).extend(n for n in needs if n != "|")
        if recipe and made.recipes.get(name):
            made.repeated.add(name)
        made.recipes.setdefault(name, []).extend([recipe] if recipe else [])
        if not made.first and not name.startswith("."):
            made.first = name


GOES_ON = (
    *("-i", "--ignore-errors", "-k", "--keep-going", "-t", "--touch", "-q", "--question", "-n", "--dry-run", "-p"),
    *("-v", "-h", "-o", "--old-file", "--assume-old", "--just-print", "--recon", "-W", "--what-if"),
    *("--version", "--help"),
)
"""Options with which make ends well though a line of a recipe failed, or was not run."""
_GOES_ON = re.compile(
    r"(?m)^\.IGNORE\b|^ *(?:ifn?eq|ifn?def)\b|^[^\t#\n]*\b(?:V?PATH|GPATH|\.?SHELLFLAGS) *[:?+!]*=|^ *vpath\b"
    r"|^[^\t#\n]*\bSHELL *[:?+!]*=(?! *(?:/\w+)*/?(?:ba|da)?sh *$)"
)


def stops_at_failure(text: str, given: Mapping[str, str]) -> bool:
    """Whether make ends well only where each line of the recipes ran, and did; ``given``: as of ``parse``."""
    return not _GOES_ON.search(text) and given.keys().isdisjoint(_OTHER_RUN)


_OTHER_RUN = ("SHELL", ".SHELLFLAGS", "MAKEFLAGS", "PATH", "VPATH", "GPATH")


class RecipeLine(NamedTuple):
    """A line for the shell, of the recipe of a target; ``may_fail``: make goes on if it does."""

    text: str
    target: str
    may_fail: bool


def recipe(made: Makefile, target: str, *, forced: bool = False) -> Iterator[RecipeLine]:
    """The lines of a target and of what it needs, in their order; ``forced``: those that ``make -n`` runs."""
    seen: set[str] = set()

    def lines(name: str) -> Iterator[RecipeLine]:
        if name in seen or len(seen) > TARGETS:
            return
        seen.add(name)
        for need in made.needs.get(name, ()):
            yield from lines(need)
        for line in made.recipes.get(name, ()):
            plain = line.lstrip("@-+ ")
            signs = line[: len(line) - len(plain)]
            if not forced or "+" in signs:
                yield RecipeLine(expand(made, plain, name), name, "-" in signs or name in made.repeated)

    return lines(target)


def expand(made: Makefile, text: str, target: str, depth: int = 0) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        if match[0] == "$$":
            return "$"
        if name == "@":
            return target
        if name not in made.variables:
            own = _SAID_BY_MAKE if name in _UNMODELLED else f"${{{name}}}" if name.isidentifier() else match[0]
            return {"MAKE": "make", "RM": "rm -f"}.get(name, own)
        return expand(made, made.variables[name], target, depth + 1) if depth < 10 else ""

    return _MAKE_USE.sub(value, as_substitutions(text)[0] if "shell" in text else text)


_SHELL_CALL = re.compile(r"\$([({])shell\s+")


def as_substitutions(text: str) -> tuple[str, list[str]]:
    """``$(shell COMMAND)`` as the shell writes it, and the commands; the blank tells it from a variable of make."""
    made, found, at = "", list[str](), 0
    while match := _SHELL_CALL.search(text, at):
        end, level, opening = match.end(), 1, match[1]
        closing = ")" if opening == "(" else "}"
        while end < len(text) and level:
            level += {opening: 1, closing: -1}.get(text[end], 0)
            end += 1
        inner, more = as_substitutions(text[match.end() : end - 1])
        found += [*more, inner]
        made += f"{text[at : match.start()]}$( {inner})"
        at = end
    return made + text[at:], found
