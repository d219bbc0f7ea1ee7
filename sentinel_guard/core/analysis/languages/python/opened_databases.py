"""Which databases a Python program opens by SQLAlchemy, itself and in the modules of its project: whether all of them
are to throw away (ADR 0045).

All that may open one must be known: an address that the program is given, by a variable or in plain words, a library
that opens none. Whatever may say another database, or lead to one unseen, says that somebody may keep it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.languages.python.project_modules import Module, Modules
from sentinel_guard.core.analysis.programs.databases import given_databases

_LIBRARIES = frozenset(
    (
        *("__future__", "abc", "argparse", "array", "asyncio", "base64", "bisect", "calendar", "collections"),
        *("concurrent", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "enum", "errno"),
        *("functools", "gc", "glob", "hashlib", "hmac", "html", "inspect", "io", "itertools", "json", "locale"),
        *("logging", "math", "mimetypes", "multiprocessing", "numbers", "operator", "os", "pathlib", "platform"),
        *("pprint", "queue", "random", "re", "secrets", "shutil", "signal", "statistics", "string", "struct"),
        *("subprocess", "sys", "tempfile", "textwrap", "threading", "time", "timeit", "tomllib", "traceback"),
        *("types", "typing", "unicodedata", "unittest", "urllib", "uuid", "warnings", "weakref", "xml", "zipfile"),
        *("zlib", "zoneinfo"),
        *("attr", "attrs", "bcrypt", "click", "dateutil", "dotenv", "faker", "fastapi", "flask", "flask_cors"),
        *("flask_login", "flask_migrate", "flask_sqlalchemy", "flask_wtf", "jinja2", "loguru", "marshmallow"),
        *("numpy", "orjson", "passlib", "pydantic", "pydantic_settings", "pytz", "rich", "slugify", "sqlalchemy"),
        *("sqlmodel", "starlette", "structlog", "tqdm", "typer", "typing_extensions", "uvicorn", "werkzeug"),
        *("wtforms", "yaml"),
    )
)
"""What opens no database but those that it is told, by the functions below."""
_OF_OS = ("os", "environ", "getenv")
_OPENS = ("create_engine", "create_async_engine")
_OTHER_WAYS = re.compile(
    r"\w*engine_from_config|create_mock_engine|create_pool_from_url|do_connect|creator|async_creator"
    r"|exec|eval|__import__|import_module|getattr|setattr|globals|locals|vars|__dict__|putenv|unsetenv"
    r"|from_pyfile|from_envvar|from_file|from_json|from_prefixed_env|SQLALCHEMY_BINDS|SQLALCHEMY_ENGINES"
    r"|customise_sources|settings_customise_sources|env_prefix|case_sensitive|model_construct"
    r"|validation_alias|alias_generator|Alias(?:Choices|Path|Generator)"
)
"""Names by which another database is opened, or what is not followed here happens."""
_URI = "SQLALCHEMY_DATABASE_URI"
_BY_OWN_NAMES = frozenset((*_OF_OS, *_OPENS, _URI, "load_dotenv", "Engine", "AsyncEngine"))
"""What is not followed by another name."""
_FILE = re.compile(r"sqlite(?:\+\w+)?://(?:/(?P<file>/[^?\s]+)|/?(?::memory:)?)(?:\?[\w=&]*)?")
"""As SQLAlchemy reads it: behind three slashes a name counts from the folder of the process."""
_DEEPEST = 10
"""Names that stand for names."""
_ATTACHES = re.compile(r"(?i)\battach\b(?!ment)")


def are_thrown_away(call: Call, text: str, file: str = "") -> bool:
    """Whether a Python text, that of ``file`` if it has one, surely opens databases to throw away and no other."""
    if UNKNOWN in text or not call.here or not given_databases.keeps_variables(call):
        return False
    modules = Modules(call, text, file)
    if not modules.whole or not modules.foreign <= _LIBRARIES:
        return False
    program = _Program(call, modules)
    opened = [address for module in modules.found.values() for address in program.opened(module)]
    return bool(opened) and program.is_clear and all(_is_thrown_away(call, address) for address in opened)


def _is_thrown_away(call: Call, address: str | None) -> bool:
    if address is None:
        return False
    if (found := _FILE.fullmatch(address)) is not None:
        return not found["file"] or given_databases.is_temporary(call, paths.normal(found["file"]))
    return not address.startswith("sqlite") and given_databases.is_own_address(call, address)


class _Program:
    """Follows what the modules of a program give to the functions that open databases."""

    def __init__(self, call: Call, modules: Modules) -> None:
        self.call, self.modules, self._clear = call, modules, True
        self._followed: set[str] = set()
        self._changed: set[str] = set()
        """Attributes that are set somewhere: a name that was followed may be one of them."""

    @property
    def is_clear(self) -> bool:
        """Whether nothing was met that is not followed."""
        return self._clear and not self._followed & self._changed

    def opened(self, module: Module) -> Iterator[str | None]:
        """The address of each database that a module opens, None for one that is not known."""
        nodes = [*ast.walk(module.tree)]
        self._clear &= all(_is_of_os(name, bound) for name in _OF_OS for bound in module.bound.get(name, ()))
        plain = {id(part) for node in nodes for part in _plain_parts(node)}
        for node in nodes:
            self._clear &= id(node) in plain or not _is_apart(node)
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given) if name in _OPENS:
                    named = next((keyword.value for keyword in node.keywords if keyword.arg == "url"), None)
                    told = {keyword.arg for keyword in node.keywords}
                    address = self._text(module, given[0] if given else named)
                    of_file = address is not None and address.startswith("sqlite")
                    yield None if None in told or ("connect_args" in told and not of_file) else address
                case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=name))], value=value) if name == _URI:
                    yield self._text(module, value)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == _URI:
                    yield self._text(module, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if name == _URI:
                    yield self._text(module, value)
                case ast.keyword(arg=name, value=value) if name == _URI:
                    yield self._text(module, value)
                case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                    self._changed.add(name)

    def _text(self, module: Module, node: ast.AST | None, depth: int = 0) -> str | None:
        """The text that an expression surely is."""
        module, node = self._followed_to(module, node, depth)
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.BoolOp(op=ast.Or(), values=[first, *_]):
                return self._text(module, first, depth + 1)
            case ast.Attribute(value=ast.Name() as owner, attr=name):
                return self._setting(*self._followed_to(module, owner, depth + 1), name)
            case ast.AST() if (key := _asked_variable(node)) is not None:
                return self._variable(key)
        return None

    def _followed_to(self, module: Module, node: ast.AST | None, depth: int) -> tuple[Module, ast.AST | None]:
        """What a name stands for, in the module that says so."""
        while isinstance(node, ast.Name) and depth < _DEEPEST:
            depth += 1
            name, node = node.id, module.only(node.id)
            self._followed.add(name)
            for other, real in self.modules.taken_from(module, node, name):
                if other.bound.get(real):
                    module, node = other, ast.Name(real, ast.Load())
                    break
        return module, node

    def _setting(self, module: Module, node: ast.AST | None, name: str) -> str | None:
        """A field of pydantic's settings: the variable of that name, where one is given, before any file."""
        if not isinstance(node, ast.Call) or node.args or node.keywords:
            return None
        _, made = self._followed_to(module, node.func, 0)
        if not isinstance(made, ast.ClassDef) or [*map(_last, made.bases)] != ["BaseSettings"]:
            return None
        if any(map(_changes_fields, ast.walk(made))):
            return None
        plain = [_last(item.target) for item in made.body if isinstance(item, ast.AnnAssign) and _is_field(item)]
        self._followed.add(name)
        return self._variable(name.upper()) if plain.count(name) == 1 else None

    def _variable(self, name: str) -> str | None:
        held = self.call.scope.lookup(name) if name in self.call.scope.reaching else None
        return "".join(held.items) or None if held is not None and held.known else None


def _is_of_os(name: str, bound: ast.AST) -> bool:
    """Whether what binds one of these names imports Python's own."""
    if isinstance(bound, ast.Import):
        return any(alias.name == name == "os" or alias.name.startswith("os.") for alias in bound.names)
    return isinstance(bound, ast.ImportFrom) and bound.module == "os" and not bound.level


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_field(node: ast.AnnAssign) -> bool:
    """Whether a class says no more of a field than its type and a plain default."""
    said = any(isinstance(part, ast.Call) for part in ast.walk(node.annotation))  # ``Annotated[str, Field(…)]``
    return isinstance(node.target, ast.Name) and isinstance(node.value, ast.Constant | None) and not said


def _changes_fields(node: ast.AST) -> bool:
    """Whether a part of a class may say from where its fields come, as ``Config.fields`` does."""
    if isinstance(node, ast.Name):
        return node.id == "fields" and isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _is_environment(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "environ" and _last(node.value) == "os") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )


def _asked_variable(node: ast.AST) -> str | None:
    """The name in ``os.environ["NAME"]``, ``os.environ.get("NAME", …)`` and ``os.getenv("NAME", …)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return key if _is_environment(owner) else None
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="os"), attr="getenv"), args=[ast.Constant(value=str(key)), *_]
        ):
            return key
        case ast.Subscript(value=owner, slice=ast.Constant(value=str(key))):
            return key if _is_environment(owner) else None
    return None


def _plain_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of an expression that are nothing but what this file follows."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _OPENS:
            yield node.func
        case ast.Call(func=ast.Attribute(value=owner, attr="get" | "setdefault")) if _is_environment(owner):
            yield owner
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[owner]) if _is_environment(owner):
            yield owner
        case ast.Subscript(value=owner, ctx=ast.Load()) if _is_environment(owner):
            yield owner
        case ast.Subscript(slice=ast.Constant(value=text), ctx=ast.Load()) if text == _URI:
            yield node.slice
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=text) as key)]) if text == _URI:
            yield key
        case ast.Assign(targets=[ast.Name() as key]) | ast.AnnAssign(target=ast.Name() as key):
            yield from [key] if key.id == _URI else []


def _is_apart(node: ast.AST) -> bool:
    """Whether a part may open another database, or lead to one in a way that is not followed."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name == _URI:
            return not isinstance(node.ctx, ast.Load)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) if name == _URI:
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _OPENS or name == "environ" or _OTHER_WAYS.fullmatch(name) is not None
        case ast.alias(name=name, asname=renamed):
            moved = renamed is not None and ({name, renamed} & _BY_OWN_NAMES)
            return bool(moved) or _OTHER_WAYS.fullmatch(name) is not None
        case ast.keyword(arg=name):
            return name is not None and _OTHER_WAYS.fullmatch(name) is not None
        case ast.Constant(value=str(text)):
            return (
                text in (_URI, "connect_args")
                or _OTHER_WAYS.fullmatch(text) is not None
                or _ATTACHES.search(text) is not None
            )
        case ast.Call(func=ast.Name(id="Engine" | "AsyncEngine") | ast.Attribute(attr="Engine" | "AsyncEngine")):
            return True
        case ast.Call(func=ast.Name(id="load_dotenv") | ast.Attribute(attr="load_dotenv")):
            plain = all(keyword.arg in ("dotenv_path", "verbose") for keyword in node.keywords)
            return len(node.args) > 1 or not plain
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="config"), attr=name), args=given, keywords=named):
            told = bool(given) or any(keyword.arg is None for keyword in named)
            return told and name != "get" and not (name == "from_object" and all(map(_last, given)))
    return False
