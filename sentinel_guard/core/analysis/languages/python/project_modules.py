"""The modules of a project that a Python text loads, read as syntax trees: what a name in them surely is."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call

MOST = 30
"""Modules that are read."""
_BEFORE = ("sitecustomize", "usercustomize")
"""Modules that Python loads before any text."""


@dataclass(slots=True)
class Module:
    """One file of Python, and what each of its names is bound to."""

    tree: ast.Module
    package: str = ""
    """The folder of its package."""
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)

    def note(self) -> None:
        """Looks for what binds names: wherever that is, a name that is bound twice is not known."""
        plain: dict[int, ast.expr] = {}
        for node in ast.walk(self.tree):
            match node:
                case ast.Assign(targets=[ast.Name() as target], value=value):
                    plain[id(target)] = value
                case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                    plain[id(target)] = value
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._bind(name, node)
                case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                    self._bind(name, node)
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                    self._bind(name, node)
                case ast.Import() | ast.ImportFrom():
                    for alias in node.names:
                        self._bind(alias.asname or alias.name.partition(".")[0], node)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self._bind(node.id, plain.get(id(node), node))

    def _bind(self, name: str, node: ast.AST) -> None:
        self.bound.setdefault(name, []).append(node)

    def only(self, name: str) -> ast.AST | None:
        """What a name is bound to, where nothing else in the module binds it."""
        found = self.bound.get(name, [])
        return found[0] if len(found) == 1 else None


class Modules:
    """A text and all modules of the project that it loads, by the paths of their files."""

    def __init__(self, call: Call, text: str, file: str = "") -> None:
        self.call, self.whole = call, True
        self.found: dict[str, Module] = {}
        self.foreign: set[str] = set()
        """Modules of others, by their first names."""
        held = call.scope.lookup("PYTHONPATH")
        self._places = [paths.parent(file) if file else call.cwd]
        if held.isset and not (held.known and "PYTHONPATH" in call.scope.reaching):
            self.whole = False
        elif held.isset:
            self._places += [call.locate(name or ".") for name in "".join(held.items).split(":")]
        root = call.world.root
        if root and f"{self._places[0]}/".startswith(f"{root}/"):
            self._places += [root, f"{root}/src"]  # where a project that is installed to be edited lies
        self.whole &= not any(self._is_here(f"{place}/{name}") for place in self._places for name in _BEFORE)
        waiting = [*filter(None, [self._read(file, text, paths.parent(file) if file else "")])]
        while waiting:
            module = waiting.pop()
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    waiting += self._load(module, node)

    def _read(self, path: str, text: str | None, package: str) -> Module | None:
        if text is None or len(self.found) >= MOST:
            self.whole = False
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            self.whole = False
            return None
        module = Module(tree, package)
        module.note()
        self.found[path] = module
        return module

    def _load(self, module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[Module]:
        for n, (folder, name) in enumerate(_asked(module, node)):
            top, places = name.partition(".")[0], self._places if folder is None else [folder]
            base = next((place for place in places if place and self._is_here(f"{place}/{top}")), None)
            if base is None:
                self.foreign |= {top}
                self.whole &= folder is None
                continue
            parts = name.split(".")
            for depth in range(1, len(parts) + 1):
                stem = f"{base}/{'/'.join(parts[:depth])}"
                for path, package in ((f"{stem}/__init__.py", stem), (f"{stem}.py", paths.parent(stem))):
                    if path not in self.found and self.call.world.kind(path):
                        text = None if self.call.world.is_unseen(path) else self.call.world.read(path)
                        read = self._read(path, text, package)
                        yield from [read] if read else []
            self.whole &= self._is_here(stem) or (n > 0 and isinstance(node, ast.ImportFrom))

    def _is_here(self, stem: str) -> bool:
        return any(self.call.world.kind(path) for path in (stem, f"{stem}.py"))

    def taken_from(self, module: Module, node: ast.AST | None, name: str) -> Iterator[tuple[Module, str]]:
        """What ``from X import NAME`` may mean: a name in a module, or a module itself, with no name."""
        if not isinstance(node, ast.ImportFrom):
            return
        real = next((alias.name for alias in node.names if (alias.asname or alias.name) == name), "*")
        for folder, asked in _asked(module, node):
            is_package = asked == next(_asked(module, node))[1]
            if is_package or asked.endswith(f".{real}"):
                places = self._places if folder is None else [folder]
                stems = [f"{place}/{asked.replace('.', '/')}" for place in places if place]
                files = (f"{stem}{end}" for stem in stems for end in ("/__init__.py", ".py"))
                if (file := next((one for one in files if one in self.found), None)) is not None:
                    yield self.found[file], real if is_package else ""


def _asked(module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str | None, str]]:
    """The modules that a statement may load: a folder where it names one (empty where nobody knows it), and a name."""
    if isinstance(node, ast.Import):
        yield from ((None, alias.name) for alias in node.names)
        return
    folder: str | None = None
    if node.level:
        folder = module.package
        for _ in range(node.level - 1):
            folder = paths.parent(folder) if folder else ""
        if node.module is None and folder:
            folder, name = paths.parent(folder), paths.base(folder)
        else:
            name = node.module or ""
    else:
        name = node.module or ""
    yield folder, name
    yield from ((folder, f"{name}.{alias.name}") for alias in node.names if alias.name != "*" and folder != "")
