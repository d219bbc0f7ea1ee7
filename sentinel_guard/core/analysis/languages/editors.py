"""Text editors run by scripted commands: vim and ex (``-c``, ``+``), ed (standard input), emacs (``--eval``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.one_liners.one_liner_effects import inline
from sentinel_guard.core.analysis.languages.python.python_effects import python
from sentinel_guard.core.analysis.languages.shared import pure_functions
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import (
    UNRESOLVED,
    abstract,
    environment,
    expanded,
    flat,
    joined,
    path_join,
    text_of,
)
from sentinel_guard.core.analysis.languages.shared.tokenizer import unescaped
from sentinel_guard.core.model import Effect

Effects = Iterable[Effect]

MAX_COMMANDS = 500
"""Commands of vim in one call that are looked at."""
MAX_LINES = 5_000
"""Lines for ed that are looked at."""

# ---- vim, ex ----

_RANGE = re.compile(r"[\s:]*(?:(?:\d+|[%.$*,;+\-]|'[<>a-zA-Z]|/(?:[^/\\]|\\.){0,200}+/|\?[^?]{0,200}+\?)\s*)*")
_MODIFIER = re.compile(r"(?:sil(?:ent)?!?|keepj\w*|keepalt|noautocmd|noa|verbose|conf\w*|tab|vert\w*|bo\w*)\s+")
_COMMAND = re.compile(r"([a-zA-Z]+\d?|!)(!?)\s*")
_GLOBAL = re.compile(r"(?:g|v)(?:lobal)?!?/(?:[^/\\]|\\.){0,500}+/")
_WRITES = re.compile(r"w|wr|wri|writ|write|wq|x|xit|exit|up|update|sav|saveas|wn|wN|wp")
_ALL = ("wa", "wall", "wqa", "wqall", "xa", "xall")
_READS = re.compile(r"r|re|rea|read")
_OPENS = re.compile(r"e|ed|edit|ex|tabe|tabedit|tabnew|sp|split|vs|vsplit|vi|view|new|vnew|fin|find|n|next|badd|bad")
_SCRIPTS = {
    "call": "vim", "cal": "vim", "echo": "vim", "ec": "vim", "let": "vim", "echom": "vim", "if": "vim", "lua": "lua",
    "lu": "lua", "ruby": "ruby", "rub": "ruby", "perl": "perl", "pe": "perl", "return": "vim", "silent": "vim",
}  # fmt: skip
_GIT = {"G": "", "Git": "", **dict.fromkeys(("Gread", "Gr", "Gitsigns"), "checkout -- .")}
"""Commands of plugins for git, and git's own words where they are not written; ``.`` for the file of the buffer."""
_PYTHON = ("py", "py3", "python", "python3", "pyx", "pythonx")


class _Vim:
    """A run of ex commands: what they do, and whether they write the files that were opened."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.effects: list[Effect] = []
        self.writes = False
        self.left = MAX_COMMANDS

    def text(self, text: str) -> None:
        """Lines of commands, with bars between them."""
        for line in text.split("\n"):
            rest: str | None = line
            while rest is not None:
                self.left -= 1
                if self.left < 0:
                    self.effects.append(self.call.opaque(f"more than {MAX_COMMANDS} editor commands", "parse"))
                    return
                rest = self.command(rest, 0)

    def command(self, line: str, depth: int) -> str | None:
        """One command; what stands behind its bar."""
        start = _RANGE.match(line)
        line = line[start.end() :] if start else line
        while modifier := _MODIFIER.match(line):
            line = line[modifier.end() :]
        match = _COMMAND.match(line)
        if match is None:
            return None
        name, bang, rest = match[1], match[2], line[match.end() :]
        if name == "!":
            self.effects += self.call.runner.script(bang + rest, self.call, self.call.command.program)
        elif glob := _GLOBAL.match(line):
            return self.command(line[glob.end() :], depth + 1) if depth < 3 else None
        elif name in _SCRIPTS:
            self.effects += inline(self.call, rest, _SCRIPTS[name])
        elif name in _PYTHON:
            self.effects += python(self.call, rest)
        elif name in ("exe", "exec", "execute") and depth < 3:
            strings = re.findall(r"'((?:[^']|'')*)'|\"((?:[^\"\\]|\\.)*)\"", rest)
            return self.command("".join(a.replace("''", "'") + unescaped(b) for a, b in strings), depth + 1)
        elif name in ("ter", "term", "terminal"):
            self.effects += self.call.runner.script(rest, self.call, self.call.command.program)
        elif name in _GIT and (name != "Gitsigns" or rest.startswith("reset")):
            program = self.call.command.program
            self.effects += self.call.runner.script(f"git {_GIT[name] or rest}", self.call, program)
        else:
            return self._file(name, bang, rest)
        return None

    def _file(self, name: str, bang: str, rest: str) -> str | None:
        argument, bar, after = _cut(rest)
        argument = argument.strip()
        writes, reads = _WRITES.fullmatch(name), _READS.fullmatch(name)
        if ((writes or reads) and rest.startswith("!")) or (reads and bang):
            self.effects += self.call.runner.script(rest.removeprefix("!"), self.call, self.call.command.program)
            return None
        if (writes and not argument.lstrip("> ")) or name in _ALL:
            self.writes = True
        elif writes:
            how = "append" if argument.startswith(">>") else "truncate"
            self.effects += self.call.write(_path(self.call, argument.lstrip("> ")), how)
        elif name in ("so", "source", "ru", "runtime") and argument:
            item = _path(self.call, argument)
            if "://" in argument or (item.known and self.call.world.is_fetched(self.call.locate(item))):
                self.effects.append(self.call.opaque(argument, "code"))
            self.effects += self.call.read(item)
        elif reads and argument:
            self.effects += self.call.read(_path(self.call, argument))
        elif _OPENS.fullmatch(name) and argument and not argument.startswith("+"):
            self.effects += self.call.write(_path(self.call, argument), "inplace")
        return after if bar else None


def _cut(text: str) -> tuple[str, str, str]:
    """A command, and what stands behind its bar."""
    match = re.search(r"(?<!\\)\|", text)
    return (text, "", "") if match is None else (text[: match.start()], "|", text[match.end() :])


def _path(call: Call, text: str) -> Field:
    return Field(expanded(text.replace("\\ ", " "), call.world.home), "%" not in text and "#" not in text)


_ALL_LINES = re.compile(
    r"(?:^|[|:]|do!?\s)\s*(?:silent!?\s+)?(?:%|1,\$|0,\$|g/\^?\.?\*?/)\s*d(?:e|elete)?\b(?:\s*[_a-z])?\s*(?:\||$)"
)
"""A command that leaves no line of the buffer."""


def vim(call: Call) -> Effects:
    """The commands do what they say. The operands are written, unless a batch of commands does not write them."""
    run = _Vim(call)
    name = call.command.program
    items = [item for item in call.operands if not item.text.startswith("+")]
    given = [item.text[1:] for item in call.operands if item.text.startswith("+") and len(item.text) > 1]
    commands = call.parsed.values("-c", "--cmd")
    given += [abstract(call, item) for item in commands]
    batch = call.has("-es", "-E", "-e", "--headless", "--clean") or (name == "ex") or (call.has("-s") and name == "vim")
    if call.stdin and (batch or "-" in [item.text for item in items]) and "-" not in [i.text for i in items]:
        given.append(call.stdin)
    for item in call.parsed.values("-S"):
        text = call.script_text(call.locate(item)) if item.known and item.text else None
        given += [] if text is None else [text]
    for text in given:
        if UNKNOWN in text:
            run.writes = True
        run.text(text.replace(UNKNOWN, ""))
    yield from run.effects
    reads = call.has("-R", "-M") or name in ("view", "vimdiff")
    known = given and batch and not run.writes
    emptied = ("empty",) if any(map(_ALL_LINES.search, given)) else ()
    for item in items:
        yield from call.read(item) if reads or known else call.write(item, "inplace", *emptied)


# ---- ed ----

_ED = re.compile(
    r"\s*(?:(?:\d+|[.$%,;+\-]|'[a-z]|/(?:[^/\\]|\\.){0,500}+/|\?[^?]{0,500}+\?)\s*)*([a-zA-Z!])(!?)\s*(.*)", re.DOTALL
)


def ed(call: Call) -> Effects:
    """The script on standard input; without one the operand may be written."""
    items = list(call.operands)
    for item in items:
        if item.text.startswith("!"):
            yield from call.runner.script(item.text[1:], call, "ed")
    script = call.stdin
    files = [item for item in items if not item.text.startswith("!")]
    if not script or UNKNOWN in script:
        for item in files:
            yield from call.write(item, "inplace")
        return
    current = files[-1] if files else None
    texts = False
    lines = script.split("\n")
    if len(lines) > MAX_LINES:
        yield call.opaque(f"more than {MAX_LINES} lines for ed", "parse")
    emptied = False
    for line in lines[:MAX_LINES]:
        if texts:
            texts = line != "."
            continue
        emptied = emptied or _ALL_LINES.search(line.replace(",d", "1,$d", 1) if line == ",d" else line) is not None
        glob = re.match(r"\s*[\d,.$%]*\s*[gGvV]/(?:[^/\\]|\\.){0,500}+/", line)
        match = _ED.match(line[glob.end() :] if glob else line)
        if match is None:
            continue
        texts = match[1] in "aic" and not match[3].strip()
        current = yield from _ed_command(call, match, current, emptied=emptied)


def _ed_command(
    call: Call, match: re.Match[str], current: Field | None, *, emptied: bool
) -> Generator[Effect, None, Field | None]:
    """One command; the file that is edited from here on."""
    letter, rest = match[1], match[3].strip()
    rest = rest[1:].strip() if letter in "wW" and rest[:1] == "q" and rest[1:2] in ("", " ") else rest
    if letter == "!" or (letter in "wrWeE" and (match[2] or rest.startswith("!"))):
        yield from call.runner.script(rest.removeprefix("!"), call, "ed")
    elif letter in ("w", "W"):
        target = _path(call, rest) if rest else current
        if target is not None:
            how = "append" if letter == "W" else "inplace" if not rest else "truncate"
            yield from call.write(target, how, *(("empty",) if emptied and not rest else ()))
    elif letter in ("r", "e", "E") and rest:
        yield from call.read(_path(call, rest))
        current = _path(call, rest) if letter != "r" else current
    elif letter == "f" and rest:
        current = _path(call, rest)
    return current


# ---- emacs ----

_LISP = re.compile(
    r"(?P<space>\s+|;[^\n]*)|(?P<string>\"[^\"\\]*(?:\\.[^\"\\]*)*(?:\"|\Z))|(?P<op>[()'`,@])|(?P<word>[^\s()\"';`,]+)|.",
    re.DOTALL,
)
_LISP_SINKS = {
    "delete-file": "delete", "delete-directory": "delete recursive", "move-file-to-trash": "delete recursive",
    "shell-command": "shell", "shell-command-to-string": "shell", "async-shell-command": "shell",
    "call-process-shell-command": "shell", "start-process-shell-command": "shell", "rename-file": "move",
    "copy-file": "copy", "make-symbolic-link": "link", "add-name-to-file": "link", "write-file": "write truncate",
    "with-temp-file": "write truncate", "set-file-modes": "write mode", "find-file": "write inplace",
    "insert-file-contents": "read", "write-region": "write truncate 2", "append-to-file": "write append 2",
    "find-file-noselect": "read", "make-directory": "write append", "load-file": "read", "process-lines": "exec 0",
}  # fmt: skip
_MAX_LISP = 40


class _Lisp:
    def __init__(self, text: str, deeds: EffectCollector) -> None:
        self.tokens = [(m.lastgroup or "op", m[0]) for m in _LISP.finditer(text) if m.lastgroup != "space"]
        self.deeds = deeds
        self.at = 0
        self.names: dict[str, object] = {}

    def read(self) -> None:
        while self.at < len(self.tokens):
            self.value(0)

    def value(self, depth: int) -> object:
        """One form; calls in it take effect."""
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "string":
            return unescaped(text[1:].removesuffix('"'))
        if text == "(" and depth < _MAX_LISP:
            return self._form(depth + 1)
        if kind == "word":
            if text.lstrip("-").isdecimal() and len(text) < 10:
                return int(text)
            return self.names.get(text, UNRESOLVED)
        return UNRESOLVED

    def _form(self, depth: int) -> object:
        head = self.tokens[self.at][1] if self.at < len(self.tokens) and self.tokens[self.at][0] == "word" else ""
        self.at += bool(head)
        name = self.tokens[self.at][1] if head in ("setq", "defvar") and self.at < len(self.tokens) else ""
        values: list[object] = []
        while self.at < len(self.tokens) and self.tokens[self.at][1] != ")":
            values.append(self.value(depth))
        self.at += 1
        if name and len(values) > 1:
            self.names[name] = values[1]
        elif not head and len(values) == 2:
            return values
        return self._call(head, values)

    def _call(self, head: str, values: list[object]) -> object:
        match head:
            case "concat":
                return joined(*values)
            case "expand-file-name" | "concat-path" | "file-truename":
                return path_join([text_of(v) for v in values[1::-1]]) if values else UNRESOLVED
            case "getenv":
                return environment(self.deeds.call, values[0]) if values else UNRESOLVED
            case "format":
                return pure_functions.formatted(text_of(values[0]), values[1:]) if values else UNRESOLVED
            case "list":
                return values
            case "call-process":
                self.deeds.start([values[0] if values else UNRESOLVED, *values[4:]])
            case "start-process":
                self.deeds.start(flat(values[2:]))
            case _ if head in _LISP_SINKS:
                self.deeds.do(_LISP_SINKS[head], values)
        return values[-1] if head in ("progn", "let", "quote") and values else UNRESOLVED


def emacs(call: Call) -> Effects:
    """``--eval``, ``-l`` and ``--script``; the operands are written, in a batch read."""
    deeds = EffectCollector(call, lambda inner, code: _Lisp(code, inner).read())
    for item in call.parsed.values("--eval", "-eval", "--execute", "-execute"):
        if item.known:
            deeds.run_text(item.text)
        else:
            deeds.opaque(item.text, "code")
    for item in call.parsed.values("-l", "--load", "-load", "--script", "-script", "-x"):
        deeds.do("load", [item.text if item.known else UNRESOLVED])
    yield from deeds.effects
    batch = call.has("--batch", "-batch", "--script", "-script")
    for item in call.operands:
        yield from call.read(item) if batch else call.write(item, "inplace")


def plain(call: Call) -> Effects:
    """Nano and its kin: the operands are written."""
    for item in _files(call.operands):
        yield from call.write(item, "inplace")


def _files(items: Sequence[Field]) -> list[Field]:
    return [item for item in items if not item.text.startswith("+")]


_VIMS = ("vi", "vim", "nvim", "ex", "gvim", "mvim", "view", "vimdiff", "rvim")
_VIM = options("-c= --cmd= -u= -S= -w= -W= -T= -U= -i= --startuptime= --listen= --server=")
OPTIONS = {
    **dict.fromkeys(_VIMS, _VIM),
    "ed": options("-p= --prompt="),
    "nano": options("-T= -r= -s= -Y="),
    "emacs": options(
        "--eval= -eval= --execute= -execute= -l= --load= -load= --script= -script= -f= --funcall= -funcall= -u= -d= "
        "--batch -batch -nw -Q -q --quick --visit= --file= --insert= --directory= | words"
    ),
}
OPTIONS["emacsclient"] = options("--eval -e -s= -f= -a= | words")

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys(_VIMS, vim),
    **dict.fromkeys(("ed", "red"), ed),
    **dict.fromkeys(("nano", "pico", "micro", "joe", "jed", "kak", "helix", "hx"), plain),
    "emacs": emacs,
}
