"""Effects of library functions, given as table rows: ``"fs.rm": "delete recursive"``. Verb, then how, then where.

===========  ======================================================================================================
delete       the first argument, or each item of it; ``delete-all``: every argument is a name
move copy    from the first argument to the second
link         the second argument is another name for the first
write read   the first argument; a number among the words says which other one
open         the first argument, in the mode that the second names
shell        the first argument is a text for the shell; run: that, or with more arguments a program with its own
argv         the first argument is a program, or a list of it and its arguments
exec         as argv, with the list beside the program's path: ``execv(path, argv)``
perl-open    the mode stands before the path, or in it
eval         the first argument is code of the same language
load         the first argument is a file of code, which is read
network      the first argument is where to; signal: which process
database     the first argument is SQL
chdir        the first argument is the directory from here on
fork         copies of the process without end; privilege: of the name that the row says
hidden       what it reaches cannot be known
===========  ======================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import file_modes
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.shared.program_values import (
    MAX_TEXT,
    UNRESOLVED,
    constant,
    field,
    flat,
    narrowed,
    text_of,
)
from sentinel_guard.core.analysis.programs.databases import cypher_statements, sql_statements
from sentinel_guard.core.model import Effect, Kind

MAX_STEPS = 10_000
"""Expressions of one text, rounds of loops counted."""
TOKENS = 20
"""Looking through so many tokens costs as much as a step."""
MAX_DEPTH = 5
"""Texts of code inside texts of code."""
_FLAGS = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)")
_ENVIRONMENT = re.compile(
    r"(?<!env=)(?:(?:dict|str|repr|list)\(os\.environ\)|os\.environ\.(?:copy|items)\(|(?:json|data|body)\s*[=:]\s*os\.environ\b(?![.\[]))"
    r"|(?<!env=\{)\*\*os\.environ\b|JSON\.stringify\(process\.env\)|(?:json|data|body)\s*:\s*process\.env\b(?!\.|\[)"
    r"|\bENV\.to_h\b|\bgetenv\(\)"
)
"""All variables of the environment as one value, but for where they are given on to a process."""
_NOTHING: Mapping[str, object] = {}

_ADDRESS = re.compile(r"(?:https?|ftp)://")
"""What functions for files take in the place of one: PHP's ``copy``, R's ``readLines``."""


class EffectCollector:
    """Collects the effects of one text and of what it evaluates."""

    def __init__(self, call: Call, evaluate: Callable[[EffectCollector, str], None], file: str = "") -> None:
        self.call = call
        self.file = file
        """The absolute path of the file that holds the text; empty for a text of the command line."""
        self.effects: list[Effect] = []
        self.depth = 0
        self.level = 0
        """Expressions inside expressions."""
        self._evaluate = evaluate
        self._left = MAX_STEPS

    def run_text(self, text: str) -> None:
        """Evaluates the whole text."""
        try:
            self._evaluate(self, text)
        except RecursionError:
            self.opaque(text[:80], "parse")

    def spend(self, tokens: int = 0) -> bool:
        """Counts one step, and more for tokens that were looked through; False when the budget is gone."""
        before = self._left
        self._left -= 1 + tokens // TOKENS
        if self._left <= 0 < before:
            self.opaque(f"more than {MAX_STEPS} steps", "parse")
        return self._left > 0

    def doubt(self, mark: int) -> None:
        """What was added since ``mark`` may never happen."""
        self.effects[mark:] = [replace(e, sure=False) for e in self.effects[mark:]]

    def opaque(self, text: str, how: str) -> None:
        effect = self.call.opaque(text.replace(UNKNOWN, "…")[:200], how)
        if effect not in self.effects:
            self.effects.append(effect)

    def do(self, row: str, values: Sequence[object], named: Mapping[str, object] = _NOTHING) -> object:
        """Performs a row of a table on these arguments."""
        verb, *how = row.split()
        _VERBS[verb](self, list(values), how, named)
        return UNRESOLVED

    # ---- files ----

    def delete(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        self.delete_all(values[:1] or [named.get("path", named.get("x", UNRESOLVED))], how, named)

    def delete_all(self, values: list[object], how: list[str], _: Mapping[str, object]) -> None:
        items = [found for v in flat(values) if not isinstance(v, dict) for found in narrowed(self.call, v)]
        self.effects += self.call.delete([field(item) for item in items], *how)

    def move(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        source, target = _two(values, named)
        out = self.call.leaves(field(target)) if constant(target) is not None else ("out",)
        for item in flat(source):
            self.effects += self.call.delete([field(item)], "move", *out, *how)
        self._arrive(source, target, "move")

    def copy(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        source, target = _two(values, named)
        for item in flat(source):
            if _ADDRESS.match(constant(item) or ""):
                self.network([item], [], {})
            else:
                self.effects += self.call.read(field(item))
        self._arrive(source, target, *(how or ["truncate"]))

    def _arrive(self, source: object, target: object, *how: str) -> None:
        item = field(target)
        into = constant(target) is not None and self.call.is_folder(item)
        for one in flat(source):
            self.effects += self.call.write(self.call.into(item, field(one)) if into else item, *how)

    def link(self, values: list[object], _: list[str], named: Mapping[str, object]) -> None:
        source, target = _two(values, named)
        self.effects += self.call.read(field(source), "link")
        self.effects += self.call.write(field(target), "link")
        name, path = constant(target), constant(source)
        if name is not None and path is not None:
            self.call.world.link(self.call.locate(name, follow=False), self.call.locate(path))

    def write(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        if "mode" in how and any(map(file_modes.opens, (*values[:2], *named.values()))):
            how = [*how, "open"]
        place, how = _which(values, how, named)
        if isinstance(place, list):
            for item in flat(place):
                self.effects += self.call.write(field(item), *how)
        else:
            self.effects += self.call.write(field(place), *how)

    def read(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        place, _ = _which(values, how, named)
        for item in flat(place):
            if (constant(item) or "").startswith("|"):  # Ruby
                self.shell([text_of(item)[1:]], [], {})
            elif _ADDRESS.match(constant(item) or ""):
                self.network([item], [], {})
            else:
                self.effects += self.call.read(field(item))

    def open(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        path, how = _which(values, how, named)
        mode = named.get("mode", named.get("open", values[1] if len(values) > 1 else "r"))
        text = " ".join(map(text_of, flat(mode)))
        given = constant(path) or ""
        if given.startswith("|"):
            self.shell([given[1:]], [], named)
        elif set("wax+c>") & set(text.replace("exclusive", "x").replace("read", "r")) or _FLAGS.search(text):
            self.write(
                [path], ["append" if ("a" in text and "trunc" not in text.lower()) or ">>" in text else "truncate"], {}
            )
        else:
            self.read([path], [], {})

    def perl_open(self, values: list[object], _: list[str], __: Mapping[str, object]) -> None:
        """``open(F, ">", "x")``, ``open(F, "> x")``, ``open(F, "cmd |")``."""
        mode = text_of(values[1]).strip() if len(values) > 1 else ""
        if len(values) > 2 and mode in ("-|", "|-"):
            self.run(values[2:], [], {})
        elif len(values) > 2:
            self.open([values[2], mode], [], {})
        elif mode.startswith("|"):
            self.shell([f'printf %s "{UNKNOWN}" | {mode[1:]}'], [], {})
        elif mode.endswith("|"):
            self.shell([mode[:-1]], [], {})
        elif mode:
            self.open([mode.lstrip("+<> "), mode[: len(mode) - len(mode.lstrip("+<> "))]], [], {})

    # ---- programs ----

    def shell(self, values: list[object], _: list[str], named: Mapping[str, object]) -> None:
        value = values[0] if values else named.get("args", named.get("cmd", UNRESOLVED))
        text = text_of(value)
        if isinstance(value, list):
            self.argv([value, *values[1:]], [], named)
        elif "input" in named and constant(value):
            self.start(list(text_of(value).split()), self._folder(values, named), named["input"])
        elif text == UNKNOWN:
            self.opaque("a value given to the shell", "code")
        else:
            cwd = self._folder(values, named)
            self.effects += self.call.runner.script(_shown(text), self.call, self.call.command.program, cwd=cwd)

    def run(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        plain = [v for v in values if not isinstance(v, dict)]
        options = [v for v in values if isinstance(v, dict)]
        if len(plain) > 1 or (plain and isinstance(plain[0], list)):
            self.argv([flat(plain), *options], how, named)
        else:
            self.shell([*plain, *options], how, named)

    def argv(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        first = values[0] if values else named.get("args", UNRESOLVED)
        if isinstance(first, list):
            parts, options = flat(first), values[1:]
        else:
            rest = values[1] if len(values) > 1 else []
            parts, options = [first, *(flat(rest) if isinstance(rest, list) else [])], values[1:]
            parts += [one for v in options if isinstance(v, dict) and "args" in v for one in flat(v["args"])]  # Deno
        through = [named.get("shell"), *(v.get("shell") for v in options if isinstance(v, dict))]
        if any(isinstance(v, str) or v is True for v in through):
            self.shell([" ".join(map(text_of, parts))], how, named)
        else:
            self.start(parts, self._folder(values, named), named.get("input", UNRESOLVED if "stdin" in named else None))

    def _folder(self, values: list[object], named: Mapping[str, object]) -> str:
        """The directory that a program is started in; empty for this one."""
        given = [named.get("cwd"), *(v.get("cwd") for v in values if isinstance(v, dict))]
        path = next((constant(v) for v in given if v is not None), None)
        return self.call.locate(path) if path else ""

    def chdir(self, values: list[object], _: list[str], __: Mapping[str, object]) -> None:
        path = constant(values[0]) if values else None
        self.call = replace(self.call, cwd=self.call.locate(path) if path else self.call.cwd, here=path is not None)

    def exec(self, values: list[object], _: list[str], __: Mapping[str, object]) -> None:
        inner = next((v for v in values if isinstance(v, list)), None)
        parts = [v for v in values if not isinstance(v, dict)]
        self.start(flat(inner) if inner else parts[1:] if len(parts) > 1 else parts)

    def start(self, parts: list[object], cwd: str = "", stdin: object = None) -> None:
        """A program with its arguments, and what it reads if that is given."""
        fields = [field(part) for part in parts]
        if not fields or (text_of(parts[0]) == UNKNOWN):
            self.opaque("a program whose name is a value", "name")
        else:
            text = None if stdin is None else text_of(stdin)
            name = self.call.command.program
            self.effects += self.call.runner.run(fields, self.call, name, stdin=text, cwd=cwd)

    # ---- code and the rest ----

    def eval(self, values: list[object], how: list[str], _: Mapping[str, object]) -> None:
        text = text_of(values[-1] if "last" in how and values else values[0] if values else UNRESOLVED)
        if UNKNOWN in text or self.depth >= MAX_DEPTH or len(text) > MAX_TEXT:
            self.opaque(text if text != UNKNOWN else "a value run as code", "code")
        if text != UNKNOWN and self.depth < MAX_DEPTH:
            self.depth += 1
            self._evaluate(self, text.replace(UNKNOWN, ""))
            self.depth -= 1

    def load(self, values: list[object], _: list[str], __: Mapping[str, object]) -> None:
        path = constant(values[0]) if values else None
        if path is None:
            self.opaque("a file of code whose name is a value", "data")
            return
        self.effects += self.call.read(Field(path))
        text = self.call.script_text(self.call.locate(path))
        if text is not None and self.depth < MAX_DEPTH:
            self.call, before = replace(self.call, files=self.call.files + 1), self.call
            mark = len(self.effects)
            self.eval([text], [], {})
            self.effects[mark:] = [e for e in self.effects[mark:] if e.kind is not Kind.OPAQUE]
            self.call = before

    def network(self, values: list[object], how: list[str], named: Mapping[str, object]) -> None:
        where = constant(values[0]) if values else constant(named.get("url", UNRESOLVED))
        given = [*named, *(key for v in values if isinstance(v, dict) for key in v)]
        sends = "data" in how or not {"data", "json", "body", "files", "content"}.isdisjoint(given)
        effect = self.call.effect(Kind.NETWORK, where or "a host", *(["data"] if sends else []))
        self.effects.append(replace(effect, data=UNKNOWN) if sends else effect)  # what code sends may be anything
        if sends and any(map(_ENVIRONMENT.search, (*self.call.command.argv, self.call.stdin))):
            self.effects.append(self.call.effect(Kind.READ, "/proc/self/environ", sure=False))

    def signal(self, values: list[object], _: list[str], __: Mapping[str, object]) -> None:
        names = [text_of(v).removeprefix("SIG") for v in values]
        force = ["force"] if {"KILL", "9"} & set(names[1:]) or names[:1] in (["KILL"], ["9"]) else []
        pid = next((n for n in names if n.lstrip("-").isdigit() and n != "9"), None)
        self.effects.append(self.call.effect(Kind.SIGNAL, pid or "a pid", *force, sure=pid is not None))

    def database(self, values: list[object], _: list[str], __: Mapping[str, object]) -> None:
        text = text_of(values[0]) if values else ""
        if cypher_statements.is_cypher(text):
            for statement in cypher_statements.losing(text):
                self.effects.append(self.call.effect(Kind.DATABASE, statement, "delete", sure=UNKNOWN not in text))
            return
        for what in sql_statements.found(text.replace(UNKNOWN, "?")):
            if what.how in ("delete", "truncate"):
                self.effects.append(self.call.effect(Kind.DATABASE, what.text, what.how, sure=UNKNOWN not in text))

    def fork(self, _: list[object], __: list[str], ___: Mapping[str, object]) -> None:
        self.effects.append(self.call.effect(Kind.EXECUTE, "fork", "forkbomb"))

    def privilege(self, _: list[object], how: list[str], __: Mapping[str, object]) -> None:
        self.effects.append(self.call.effect(Kind.PRIVILEGE, " ".join(how), sure=False))

    def hidden(self, values: list[object], _: list[str], __: Mapping[str, object]) -> None:
        self.opaque(text_of(values[0]) if values else "a hidden function", "code")


def _two(values: list[object], named: Mapping[str, object]) -> tuple[object, object]:
    source = values[0] if values else named.get("src", named.get("from", UNRESOLVED))
    return source, values[1] if len(values) > 1 else named.get("dst", named.get("to", UNRESOLVED))


def _which(values: list[object], how: list[str], named: Mapping[str, object]) -> tuple[object, list[str]]:
    """The argument that the row names by its number, else the first; and the other words."""
    at = next((int(word) for word in how if word.isdigit()), 0)
    words = [word for word in how if not word.isdigit()]
    for name in ("path", "file", "filename", "con", "FilePath"):
        if name in named and len(values) <= at:
            return named[name], words
    return (values[at] if len(values) > at else UNRESOLVED), words


def _shown(text: str) -> str:
    """Shell text in which an unset variable stands for what is not known."""
    first, *pieces = text.split(UNKNOWN)
    result, quoted = [first], first.count("'") % 2
    for piece in pieces:
        result += ["'\"$unknown_value\"'" if quoted else "$unknown_value", piece]
        quoted = (quoted + piece.count("'")) % 2
    return "".join(result)


_VERBS: dict[str, Callable[[EffectCollector, list[object], list[str], Mapping[str, object]], None]] = {
    "delete": EffectCollector.delete,
    "delete-all": EffectCollector.delete_all,
    "move": EffectCollector.move,
    "copy": EffectCollector.copy,
    "link": EffectCollector.link,
    "write": EffectCollector.write,
    "read": EffectCollector.read,
    "open": EffectCollector.open,
    "shell": EffectCollector.shell,
    "run": EffectCollector.run,
    "argv": EffectCollector.argv,
    "exec": EffectCollector.exec,
    "eval": EffectCollector.eval,
    "load": EffectCollector.load,
    "network": EffectCollector.network,
    "signal": EffectCollector.signal,
    "database": EffectCollector.database,
    "hidden": EffectCollector.hidden,
    "perl-open": EffectCollector.perl_open,
    "chdir": EffectCollector.chdir,
    "fork": EffectCollector.fork,
    "privilege": EffectCollector.privilege,
}
