"""Pure functions of the one-liner languages (no side effects): constants are folded through them."""

from __future__ import annotations

import base64
import binascii
import codecs
from collections.abc import Callable

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    SCRATCH,
    UNRESOLVED,
    Dotted,
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

Pure = Callable[[EffectCollector, Values], object]


def _first(_: EffectCollector, values: Values) -> object:
    return values[0] if values else UNRESOLVED


def _join(_: EffectCollector, values: Values) -> object:
    return path_join(flat(values), absolute=False)


def _resolve(_: EffectCollector, values: Values) -> object:
    return path_join(flat(values))


def _place(_: EffectCollector, values: Values) -> object:
    return PathValue(text_of(path_join(flat(values)))) if values else UNRESOLVED


def _glob(deeds: EffectCollector, values: Values) -> object:
    patterns = [word for v in flat(values) for word in (text_of(v).split() or [UNKNOWN])]
    return [found for pattern in patterns for found in globbed(deeds.call, pattern)]


def _inside(_: EffectCollector, __: Values) -> object:
    """The names in a folder."""
    return [UNKNOWN]


def _home(deeds: EffectCollector, _: Values) -> object:
    return deeds.call.world.home


def _cwd(deeds: EffectCollector, _: Values) -> object:
    return deeds.call.cwd if deeds.call.here else "."


def _env(deeds: EffectCollector, values: Values) -> object:
    return environment(deeds.call, values[0]) if values else UNRESOLVED


def _require(_: EffectCollector, values: Values) -> object:
    return module(constant(values[0]) or "") if values else UNRESOLVED


def module(name: str) -> object:
    """A module by the name under which it is imported."""
    name = name.removeprefix("node:").removesuffix("/promises")
    return (
        Dotted({"fs-extra": "fs", "graceful-fs": "fs"}.get(name, name)) if name and name[0] not in "./" else UNRESOLVED
    )


def _list_join(_: EffectCollector, values: Values) -> object:
    """``join(",", LIST)``."""
    rest = flat(values[1:])
    return text_of(values[0]).join(map(text_of, rest)) if values else UNRESOLVED


def _reverse(_: EffectCollector, values: Values) -> object:
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0] if len(values[0]) != 1 else [values[0][0]]
    return text_of(values[0])[::-1] if len(values) == 1 else values[::-1]


def _chars(_: EffectCollector, values: Values) -> object:
    return characters(values)


def characters(values: Values) -> object:
    """The text of these codes."""
    codes = flat(values)
    known = all(isinstance(code, int) and 0 < code < 0x110000 for code in codes)
    return "".join(chr(code) for code in codes if isinstance(code, int)) if known else UNRESOLVED


def decoded(text: str, how: str) -> object:
    """Base64, hex or rot13 text as what it stands for."""
    try:
        if how == "rot13":
            return codecs.decode(text, "rot13")
        raw = bytes.fromhex(text) if how == "hex" else base64.b64decode(text + "=" * (-len(text) % 4))
        return raw.decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return UNRESOLVED


def _decoder(how: str) -> Pure:
    def decode(_: EffectCollector, values: Values) -> object:
        text = constant(values[0]) if values else None
        return UNRESOLVED if text is None else decoded(text, how)

    return decode


def _buffer(_: EffectCollector, values: Values) -> object:
    """``Buffer.from(text, "base64")``."""
    if values and isinstance(values[0], list):
        return characters(values[:1])
    text, how = constant(values[0]) if values else None, text_of(values[1]) if len(values) > 1 else ""
    return UNRESOLVED if text is None else decoded(text, how) if how in ("base64", "hex", "base64url") else text


def _pack(_: EffectCollector, values: Values) -> object:
    return packed(values)


def packed(values: Values) -> object:
    """``pack("H*", text)`` of Perl and Ruby."""
    text = constant(values[1]) if len(values) > 1 else None
    how = {"H": "hex", "m": "base64", "u": ""}.get(text_of(values[0])[:1], "") if values else ""
    return decoded(text, how) if text and how else characters(values[1:])


def formatted(template: str, values: Values) -> object:
    """``%s`` and ``%d`` filled in; UNKNOWN where a value or another form stands."""
    pieces = template.split("%%")
    result, given = [], iter(flat(values))
    for piece in pieces:
        first, *rest = piece.split("%")
        text = first
        for part in rest:
            text += text_of(next(given, UNRESOLVED)) + part[1:] if part[:1] in ("s", "d") else UNKNOWN
        result.append(text)
    return "%".join(result)


def _sprintf(_: EffectCollector, values: Values) -> object:
    return formatted(text_of(values[0]), values[1:]) if values else UNRESOLVED


def _replaced(_: EffectCollector, values: Values) -> object:
    """``str_replace(old, new, text)``."""
    texts = [constant(v) for v in values[:3]]
    return texts[2].replace(texts[0], texts[1]) if len(texts) == 3 and None not in texts else UNRESOLVED  # type: ignore[union-attr, arg-type]


def _shift(deeds: EffectCollector, values: Values) -> object:
    given = flat(values) if values else arguments(deeds.call)
    return given[0] if given else UNRESOLVED


def _basename(_: EffectCollector, values: Values) -> object:
    return paths.base(text_of(values[0]).rstrip("/")) if values else UNRESOLVED


def parent(_: EffectCollector, values: Values) -> object:
    """The folder of a path."""
    text = text_of(values[0]) if values else UNKNOWN
    return text.rpartition("/")[0] or ("/" if text.startswith("/") else ".")


def _expand(deeds: EffectCollector, values: Values) -> object:
    """``File.expand_path(path, folder)``."""
    text = expanded(text_of(values[0]), deeds.call.world.home) if values else UNKNOWN
    return path_join([values[1], text]) if len(values) > 1 else text


def _scratch(_: EffectCollector, __: Values) -> object:
    return SCRATCH


def _list(_: EffectCollector, values: Values) -> object:
    return flat(values)


_PATHS: dict[str, Pure] = {
    "join": _join,
    "resolve": _resolve,
    "normalize": _first,
    "basename": _basename,
    "dirname": parent,
}
_FILE: dict[str, Pure] = {
    "File.join": _join, "File.expand_path": _expand, "File.absolute_path": _expand, "File.realpath": _first,
    "File.basename": _basename, "File.dirname": parent, "Pathname.new": _place, "Pathname": _place,
    "Dir.pwd": _cwd, "Dir.getwd": _cwd, "Dir.home": _home, "Dir.glob": _glob, "Dir.children": _inside,
    "Dir.entries": _inside, "Dir.each_child": _inside, "Dir.mktmpdir": _scratch, "Dir.tmpdir": _scratch,
    "Base64.decode64": _decoder("base64"), "Base64.strict_decode64": _decoder("base64"), "ENV.fetch": _env,
    "String.new": _first, "format": _sprintf, "sprintf": _sprintf, "Array": _list, "Shellwords.escape": _first,
}  # fmt: skip
FUNCTIONS: dict[str, dict[str, Pure]] = {
    "js": {
        **{f"path.{name}": row for name, row in _PATHS.items()}, "require": _require, "import": _require,
        "process.mainModule.require": _require, "module.require": _require,
        "createRequire": lambda _, __: Dotted("require"),
        "process.getBuiltinModule": _require,
        "module.createRequire": lambda _, __: Dotted("require"), "os.homedir": _home, "process.cwd": _cwd,
        "Deno.cwd": _cwd, "Deno.env.get": _env, "os.tmpdir": lambda _, __: "/tmp",  # noqa: S108 - what it gives
        "Buffer.from": _buffer, "Buffer": _buffer, "atob": _decoder("base64"), "String.fromCharCode": _chars,
        "String": _first, "String.raw": _first, "decodeURIComponent": _first, "util.promisify": _first,
        "promisify": _first, "fs.readdir": _inside, "fs.readdirSync": _inside, "fs.glob": _glob, "fs.globSync": _glob,
        "glob.sync": _glob, "glob.globSync": _glob, "globSync": _glob, "fs.mkdtempSync": _scratch,
        "fs.mkdtemp": _scratch, "Deno.makeTempDir": _scratch, "Deno.makeTempDirSync": _scratch, "Promise.all": _first,
        "Object.keys": _first, "Array.from": _first, "Reflect.apply": _first, "url.fileURLToPath": _first,
        "Promise.resolve": _first, "fs.realpathSync": _first,
    },
    "perl": {
        "join": _list_join, "reverse": _reverse, "chr": _chars, "decode_base64": _decoder("base64"),
        "MIME.Base64.decode_base64": _decoder("base64"), "pack": _pack, "sprintf": _sprintf, "glob": _glob,
        "shift": _shift, "File.Spec.catfile": _join, "catfile": _join, "catdir": _join, "getcwd": _cwd, "cwd": _cwd,
        "Cwd.getcwd": _cwd, "sort": _list, "readdir": _inside, "lc": _first, "tempdir": _scratch, "path": _place,
        "Path.Tiny.path": _place, "basename": _basename, "dirname": parent, "File.HomeDir.my_home": _home,
    },
    "ruby": _FILE,
    "php": {
        "base64_decode": _decoder("base64"), "hex2bin": _decoder("hex"), "str_rot13": _decoder("rot13"),
        "strrev": _reverse, "implode": _list_join, "join": _list_join, "chr": _chars, "sprintf": _sprintf,
        "str_replace": _replaced, "getenv": _env, "getcwd": _cwd, "glob": _glob, "scandir": _inside, "trim": _first,
        "realpath": _first, "basename": _basename, "dirname": parent, "array": _list, "tempnam": _scratch,
        "sys_get_temp_dir": lambda _, __: "/tmp", "escapeshellarg": _first,  # noqa: S108 - what it gives
    },
    "lua": {
        "require": _require,
        "string.char": _chars, "string.reverse": _reverse, "os.getenv": _env, "os.tmpname": _scratch,
        "table.concat": lambda d, v: _list_join(d, [v[1] if len(v) > 1 else "", v[0]]) if v else UNRESOLVED,
        "string.format": _sprintf, "ipairs": _first, "pairs": _first, "lfs.dir": _inside, "lfs.currentdir": _cwd,
    },
    "r": {
        "paste0": lambda _, v: joined(*v), "file.path": _join, "c": _list, "list.files": _inside, "Sys.glob": _glob,
        "path.expand": _expand, "Sys.getenv": _env, "getwd": _cwd, "tempfile": _scratch, "tempdir": _scratch,
        "parse": lambda _, v: v[-1] if v else UNRESOLVED, "normalizePath": _first,
        "paste": lambda d, v: _list_join(d, [" ", v]),
    },
    "julia": {"joinpath": _join, "homedir": _home, "pwd": _cwd, "string": lambda _, v: joined(*v),
    "expanduser": _expand,
              "readdir": _inside, "mktempdir": _scratch, "tempname": _scratch},
    "elixir": {"Path.join": _join, "Path.expand": _expand, "System.user_home!": _home, "System.user_home": _home,
               "Path.wildcard": _glob, "File.cwd!": _cwd, "String.to_charlist": _first, "to_charlist": _first},
    "erlang": {"filename.join": _join},
    "vim": {"expand": _expand, "fnamemodify": _first, "glob": _glob, "getcwd": _cwd, "join": _list_join,
    "printf": _sprintf},
    "groovy": {"File": _place, "Paths.get": _place, "Path.of": _place, "System.getenv": _env},
}  # fmt: skip
