"""One-line languages (node, perl, ruby, php, lua): constant strings given to functions that delete, write or run.

A small lexer, not a parser: it tells code from strings and comments, joins constants over ``+`` and ``.``, and knows
the functions by name, whoever owns them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sentinel_guard.core.analysis.commands import Call
from sentinel_guard.core.analysis.dollar import ansi_c
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect

REACH = 40
"""Tokens behind a name that are looked at for its arguments."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*(?=\n)|//[^\n]*|/\*.*?\*/)
      |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      |(?P<tick>`(?:[^`\\]|\\.)*`)
      |(?P<word>[A-Za-z_][\w:.]*[?!]?)
      |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_HOMES = r"""(?:require\(['"](?:node:)?os['"]\)\.|\bos\.|(?<![\w.]))homedir\(\)
      |\bprocess\.env(?:\.HOME\b|\[['"]HOME['"]\])|\bENV\[['"]HOME['"]\]|\$ENV\{['"]?HOME['"]?\}
      |\bgetenv\(['"]HOME['"]\)|\bDir\.home\b(?:\(\))?|\$_(?:SERVER|ENV)\[['"]HOME['"]\]
      |\bDeno\.env\.get\(['"]HOME['"]\)"""
_HOME = re.compile(
    rf"""(?P<code>{_HOMES})|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`""", re.VERBOSE | re.DOTALL
)
_INSIDE = re.compile(r"\$\{(?:process\.env\.HOME|(?:os\.)?homedir\(\))\}|\$ENV\{HOME\}|\#\{Dir\.home\}")
"""The same within a string."""
_JOIN = re.compile(r"""(?:\b[\w.]+\.)?\b(?:join|resolve)\(\s*"(/[^"]*)"\s*,\s*""")
"""``path.join(home, "x")``: what is meant lies below the home."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_DEEP = ("recursive",)
_DELETES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("unlink", "unlinkSync", "delete", "remove", "delete_all", "trash"), ()),
    **dict.fromkeys(("rm", "rmSync", "rmdir", "rmdirSync", "rimraf", "rimrafSync", "removeSync", "rm_r"), _DEEP),
    **dict.fromkeys(("rmtree", "remove_tree", "remove_dir", "remove_entry", "remove_entry_secure", "del"), _DEEP),
    **dict.fromkeys(("emptyDir", "emptyDirSync"), ("recursive", "contents")),
    "rm_rf": ("recursive", "force"),
    "rm_f": ("force",),
}
_WRITES: dict[str, str] = {
    **dict.fromkeys(
        ("writeFile", "writeFileSync", "truncate", "truncateSync", "createWriteStream", "write"), "truncate"
    ),
    **dict.fromkeys(
        ("outputFileSync", "writeTextFile", "writeTextFileSync", "binwrite", "file_put_contents"), "truncate"
    ),
    **dict.fromkeys(("appendFile", "appendFileSync"), "append"),
    **dict.fromkeys(("chmod", "chmodSync"), "mode"),
}
_WRITERS = ("File", "IO", "fs", "fsp", "fse", "Deno", "Bun", "promises", "")
"""Who owns ``write``, so that ``stdout.write`` writes no file."""
_NEEDS_OWNER = ("delete", "remove", "del", "trash")
"""Too common to mean files by themselves."""
_MOVES = ("rename", "renameSync", "move", "moveSync", "mv")
_READS = (
    "readFile",
    "readFileSync",
    "file_get_contents",
    "readfile",
    "readTextFile",
    "readTextFileSync",
    "createReadStream",
)
_SHELLS = (
    "system", "exec", "execSync", "popen", "shell_exec", "passthru", "proc_open", "qx", "spawn", "spawnSync",
    "execFile", "execFileSync", "execute", "capture2", "capture2e", "capture3", "Command",
)  # fmt: skip
_TICKS = ("perl", "ruby", "php")
_LISTS = ("perl", "ruby", "php")
"""Languages whose ``unlink`` takes several names."""

Tokens = Sequence[tuple[str, str]]


def inline(call: Call, text: str) -> Iterator[Effect]:
    """The effects of a text in one of these languages."""
    text = _homes(text, call.world.home)
    tokens = [(m.lastgroup or "", m[0]) for m in _TOKEN.finditer(text) if m.lastgroup != "space"]
    for at, (kind, lexeme) in enumerate(tokens):
        if kind == "tick" and call.command.program in _TICKS:
            yield from call.runner.script(constant(lexeme), call, call.command.program)
        elif kind == "word":
            owner, _, name = lexeme.replace("::", ".").rpartition(".")
            dotted = at > 0 and tokens[at - 1][1] in (".", ">")
            found = arguments(tokens, at + 1)
            if found and not (name in _NEEDS_OWNER and not owner and not dotted):
                yield from _sink(call, owner, name, found)


def _homes(text: str, home: str) -> str:
    """The text with the ways to say "the home" put as the constant that they are."""
    if not home or "/" not in home or not ("HOME" in text or "home" in text):
        return text

    def said(match: re.Match[str]) -> str:
        if match["code"]:
            return f'"{home}"'
        return match[0] if match[0][0] == "'" else _INSIDE.sub(lambda _: home, match[0])

    return _JOIN.sub(lambda m: f'"{m[1].rstrip("/")}/" + ', _HOME.sub(said, text))


def arguments(tokens: Tokens, at: int) -> list[str]:
    """The constant strings behind a name, up to the closing parenthesis or the end of the statement."""
    found: list[str] = []
    joins, depth = False, 0
    for kind, lexeme in tokens[at : at + REACH]:
        if kind in ("string", "tick"):
            if joins and found:
                found[-1] += constant(lexeme)
            else:
                found.append(constant(lexeme))
            joins = False
        elif lexeme in ("(", "[", "{"):
            depth += 1
        elif lexeme in (")", "]", "}"):
            depth -= 1
            if depth <= 0:
                break
        elif lexeme in ("+", "."):
            joins = True
        elif lexeme == ";" or (kind == "word" and not found and depth == 0):
            break
    return found


def constant(literal: str) -> str:
    """The value of a quoted string."""
    text = literal[1:-1]
    return _ESCAPE.sub(r"\1", ansi_c(text)) if "\\" in text else text


def _sink(call: Call, owner: str, name: str, found: Sequence[str]) -> Iterator[Effect]:
    first, program = Field(found[0]), call.command.program
    if name in _DELETES:
        names = found if program in _LISTS else found[:1]
        yield from call.delete([Field(text) for text in names], *_DELETES[name])
    elif name in _WRITES and owner.rpartition(".")[2] in _WRITERS:
        yield from call.write(first, _WRITES[name])
    elif name == "open" and len(found) > 1:
        yield from _open(call, found)
    elif name in _MOVES and len(found) > 1:
        yield from call.delete([first], "move")
        yield from call.write(Field(found[1]), "move")
    elif name == "eval":
        yield from inline(call, found[0])
    elif name in _READS:
        yield from call.read(first)
    elif name in _SHELLS and len(found) > 1 and " " not in found[0]:
        yield from call.runner.run([Field(text) for text in found], call, program)
    elif name in _SHELLS:
        yield from call.runner.script(found[0], call, program)


def _open(call: Call, found: Sequence[str]) -> Iterator[Effect]:
    """``open(F, ">", "x")`` of Perl, ``File.open("x", "w")`` of the others."""
    mode, path = found[:2] if found[0].strip("+") in (">", ">>", "<") else found[1::-1]
    if set(mode) & set("wa+>"):
        yield from call.write(Field(path), "append" if ">>" in mode or "a" in mode else "truncate")
    else:
        yield from call.read(Field(path))
