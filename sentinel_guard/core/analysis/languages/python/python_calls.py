"""Evaluates calls in Python code: its own functions, pure functions, rows of python_function_table.py."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.languages.python.argument_parsers import ArgumentParser
from sentinel_guard.core.analysis.languages.python.client_libraries import Database, remote
from sentinel_guard.core.analysis.languages.python.python_function_table import CYPHER, PATHS, PURE, SINKS, SQL, method
from sentinel_guard.core.analysis.languages.shared import value_operations
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    UNRESOLVED,
    Dotted,
    File,
    Method,
    PathValue,
    environment,
    expanded,
    flat,
    globbed,
    path_join,
    text_of,
)
from sentinel_guard.core.analysis.programs.databases.cypher_statements import is_cypher

POOLS = ("map", "submit", "apply_async", "imap")
"""Methods of a pool of workers."""
TIMED = ("timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "profile.run", "runctx", "cProfile.runctx")
"""They run the code that they are given."""
MAX_NESTING = 60
"""Expressions and calls inside one another."""


@dataclass(slots=True, eq=False)
class Function:
    """A ``def`` or ``lambda`` of the text."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    used: bool = False
    active: bool = False
    """It is being read: a function that calls itself does nothing new."""


class PythonCaller(ABC):
    """The half of the reader that calls."""

    deeds: EffectCollector
    names: dict[str, object]
    returned: object

    @abstractmethod
    def value(self, node: ast.expr) -> object:
        """What an expression is; calls in it take effect."""

    @abstractmethod
    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in their order."""

    def invoke(self, function: object, values: list[object], named: dict[str, object]) -> object:
        """The result of a call, as far as it is a constant."""
        if isinstance(function, Function):
            return self.enter(function, values, named)
        target = named.get("target")
        if isinstance(target, Function | Dotted):  # a thread, a process
            given = named.get("args", [])
            return self.invoke(target, given if isinstance(given, list) else [UNRESOLVED], {})
        if isinstance(function, Method):
            return self._method(function, values, named)
        return self._named(function.name, values, named) if isinstance(function, Dotted) else UNRESOLVED

    def _named(self, name: str, values: list[object], named: dict[str, object]) -> object:
        if name in ("map", "filter") and len(values) > 1:
            return [self.invoke(values[0], [item], {}) for item in value_operations.items(values[1])]
        if name in ("functools.partial", "partial") and values:
            return values[0] if len(values) == 1 else self.invoke(values[0], values[1:], named)
        if name in PURE:
            return PURE[name](self.deeds, values)
        if name == "compile":
            return values[0] if values else UNRESOLVED
        if name in ("exec", "eval"):
            return self._code(values)
        last = name.rpartition(".")[2]
        if name in TIMED:
            return self._timed(name, values, named)
        if name == "breakpoint":
            hook = environment(self.deeds.call, "PYTHONBREAKPOINT")
            return self._named(hook, values, named) if isinstance(hook, str) and hook in SINKS else UNRESOLVED
        if name in SINKS:
            if name.startswith("os.exec") and len(values) == 1:
                values = [values[0], values[0]]
            self.deeds.do(SINKS[name], values, named)
            return File(values[0] if values else named.get("file")) if name == "open" else UNRESOLVED
        if name.startswith("os.spawn"):
            self.deeds.do("exec", values[1:], named)
        elif _is_statement(last, values):
            self.deeds.do("database", values)
        elif name.startswith(("Path.", "pathlib.Path.")) and last in PATHS and values:
            return self._path(PathValue(text_of(values[0])), last, values[1:], named)
        elif name == "argparse.ArgumentParser":
            return ArgumentParser(clear={"fromfile_prefix_chars", "prefix_chars", "parents"}.isdisjoint(named))
        elif name in ("sqlite3.connect", "duckdb.connect"):
            return Database(text_of(values[0]) if values else UNKNOWN)
        elif not self._later(values) and "." in name:
            remote(self.deeds, last, values)
        return UNRESOLVED

    def _timed(self, name: str, values: list[object], named: dict[str, object]) -> object:
        """``timeit.timeit(code, setup)``, ``cProfile.run(code)``."""
        setup = named.get("setup", values[1] if len(values) > 1 and name.startswith("timeit") else "")
        code = named.get("stmt", values[0] if values else "")
        if isinstance(code, Function | Dotted):
            return self.invoke(code, [], {})
        self.deeds.do("eval", [f"{text_of(setup)}\n{text_of(code)}"])
        return UNRESOLVED

    def _later(self, values: list[object]) -> bool:
        """``atexit.register(os.system, "…")``, ``Timer(1, os.remove, [".env"])``: who is not known runs what it got."""
        for at, value in enumerate(values[:-1]):
            if isinstance(value, Function) or (isinstance(value, Dotted) and value.name in SINKS):
                self.invoke(value, flat(values[at + 1]) if len(values) == at + 2 else values[at + 1 :], {})
                return True
        return False

    def _code(self, values: list[object]) -> object:
        text = text_of(values[0]) if values else UNKNOWN
        if values and isinstance(values[0], File):
            self.deeds.do("load", [values[0].path])
            return UNRESOLVED
        if UNKNOWN not in text:
            try:
                tree = ast.parse(text.strip(), mode="eval")
                return self.value(tree.body)
            except (SyntaxError, ValueError, MemoryError):
                pass
        self.deeds.do("eval", values[:1])
        return UNRESOLVED

    def _method(self, found: Method, values: list[object], named: dict[str, object]) -> object:
        owner, name = found.owner, found.name
        if isinstance(owner, PathValue):
            return self._path(owner, name, values, named)
        if isinstance(owner, Database):
            return owner.call(self.deeds, name, values)
        if isinstance(owner, ArgumentParser):
            return owner.call(self.deeds, name, values, named)
        if _is_statement(name, values):
            self.deeds.do("database", values)
        if (owner is UNRESOLVED or isinstance(owner, Method)) and name not in POOLS and not self._later(values):
            remote(self.deeds, name, values or list(named.values()))
        emptied = name in ("write_text", "write_bytes") and owner is UNRESOLVED and values and values[0] in ("", b"")
        if emptied:
            self.deeds.do("delete", [UNRESOLVED])
        if name in ("unlink", "rmtree", "rmdir") and owner is UNRESOLVED:
            self.deeds.do("delete", values[:1] or [UNRESOLVED])
        if name in POOLS and values and isinstance(values[0], Function | Dotted):
            items = value_operations.items(values[1]) if name in ("map", "imap") and len(values) > 1 else values[1:2]
            return [self.invoke(values[0], [item], {}) for item in items]
        return method(owner, name, values, named)

    def _path(self, owner: PathValue, name: str, values: list[object], named: dict[str, object]) -> object:
        """A method of a ``Path``."""
        match name:
            case "joinpath":
                return PathValue(text_of(path_join([owner, *values])))
            case "with_name" | "with_suffix" if values:
                folder, slash, last = owner.text.rpartition("/")
                new = text_of(values[0]) if name == "with_name" else last.partition(".")[0] + text_of(values[0])
                return PathValue(folder + slash + new)
            case "expanduser":
                return PathValue(expanded(owner.text, self.deeds.call.world.home))
            case "resolve" | "absolute":
                return owner
            case "glob" | "rglob" | "iterdir":
                pattern = text_of(values[0]) if values and name != "iterdir" else "*"
                joint = path_join([owner, f"**/{pattern}" if name == "rglob" else pattern])
                return [PathValue(text_of(p), getattr(p, "source", "")) for p in globbed(self.deeds.call, joint)]
            case "as_posix" | "__str__":
                return owner.text
            case "symlink_to" | "hardlink_to" | "link_to":
                self.deeds.do("link", [values[0] if values else UNRESOLVED, owner])
            case _ if name in PATHS:
                emptied = " empty" if name in ("write_text", "write_bytes") and values[:1] in ([""], [b""]) else ""
                self.deeds.do(PATHS[name] + emptied, [owner, *values], {k: v for k, v in named.items() if k == "mode"})
                return File(owner) if name in ("read_text", "read_bytes", "open") else UNRESOLVED
        return UNRESOLVED

    def enter(self, function: Function, values: Sequence[object], named: dict[str, object]) -> object:
        """Runs the body of a function with these arguments."""
        function.used = True
        if function.active or self.deeds.level >= MAX_NESTING:
            return UNRESOLVED
        parameters = [argument.arg for argument in (*function.node.args.posonlyargs, *function.node.args.args)]
        defaults = function.node.args.defaults
        given: dict[str, object] = dict.fromkeys(parameters, UNRESOLVED)
        for name, default in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True):
            given[name] = self.value(default)
        given |= dict(zip(parameters, values, strict=False)) | named
        saved, before = self.names, self.returned
        self.names, self.returned = saved | given, UNRESOLVED
        function.active, self.deeds.level = True, self.deeds.level + 1
        if isinstance(function.node, ast.Lambda):
            self.returned = self.value(function.node.body)
        else:
            self.body(function.node.body)
        function.active, self.deeds.level = False, self.deeds.level - 1
        result, self.names, self.returned = self.returned, saved, before
        return result


def _is_statement(name: str, values: Sequence[object]) -> bool:
    """Whether a method of this name, given these values, runs a statement on a database."""
    return name in SQL or (name in CYPHER and bool(values) and is_cypher(text_of(values[0])))
