"""Evaluates function calls in a one-liner: its own functions, pure functions, rows of the language's table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.languages.one_liners.language_tables import Grammar
from sentinel_guard.core.analysis.languages.shared import pure_functions, value_operations
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    UNRESOLVED,
    Dotted,
    Method,
    PathValue,
    flat,
    path_join,
    text_of,
)
from sentinel_guard.core.analysis.languages.shared.tokenizer import Token

MAX_NESTING = 40
"""Expressions inside expressions."""

EACH = frozenset(
    [
        "forEach",
        "map",
        "each",
        "filter",
        "select",
        "collect",
        "flatMap",
        "flat_map",
        "each_with_index",
        "reject",
        "some",
        "every",
        "find",
        "reduce",
        "any",
        "find_all",
        "each_entry",
        "each_line",
        "each_child",
        "each_slice",
        "filter_map",
    ]
)
_HIGHER = ("array_map", "array_walk", "call_user_func", "call_user_func_array", "lapply", "sapply")
_SQL = ("exec", "query", "execute", "prepare", "raw", "executeRaw", "$executeRawUnsafe", "$queryRawUnsafe")
_MAPS = ("map", "collect", "flatMap", "flat_map", "filter_map")


@dataclass(slots=True)
class Closure:
    """A function of the text: its parameters, and the tokens of its body."""

    params: tuple[str, ...]
    start: int
    end: int
    tokens: list[Token]
    pairs: dict[int, int]
    used: bool = False
    active: bool = False
    """It is being read: a function that calls itself does nothing new."""


@dataclass(slots=True)
class Applied:
    """A call that still waits for its block."""

    function: object
    values: list[object]
    named: dict[str, object]


class Caller(ABC):
    """The half of the reader that calls."""

    grammar: Grammar
    deeds: EffectCollector
    names: dict[str, object]
    tokens: list[Token]
    pairs: dict[int, int]
    at: int

    @abstractmethod
    def statements(self, end: int) -> object:
        """Reads statements up to a token; the value of the last one."""

    @property
    def key(self) -> str:
        return self.grammar.lexis.name

    def invoke(self, function: object, values: list[object], named: dict[str, object]) -> object:
        """The result of a call, as far as it is a constant."""
        if isinstance(function, Closure):
            return self.enter(function, values)
        if isinstance(function, str) and self.key == "php" and UNKNOWN not in function:
            function = Dotted(function)
        if isinstance(function, Method):
            closure = next((v for v in values if isinstance(v, Closure | Dotted)), None)
            if function.name in EACH and closure is not None:
                return self.each(function, closure)
            return self._method(function, values, named)
        if isinstance(function, Dotted):
            return self._named(function.name, values, named)
        self.hand(values)
        return UNRESOLVED

    def hand(self, values: Sequence[object]) -> None:
        """Functions given to somebody who is not known run with what is not known."""
        for value in values:
            if isinstance(value, Closure):
                self.enter(value, [])

    def _named(self, name: str, values: list[object], named: dict[str, object]) -> object:
        known = self.names.get(f"sub {name}")
        if isinstance(known, Closure):
            return self.enter(known, values)
        head, _, last = name.rpartition(".")
        if head and last in ("call", "apply", "send", "public_send", "__send__") and values:
            if last in ("call", "apply"):
                return self._named(head, flat(values[1:]) if last == "apply" else values[1:], named)
            return self._named(f"{head}.{text_of(values[0])}", values[1:], named)
        if name in ("send", "public_send", "__send__") and len(values) > 1 and self.key == "ruby":
            return self._named(text_of(values[0]), values[1:], named)
        if head and last == "bind":
            return Dotted(head)
        if head and last == "then":  # a module that was imported: import("fs").then(fs => …)
            return self.enter(values[0], [Dotted(head)]) if values and isinstance(values[0], Closure) else UNRESOLVED
        if name in ("find", "finddepth", "File.Find.find") and values and isinstance(values[0], Closure):
            return self._found(values[0], values[1:])
        if name in _HIGHER and len(values) > 1:
            return self._higher(name, values)
        if (function := pure_functions.FUNCTIONS[self.key].get(name)) is not None:
            return function(self.deeds, values)
        row = self.grammar.sinks.get(name) or (self._loose(last) if head else "")
        if row:
            self.deeds.do(row, [v for v in values if not isinstance(v, Closure)], named)
        self.hand(values)
        return UNRESOLVED

    def _higher(self, name: str, values: list[object]) -> object:
        """``array_map("unlink", $list)`` of PHP, ``call_user_func("unlink", ".env")``, ``lapply(list, f)``."""
        at = 1 if name in ("array_walk", "lapply", "sapply") else 0
        function, rest = values[at], [v for n, v in enumerate(values) if n != at]
        if name.startswith("call_user_func"):
            return self.invoke(function, flat(rest) if name.endswith("array") else rest, {})
        return [self.invoke(function, [item], {}) for item in value_operations.items(rest[0])]

    def _found(self, closure: Closure, folders: list[object]) -> object:
        """``find(sub { … }, "folder")`` of File::Find."""
        for folder in folders or [UNRESOLVED]:
            self.names["$_"] = self.names["$File::Find::name"] = path_join([folder, UNKNOWN])
            self.enter(closure, [])
        self.names.pop("$_", None)
        return UNRESOLVED

    def _loose(self, name: str) -> str:
        """The row of a name that means the file system whoever owns it."""
        if name not in self.grammar.loose:
            return ""
        sinks = self.grammar.sinks
        return sinks.get(f"child_process.{name}") or sinks.get(f"fs.{name.removesuffix('Sync')}", "")

    def _method(self, method: Method, values: list[object], named: dict[str, object]) -> object:
        owner, name = method.owner, method.name
        runs = name == "execute" and isinstance(owner, str | list)
        if (isinstance(owner, PathValue) or runs) and name in self.grammar.methods:
            return self.deeds.do(self.grammar.methods[name], [owner, *values], named)
        if owner is UNRESOLVED and (row := self._loose(name)):
            self.deeds.do(row, [v for v in values if not isinstance(v, Closure)], named)
            self.hand(values)
            return UNRESOLVED
        if owner is UNRESOLVED and name in _SQL:
            self.deeds.do("database", [v for v in values[:1] if isinstance(v, str) and " " in v])
        result = value_operations.method(self.deeds, owner, name, values)
        if result is UNRESOLVED:
            self.hand(values)
        return result

    def each(self, method: Method, function: object) -> object:
        """``list.forEach(f)``, ``list.each { |x| … }``."""
        results = [self.invoke(function, [item], {}) for item in value_operations.items(method.owner)]
        return results if method.name in _MAPS else method.owner

    def enter(self, closure: Closure, values: Sequence[object]) -> object:
        """Runs the body of a function with these arguments."""
        closure.used = True
        if closure.active:
            return UNRESOLVED
        if self.deeds.level >= MAX_NESTING:
            self.deeds.opaque("nested too deeply", "parse")
            return UNRESOLVED
        if len(closure.params) > 1 and len(values) == 1 and isinstance(values[0], list):
            values = values[0]
        given = {name: values[n] if n < len(values) else UNRESOLVED for n, name in enumerate(closure.params)}
        given["@_"] = list(values)
        saved = {name: self.names[name] for name in given if name in self.names}
        state = self.tokens, self.at, self.pairs
        self.names.update(given)
        self.tokens, self.pairs, self.at = closure.tokens, closure.pairs, closure.start
        closure.active, self.deeds.level = True, self.deeds.level + 1
        value = self.statements(closure.end)
        closure.active, self.deeds.level = False, self.deeds.level - 1
        self.tokens, self.at, self.pairs = state
        for name in given:
            self.names.pop(name, None)
        self.names.update(saved)
        return value
