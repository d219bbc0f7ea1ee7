"""Python code -> effects, with the standard library's own parser (``ast``) and constant folding.

Nothing is executed. Names that lead to a module or function are followed through imports, aliases, ``__import__`` and
``getattr``; texts through operators, f-strings, ``join``, ``format``, decoders, ``os.path`` and ``Path``; loops over
constants and globs item by item. A function is read when it is called; one that nobody calls at the end, unsurely.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.languages.python import data_files, opened_databases
from sentinel_guard.core.analysis.languages.python.filename_tests import excluded, leaves, narrow
from sentinel_guard.core.analysis.languages.python.python_calls import MAX_NESTING, Function, PythonCaller
from sentinel_guard.core.analysis.languages.python.python_function_table import PURE, SINKS, attribute, known
from sentinel_guard.core.analysis.languages.shared import own_schemas, pure_functions, value_operations
from sentinel_guard.core.analysis.languages.shared.fork_bombs import is_bomb
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    MAX_TEXT,
    UNRESOLVED,
    Dotted,
    PathValue,
    environment,
    flat,
    is_code,
    joined,
    path_join,
    text_of,
)
from sentinel_guard.core.model import Effect, Kind

_COMPARED: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_UNKNOWN_NAME = "\ua66e"
"""A letter that stands for UNKNOWN while ``ast`` reads: it may be a name, or part of a text."""


def python(call: Call, text: str, file: str = "") -> Iterator[Effect]:
    """The effects of a Python text that this call runs; ``file`` is the absolute path of the script that it is."""
    deeds = EffectCollector(call, _evaluate, file)
    if len(text) > MAX_TEXT * 4:
        deeds.opaque(text[:80], "parse")
    if is_code(text):
        deeds.opaque(text[:80], "code")
    deeds.run_text(text[: MAX_TEXT * 4].replace(UNKNOWN, _UNKNOWN_NAME))
    lost = [e for e in deeds.effects if e.kind is Kind.DATABASE and e.command is call.command and not e.file]
    spared = lost if lost and opened_databases.are_thrown_away(call, text, file) else []
    yield from own_schemas.without((effect for effect in deeds.effects if effect not in spared), text)


def _evaluate(deeds: EffectCollector, text: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(" \t") if "\n" not in text.strip() else text)
    except (SyntaxError, ValueError, MemoryError):
        deeds.opaque(text[:80], "data")
        return
    reader = _Reader(deeds)
    reader.body(tree.body)
    mark = len(deeds.effects)
    for function in reader.functions:
        if not function.used:
            reader.enter(function, [], {})
    deeds.doubt(mark)


class _Reader(PythonCaller):
    def __init__(self, deeds: EffectCollector) -> None:
        self.deeds = deeds
        self.names: dict[str, object] = {}
        self.functions: list[Function] = []
        self.returned: object = UNRESOLVED
        self.stars: list[str] = []
        """Modules of ``from module import *``."""

    # ---- statements ----

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.deeds.spend():
                self.statement(statement)
                if isinstance(statement, ast.If) and leaves(statement):
                    narrow(self.names, statement.test, holds=False)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.While():
                if is_bomb(node):
                    self.deeds.do("fork", [])
                self._inside(node)
            case ast.Import():
                for alias in node.names:
                    self._load(alias.name)
                    name = alias.name if alias.asname else alias.name.split(".")[0]
                    self.names[alias.asname or name] = Dotted(name)
            case ast.ImportFrom():
                self._load(node.module or "")
                self.stars += [node.module or ""] if node.names[0].name == "*" else []
                for alias in node.names:
                    self.names[alias.asname or alias.name] = known(self.deeds, f"{node.module}.{alias.name}")
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.bind(target, value)
            case ast.AnnAssign() if node.value is not None:
                self.bind(node.target, self.value(node.value))
            case ast.AugAssign(target=ast.Name(id=name)):
                self.names[name] = self._operate(node.op, self.names.get(name, UNRESOLVED), self.value(node.value))
            case ast.AugAssign(target=ast.Subscript() as target):
                self.bind(target, self._operate(node.op, self.value(target), self.value(node.value)))
            case ast.For() | ast.AsyncFor():
                for item in value_operations.items(self.value(node.iter)):
                    self.bind(node.target, item)
                    self.body(node.body)
                self.body(node.orelse)
            case ast.If():
                self._if(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.names[node.name] = self._function(node)
            case ast.ClassDef():
                self.body(node.body)
            case ast.Return() if node.value is not None:
                self.returned = self.value(node.value)
            case _:
                self._inside(node)

    def _load(self, name: str) -> None:
        """A module that the text wrote itself."""
        call = self.deeds.call
        made = call.world.made()
        for path in (f"{name.replace('.', '/')}.py", f"{name.replace('.', '/')}/__init__.py") if made else ():
            if call.locate(path) in made:
                self.deeds.do("load", [path])

    def _inside(self, node: ast.AST) -> None:
        """Expressions and nested statements in their order."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.expr):
                self.value(child)
            elif isinstance(child, ast.withitem):
                value = self.value(child.context_expr)
                if child.optional_vars is not None:
                    self.bind(child.optional_vars, value)
            else:
                self._inside(child)

    def _if(self, node: ast.If) -> None:
        self.value(node.test)
        before = dict(self.names)
        narrow(self.names, node.test)
        if not excluded(before, node.test):
            self.body(node.body)
        for name, value in before.items():
            if isinstance(value, str | PathValue) and (UNKNOWN in text_of(value) or isinstance(value, PathValue)):
                self.names[name] = value
        self.body(node.orelse)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
        function = Function(node)
        self.functions.append(function)
        return function

    def bind(self, target: ast.expr, value: object) -> None:
        """An assignment to a name, or to several."""
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for n, part in enumerate(parts):
                    self.bind(part, value[n] if isinstance(value, list) and n < len(value) else UNRESOLVED)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                self.names[f"{owner}.{name}"] = value
                data_files.put(self.names.get(owner), name, value)
            case ast.Subscript(value=owner, slice=key):
                data_files.put(self.value(owner), self.value(key), value)

    # ---- expressions ----

    def value(self, node: ast.expr) -> object:
        """What an expression is; calls in it take effect."""
        if self.deeds.level >= MAX_NESTING or not self.deeds.spend():
            self.deeds.opaque("nested too deeply", "parse")
            return UNRESOLVED
        self.deeds.level += 1
        found = self._value(node)
        self.deeds.level -= 1
        return found

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant():
                return node.value.replace(_UNKNOWN_NAME, UNKNOWN) if isinstance(node.value, str) else node.value
            case ast.Name():
                return self.names[node.id] if node.id in self.names else self._global(node.id)
            case ast.Attribute():
                return self._attribute(node)
            case ast.List() | ast.Tuple() | ast.Set():
                return [self.value(item) for item in node.elts]
            case ast.Dict():
                keys = [None if key is None else self.value(key) for key in node.keys]
                return {text_of(k): self.value(v) for k, v in zip(keys, node.values, strict=True)}
            case ast.BinOp():
                return self._sum(node)
            case ast.JoinedStr():
                return joined(*[self.value(part) for part in node.values])
            case ast.FormattedValue():
                return self.value(node.value) if node.format_spec is None else UNRESOLVED
            case ast.Subscript():
                return self._subscript(self.value(node.value), node.slice)
            case ast.NamedExpr(target=ast.Name(id=name)):
                self.names[name] = self.value(node.value)
                return self.names[name]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._comprehension(node.generators, node.elt)
            case ast.DictComp():
                self._comprehension(node.generators, node.value)
            case ast.Lambda():
                return self._function(node)
            case ast.IfExp() | ast.BoolOp():
                return self._choice(node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return -number
            case ast.Await() | ast.Starred():
                return self.value(node.value)
            case ast.Call():
                return self._call(node)
            case _:
                self._inside(node)
        return UNRESOLVED

    def _global(self, name: str) -> object:
        """A name of ``from module import *``, or one of Python's own."""
        starred = (f"{module}.{name}" for module in self.stars)
        return known(self.deeds, next((n for n in starred if n in SINKS or n in PURE), name))

    def _attribute(self, node: ast.Attribute) -> object:
        if isinstance(node.value, ast.Name) and f"{node.value.id}.{node.attr}" in self.names:
            return self.names[f"{node.value.id}.{node.attr}"]
        found = attribute(self.value(node.value), node.attr)
        if isinstance(found, Dotted):
            return known(self.deeds, found.name.replace(".__dict__", "").replace("__builtins__.", ""))
        return found

    def _choice(self, node: ast.IfExp | ast.BoolOp) -> object:
        if isinstance(node, ast.IfExp):
            self.value(node.test)
            first, second = self.value(node.body), self.value(node.orelse)
            if (holds := self._compared(node.test)) is not None:
                return first if holds else second
            return first if text_of(first) == text_of(second) else UNRESOLVED
        values: list[object] = []
        for value in node.values:
            values.append(self.value(value))
            if isinstance(node.op, ast.And):
                narrow(self.names, value)
        return values[-1] if isinstance(node.op, ast.And) else values[0]

    def _compared(self, test: ast.expr) -> bool | None:
        """Whether ``len(sys.argv) > 1`` holds, of a list that is known whole."""
        match test:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[several]),
                ops=[sign],
                comparators=[ast.Constant(value=int(number))],
            ) if type(sign) in _COMPARED and "len" not in self.names:
                value = self.value(several)
                known = isinstance(value, list) and not any(text_of(item) == UNKNOWN for item in value)
                return _COMPARED[type(sign)](len(value), number) if known else None  # type: ignore[arg-type]
        return None

    def _comprehension(self, generators: list[ast.comprehension], element: ast.expr) -> list[object]:
        if not generators:
            return [self.value(element)]
        first, *rest = generators
        results: list[object] = []
        for item in value_operations.items(self.value(first.iter)):
            self.bind(first.target, item)
            for condition in first.ifs:
                self.value(condition)
                narrow(self.names, condition)
            if not any(excluded(self.names, condition) for condition in first.ifs):
                results += self._comprehension(rest, element)
        return results

    def _sum(self, node: ast.BinOp) -> object:
        """A chain of sums is as long as it likes: it is no nesting."""
        rights: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            rights.append(left)
            left = left.left
        value = self.value(left)
        for part in reversed(rights):
            value = self._operate(part.op, value, self.value(part.right))
        return value

    @staticmethod
    def _operate(operator: ast.operator, left: object, right: object) -> object:
        match operator:
            case ast.Add():
                if isinstance(left, str | bytes | list) and isinstance(right, type(left)):
                    return left + right if len(left) + len(right) <= MAX_TEXT else UNRESOLVED  # type: ignore[operator]
                return joined(left, right) if isinstance(left, str) or isinstance(right, str) else UNRESOLVED
            case ast.BitOr() if isinstance(left, str) and isinstance(right, str):
                return joined(left, "|", right)
            case ast.Div() if isinstance(left, PathValue):
                return PathValue(text_of(path_join([left, right])))
            case ast.Mod() if isinstance(left, str):
                return pure_functions.formatted(left, right if isinstance(right, list) else [right])
            case ast.Mult() if (
                isinstance(left, str | list) and isinstance(right, int) and 0 <= right * len(left) <= 1000
            ):
                return left * right
        return UNRESOLVED

    def _subscript(self, owner: object, node: ast.expr) -> object:
        if isinstance(node, ast.Slice):
            bounds = [self.value(part) if part is not None else None for part in (node.lower, node.upper, node.step)]
            whole = all(bound is None or isinstance(bound, int) for bound in bounds) and 0 not in bounds[2:]
            known_text = isinstance(owner, bytes | list) or (isinstance(owner, str) and UNKNOWN not in owner)
            return owner[slice(*bounds)] if whole and known_text else UNRESOLVED  # type: ignore[index]
        key = self.value(node)
        if isinstance(owner, Dotted):
            if owner.name == "os.environ":
                return environment(self.deeds.call, key)
            if owner.name == "sys.modules":
                return Dotted(text_of(key))
            return known(self.deeds, text_of(key) if owner.name == "builtins" else f"{owner.name}.{text_of(key)}")
        if isinstance(owner, dict):
            return owner.get(text_of(key), UNRESOLVED)
        if isinstance(owner, list | str) and isinstance(key, int) and -len(owner) <= key < len(owner):
            return owner[key]
        return UNRESOLVED

    # ---- calls ----

    def _call(self, node: ast.Call) -> object:
        function = self.value(node.func)
        values: list[object] = []
        for argument in node.args:
            value = self.value(argument)
            values += flat(value) if isinstance(argument, ast.Starred) and isinstance(value, list) else [value]
        named = {k.arg: self.value(k.value) for k in node.keywords if k.arg}
        return self.invoke(function, values, named)
