"""Interpreters (bash, python, perl, ruby, node, php …): finds the code in their arguments or files, and analyses it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import (
    SHELLS,
    STDIN,
    UNKNOWN,
    Call,
    Options,
    Parsed,
    options,
)
from sentinel_guard.core.analysis.expansion.shell_state import INTERACTIVE, Field
from sentinel_guard.core.analysis.languages import (
    awk,
    cmd_shell,
    compilers_and_runtimes,
    editors,
    fish_syntax,
    nushell,
    powershell,
    python_m_modules,
    sed,
)
from sentinel_guard.core.analysis.languages.interpreter_options import OptionSyntax, ParsedOptions, parse_options
from sentinel_guard.core.analysis.languages.one_liners.language_tables import GRAMMARS
from sentinel_guard.core.analysis.languages.one_liners.one_liner_effects import inline, lenient
from sentinel_guard.core.analysis.languages.python.python_effects import python as python_text
from sentinel_guard.core.analysis.languages.shared.program_values import abstract
from sentinel_guard.core.analysis.languages.shared.tokenizer import tokens
from sentinel_guard.core.analysis.programs.build_scripts import npm
from sentinel_guard.core.analysis.programs.databases.migrations import SCRIPTS, tasks
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


def shell(call: Call) -> Effects:
    """``-c TEXT NAME ARGS``, ``SCRIPT ARGS``, or the script on standard input."""
    name, items = call.command.program, call.operands
    if items and _PLUS.fullmatch(items[0].text):
        yield from call.runner.run(_without_plus(call.fields), call, name)
        return
    if call.has("-n") and not call.has("-i") and "exec" not in (item.text for item in call.parsed.values("-o")):
        return  # reads the script, runs nothing
    traces = call.has("-x", "-v") or any(item.text in ("xtrace", "verbose") for item in call.parsed.values("-o"))
    if traces or call.has("-i"):
        call = replace(call, scope=call.scope.copy())
        call.scope.options |= {"xtrace": traces, INTERACTIVE: call.has("-i")}
    for item in call.parsed.values("--rcfile", "--init-file"):
        yield from follow(call, item, (), name)
    for item in call.parsed.values("-c", "--command", "-C", "--init-command"):
        yield from call.runner.script(_of(name, item.text) if item.known else UNKNOWN, call, name)
    if call.has("-c", "--command"):
        if items and not call.parsed.values("-c", "--command"):
            text = items[0].text if items[0].known or items[0].text.strip() else UNKNOWN
            zero = items[1].text if items[1:] and items[1].known else None
            yield from call.runner.script(_of(name, text), call, name, positional=_texts(items[2:]), name=zero)
    elif items and not call.has("-s") and not call.is_stdin(items[0]):
        yield from follow(call, items[0], items[1:], name)
    elif call.stdin:
        yield from call.runner.script(_of(name, call.stdin), call, name, positional=_texts(items))


def _of(shell_name: str, text: str) -> str:
    """A text for another shell, as bash would have it."""
    if shell_name == "fish":
        return fish_syntax.to_bash(text)
    return _QUALIFIERS.sub(r"\1", text) if shell_name == "zsh" else text


_QUALIFIERS = re.compile(r"([*?\]][^\s()'\"|;&]*)\([^()\s|'\"$`]*\)(?=[\s;|&)]|$)")
"""Behind a pattern zsh chooses among what it finds: ``**/*.ts(N)``. All of it may be meant."""
_PLUS = re.compile(r"\+[A-Za-z]+")


def _without_plus(fields: Sequence[Field]) -> list[Field]:
    """``bash +x -c …``: options that are taken away; ``+o`` and ``+O`` have a value. With ``-n +n`` a script runs."""
    at = next(n for n, item in enumerate(fields) if _PLUS.fullmatch(item.text))
    behind = at + (2 if fields[at].text[-1] in "oO" else 1)
    executes = "n" in fields[at].text or [item.text for item in fields[at + 1 : behind]] == ["noexec"]
    begun = [*filter(None, map(_without_n, fields[:at]))] if executes else fields[:at]
    return [*begun, *fields[behind:]]


def _without_n(item: Field) -> Field | None:
    letters = item.text[1:].replace("n", "")
    return item if not re.fullmatch(r"-[A-Za-z]+", item.text) else Field(f"-{letters}") if letters else None


def _texts(items: Sequence[Field]) -> list[str] | None:
    return [item.text for item in items] if all(item.known for item in items) else None


def follow(call: Call, item: Field, rest: Sequence[Field], via: str) -> Iterator[Effect]:
    """A script file is what it contains."""
    if not item.known:
        yield call.opaque(item, "code")
        return
    path = call.locate(item)
    yield call.effect(Kind.READ, path, sure=call.certain(item.text))
    if item.text.startswith("/dev/fd/"):
        text = call.world.read(item.text)
        yield from call.runner.script(UNKNOWN if text is None else text, call, via, positional=_texts(rest))
    elif (text := call.script_text(path)) is not None:
        yield from call.runner.script(_of(via, text), call, via, positional=_texts(rest), name=item.text, file=True)


_SHEBANG = re.compile(
    r"#!\s*(?:/\S*/)?(?:env\s+(?:-[uC][ \t]+\S+[ \t]+|-\S*[ \t]+|\w+=\S*[ \t]+)*)?(?:\S*/)?([\w.+-]+)"
)


def by_shebang(call: Call, item: Field, rest: Sequence[Field]) -> Effects:
    """A script that is started by its name: its first line says in what language it is."""
    text = call.script_text(call.locate(item))
    if text is None:
        return
    match = _SHEBANG.match(text)
    name = re.sub(r"[\d.]+$", "", match[1]) if match else ""
    call = replace(call, parsed=Parsed({}, list(rest)))
    if not text.startswith("#!") or name in SHELLS:
        yield from call.runner.script(
            _of(name, text), call, item.text, positional=_texts(rest), name=item.text, file=True
        )
    elif name in ("python", "pypy", "uv"):
        yield from _of_file(call, item, text, python_text(call, text, call.locate(item, follow=False)))
    elif name in _LANGUAGES:
        yield from _of_file(call, item, text, inline(call, text, _LANGUAGES[name]))
    elif match:
        yield from compilers_and_runtimes.shebang_effects(call, match[1], text)


# ---- Python ----

_PY = OptionSyntax(code="c", value="mWXQ", others="--check-hash-based-pycs")


def python(call: Call) -> Effects:
    """``-c TEXT``, ``-m MODULE``, ``SCRIPT``, or the text on standard input."""
    found = parse_options(call.fields[1:], _PY)
    at = next((n for n, f in enumerate(call.fields) if f in (found.texts or found.values.get("-m", []))), None)
    if at is not None:  # what stands behind the code or module is its own
        behind = list(call.fields[at + 1 :])
        call = replace(call, parsed=Parsed(call.parsed.flags, behind))
    elif found.operands:
        call = replace(call, parsed=Parsed(call.parsed.flags, found.operands))
    if found.texts:
        yield from python_text(call, abstract(call, found.texts[0]))
    elif at is not None:
        yield from python_m_modules.run(call, call.fields[at])
    elif found.operands and found.operands[0].text not in STDIN:
        yield from _python_file(call, found.operands)
    elif call.stdin and not {"-V", "-h", "--version"} & found.flags:
        yield from python_text(call, call.stdin)


def ipython(call: Call) -> Effects:
    """As python; a line that begins with ``!`` or ``%sx`` is for the shell."""
    found = parse_options(call.fields[1:], OptionSyntax(code="c", others="--profile --matplotlib --pylab --colors"))
    codes = [abstract(call, item) for item in found.texts] or ([call.stdin] if call.stdin else [])
    for code in codes if not found.operands or found.texts else ():
        for line in _MAGIC.findall(code):
            yield from call.runner.script(line, call, "ipython")
        yield from python_text(call, _MAGIC.sub("", code))
    for item in found.operands[:1] if not found.texts else ():
        yield from _python_file(call, [item])


_MAGIC = re.compile(r"(?m)^[ \t]*(?:\w+\s*=\s*)?(?:!!?|%sx |%%bash\b|%system )(.*)$")


def _python_file(call: Call, items: list[Field]) -> Effects:
    yield from _task(call, items[0])
    text = call.script_text(call.locate(items[0])) if items[0].known else None
    if text is not None:
        call = replace(call, parsed=Parsed({}, items[1:]), files=call.files + 1)
        yield from _of_file(call, items[0], text, python_text(call, text, call.locate(items[0], follow=False)))


def _of_file(call: Call, item: Field, text: str, effects: Effects) -> Effects:
    """What ``<(curl …)`` gives, or the text itself wrote, is no file that anybody has seen before."""
    return effects if item.text.startswith("/dev/fd/") or call.world.wrote_text(text) else lenient(effects)


# ---- the one-line languages ----

_JS = OptionSyntax(
    code="e", value="rC", words="--eval -pe -pei", prints="-p --print",
    others="--require --import --loader --conditions --input-type --env-file --tsconfig --project "
    "--preload --cwd --config --test-reporter --stack-trace-limit",
)  # fmt: skip
_LETTERS: dict[str, OptionSyntax] = {
    "js": _JS,
    "perl": OptionSyntax(code="eE", value="I", glued="iFmMxCDV", digits="0l"),
    "ruby": OptionSyntax(code="e", value="rICE", glued="iFxKTW", digits="0"),
    "php": OptionSyntax(code="rBRE", value="dcfzgtF", words="--run --process-begin --process-code --process-end",
                   others="--define --php-ini --file --process-file"),
    "lua": OptionSyntax(code="e", value="l"),
    "r": OptionSyntax(code="e", glued="", value="fg", others="--file --args", many=True),
    "julia": OptionSyntax(
        code="eE", value="JLCpt", words="--eval --print", others="--load --project --sysimage --threads"
    ),
    "elixir": OptionSyntax(code="e", value="rS", words="--eval --rpc-eval", others="--require --name --sname --erl"),
    "erlang": OptionSyntax(code="", words="-eval --eval", others="-name -sname -pa -s -run -setcookie", many=True),
    "groovy": OptionSyntax(code="e", value="Dpc", words="--exec"),
}  # fmt: skip
_LANGUAGES: dict[str, str] = {
    **dict.fromkeys(
        ("node", "nodejs", "deno", "bun", "tsx", "ts-node", "ts-node-esm", "ts-node-script", "esno", "jiti", "esr",
        "vite-node", "swc-node", "babel-node", "bunx-node", "zx", "iojs"), "js",
    ),
    "perl": "perl", "perl5": "perl", "ruby": "ruby", "jruby": "ruby", "irb": "ruby", "php": "php", "lua": "lua",
    "luajit": "lua", "lua5.1": "lua", "lua5.3": "lua", "lua5.4": "lua", "texlua": "lua", "Rscript": "r", "R": "r",
    "littler": "r", "julia": "julia", "elixir": "elixir", "iex": "elixir", "erl": "erlang", "groovy": "groovy",
}  # fmt: skip
_CHECKS = {
    "perl": {"-c", "-v", "-V"}, "ruby": {"-c", "-h"}, "php": {"-l", "-i", "-v", "-m", "-s", "-w", "-h"},
    "node": {"-c", "--check"}, "nodejs": {"-c", "--check"},
}  # fmt: skip
"""By program, else by language: with these nothing is run."""
_BEFORE = {"-r", "--require", "--import", "--loader", "--no-check", "--no_check"}
"""With these node runs something before it looks at a script, or does not only look at it."""
_QUIET = frozenset(("-v", "-V", "--version", "-h", "--help", "--test"))
"""With these the text on standard input is not run, nor where it is only checked."""


def oneliner(call: Call) -> Effects:
    """``-e TEXT`` and its kin; else the script, if it is one file that can be read, or standard input."""
    name = call.command.program
    language = _LANGUAGES[name]
    found = parse_options(call.fields[1:], _LETTERS[language])
    if name in ("deno", "bun") and found.operands and found.operands[0].text in ("eval", "run", "repl", "test"):
        verb = found.operands.pop(0).text
        found.operands = [item for item in found.operands if not item.text.startswith("-")]
        if verb == "eval" and found.operands:
            found.texts.append(found.operands.pop(0))
    call = replace(call, parsed=Parsed(call.parsed.flags, found.operands))
    if found.flags & _CHECKS.get(name, _CHECKS.get(language, set())) and not _runs_all_the_same(call, language, found):
        return
    if found.texts:
        yield from _given(call, language, found)
    elif found.operands and found.operands[0].text not in STDIN:
        yield from _file(call, language, found.operands)
    elif call.stdin and not found.flags & (_QUIET - {"-v"} if found.operands else _QUIET):
        yield from inline(call, call.stdin, language)


def _runs_all_the_same(call: Call, language: str, found: ParsedOptions) -> bool:
    """``perl -c`` runs what stands in ``BEGIN`` blocks, ``node -c`` what it is to load before; ``--no-check`` and
    ``php -r TEXT -l`` take the check back.
    """
    if language == "js":
        return bool(found.flags & _BEFORE)
    if language != "perl":
        return language == "php" and bool(found.texts)
    file = call.script_text(call.locate(found.operands[0])) if found.operands and found.operands[0].known else None
    return any(map(_BEGINS.search, (*(item.text for item in found.texts), file or "", call.stdin)))


_BEGINS = re.compile(r"\b(?:BEGIN|UNITCHECK|CHECK)\b")


def _given(call: Call, language: str, found: ParsedOptions) -> Effects:
    loops = language in ("perl", "ruby") and {"-n", "-p"} & found.flags
    for item in found.texts:
        yield from inline(call, abstract(call, item), language, line=_line(call) if loops else None)
    if language in ("perl", "ruby") and "-i" in found.flags:
        silent = "-p" not in found.flags and not any(map(_PRINTS.search, (item.text for item in found.texts)))
        for item in found.operands:
            yield from call.write(item, "inplace", *(("empty",) if silent else ()))
    elif loops:
        for item in found.operands:
            yield from call.read(item)


_PRINTS = re.compile(r"print|say|puts|write|\bp\b|STDOUT|\0")
"""Code without any of these prints nothing: what is edited in place by it is empty then."""


def _line(call: Call) -> str:
    """What ``$_`` is: the one line of the input, if it has one that is known."""
    text = call.stdin.rstrip("\n")
    return text if text and "\n" not in text and not call.operands else UNKNOWN


def _file(call: Call, language: str, items: list[Field]) -> Effects:
    if not items[0].known:
        return
    yield from _task(call, items[0])
    path = call.locate(items[0])
    text = call.script_text(path) or call.script_text(f"{path}.js" if language == "js" else path)
    if text is not None:
        call = replace(call, parsed=Parsed(call.parsed.flags, items[1:]), files=call.files + 1)
        yield from _of_file(call, items[0], text, inline(call, text, language))


def _task(call: Call, item: Field) -> Effects:
    """``php artisan db:wipe``, ``python manage.py flush``: the script's name says what its words mean."""
    return tasks(call) if paths.base(item.text) in SCRIPTS else ()


def bun(call: Call) -> Effects:
    first = next((f.text for f in call.fields[1:]), "")
    texts = {"-e", "--eval", "-p", "--print", "eval"}
    return oneliner(call) if first.split("=")[0] in texts or first.endswith((".js", ".ts")) else npm(call)


_FINDER = re.compile(
    r"(?i)\b(?:Finder|System Events)\b.*\b(?:delete|move\b.*\bto (?:the )?trash|empty (?:the )?trash)\b", re.DOTALL
)


def osascript(call: Call) -> Effects:
    """AppleScript: ``do shell script "…"``."""
    found = parse_options(call.fields[1:], OptionSyntax(code="e", value="ls"))
    if any("javascript" in item.text.lower() for item in found.values.get("-l", ())):
        return
    for item in found.texts or ([Field(call.stdin, UNKNOWN not in call.stdin)] if call.stdin else []):
        if _FINDER.search(item.text):
            yield call.opaque("what AppleScript deletes", "delete")
        words = tokens(item.text, GRAMMARS["applescript"].lexis)
        for at, token in enumerate(words):
            if token.text.lower() == "script" and at + 1 < len(words) and words[at - 1].text.lower() == "shell":
                yield from _applescript(call, words, at + 1)


def _applescript(call: Call, words: Sequence[object], at: int) -> Effects:
    text, kind = "", ""
    for token in words[at : at + 40]:
        kind, value = getattr(token, "kind", ""), getattr(token, "text", "")
        if kind == "string":
            text += "".join(getattr(token, "parts", ()))
        elif value != "&":
            break
    if text:
        yield from call.runner.script(text, call, "osascript")
    else:
        yield call.opaque("what AppleScript gives to the shell", "code")


_SHELL = options("-o= -O= --rcfile= --init-file= | first")
_PYTHON = options("-c= -m= -W= -X= -Q= --check-hash-based-pycs= | first")
_PYTHONS = ("python", "python2", "python3", "pypy", "pypy3", *(f"python3.{minor}" for minor in range(6, 20)))
_FIRST = options("-e= --eval= | first")
OPTIONS: dict[str, Options] = {
    **dict.fromkeys(SHELLS, _SHELL),
    "fish": options("-c= --command= -C= --init-command= -o= -d= -f= | first"),
    **dict.fromkeys(_PYTHONS, _PYTHON),
    **{name: _FIRST for name in _LANGUAGES if name != "bun"},
    "perl": options("-e= -E= -M= -m= -I= -F= -x="),
    "ruby": options("-e= -r= -I= -C= -E= -F="),
    "php": options("-r= --run= -f= -d= -c= -B= -R= -E="),
    "osascript": options("-e= -l="),
    **awk.OPTIONS,
    **sed.OPTIONS,
    **editors.OPTIONS,
    **nushell.OPTIONS,
    **powershell.OPTIONS,
}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys(SHELLS, shell),
    **dict.fromkeys(_PYTHONS, python),
    **dict.fromkeys(("ipython", "ipython3", "bpython", "ptpython"), ipython),
    **dict.fromkeys(_LANGUAGES, oneliner),
    **awk.PROGRAMS,
    **sed.PROGRAMS,
    **editors.PROGRAMS,
    **cmd_shell.PROGRAMS,
    **nushell.PROGRAMS,
    **powershell.PROGRAMS,
    "bun": bun,
    "osascript": osascript,
}
