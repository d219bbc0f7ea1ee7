"""Python text -> effects, by the standard library's own parser and a little constant folding.

Nothing is executed. Names that lead to a module or function are followed through imports, aliases, ``__import__`` and
``getattr``; paths through ``+``, f-strings, ``os.path.join`` and ``Path``. What a function body would do counts once.
"""

from __future__ import annotations

import ast
import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import UNKNOWN, Call
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

MAX_NODES = 20_000
MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Dotted:
    """A module, or something in one: ``os.path.join``."""

    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """A ``Path`` of known text."""

    text: str


@dataclass(frozen=True, slots=True)
class Method:
    """Something looked up on a value: ``"a".join``, ``Path("x").unlink``."""

    owner: object
    name: str


class _Unknown:
    """Not known."""


UNRESOLVED = _Unknown()

_DELETES = {
    "os.remove": (), "os.unlink": (), "os.rmdir": (), "os.removedirs": (), "shutil.rmtree": ("recursive",),
    "send2trash.send2trash": (),
}  # fmt: skip
_MOVES = ("os.rename", "os.renames", "os.replace", "shutil.move")
_COPIES = ("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree")
_LINKS = ("os.symlink", "os.link")
_WRITES = {
    "os.truncate": "truncate", "os.chmod": "mode", "os.chown": "owner", "os.lchown": "owner", "shutil.chown": "owner",
    "os.mkdir": "append", "os.makedirs": "append", "os.utime": "append",
}  # fmt: skip
_SHELLS = (
    "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput",
    "asyncio.create_subprocess_shell",
)  # fmt: skip
_STARTS = (
    "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen",
    "pty.spawn",
    "asyncio.create_subprocess_exec",
)  # fmt: skip
_EXECS = ("os.exec", "os.spawn", "os.posix_spawn")
_NETWORK = (
    "requests.", "urllib.request.urlopen", "urllib.request.Request", "urllib.request.urlretrieve", "httpx.",
    "aiohttp.", "http.client.",
    "socket.create_connection",
)  # fmt: skip
_PATH_METHODS = {
    "unlink": (Kind.DELETE, ()), "rmdir": (Kind.DELETE, ()), "write_text": (Kind.WRITE, ("truncate",)),
    "write_bytes": (Kind.WRITE, ("truncate",)), "touch": (Kind.WRITE, ("append",)), "mkdir": (Kind.WRITE, ("append",)),
    "chmod": (Kind.WRITE, ("mode",)), "symlink_to": (Kind.WRITE, ("link",)), "hardlink_to": (Kind.WRITE, ("link",)),
    "rename": (Kind.DELETE, ("move",)), "replace": (Kind.DELETE, ("move",)), "read_text": (Kind.READ, ()),
    "read_bytes": (Kind.READ, ()),
}  # fmt: skip


def python(call: Call, text: str, depth: int = 0) -> Iterator[Effect]:
    """The effects of a Python text that this call runs."""
    try:
        tree = ast.parse(text.replace(UNKNOWN, ""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield call.opaque(text[:80], "data")
        return
    nodes = list(ast.walk(tree))
    if UNKNOWN in text or len(nodes) > MAX_NODES or depth > MAX_DEPTH:
        yield call.opaque(text[:80], "code")
    reader = _Reader(call, depth)
    try:
        reader.body(tree.body)
    except RecursionError:
        yield call.opaque(text[:80], "code")
    yield from reader.effects


@dataclass(slots=True)
class _Reader:
    call: Call
    depth: int
    names: dict[str, object] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    self.names[alias.asname or alias.name.split(".")[0]] = Dotted(
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            case ast.ImportFrom():
                for alias in node.names:
                    self.names[alias.asname or alias.name] = Dotted(f"{node.module}.{alias.name}")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if (
                node.value is not None
            ):
                self.names[name] = self.value(node.value)
            case ast.For():
                self._loop(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.body(node.body)
            case _:
                self._inside(node)

    def _inside(self, node: ast.AST) -> None:
        """Expressions and nested statements in their order."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.expr):
                self.value(child)
            else:
                self._inside(child)
                if isinstance(child, ast.withitem) and isinstance(child.optional_vars, ast.Name):
                    self.names[child.optional_vars.id] = UNRESOLVED

    def _loop(self, node: ast.For) -> None:
        items = self.value(node.iter)
        known = items if isinstance(items, list) and len(items) <= 50 else [UNRESOLVED]
        for item in known:
            if isinstance(node.target, ast.Name):
                self.names[node.target.id] = item
            self.body(node.body)
        self.body(node.orelse)

    def value(self, node: ast.expr) -> object:
        """What an expression is; calls in it take effect."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.names.get(node.id, Dotted(node.id))
            case ast.Attribute():
                owner = self.value(node.value)
                return Dotted(f"{owner.name}.{node.attr}") if isinstance(owner, Dotted) else Method(owner, node.attr)
            case ast.List() | ast.Tuple() | ast.Set():
                return [self.value(item) for item in node.elts]
            case ast.BinOp():
                return self._operate(node)
            case ast.JoinedStr():
                parts = [self._text(self.value(p)) for p in node.values]
                return UNRESOLVED if None in parts else "".join(p for p in parts if p is not None)
            case ast.FormattedValue():
                return self.value(node.value)
            case ast.Subscript(slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp())):
                text = self.value(node.value)
                return text[::-1] if isinstance(text, str) else UNRESOLVED
            case ast.NamedExpr(target=ast.Name(id=name)):
                self.names[name] = self.value(node.value)
                return self.names[name]
            case ast.Call():
                return self._call(node)
        self._inside(node)
        return UNRESOLVED

    @staticmethod
    def _text(value: object) -> str | None:
        if isinstance(value, Place):
            return value.text
        return str(value) if isinstance(value, str | int) else None

    def _operate(self, node: ast.BinOp) -> object:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return left + right
        if isinstance(node.op, ast.Add) and isinstance(left, list) and isinstance(right, list):
            return left + right
        if isinstance(node.op, ast.Div) and isinstance(left, Place) and (name := self._text(right)) is not None:
            return Place(name if name.startswith("/") else f"{left.text}/{name}")
        return UNRESOLVED

    def _call(self, node: ast.Call) -> object:
        function = self.value(node.func)
        values = [self.value(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        named = {k.arg: self.value(k.value) for k in node.keywords if k.arg}
        if isinstance(function, Dotted):
            name = function.name.removeprefix("builtins.").replace("os.path", "path", 1)
            if pure := _PURE.get(name):
                return pure(self, values)
            self._sink(name, values, named)
        elif isinstance(function, Method):
            return self._method(function, values)
        return UNRESOLVED

    def _method(self, method: Method, values: list[object]) -> object:
        owner, name = method.owner, method.name
        if isinstance(owner, Place):
            return self._place(owner, name, values)
        if isinstance(owner, str):
            match name, values:
                case "join", [list(parts)]:
                    texts = [self._text(p) for p in parts]
                    return UNRESOLVED if None in texts else owner.join(t for t in texts if t is not None)
                case "replace", [str(old), str(new)]:
                    return owner.replace(old, new)
                case (("strip" | "lower" | "upper" | "encode"), []):
                    return owner if name == "encode" else getattr(owner, name)()
                case "split", []:
                    return owner.split()
        if isinstance(owner, bytes) and name == "decode":
            return owner.decode("utf-8", "replace")
        if name in ("unlink", "rmtree", "rmdir") and owner is UNRESOLVED:
            self._path(Kind.DELETE, owner)
        return UNRESOLVED

    def _place(self, place: Place, name: str, values: list[object]) -> object:
        if name in ("joinpath", "with_name"):
            parts = [self._text(v) for v in values]
            base = place.text if name == "joinpath" else paths.parent(place.text)
            return UNRESOLVED if None in parts else Place("/".join([base, *(p for p in parts if p is not None)]))
        if name in ("resolve", "absolute", "expanduser"):
            return Place(place.text.replace("~", self.call.world.home, 1)) if name == "expanduser" else place
        if name == "open":
            self._open(place, values)
        elif name in _PATH_METHODS:
            kind, how = _PATH_METHODS[name]
            self._path(kind, place, *how)
            if name in ("rename", "replace") and values:
                self._path(Kind.WRITE, values[0], "move")
        return UNRESOLVED

    def _path(self, kind: Kind, value: object, *how: str) -> None:
        text = self._text(value)
        item = Field(text if text is not None else "$(a Python value)", text is not None)
        match kind:
            case Kind.DELETE:
                self.effects += self.call.delete([item], *how)
            case Kind.WRITE:
                self.effects += self.call.write(item, *how)
            case _:
                self.effects += self.call.read(item, *how)

    def _open(self, value: object, rest: list[object], mode: object = None) -> None:
        mode = mode if mode is not None else (rest[0] if rest else "r")
        if not isinstance(mode, str) or set(mode) & set("wax+"):
            self._path(Kind.WRITE, value, "append" if isinstance(mode, str) and "a" in mode else "truncate")
        else:
            self._path(Kind.READ, value)

    def _sink(self, name: str, values: list[object], named: dict[str, object]) -> None:
        first = values[0] if values else named.get("path", named.get("args", UNRESOLVED))
        second = values[1] if len(values) > 1 else named.get("dst", UNRESOLVED)
        if name in _DELETES:
            self._path(Kind.DELETE, first, *_DELETES[name])
        elif name in _MOVES or name in _COPIES:
            self._path(*((Kind.DELETE, first, "move") if name in _MOVES else (Kind.READ, first)))
            self._path(Kind.WRITE, second, "move" if name in _MOVES else "truncate")
        elif name in _LINKS:
            self._path(Kind.READ, first, "link")
            self._path(Kind.WRITE, second, "link")
        elif name in _WRITES:
            self._path(Kind.WRITE, first, _WRITES[name])
        elif name in ("open", "io.open", "codecs.open"):
            self._open(first, values[1:], named.get("mode"))
        elif name == "os.chdir":
            text = self._text(first)
            self.call = replace(self.call, cwd=self.call.locate(text) if text else self.call.cwd, here=text is not None)
        else:
            self._starts(name, values, named, first)

    def _starts(self, name: str, values: list[object], named: dict[str, object], first: object) -> None:
        if name in _SHELLS or (name in _STARTS and (named.get("shell") is True or isinstance(first, str))):
            self._shell(first)
        elif name in _STARTS:
            self._argv(first)
        elif name.startswith(_EXECS):
            self._argv(values[1] if len(values) > 1 and isinstance(values[1], list) else values[1:])
        elif name in ("exec", "eval", "compile"):
            if isinstance(first, str):
                self.effects += python(self.call, first, self.depth + 1)
            elif name != "compile":
                self.effects.append(self.call.opaque(name, "code"))
        elif name == "os.kill":
            self.effects.append(
                self.call.effect(Kind.SIGNAL, self._text(first) or "a pid", sure=self._text(first) is not None)
            )
        elif name.startswith(_NETWORK):
            how = (
                ("data",)
                if name.endswith((".post", ".put", ".patch", ".Request")) or "data" in named or "json" in named
                else ()
            )
            self.effects.append(self.call.effect(Kind.NETWORK, self._text(first) or name, *how))

    def _shell(self, text: object) -> None:
        if isinstance(text, str):
            self.effects += self.call.runner.script(text, self.call, self.call.command.program)
        elif isinstance(text, list):
            self._argv(text)
        else:
            self.effects.append(self.call.opaque("$(a Python value)", "code"))

    def _argv(self, value: object) -> None:
        if isinstance(value, list) and value:
            texts = [self._text(v) for v in value]
            fields = [Field(t if t is not None else "$(a Python value)", t is not None) for t in texts]
            self.effects += self.call.runner.run(fields, self.call, self.call.command.program)
        else:
            self.effects.append(self.call.opaque("$(a Python value)", "name"))


def _import(_: _Reader, values: list[object]) -> object:
    return Dotted(values[0]) if values and isinstance(values[0], str) else UNRESOLVED


def _getattr(_: _Reader, values: list[object]) -> object:
    match values:
        case [Dotted(name), str(attribute), *_]:
            return Dotted(f"{name}.{attribute}")
        case [owner, str(attribute), *_]:
            return Method(owner, attribute)
    return UNRESOLVED


def _join(reader: _Reader, values: list[object]) -> object:
    texts = [reader._text(v) for v in values]  # noqa: SLF001 - the reader's own helpers, outside for the table
    if None in texts:
        return UNRESOLVED
    path = ""
    for text in texts:
        assert text is not None
        path = text if text.startswith("/") or not path else f"{path.rstrip('/')}/{text}"
    return path


def _path(reader: _Reader, values: list[object]) -> object:
    text = _join(reader, values or ["."])
    return Place(text) if isinstance(text, str) else UNRESOLVED


def _expanduser(reader: _Reader, values: list[object]) -> object:
    text = values[0] if values else None
    return (
        text.replace("~", reader.call.world.home, 1)
        if isinstance(text, str) and text.startswith("~")
        else text or UNRESOLVED
    )


def _same(_: _Reader, values: list[object]) -> object:
    return values[0] if values else UNRESOLVED


def _chr(_: _Reader, values: list[object]) -> object:
    return chr(values[0]) if values and isinstance(values[0], int) and 0 < values[0] < 0x110000 else UNRESOLVED


def _decode(_: _Reader, values: list[object]) -> object:
    try:
        return base64.b64decode(values[0]) if values and isinstance(values[0], str | bytes) else UNRESOLVED
    except ValueError:
        return UNRESOLVED


_PURE: dict[str, Callable[[_Reader, list[object]], object]] = {
    "__import__": _import, "importlib.import_module": _import, "getattr": _getattr, "path.join": _join,
    "path.expanduser": _expanduser,
    "path.abspath": _same, "path.realpath": _same, "path.normpath": _same, "str": _same, "os.fspath": _same,
    "list": _same,
    "chr": _chr, "base64.b64decode": _decode, "os.getcwd": lambda r, _: r.call.cwd, "bytes": _same,
    "os.environ.get": lambda r, v: r.call.world.environ.get(str(v[0]),
    v[1] if len(v) > 1 else UNRESOLVED) if v else UNRESOLVED,
    "os.getenv": lambda r, v: r.call.world.environ.get(str(v[0]),
    v[1] if len(v) > 1 else UNRESOLVED) if v else UNRESOLVED,
    **dict.fromkeys(("Path", "pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath"), _path),
    "pathlib.Path.home": lambda r, _: Place(r.call.world.home), "pathlib.Path.cwd": lambda r, _: Place(r.call.cwd),
}  # fmt: skip
