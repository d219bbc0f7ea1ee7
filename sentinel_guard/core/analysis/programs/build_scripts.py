"""Build scripts (Makefile, package.json): what ``make clean``, ``npm run wipe`` would run."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import make_conditionals
from sentinel_guard.core.analysis.programs.files import edited_file_content, generators, package_scripts
from sentinel_guard.core.analysis.programs.files.fetched_files import piped_downloads
from sentinel_guard.core.analysis.programs.package_publishing import registry
from sentinel_guard.core.model import Effect

Effects = Iterable[Effect]

_MAKE_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?!=)\s*([^=;]*?)\s*(?:;(.*))?$")
_MAKE_SET = re.compile(r"(?:export\s+|override\s+)?([A-Za-z_][\w.]*)\s*(\+|\?|:{1,3}|!)?=\s*(.*)$")
_MAKE_USE = re.compile(r"\$(?:\$|\((\w[\w.]*)\)|\{(\w[\w.]*)\}|(\w|@|<|\^))")
_INSTALLS = ("install", "i", "ci", "add", "in", "isntall")
_UNMODELLED = frozenset(
    (
        *("MAKEFILE_LIST", "MAKECMDGOALS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES", "MAKE_VERSION"),
        *("MAKE_HOST", "MAKE_TERMOUT", "MAKE_COMMAND", "SUFFIXES", ".VARIABLES", ".FEATURES"),
    )
)
"""Variables that make sets itself: nobody knows here what they hold, but they are not empty."""
_SAID_BY_MAKE = "$( make-variable)"
"""What stands for one of them: the output of a program that nobody knows."""
TARGETS = 40
"""Prerequisites that are followed."""


@dataclass(slots=True)
class Makefile:
    """Targets with their prerequisites and recipes; variables as texts."""

    recipes: dict[str, list[str]] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    first: str = ""


def makefile(text: str, cwd: str, given: Mapping[str, str], inherited: make_conditionals.Value) -> Makefile:
    """The rules of a Makefile; functions are not evaluated, and where a condition cannot be told both branches count.

    ``given``: variables of the command line, which only ``override`` changes. ``inherited``: the value of a name
    in the environment, empty for none; None where it is not known.
    """
    made = Makefile(variables={"SHELL": "/bin/sh", "CURDIR": cwd} | dict(given))
    current: list[str] = []
    for line in make_conditionals.taken(text.replace("\\\n", " ").splitlines(), given, inherited):
        if line.startswith("\t"):
            for name in current:
                made.recipes[name].append(line[1:])
        elif match := _MAKE_SET.match(line.lstrip(" ")):
            name, how, value = match.groups()
            if name in given and not line.lstrip().startswith("override"):
                continue
            old = made.variables.get(name, "")
            made.variables[name] = f"{old} {value}".strip() if how == "+" else (old or value if how == "?" else value)
        elif match := _MAKE_RULE.match(line):
            current = match[1].split()
            add_rule(made, current, match[2].split(), match[3])
    return made


def add_rule(made: Makefile, names: list[str], needs: list[str], recipe: str | None) -> None:
    for name in names:
        made.needs.setdefault(name, []).extend(n for n in needs if n != "|")
        made.recipes.setdefault(name, []).extend([recipe] if recipe else [])
        if not made.first and not name.startswith("."):
            made.first = name


def recipe(made: Makefile, target: str, *, forced: bool = False) -> Iterator[str]:
    """The shell lines of a target and of what it needs, in their order; ``forced``: those that ``make -n`` runs."""
    seen: set[str] = set()

    def lines(name: str) -> Iterator[str]:
        if name in seen or len(seen) > TARGETS:
            return
        seen.add(name)
        for need in made.needs.get(name, ()):
            yield from lines(need)
        for line in made.recipes.get(name, ()):
            if forced and "+" not in line[: len(line) - len(line.lstrip("@-+ "))]:
                continue
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
            own = _SAID_BY_MAKE if name in _UNMODELLED else f"${{{name}}}" if name.isidentifier() else match[0]
            return {"MAKE": "make", "RM": "rm -f"}.get(name, own)
        return _expand(made, made.variables[name], target, depth + 1) if depth < 10 else ""

    return _MAKE_USE.sub(value, _as_substitutions(text)[0] if "shell" in text else text)


_INCLUDE = re.compile(r"(?m)^ *[-s]?include[ \t]+(.*)$")


def _included(call: Call, names: Sequence[str]) -> str:
    """What a makefile includes, as far as it is standard input or a file that the text wrote."""
    texts = []
    for name in names:
        if call.is_stdin(Field(name)):
            texts.append(call.stdin.replace(UNKNOWN, ""))
        elif (path := call.locate(name)) in call.world.made():
            texts.append(call.world.read(path) or "")
    return "\n".join(texts)


_SHELL_CALL = re.compile(r"\$([({])shell\s+")


def _as_substitutions(text: str) -> tuple[str, list[str]]:
    """``$(shell COMMAND)`` as the shell writes it, and the commands; the blank tells it from a variable of make."""
    made, found, at = "", list[str](), 0
    while match := _SHELL_CALL.search(text, at):
        end, level, opening = match.end(), 1, match[1]
        closing = ")" if opening == "(" else "}"
        while end < len(text) and level:
            level += {opening: 1, closing: -1}.get(text[end], 0)
            end += 1
        inner, more = _as_substitutions(text[match.end() : end - 1])
        found += [*more, inner]
        made += f"{text[at : match.start()]}$( {inner})"
        at = end
    return made + text[at:], found


def _read_by_make(made: Makefile, text: str) -> Iterator[str]:
    """What runs while make reads the file: ``$(shell …)`` outside of recipes, ``NAME != COMMAND``."""
    if "$(shell" not in text and "${shell" not in text and "!=" not in text:
        return
    for line in text.replace("\\\n", " ").splitlines():
        if not line.startswith("\t"):
            _, commands = _as_substitutions(line)
            match = _MAKE_SET.match(line)
            commands += [match[3]] if match and match[2] == "!" else []
            yield from (_expand(made, command, "") for command in commands)


def _makefile_text(call: Call, given: Field | None, cwd: str) -> str | None:
    names = [given.text] if given is not None and given.known else ["GNUmakefile", "makefile", "Makefile"]
    return next((t for n in names if (t := call.script_text(paths.locate(n, cwd, call.world))) is not None), None)


def _inherited(call: Call, name: str) -> str | None:
    """What an environment variable holds, empty for nothing; None where it is not known."""
    value = call.scope.lookup(name)
    return None if not value.known else " ".join(value.items or ("",))


def make(call: Call) -> Effects:
    """The recipes of the targets that are named, else of the first one."""
    if call.has("--version", "--help"):
        return
    folder = call.parsed.value("-C", "--directory")
    cwd = call.locate(folder) if folder is not None and folder.known else call.cwd
    given = call.parsed.value("-f", "--file", "--makefile")
    more = "\n".join(item.text.replace("\\n", "\n") for item in call.parsed.values("--eval", "-E"))
    dry = call.has("-n", "--dry-run", "--just-print", "-p")
    from_stdin = given is not None and call.is_stdin(given)
    if from_stdin:
        text: str | None = call.stdin
        if UNKNOWN in call.stdin or not call.stdin:
            yield call.opaque("makefile from standard input", "code")
    else:
        text = _makefile_text(call, given, cwd)
    if text is None and not more:
        return
    if text and not text.strip(f"{UNKNOWN}\n"):
        yield call.opaque("the makefile as it was changed here", "code")
    typed = bool(more) or from_stdin
    whole = _INCLUDE.sub(lambda match: _included(call, match[1].split()), f"{text or ''}\n{more}")
    given_here = {name: value for item in call.operands for name, eq, value in [item.text.partition("=")] if eq}
    certain = not _INCLUDE.search(text or "") and len(call.parsed.values("-f", "--file", "--makefile")) < 2
    certain = certain and not call.has("-e", "--environment-overrides", "-I", "--include-dir")
    made = makefile(whole, cwd, given_here, lambda name: _inherited(call, name) if certain else None)
    if "SHELL" in (item.text.partition("=")[0] for item in call.operands):
        yield from call.runner.script(made.variables["SHELL"], call, "make")
    targets = [item.text for item in call.operands if "=" not in item.text] or [made.first]
    for line in _read_by_make(made, whole):
        yield from call.runner.script(line, call, "make", cwd=cwd, file=not typed)
    for target in targets:
        for line in recipe(made, target, forced=dry):
            yield from piped_downloads(call, line)
            yield from call.runner.script(line, call, f"make {target}", cwd=cwd, file=not typed)


def npm(call: Call) -> Effects:
    """Scripts of package.json behind ``run``, and those that have a verb of their own; else what the registry sees."""
    yield from registry(call)
    verb, words = call.command.subcommand, [item.text for item in call.operands]
    cwd = _folder(call)
    package = paths.child(cwd, "package.json")
    if verb == "pkg" and words[:1] == ["set"]:
        yield from package_scripts.changed(call, package, words[1:])
        return
    if verb == "set-script" and len(words) > 1:
        pairs = [(("scripts", words[0]), words[1])]
        call.world.write(package, edited_file_content.assigned(call.script_text(package) or "{}", pairs))
        return
    if verb in _INSTALLS and package in call.world.made():
        for step in ("install", "prepare"):
            yield from _steps(call, step, (), cwd)
        return
    if verb in ("create", "init", "innit") and words and words[0][:1] not in ("-", ".", "/"):
        yield from call.runner.run(
            [Field(generators.creator(words[0])), *call.operands[1:]], call, f"{call.command.program} create"
        )
        return
    if verb == "workspaces" and "run" in words:
        yield from _steps(call, (words[words.index("run") + 1 :] or [""])[0], (), cwd)
        return
    if verb in ("run", "run-script", "rum", "urn"):
        name, rest = (words[0] if words else ""), call.operands[1:]
    elif verb in ("exec", "x", "dlx"):
        yield from _executed(call, f"{call.command.program} {verb}")
        return
    elif verb in ("test", "t", "tst", "start", "stop", "restart"):
        name, rest = {"t": "test", "tst": "test"}.get(verb, verb), call.operands
    elif call.command.program in ("yarn", "pnpm", "bun"):
        name, rest = verb, call.operands
    else:
        return
    found = list(_steps(call, name, rest, cwd))
    yield from found
    if not found and name == verb and name not in (*_INSTALLS, *_OWN, ""):
        at = next((n for n, field in enumerate(call.fields) if n and field.text == verb), len(call.fields))
        yield from call.runner.run(call.fields[at:], call, "node_modules/.bin")


def _executed(call: Call, via: str) -> Effects:
    for text in call.parsed.values("-c", "--call"):
        yield from call.runner.script(text.text if text.known else UNKNOWN, call, via)
    yield from call.runner.run(call.operands, call, via)


_OWN = frozenset(
    (
        *(
            "init",
            "create",
            "update",
            "up",
            "upgrade",
            "remove",
            "rm",
            "uninstall",
            "un",
            "link",
            "unlink",
            "list",
            "ls",
        ),
        *("why", "outdated", "audit", "pack", "publish", "config", "set", "get", "cache", "store", "rebuild", "prune"),
        *("import", "fetch", "dedupe", "patch", "deploy", "env", "setup", "bin", "root", "prefix", "login", "logout"),
        *(
            "whoami",
            "version",
            "info",
            "view",
            "owner",
            "team",
            "tag",
            "workspace",
            "workspaces",
            "plugin",
            "self-update",
        ),
        *(
            "doctor",
            "licenses",
            "node",
            "npm",
            "help",
            "global",
            "pm",
            "build",
            "test",
            "repl",
            "shell",
            "install-test",
        ),
    )
)
"""Verbs of the package managers themselves: what is none of them, and no script, is a program that was installed."""


def _folder(call: Call) -> str:
    folder = call.parsed.value("--prefix", "-C", "--dir", "--cwd")
    return call.locate(folder) if folder is not None and folder.known else call.cwd


def _steps(call: Call, name: str, rest: Sequence[Field], cwd: str) -> Effects:
    text = call.script_text(paths.child(cwd, "package.json"))
    scripts = _package_scripts(text)
    if text is not None and not scripts and not text.strip(f"{UNKNOWN}\n"):
        yield call.opaque("package.json as it was changed here", "code")
    for step in (f"pre{name}", name, f"post{name}"):
        if text := scripts.get(step):
            if text.startswith(UNKNOWN):
                yield call.opaque(f"the script {step} as it was changed here", "code")
            yield from piped_downloads(call, text)
            more = " ".join(_quoted(item) for item in rest) if step == name else ""
            yield from call.runner.script(
                f"{text} {more}", call, f"{call.command.program} run {name}", cwd=cwd, file=True
            )


def run_scripts(call: Call) -> Effects:
    """npm-run-all, run-s, run-p: every operand is a script of package.json, ``dev:*`` all that begin so."""
    scripts = _package_scripts(call.script_text(paths.child(call.cwd, "package.json")))
    for item in call.operands:
        for name in fnmatch.filter(scripts, item.text):
            yield from _steps(call, name, (), call.cwd)


def node_script(call: Call) -> Effects:
    """``node --run NAME``."""
    names = [*call.parsed.values("--run"), *call.operands[:1]] if call.has("--run") else []
    for item in names[:1]:
        yield from _steps(call, item.text, (), call.cwd)


def _package_scripts(text: str | None) -> dict[str, str]:
    try:
        package = json.loads(text or "{}", strict=False)
    except ValueError:
        return {}
    scripts = package.get("scripts") if isinstance(package, dict) else None
    return {k: v for k, v in scripts.items() if isinstance(v, str)} if isinstance(scripts, dict) else {}


def _quoted(item: Field) -> str:
    return "'" + item.text.replace("'", "'\\''") + "'"


_JUST_RULE = re.compile(r"@?([A-Za-z_][\w-]*)((?:\s+[^:=]+?)?)\s*:(?!=)\s*(.*)$")
_JUST_VALUE = re.compile(r"\{\{.*?\}\}")
"""What just fills in: nobody knows here what it is."""
_JUST_LOOKS = ("-n", "--dry-run", "-s", "--show", "-l", "--list", "--summary", "--dump", "--evaluate",
               "--variables", "--groups", "--fmt", "-h", "--help", "-V", "--version")  # fmt: skip
"""Options with which no recipe runs (https://just.systems/man/en/)."""


def just(call: Call) -> Effects:
    """The recipe of a justfile: indented lines below ``name:``, prerequisites first."""
    if call.has(*_JUST_LOOKS):
        return
    given = call.parsed.value("-f", "--justfile")
    names = [given.text] if given is not None and given.known else ["justfile", "Justfile", ".justfile"]
    found = next(
        (path for n in names if call.script_text(path := paths.locate(n, call.cwd, call.world)) is not None), ""
    )
    text = call.script_text(found) if found else None
    if text is None:
        return
    if UNKNOWN in text:
        yield call.opaque("a justfile that is not known whole", "code")
    made = Makefile()
    current: list[str] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and current:
            made.recipes[current[0]].append(_JUST_VALUE.sub('"$just_value"', line.strip().lstrip("@-")))
        elif match := _JUST_RULE.match(line):
            current = [match[1]]
            add_rule(made, current, match[3].replace("&&", " ").split(), None)
    for line in recipe(made, call.operands[0].text if call.operands else made.first):
        yield from piped_downloads(call, line)
        yield from call.runner.script(line, call, "just", file=found not in call.world.made())


OPTIONS = {
    "just": options("-f= --justfile= -d= --working-directory= --set= --shell="),
    "make": options(
        "-C= --directory= -f= --file= --makefile= --eval= -E= -j= --jobs= -I= --include-dir= -o= -W= -l= --output-sync="
    ),
}
OPTIONS["gmake"] = OPTIONS["make"]

PROGRAMS = {"make": make, "gmake": make, "just": just, **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), npm)}
PROGRAMS |= dict.fromkeys(("npm-run-all", "run-s", "run-p", "npm-run-all2"), run_scripts)
