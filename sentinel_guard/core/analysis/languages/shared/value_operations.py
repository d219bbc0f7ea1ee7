"""Operations on values of the one-liner languages: members, subscripts, methods of constants, operators."""

from __future__ import annotations

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.languages.shared import pure_functions
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    MAX_ITEMS,
    MAX_TEXT,
    UNRESOLVED,
    Dotted,
    Method,
    PathValue,
    Values,
    arguments,
    constant,
    environment,
    flat,
    globbed,
    joined,
    path_join,
    text_of,
)


def items(value: object) -> Values:
    """What a loop goes through; one that is not known where nothing is."""
    if isinstance(value, dict):
        return list(value)[:MAX_ITEMS] or [UNRESOLVED]
    if isinstance(value, list):
        return value if len(value) <= MAX_ITEMS else [*value[:MAX_ITEMS], UNRESOLVED]
    return [value] if isinstance(value, str) else [UNRESOLVED]


def operate(sign: str, left: object, right: object, concat: frozenset[str]) -> object:
    """Two values and an operator between them."""
    if sign in concat:
        if isinstance(left, list) and isinstance(right, list):
            return left + right
        if isinstance(left, PathValue):
            return PathValue(text_of(path_join([left, right])))
        return joined(left, right) if isinstance(left, str) or isinstance(right, str) else UNRESOLVED
    if sign == "/" and isinstance(left, PathValue):
        return PathValue(text_of(path_join([left, right])))
    if sign in ("x", "*") and isinstance(left, str) and isinstance(right, int):
        return left * right if 0 <= right * len(left) <= MAX_TEXT else UNRESOLVED
    if sign in ("||", "//", "??", "or") and left is not UNRESOLVED and not isinstance(left, list):
        return left
    return right if sign == "&&" else UNRESOLVED


def subscript(deeds: EffectCollector, owner: object, key: object, keys: Values) -> object:
    """``a[0]``, ``h["x"]``, ``fs["unlink"]``."""
    if isinstance(owner, Dotted):
        if owner.name in ("process.env", "ENV", "$ENV", "$_ENV", "$_SERVER", "os.environ"):
            return environment(deeds.call, key)
        if owner.name == "Dir":
            return [found for pattern in keys for found in globbed(deeds.call, pattern)]
        if owner.name == "Pathname":
            return PathValue(text_of(key))
        return member(deeds.call, owner, key, "js") if isinstance(key, str) and UNKNOWN not in key else UNRESOLVED
    if isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner):
        return owner[key]
    if isinstance(owner, dict):
        return owner.get(key if isinstance(key, str) else text_of(key), UNRESOLVED)
    return UNRESOLVED if isinstance(owner, str | list) or not isinstance(key, str) else Method(owner, key)


def known(call: Call, name: str, language: str) -> object:
    """What a dotted name is in this language: a constant of the process, else itself."""
    match name:
        case "__dirname" | "__DIR__" | "import.meta.dirname":
            return call.cwd
        case "process.argv":
            return ["node", *arguments(call)] if call.command.program != "deno" else arguments(call)
        case "ARGV" | "@ARGV" | "Deno.args" | "$*":
            return arguments(call)
        case "$argv":
            return ["-", *arguments(call)]
        case "arg" if language == "lua":
            return [UNRESOLVED, *arguments(call)]
        case "process.execPath":
            return call.command.program
        case "$0" | "os" if name == "$0":
            return call.command.program
    if name.startswith("process.env."):
        return environment(call, name[12:])
    if name[:1] in ("$", "@", "%"):
        return Dotted(name.lstrip("$@%")) if name.lstrip("$@%") in ("ENV", "_ENV", "_SERVER") else UNRESOLVED
    return Dotted(name)


def member(call: Call, owner: object, name: str, language: str) -> object:
    """``owner.name``."""
    if isinstance(owner, Dotted):
        if owner.name in ("globalThis", "global", "window", "CORE", "Kernel", "_G"):
            return known(call, name, language)
        if language == "js" and name in ("default", "promises", "mainModule"):
            return owner
        if language == "js" and name.endswith("Sync") and owner.name in ("fs", "Deno", "del", "rimraf"):
            name = name.removesuffix("Sync")
        if language == "js" and name == "sync" and owner.name in ("rimraf", "del", "glob", "rimraf.rimraf"):
            return owner if owner.name != "glob" else Dotted("glob.sync")
        return known(call, f"{owner.name}.{name.replace('::', '.')}", language)
    if isinstance(owner, dict):
        return owner.get(name, UNRESOLVED)
    return Method(owner, name)


def method(deeds: EffectCollector, owner: object, name: str, values: Values) -> object:
    """A method of a constant."""
    if isinstance(owner, PathValue):
        return _of_place(deeds, owner, name, values)
    if isinstance(owner, list):
        return _of_list(owner, name, values)
    if isinstance(owner, str):
        return _of_text(owner, name, values)
    if isinstance(owner, int) and name == "chr":
        return pure_functions.characters([owner])
    return owner if name == "bind" else UNRESOLVED


def _of_place(deeds: EffectCollector, owner: PathValue, name: str, values: Values) -> object:
    if name in ("join", "child", "resolve", "+", "/"):
        return PathValue(text_of(path_join([owner, *values])))
    if name in ("to_s", "to_path", "stringify", "path", "getPath", "toString", "absolutePath"):
        return owner.text
    if name in ("glob", "children", "each_child", "listFiles", "eachFile"):
        pattern = path_join([owner, values[0] if values and isinstance(values[0], str) else "*"])
        return [PathValue(text_of(found), text_of(pattern)) for found in globbed(deeds.call, pattern)]
    if name in ("parent", "dirname"):
        return PathValue(text_of(pure_functions.parent(deeds, [owner])))
    return owner if name in ("realpath", "expand_path", "cleanpath", "toFile", "toPath", "absolute") else UNRESOLVED


def _of_list(owner: Values, name: str, values: Values) -> object:
    match name:
        case "join":
            return text_of(values[0] if values else "").join(map(text_of, owner))
        case "reverse" | "toReversed":
            return owner[::-1]
        case "concat":
            return owner + flat(values)
        case "pack":
            return pure_functions.packed([*values, *owner])
        case "first" | "shift" | "pop" | "at":
            return owner[0] if owner else UNRESOLVED
        case "flat" | "sort" | "uniq" | "compact" | "to_a" | "slice" | "values" | "keys" | "entries" | "flatten":
            return owner
    return UNRESOLVED


def _of_text(owner: str, name: str, values: Values) -> object:
    texts = [constant(value) for value in values]
    match name, texts:
        case (("replace" | "replaceAll" | "gsub" | "sub" | "tr"), [str(old), str(new)]):
            return owner.replace(old, new)
        case (("split" | "chars" | "each_char"), ([""] | [])) if name != "split" or texts == [""]:
            return list(owner) if len(owner) <= MAX_ITEMS else UNRESOLVED
        case "split", [str(mark), *_]:
            return list(owner.split(mark))
        case "split", []:
            return list(owner.split())
        case "reverse", _:
            return owner[::-1]
        case (("toString" | "to_s" | "trim" | "strip" | "chomp" | "freeze" | "to_str" | "dup" | "b" | "then"), _):
            return owner.strip() if name in ("trim", "strip", "chomp") else owner
        case (("concat"), _):
            return joined(owner, *values)
        case (("downcase" | "toLowerCase"), _):
            return owner.lower()
        case (("unpack1" | "unpack"), [str(how), *_]):
            return pure_functions.decoded(owner, {"m": "base64", "H": "hex"}.get(how[:1], ""))
        case (("format" | "formatted"), _):
            return pure_functions.formatted(owner, values)
    return UNRESOLVED
