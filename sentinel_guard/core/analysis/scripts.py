"""Scripts and recipes on disk, one level deep: what ``make clean``, ``npm run wipe``, ``just x`` would run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import STDIN, UNKNOWN, Call, options
from sentinel_guard.core.analysis.publish import registry
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect

Effects = Iterable[Effect]

_MAKE_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?!=)\s*([^=;]*?)\s*(?:;(.*))?$")
_MAKE_SET = re.compile(r"(?:export\s+|override\s+)?([A-Za-z_][\w.]*)\s*(\+|\?|:{1,3}|!)?=\s*(.*)$")
_MAKE_USE = re.compile(r"\$(?:\$|\((\w[\w.]*)\)|\{(\w[\w.]*)\}|(\w|@|<|\^))")
_JUST_RULE = re.compile(r"@?([A-Za-z_][\w-]*)((?:\s+[^:=]+?)?)\s*:(?!=)\s*(.*)$")
TARGETS = 40
"""Prerequisites that are followed."""


@dataclass(slots=True)
class Makefile:
    """Targets with their prerequisites and recipes; variables as texts."""

    recipes: dict[str, list[str]] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    first: str = ""


def makefile(text: str) -> Makefile:
    """The rules of a Makefile; conditionals are taken as true, functions are not evaluated."""
    made = Makefile()
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for name in current:
                made.recipes[name].append(line[1:])
        elif match := _MAKE_SET.match(line):
            name, how, value = match.groups()
            old = made.variables.get(name, "")
            made.variables[name] = f"{old} {value}".strip() if how == "+" else (old or value if how == "?" else value)
        elif match := _MAKE_RULE.match(line):
            current = match[1].split()
            _add_rule(made, current, match[2].split(), match[3])
    return made


def _add_rule(made: Makefile, names: list[str], needs: list[str], recipe: str | None) -> None:
    for name in names:
        made.needs.setdefault(name, []).extend(n for n in needs if n != "|")
        made.recipes.setdefault(name, []).extend([recipe] if recipe else [])
        if not made.first and not name.startswith("."):
            made.first = name


def recipe(made: Makefile, target: str) -> Iterator[str]:
    """The shell lines of a target and of what it needs, in their order."""
    seen: set[str] = set()

    def lines(name: str) -> Iterator[str]:
        if name in seen or len(seen) > TARGETS:
            return
        seen.add(name)
        for need in made.needs.get(name, ()):
            yield from lines(need)
        for line in made.recipes.get(name, ()):
            yield _expand(made, line.lstrip("@-+ "), name)

    return lines(target)


def _expand(made: Makefile, text: str, target: str, depth: int = 0) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        if match[0] == "$$":
            return "$"
        if name == "@":
            return target
        if name not in made.variables:
            return {"MAKE": "make", "RM": "rm -f"}.get(name, f"${{{name}}}" if name.isidentifier() else match[0])
        return _expand(made, made.variables[name], target, depth + 1) if depth < 10 else ""

    return _MAKE_USE.sub(value, text)


def _makefile_text(call: Call, given: Field | None, cwd: str) -> str | None:
    names = [given.text] if given is not None and given.known else ["GNUmakefile", "makefile", "Makefile"]
    return next((t for n in names if (t := call.script_text(paths.locate(n, cwd, call.world))) is not None), None)


def make(call: Call) -> Effects:
    """The recipes of the targets that are named, else of the first one."""
    if call.has("-n", "--dry-run", "--just-print", "--version", "-p"):
        return
    folder = call.parsed.value("-C", "--directory")
    cwd = call.locate(folder) if folder is not None and folder.known else call.cwd
    given = call.parsed.value("-f", "--file", "--makefile")
    if given is not None and given.text in STDIN:
        text: str | None = call.stdin
        if UNKNOWN in call.stdin or not call.stdin:
            yield call.opaque("makefile from standard input", "code")
    else:
        text = _makefile_text(call, given, cwd)
    if text is None:
        return
    made = makefile(text)
    made.variables |= {name: value for item in call.operands for name, eq, value in [item.text.partition("=")] if eq}
    targets = [item.text for item in call.operands if "=" not in item.text] or [made.first]
    for target in targets:
        for line in recipe(made, target):
            yield from call.runner.script(line, call, f"make {target}", cwd=cwd, file=True)


def npm(call: Call) -> Effects:
    """Scripts of package.json behind ``run``, and those that have a verb of their own; else what the registry sees."""
    yield from registry(call)
    verb, words = call.command.subcommand, [item.text for item in call.operands]
    if verb in ("run", "run-script", "rum", "urn"):
        name, rest = (words[0] if words else ""), call.operands[1:]
    elif verb in ("exec", "x", "dlx"):
        yield from call.runner.run(call.operands, call, f"{call.command.program} {verb}")
        return
    elif verb in ("test", "t", "tst", "start", "stop", "restart"):
        name, rest = {"t": "test", "tst": "test"}.get(verb, verb), call.operands
    elif call.command.program in ("yarn", "pnpm", "bun"):
        name, rest = verb, call.operands
    else:
        return
    folder = call.parsed.value("--prefix", "-C", "--dir", "--cwd")
    cwd = call.locate(folder) if folder is not None and folder.known else call.cwd
    scripts = _package_scripts(call.script_text(paths.child(cwd, "package.json")))
    for step in (f"pre{name}", name, f"post{name}"):
        if text := scripts.get(step):
            more = " ".join(_quoted(item) for item in rest) if step == name else ""
            yield from call.runner.script(
                f"{text} {more}", call, f"{call.command.program} run {name}", cwd=cwd, file=True
            )


def _package_scripts(text: str | None) -> dict[str, str]:
    try:
        package = json.loads(text or "{}")
    except ValueError:
        return {}
    scripts = package.get("scripts") if isinstance(package, dict) else None
    return {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}


def _quoted(item: Field) -> str:
    return "'" + item.text.replace("'", "'\\''") + "'"


def just(call: Call) -> Effects:
    """The recipe of a justfile: indented lines below ``name:``, prerequisites first."""
    given = call.parsed.value("-f", "--justfile")
    names = [given.text] if given is not None and given.known else ["justfile", "Justfile", ".justfile"]
    text = next((t for n in names if (t := call.script_text(paths.locate(n, call.cwd, call.world))) is not None), None)
    if text is None:
        return
    made = Makefile()
    current: list[str] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and current:
            made.recipes[current[0]].append(line.strip())
        elif match := _JUST_RULE.match(line):
            current = [match[1]]
            _add_rule(made, current, match[3].replace("&&", " ").split(), None)
    for line in recipe(made, call.operands[0].text if call.operands else made.first):
        yield from call.runner.script(line, call, "just", file=True)


OPTIONS = {
    "make": options(
        "-C= --directory= -f= --file= --makefile= -j= --jobs= -I= --include-dir= -o= -W= -l= --output-sync="
    ),
    "just": options("-f= --justfile= -d= --working-directory= --set= --shell="),
}
OPTIONS["gmake"] = OPTIONS["make"]

PROGRAMS = {"make": make, "gmake": make, "just": just, **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), npm)}
