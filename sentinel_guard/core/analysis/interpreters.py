"""Programs that run text in a language: shells, Python, and the one-line languages by a small lexer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import STDIN, UNKNOWN, Call, options
from sentinel_guard.core.analysis.databases import tasks
from sentinel_guard.core.analysis.inline import constant, inline
from sentinel_guard.core.analysis.python import python as python_text
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.analysis.scripts import npm
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "posh", "yash", "tcsh", "csh")


def shell(call: Call) -> Effects:
    """``-c TEXT NAME ARGS``, ``SCRIPT ARGS``, or the script on standard input."""
    name, items = call.command.program, call.operands
    if call.has("-n"):
        return  # reads the script, runs nothing
    for item in call.parsed.values("-c", "--command", "-C", "--init-command"):
        yield from call.runner.script(item.text if item.known else UNKNOWN, call, name)
    if call.has("-c", "--command"):
        if items and not call.parsed.values("-c", "--command"):
            text = items[0].text if items[0].known or items[0].text.strip() else UNKNOWN
            yield from call.runner.script(text, call, name, positional=_texts(items[2:]))
    elif items and not call.has("-s") and items[0].text not in STDIN:
        yield from follow(call, items[0], items[1:], name)
    elif call.stdin:
        yield from call.runner.script(call.stdin, call, name, positional=_texts(items))


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
        yield from call.runner.script(text, call, via, positional=_texts(rest), file=True)


def by_shebang(call: Call, item: Field, rest: Sequence[Field]) -> Effects:
    """A script that is started by its name: its first line says in what language it is."""
    text = call.script_text(call.locate(item))
    if text is None:
        return
    first = text.partition("\n")[0]
    if not first.startswith("#!") or any(first.rstrip().endswith(s) or f"{s} " in first for s in SHELLS):
        yield from call.runner.script(text, call, item.text, positional=_texts(rest), file=True)
    elif "python" in first:
        yield from _lenient(python_text(call, text))
    elif any(name in first for name in ("node", "perl", "ruby", "php", "deno")):
        yield from _lenient(inline(call, text))


def python(call: Call) -> Effects:
    """``-c TEXT``, ``-m MODULE``, ``SCRIPT``, or the text on standard input."""
    given = call.parsed.value("-c")
    module = call.parsed.value("-m")
    if given is not None:
        if given.known:
            yield from python_text(call, given.text)
        else:
            yield call.opaque(given, "code")
    elif module is not None:
        if module.text in ("pip", "pipx", "uv"):
            yield from call.runner.run([module, *call.operands], call, "python -m")
    elif call.operands and call.operands[0].text not in STDIN:
        item = call.operands[0]
        yield from _task(call, item)
        text = call.script_text(call.locate(item)) if item.known else None
        if text is not None:
            yield from _lenient(python_text(call, text))
    elif call.stdin:
        yield from python_text(call, call.stdin)


def _lenient(effects: Iterable[Effect]) -> Iterator[Effect]:
    """A script on disk: what cannot be resolved in it is left to the shims, that see it run."""
    return (e for e in effects if e.kind is not Kind.OPAQUE)


def oneliner(call: Call) -> Effects:
    """``-e TEXT`` and its kin; else the script, if it is one file that can be read."""
    texts = call.parsed.values("-e", "--eval", "-p", "--print", "-r", "--run", "-E", "-ne", "-pe")
    items = list(call.operands)
    if call.command.program in ("deno", "bun") and items and items[0].text in ("eval", "run"):
        verb = items.pop(0).text
        texts += items[:1] if verb == "eval" else []
    for item in texts:
        if item.known:
            yield from inline(call, item.text)
        else:
            yield call.opaque(item, "code")
    if call.has("-i") and call.command.program in ("perl", "ruby"):
        for item in items:
            yield from call.write(item, "inplace")
    elif not texts and items and items[0].known and items[0].text not in STDIN:
        yield from _task(call, items[0])
        text = call.script_text(call.locate(items[0]))
        yield from _lenient(inline(call, text)) if text is not None else ()
    elif not texts and call.stdin and not call.has(*_READS_NOTHING):
        if UNKNOWN in call.stdin:
            yield call.opaque("…", "code")
        yield from inline(call, call.stdin)


_READS_NOTHING = ("-v", "-V", "--version", "-h", "--help", "--test", "-c", "--check", "-l", "-i", "-s")
"""With these the text on standard input is not run."""


def _task(call: Call, item: Field) -> Effects:
    """``php artisan db:wipe``, ``python manage.py flush``: the script's name says what its words mean."""
    return tasks(call) if paths.base(item.text) in ("artisan", "manage.py", "rails", "rake") else ()


def bun(call: Call) -> Effects:
    return npm(call) if call.command.subcommand not in ("eval", "-e") else oneliner(call)


_AWK_SYSTEM = re.compile(
    r"system\s*\(\s*\"((?:[^\"\\]|\\.)*)\"|\"((?:[^\"\\]|\\.)*)\"\s*\|\s*getline|\|\s*\"((?:[^\"\\]|\\.)*)\""
)
_AWK_WRITE = re.compile(r"print[^;}|]*?>{1,2}\s*\"((?:[^\"\\]|\\.)*)\"")


def awk(call: Call) -> Effects:
    """``system()``, pipes and redirections in the program text; the operands are read."""
    given = call.has("-f", "--file")
    program = "" if given or not call.operands else call.operands[0].text
    for match in _AWK_SYSTEM.finditer(program):
        yield from call.runner.script(constant(f'"{match[1] or match[2] or match[3] or ""}"'), call, "awk")
    for match in _AWK_WRITE.finditer(program):
        if match[1] not in ("/dev/stderr", "/dev/stdout"):
            yield from call.write(Field(match[1]), "truncate")
    for item in call.operands if given else call.operands[1:]:
        if "=" in item.text and not item.text.startswith(("/", ".")):
            continue
        writes = call.parsed.value("-i", "--include")
        yield from call.write(item, "inplace") if writes and writes.text == "inplace" else call.read(item)


def powershell(call: Call) -> Effects:
    """``-Command TEXT``: its cmdlets that delete are known as programs."""
    texts = call.parsed.values("-c", "-Command", "-command")
    for item in texts or call.operands[:1]:
        yield from call.runner.script(item.text if item.known else UNKNOWN, call, "pwsh")


def remove_item(call: Call) -> Effects:
    """Remove-Item of PowerShell, which does not tell upper case from lower."""
    given = {flag.lower() for flag in call.command.flags}
    how = [word for flag, word in (("-recurse", "recursive"), ("-force", "force")) if flag in given]
    named = call.parsed.values("-Path", "-LiteralPath")
    return call.delete([*named, *call.operands], *how)


_PYTHON = options("-c= -m= -W= -X= -Q= --check-hash-based-pycs= | first")
_SHELL = options("-o= -O= --rcfile= --init-file= | first")
_ONELINER = options("-e= --eval= -p= --print= -r= --require= -M= -m= -I= -F= -E= --import= --loader=")
OPTIONS = {
    **dict.fromkeys(SHELLS, _SHELL),
    "fish": options("-c= --command= -C= --init-command= -o= -d= -f= | first"),
    **dict.fromkeys(("python", "python3", "python2", "pypy", "pypy3"), _PYTHON),
    **dict.fromkeys((f"python3.{minor}" for minor in range(6, 20)), _PYTHON),
    **dict.fromkeys(("node", "nodejs", "deno", "lua", "luajit"), _ONELINER),
    "perl": options("-e= -E= -M= -m= -I= -F= -x="),
    "ruby": options("-e= -r= -I= -C= -E= -F="),
    "php": options("-r= --run= -f= -d= -c= -B= -R= -E="),
    "pwsh": options("-Command= -c= -File= -ExecutionPolicy= -EncodedCommand= | words"),
    "Remove-Item": options("-Path= -LiteralPath= -Include= -Exclude= -Filter= | words"),
}
OPTIONS["powershell"] = OPTIONS["pwsh"]

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys(SHELLS, shell),
    **{name: python for name, table in OPTIONS.items() if table is _PYTHON},
    **dict.fromkeys(("node", "nodejs", "deno", "lua", "luajit", "perl", "ruby", "php"), oneliner),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    "pwsh": powershell, "powershell": powershell, "Remove-Item": remove_item, "bun": bun,
}  # fmt: skip
