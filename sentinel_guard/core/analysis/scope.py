"""What is known at one point of a text: variables, functions, the current directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sentinel_guard.core.analysis.syntax import Node
from sentinel_guard.core.analysis.world import World

_RUNTIME = frozenset("?!$-_0") | {
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "PPID",
    "UID",
    "EUID",
    "REPLY",
    "PIPESTATUS",
}
"""Set by the shell itself while it runs."""


@dataclass(slots=True)
class Field:
    """One argument after expansion. Nobody changes one; it is not frozen only because so many are made."""

    text: str
    known: bool = True
    """False: some piece could not be resolved; it may then stand for any text and, unquoted, any number of words."""
    pattern: bool = False
    """True: ``text`` holds glob characters that are not quoted and matched nothing that could be seen."""
    source: str = ""
    """The word as written."""


@dataclass(slots=True)
class Scope:
    """What is known at one point of the text. The walker passes it along, changes it, and copies it for subshells."""

    world: World
    cwd: str | None = None
    """Absolute; None where it is unknown."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """The process environment at the start."""
    home: str = ""
    variables: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    """What the text assigned: a scalar has one value, an array several; None is assigned and unknown."""
    positional: tuple[str, ...] | None = ()
    """``$1 …``; None where they are unknown."""
    functions: dict[str, Node] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Scope:
        """For a subshell: what happens in it is not seen outside."""
        return Scope(
            self.world,
            self.cwd,
            self.environ,
            self.home,
            self.variables.copy(),
            self.positional,
            self.functions.copy(),
            self.aliases.copy(),
        )

    def lookup(self, name: str) -> Value:
        """What a variable or positional parameter holds."""
        if name in self.variables:
            items = self.variables[name]
            return Value(items or (), items is not None, True)
        if name in _RUNTIME:
            return Value((), False, True)
        if name.isdigit() or name in ("@", "*", "#"):
            return self._positional(name)
        text = self._inherited(name)
        return Value((), False, False) if text is None else Value((text,), True, True)

    def _positional(self, name: str) -> Value:
        given = self.positional
        if given is None:
            return Value((), False, True)
        if name == "#":
            return Value((str(len(given)),), True, True)
        if name in "@*":
            return Value(given, True, bool(given))
        return Value(given[int(name) - 1 : int(name)], True, int(name) <= len(given))

    def _inherited(self, name: str) -> str | None:
        if name == "PWD":
            return self.cwd
        if name == "HOME":
            return self.environ.get(name) or self.home or None
        return " \t\n" if name == "IFS" else self.environ.get(name)


class Value(NamedTuple):
    items: tuple[str, ...]
    known: bool
    isset: bool
