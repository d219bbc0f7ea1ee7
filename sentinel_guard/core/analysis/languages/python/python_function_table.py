"""Tables of Python functions: their effects (rows for function_effects.py), and the pure ones' values."""

from __future__ import annotations

import base64
import binascii
import codecs
import string
from collections.abc import Callable, Mapping

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.languages.python import data_files
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    MAX_ITEMS,
    MAX_TEXT,
    SCRATCH,
    UNRESOLVED,
    Dotted,
    File,
    Method,
    PathValue,
    Values,
    arguments,
    constant,
    environment,
    expanded,
    flat,
    globbed,
    joined,
    path_join,
    text_of,
)

Named = Mapping[str, object]

SINKS: dict[str, str] = {
    **dict.fromkeys(("os.remove", "os.unlink", "os.rmdir", "os.removedirs", "send2trash.send2trash"), "delete"),
    **dict.fromkeys(("shutil.rmtree", "distutils.dir_util.remove_tree"), "delete recursive"),
    **dict.fromkeys(("os.rename", "os.renames", "os.replace", "shutil.move"), "move"),
    **dict.fromkeys(("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"), "copy"),
    **dict.fromkeys(("os.symlink", "os.link"), "link"),
    **dict.fromkeys(("os.chmod", "os.lchmod", "shutil.copymode"), "write mode"),
    **dict.fromkeys(("os.chown", "os.lchown", "shutil.chown"), "write owner"),
    **dict.fromkeys(("os.mkdir", "os.makedirs", "os.utime", "os.mkfifo", "os.mknod", "os.setxattr"), "write append"),
    **dict.fromkeys(("dotenv.set_key", "dotenv.unset_key"), "write inplace"),
    "send2trash.send2trash": "delete recursive",
    "os.truncate": "write truncate", "os.chdir": "chdir", "shutil.unpack_archive": "write append 1",
    **dict.fromkeys(("open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "os.fdopen", "io.FileIO",
                     "os.open", "zipfile.ZipFile", "tarfile.open"), "open"),
    **dict.fromkeys(("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput",
                     "commands.getoutput", "commands.getstatusoutput", "asyncio.create_subprocess_shell"), "shell"),
    **dict.fromkeys(("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
                     "subprocess.Popen", "pty.spawn", "pexpect.spawn", "pexpect.run", "os.popen2", "popen2.popen2"),
                     "run"),
    "asyncio.create_subprocess_exec": "run", "plumbum.local": "run",
    **dict.fromkeys(("os.execv", "os.execve", "os.execvp", "os.execvpe", "os.posix_spawn", "os.posix_spawnp",
    "os.spawnv",
                     "os.spawnve", "os.spawnvp", "os.spawnvpe", "os.execl", "os.execlp", "os.execle"), "exec"),
    **dict.fromkeys(("exec", "eval", "compile", "builtins.exec"), "eval"),
    **dict.fromkeys(("os.setuid", "os.seteuid", "os.setreuid", "os.setresuid"), "privilege setuid"),
    "urllib.urlretrieve": "network", "code.interact": "hidden", "runpy.run_path": "load",
    **dict.fromkeys(("os.kill", "os.killpg", "signal.pthread_kill"), "signal"),
    **dict.fromkeys(("requests.get", "requests.head", "urllib.request.urlopen", "urllib.request.Request",
                     "httpx.get", "socket.create_connection",
                     "http.client.HTTPConnection",
                     "http.client.HTTPSConnection", "requests.delete", "urllib.urlopen", "requests.request",
                     "httpx.request", "httpx.stream"), "network"),
    **dict.fromkeys(("requests.post", "requests.put", "requests.patch", "httpx.post", "httpx.put", "httpx.patch",
                     "smtplib.SMTP", "ftplib.FTP"), "network data"),
    **dict.fromkeys(("pandas.read_csv", "numpy.load", "numpy.loadtxt", "linecache.getlines", "fileinput.input",
                     "pandas.read_json"), "read"),
}  # fmt: skip

PATHS: dict[str, str] = {
    "unlink": "delete", "rmdir": "delete", "rmtree": "delete recursive", "remove": "delete",
    "write_text": "write truncate", "write_bytes": "write truncate", "touch": "write append", "mkdir": "write append",
    "chmod": "write mode", "lchmod": "write mode", "rename": "move", "replace": "move", "read_text": "read",
    "read_bytes": "read", "open": "open",
}  # fmt: skip
"""Methods of a ``Path``."""

SQL = ("execute", "executescript", "executemany")
CYPHER = ("run", "query", "execute_query", "write")
"""Methods of many things: meant where they are given a statement."""


# ---- pure functions ----


def _import(_: EffectCollector, values: Values) -> object:
    name = constant(values[0]) if values else None
    return Dotted(name) if name else UNRESOLVED


_OF_DICTS = frozenset(("get", "update", "setdefault"))


def attribute(owner: object, name: str) -> object:
    """``owner.name``."""
    if isinstance(owner, Dotted):
        return Dotted(f"{owner.name}.{name}")
    if isinstance(owner, dict):
        return owner.get(name, Method(owner, name) if name in _OF_DICTS else UNRESOLVED)
    if isinstance(owner, PathValue):
        match name:
            case "parent":
                return PathValue(owner.text.rpartition("/")[0] or ("/" if owner.text.startswith("/") else "."))
            case "name":
                return paths.base(owner.text)
            case "path":
                return owner.text
            case "suffix" | "stem" | "parts" | "parents":
                return UNRESOLVED
    return Method(owner, name)


def _getattr(_: EffectCollector, values: Values) -> object:
    name = constant(values[1]) if len(values) > 1 else None
    return attribute(values[0], name) if name else UNRESOLVED


def _namespace(_: EffectCollector, values: Values) -> object:
    """``globals()``, ``vars(os)``, ``os.__dict__``."""
    return values[0] if values else Dotted("builtins")


def _join(_: EffectCollector, values: Values) -> object:
    return path_join(values)


def _path(_: EffectCollector, values: Values) -> object:
    return PathValue(text_of(path_join(values or ["."])), getattr(values[0], "source", "") if len(values) == 1 else "")


def _expanduser(deeds: EffectCollector, values: Values) -> object:
    return expanded(text_of(values[0]), deeds.call.world.home) if values else UNRESOLVED


def _expandvars(deeds: EffectCollector, values: Values) -> object:
    text = text_of(values[0]) if values else UNKNOWN
    return text.replace("${HOME}", "$HOME").replace("$HOME", deeds.call.world.home)


def _same(_: EffectCollector, values: Values) -> object:
    return values[0] if values else UNRESOLVED


def _str(_: EffectCollector, values: Values) -> object:
    return text_of(values[0]) if values else ""


def _chr(_: EffectCollector, values: Values) -> object:
    code = values[0] if values else None
    return chr(code) if isinstance(code, int) and 0 < code < 0x110000 else UNRESOLVED


def _raw(value: object) -> bytes | str | None:
    return value if isinstance(value, bytes) else constant(value)


def _decoder(decode: Callable[[bytes | str], object]) -> Callable[[EffectCollector, Values], object]:
    def decoded(_: EffectCollector, values: Values) -> object:
        raw = _raw(values[0]) if values else None
        try:
            return UNRESOLVED if raw is None or len(raw) > MAX_TEXT else decode(raw)
        except (ValueError, binascii.Error):
            return UNRESOLVED

    return decoded


def _codec(_: EffectCollector, values: Values) -> object:
    raw, name = _raw(values[0]) if values else None, constant(values[1]) if len(values) > 1 else None
    if raw is None or name is None:
        return UNRESOLVED
    try:
        if name in ("rot13", "rot_13", "rot-13"):
            return codecs.decode(raw if isinstance(raw, str) else raw.decode(), "rot13")
        if name in ("hex", "base64", "hex_codec", "base64_codec"):
            return codecs.decode(raw.encode() if isinstance(raw, str) else raw, name)
    except (ValueError, binascii.Error):
        return UNRESOLVED
    return raw


def _bytes(_: EffectCollector, values: Values) -> object:
    codes = values[0] if values else b""
    if isinstance(codes, list):
        known = [c for c in codes if isinstance(c, int) and 0 <= c < 256]
        return bytes(known) if len(known) == len(codes) else UNRESOLVED
    return codes


def _list(_: EffectCollector, values: Values) -> object:
    value = values[0] if values else []
    return list(value) if isinstance(value, str) and UNKNOWN not in value and len(value) <= MAX_ITEMS else value


def _reversed(_: EffectCollector, values: Values) -> object:
    value = values[0] if values else UNRESOLVED
    return value[::-1] if isinstance(value, str | bytes | list) else UNRESOLVED


def _glob(deeds: EffectCollector, values: Values) -> object:
    return globbed(deeds.call, values[0]) if values else UNRESOLVED


def _listdir(_: EffectCollector, __: Values) -> object:
    return [UNKNOWN]


def _scandir(_: EffectCollector, values: Values) -> object:
    return [PathValue(text_of(path_join([*(values or ["."]), UNKNOWN])))]


def _walk(_: EffectCollector, values: Values) -> object:
    """Each folder below, with names that are not known. The dot tells it from a path that was joined from a name."""
    return [[path_join([values[0] if values else UNRESOLVED, UNKNOWN, "."]), [UNKNOWN], [UNKNOWN]]]


def _environ(deeds: EffectCollector, values: Values) -> object:
    value = environment(deeds.call, values[0]) if values else UNRESOLVED
    return values[1] if value is UNRESOLVED and len(values) > 1 and values[1] is not None else value


def _enumerate(_: EffectCollector, values: Values) -> object:
    items = values[0] if values else UNRESOLVED
    return [[n, item] for n, item in enumerate(items)] if isinstance(items, list) else UNRESOLVED


def _lines(deeds: EffectCollector, _: Values) -> object:
    text = deeds.call.stdin
    return [UNKNOWN] if UNKNOWN in text or not text else list(text.splitlines())[:MAX_ITEMS]


PURE: dict[str, Callable[[EffectCollector, Values], object]] = {
    "__import__": _import, "importlib.import_module": _import, "builtins.__import__": _import, "getattr": _getattr,
    "builtins.getattr": _getattr, "globals": _namespace, "vars": _namespace, "locals": _namespace,
    "operator.attrgetter": lambda _, __: UNRESOLVED, "shutil.which": _same,
    **dict.fromkeys(("sqlalchemy.text", "sqlalchemy.sql.text", "psycopg.sql.SQL", "psycopg2.sql.SQL",
                     "django.db.models.expressions.RawSQL"), _same),
    "chromadb.EphemeralClient": lambda _, __: {},
    "os.path.join": _join, "posixpath.join": _join, "os.path.expanduser": _expanduser,
    "os.path.expandvars": _expandvars,
    **dict.fromkeys(("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "tuple", "sorted", "set",
                     "sys.intern", "shlex.quote", "iter", "repr", "asyncio.run", "os.fsencode", "os.fsdecode"), _same),
    "os.path.basename": lambda _, v: paths.base(text_of(v[0])) if v else UNRESOLVED,
    "os.path.dirname": lambda _, v: text_of(v[0]).rpartition("/")[0] if v else UNRESOLVED,
    "str": _str, "chr": _chr, "list": _list, "bytes": _bytes, "bytearray": _bytes, "reversed": _reversed,
    "enumerate": _enumerate, "shlex.split": lambda _, v: list(text_of(v[0]).split()) if v else UNRESOLVED,
    "bytes.fromhex": _decoder(lambda raw: bytes.fromhex(raw if isinstance(raw, str) else raw.decode())),
    "bytearray.fromhex": _decoder(lambda raw: bytes.fromhex(raw if isinstance(raw, str) else raw.decode())),
    "binascii.unhexlify": _decoder(binascii.unhexlify), "binascii.a2b_base64": _decoder(binascii.a2b_base64),
    "base64.b64decode": _decoder(base64.b64decode), "base64.urlsafe_b64decode": _decoder(base64.urlsafe_b64decode),
    "base64.standard_b64decode": _decoder(base64.b64decode), "base64.b16decode": _decoder(base64.b16decode),
    "base64.b32decode": _decoder(base64.b32decode), "base64.decodebytes": _decoder(base64.b64decode),
    "base64.b85decode": _decoder(base64.b85decode), "codecs.decode": _codec,
    "json.load": data_files.parsed, "json.loads": data_files.parsed, "nbformat.read": data_files.notebook,
    "os.getcwd": lambda d, __: d.call.cwd, "os.environ.get": _environ, "os.getenv": _environ,
    "glob.glob": _glob, "glob.iglob": _glob, "os.listdir": _listdir, "os.scandir": _scandir, "os.walk": _walk,
    **dict.fromkeys(("Path", "pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath", "pathlib.PurePosixPath"), _path),
    "pathlib.Path.home": lambda d, __: PathValue(d.call.world.home),
    "pathlib.Path.cwd": lambda d, __: PathValue(d.call.cwd),
    **dict.fromkeys(("tempfile.mkdtemp", "tempfile.mktemp", "tempfile.TemporaryDirectory"), lambda _, __: SCRATCH),
    "tempfile.mkstemp": lambda _, __: [UNRESOLVED, SCRATCH], "tempfile.gettempdir": lambda _, __: "/tmp",  # noqa: S108
    "tempfile.NamedTemporaryFile": lambda _, __: {"name": SCRATCH},
    "sys.stdin.read": lambda d, __: d.call.stdin or UNKNOWN, "sys.stdin.readlines": _lines,
    "input": lambda d, v: _lines(d, v)[0] if _lines(d, v) else UNKNOWN,  # type: ignore[index]
    "sys.stdin.readline": lambda d, v: _lines(d, v)[0] if _lines(d, v) else UNKNOWN,  # type: ignore[index]
}  # fmt: skip


def known(deeds: EffectCollector, name: str) -> object:
    """What a dotted name holds, where that is a constant of the process; else itself."""
    match name:
        case "sys.argv":
            return ["-c", *arguments(deeds.call)]
        case "sys.executable":
            return "python3"
        case "sys.stdin":
            return Dotted("sys.stdin")
        case "os.sep":
            return "/"
        case "os.curdir":
            return "."
        case "__file__":
            return deeds.file or path_join([deeds.call.cwd, UNKNOWN])
    return name[3:] if name.startswith("os.O_") else Dotted(name.removeprefix("builtins."))


# ---- methods of constants ----


def method(owner: object, name: str, values: Values, named: Named) -> object:
    """What a method of a constant gives."""
    if data_files.changed(owner, name, values):
        return UNRESOLVED
    if isinstance(owner, File):
        return owner if name in ("read", "decode", "__enter__") else UNRESOLVED
    if isinstance(owner, bytes):
        return owner.decode("utf-8", "replace") if name == "decode" else UNRESOLVED
    if isinstance(owner, list):
        match name:
            case "append" | "extend" if values and len(owner) < MAX_ITEMS:
                owner += flat(values)
                return None
            case "pop" | "__getitem__":
                return owner[-1] if owner else UNRESOLVED
        return UNRESOLVED
    if isinstance(owner, dict):
        return owner.get(text_of(values[0]), UNRESOLVED) if name == "get" and values else UNRESOLVED
    return _of_text(owner, name, values, named) if isinstance(owner, str) else UNRESOLVED


def _of_text(owner: str, name: str, values: Values, named: Named) -> object:
    texts = [constant(v) for v in values if not isinstance(v, list)]
    match name, texts:
        case "join", _ if values:
            items = list(values[0]) if isinstance(values[0], str) else flat(values[0])
            return joined(*[part for item in items for part in (owner, item)][1:])
        case "replace", [str(old), str(new), *_]:
            return owner.replace(old, new)
        case (("strip" | "rstrip" | "lstrip" | "removeprefix" | "removesuffix"), [] | [str()]):
            return getattr(owner, name)(*[t for t in texts if t])
        case (("lower" | "upper" | "title" | "swapcase" | "capitalize"), []):
            return getattr(owner, name)()
        case "encode", _:
            return owner if UNKNOWN in owner else owner.encode("utf-8", "surrogateescape")
        case (("split" | "splitlines" | "rsplit"), [] | [str()]):
            return list(owner.split(texts[0] or None) if texts else owner.split())
        case "format", _:
            return _format(owner, values, named)
    return UNRESOLVED


def _format(template: str, values: Values, named: Named) -> object:
    result: list[object] = []
    try:
        for n, (text, name, form, _) in enumerate(string.Formatter().parse(template)):
            result.append(text)
            if name is None:
                continue
            index = int(name) if name.isdecimal() else n
            value = named.get(name, values[index] if index < len(values) else UNRESOLVED)
            result.append(value if not form and isinstance(value, str | int | PathValue) else UNRESOLVED)
    except ValueError:
        return UNRESOLVED
    return joined(*result)
