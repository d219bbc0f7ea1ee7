"""Build scripts (Makefile, package.json): what ``make clean``, ``npm run wipe`` would run."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.programs.files import edited_file_content, generators, makefiles, package_scripts
from sentinel_guard.core.analysis.programs.files.fetched_files import piped_downloads
from sentinel_guard.core.analysis.programs.package_publishing import registry
from sentinel_guard.core.analysis.programs.peel_wrappers import program_of_package
from sentinel_guard.core.model import Effect

Effects = Iterable[Effect]

_INSTALLS = ("install", "i", "ci", "add", "in", "isntall")
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


def _read_by_make(made: makefiles.Makefile, text: str) -> Iterator[str]:
    """What runs while make reads the file: ``$(shell …)`` outside of recipes, ``NAME != COMMAND``."""
    if "$(shell" not in text and "${shell" not in text and "!=" not in text:
        return
    for line in text.replace("\\\n", " ").splitlines():
        if not line.startswith("\t"):
            _, commands = makefiles.as_substitutions(line)
            match = makefiles.MAKE_SET.match(line)
            commands += [match[3]] if match and match[2] == "!" else []
            yield from (makefiles.expand(made, command, "") for command in commands)


def _makefile_text(call: Call, given: Field | None, cwd: str) -> str | None:
    names = [given.text] if given is not None and given.known else ["GNUmakefile", "makefile", "Makefile"]
    return next((t for n in names if (t := call.script_text(paths.locate(n, cwd, call.world))) is not None), None)


def _inherited(call: Call, name: str) -> str | None:
    """What an environment variable holds, empty for nothing; None where it is not known."""
    if name in call.scope.variables and name not in call.scope.reaching:
        return None
    value = call.scope.lookup(name)
    return None if not value.known else " ".join(value.items or ("",))


_MAKE_NAMES = re.compile(r"(?m)^(?:[^\s:#=][^:#=\n]*::?)? *(?:export +|override +)*([A-Za-z_]\w*)\s*(\?|\+|:{1,3}|!)?=")


_MAKE_FLAGS = re.compile(r"(?m)MAKEFLAGS\s*[:+?]*=(.*)$")
_PLAIN_FLAGS = re.compile(
    r"(?:[\s\d]|-[jksBwr]+|--(?:no-print-directory|silent|jobs|no-builtin-rules|warn-undefined-variables))*"
)


def _flags_are_plain(call: Call, text: str) -> bool:
    """Whether options from the environment, or from the makefile itself, set no variable of recipes."""
    names = [name for name in ("MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES") if call.scope.lookup(name).isset]
    given = [_inherited(call, name) for name in names] + _MAKE_FLAGS.findall(text)
    return all(flags is not None and _PLAIN_FLAGS.fullmatch(flags) for flags in given)


CLUSTER = "KUBECONFIG"
"""Says which cluster is meant."""


def _names_cluster(call: Call, path: str) -> bool:
    """Whether a file of variables names a cluster: compared, and no word of it goes further."""
    return bool(call.world.kind(path)) and not call.world.fulfils(path, lambda text: CLUSTER not in text)


def _takes_in_cluster(call: Call, text: str, cwd: str) -> bool:
    """Whether a makefile hands on the variables of a file that names a cluster."""
    names = [name for found in _INCLUDE.findall(text) for name in found.split()] if "export" in text else []
    return any(_names_cluster(call, paths.locate(name, cwd, call.world)) for name in names)


_OTHER_SETTINGS = ("-e", "--environment-overrides", "-I", "--include-dir")
_SETS_UNSEEN = re.compile(
    r"(?m)\b(?:unexport|override)\b|\$[({]eval\b|^ *(?:define|load)\b|^\.ONESHELL\b"
    r"|^ *(?:\.SHELLFLAGS|SHELL) *[:?+]*=(?! *(?:/\w+)*/?(?:ba|da)?sh *$)"
)
"""By which a makefile gives its recipes variables, or a shell, in a way that is not followed."""


def _recipe_scope(call: Call, text: str, given: Mapping[str, str], *, certain: bool) -> Scope:
    """The variables that recipes have: those of make's own environment, and those of its command line.

    One that the makefile sets itself may have another value (https://www.gnu.org/software/make/manual/make.html).
    """
    scope, reaching = call.scope.copy(), call.scope.reaching
    own = {name for name, how in _MAKE_NAMES.findall(text) if how != "?" or name not in reaching}
    if CLUSTER in own:
        scope.hold(CLUSTER, None)
    plain = certain and _SETS_UNSEEN.search(text) is None
    scope.exported = reaching - own if plain else frozenset()
    for name, value in given.items() if plain else ():
        if name.isidentifier() and "$" not in value:
            scope.hold(name, (value,))
            scope.exported |= {name}
    return scope


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
    certain = certain and _flags_are_plain(call, text or "") and not call.has(*_OTHER_SETTINGS)
    stops = certain and not (call.has(*makefiles.GOES_ON) or _SETS_UNSEEN.search(whole))
    stops = stops and makefiles.stops_at_failure(whole, given_here) and not _finds_elsewhere(call)
    made = makefiles.parse(whole, cwd, given_here, lambda name: _inherited(call, name) if certain else None)
    if "SHELL" in (item.text.partition("=")[0] for item in call.operands):
        yield from call.runner.script(made.variables["SHELL"], call, "make")
    call = replace(call, scope=_recipe_scope(call, whole, given_here, certain=certain))
    if _takes_in_cluster(call, text or "", cwd):
        call.scope.hold(CLUSTER, None)
    targets = [item.text for item in call.operands if "=" not in item.text] or [made.first]
    for line in _read_by_make(made, whole):
        yield from call.runner.script(line, call, "make", cwd=cwd, file=not typed)
    for target in targets:
        for line, name, may_fail in makefiles.recipe(made, target, forced=dry):
            runs = name in made.needs.get(".PHONY", ()) or not call.world.kind(paths.child(cwd, name))
            via = f"make {target}" if stops and runs and not may_fail else f"make -i {target}"
            yield from piped_downloads(call, line)
            yield from call.runner.script(line, call, via, cwd=cwd, file=not typed)


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
    if (started := _started(call, verb, words)) is not None:
        yield from started
        return
    if verb == "workspaces" and "run" in words:
        yield from _steps(call, (words[words.index("run") + 1 :] or [""])[0], (), cwd)
        return
    if verb in ("run", "run-script", "rum", "urn"):
        name = words[0] if words else ""
        rest = call.operands[1:] if call.command.program == "npm" else _behind(call, name, _behind(call, verb))
    elif verb in ("test", "t", "tst", "start", "stop", "restart"):
        name, rest = {"t": "test", "tst": "test"}.get(verb, verb), call.operands
        rest = rest if call.command.program == "npm" else _behind(call, verb)
    elif call.command.program in ("yarn", "pnpm", "bun"):
        name, rest = verb, _behind(call, verb)
    else:
        return
    found = list(_steps(call, name, rest, cwd))
    yield from found
    if not found and name == verb and name not in (*_INSTALLS, *_OWN, ""):
        via = "node_modules/.bin" if not _other_folder(call) else _named(call, "exec")
        yield from call.runner.run([Field(verb), *_behind(call, verb)], call, via, cwd=_given_folder(call))


def _started(call: Call, verb: str, words: Sequence[str]) -> Effects | None:
    """A program that a package manager starts; None for what is none."""
    program = call.command.program
    if verb in ("create", "init", "innit") and words and words[0][:1] not in ("-", ".", "/"):
        return call.runner.run([Field(generators.creator(words[0])), *call.operands[1:]], call, f"{program} create")
    if verb == "workspace" and program == "yarn" and len(words) > 1:
        return _in_workspace(call, words[0])
    return _executed(call, _named(call, verb)) if verb in ("exec", "x", "dlx") else None


def _in_workspace(call: Call, name: str) -> Effects:
    """``yarn workspace NAME``: a script of that package, else a program."""
    folder, given = package_scripts.folder_of(call, name), _behind(call, name)
    program, *rest = given[given[0].text in ("run", "exec") :] or given
    found = [*_steps(call, program.text, rest, folder)] if folder and given[0].text != "exec" else []
    return found or call.runner.run([program, *rest], call, "yarn workspace", cwd=folder)


def _behind(call: Call, word: str, fields: Sequence[Field] | None = None) -> Sequence[Field]:
    """What stands behind a word: all of it is the script's, options too, but for a first ``--``."""
    words = call.fields[1:] if fields is None else fields
    at = next((n for n, field in enumerate(words, 1) if field.text == word), len(words))
    return words[at + 1 :] if [field.text for field in words[at : at + 1]] == ["--"] else words[at:]


def _executed(call: Call, via: str) -> Effects:
    cwd = _given_folder(call)
    for text in call.parsed.values("-c", "--call"):
        yield from call.runner.script(text.text if text.known else UNKNOWN, call, via, cwd=cwd)
    first: Sequence[Field] = call.operands[:1]
    rest: Sequence[Field] = call.operands[1:]
    if first and call.command.program != "npm":  # which alone takes its own options from there
        rest = _behind(call, first[0].text, _behind(call, call.command.subcommand))
    yield from call.runner.run([*map(program_of_package, first), *rest], call, via, cwd=cwd)


def _other_folder(call: Call) -> str:
    """The option by which a package manager works in a folder that nobody looked up, or in several."""
    unknown = (name for name in _FOLDERS if any(not item.known for item in call.parsed.values(name)))
    return next((name for name in _CHOOSERS if call.has(name)), next(unknown, ""))


_CHOOSERS = ("-w", "--workspace", "--workspaces", "-ws", "-F", "--filter", "-r", "--recursive", "--workspace-root")


def _finds_elsewhere(call: Call) -> bool:
    """Whether make takes a file of another folder for a target's own, and leaves its recipe out."""
    return any(call.scope.lookup(name).isset for name in ("VPATH", "GPATH"))


def _named(call: Call, verb: str) -> str:
    """How a package manager is named as what started something: ``pnpm exec``, ``pnpm --filter exec``."""
    other = next((name for name in _NOT_RUN if call.has(name)), "") or _other_folder(call)
    return " ".join(filter(None, (call.command.program, other or _other_shell(call), verb)))


_NOT_RUN = (
    *("--help", "-h", "--version", "-v", "--dry-run", "--if-present", "--no-bail", "--script-shell", "--userconfig"),
    *("--globalconfig", "--ignore-scripts"),
)
"""Options with which a script is not run, or ends well though it failed; or of which other settings may tell."""


def _other_shell(call: Call) -> str:
    """The option that stands for settings by which a script is given to another program than a shell, or left out."""
    folders = (call.locate(_folder(call)), call.world.root, call.world.home)
    files = (f"{folder}/{name}" for folder in folders for name in _SETTINGS)
    told = any(name.lower().startswith("npm_config_") for name in call.scope.variables)
    told = told or not _says_nothing(" ".join(name for name in call.scope.environ if name.lower().startswith("npm_")))
    told = told or any(call.world.kind(p) and not call.world.fulfils(p, _says_nothing) for p in files)
    return "--script-shell" if told else ""


_SETTINGS = (".npmrc", ".yarnrc", "pnpm-workspace.yaml")
_NOT_AS_USUAL = re.compile(r"(?i)script[-_]?shell|ignore[-_]?scripts|if[-_]present")


def _says_nothing(settings: str) -> bool:
    return _NOT_AS_USUAL.search(settings) is None


_OWN = frozenset(
    (
        *("init", "create", "update", "up", "upgrade", "remove", "rm", "uninstall", "un", "link", "unlink"),
        *("list", "ls", "why", "outdated", "audit", "pack", "publish", "config", "set", "get", "cache"),
        *("store", "rebuild", "prune", "import", "fetch", "dedupe", "patch", "deploy", "env", "setup", "bin"),
        *("root", "prefix", "login", "logout", "whoami", "version", "info", "view", "owner", "team", "tag"),
        *("workspace", "workspaces", "plugin", "self-update", "doctor", "licenses", "node", "npm", "help"),
        *("global", "pm", "build", "test", "repl", "shell", "install-test"),
    )
)
"""Verbs of the package managers themselves: what is none of them, and no script, is a program that was installed."""


_FOLDERS = ("--prefix", "-C", "--dir", "--cwd")


def _given_folder(call: Call) -> str:
    """Where a package manager is told to work; empty for where it stands, and for a folder that nobody knows."""
    folder = call.parsed.value(*_FOLDERS)
    if folder is None:
        return package_scripts.chosen_folder(call)
    return call.locate(folder) if folder.known else ""


def _folder(call: Call) -> str:
    return _given_folder(call) or call.cwd


def _steps(call: Call, name: str, rest: Sequence[Field], cwd: str) -> Effects:
    text = call.script_text(paths.child(cwd, "package.json"))
    scripts = package_scripts.scripts(text)
    if text is not None and not scripts and not text.strip(f"{UNKNOWN}\n"):
        yield call.opaque("package.json as it was changed here", "code")
    for step in (f"pre{name}", name, f"post{name}"):
        if text := scripts.get(step):
            if text.startswith(UNKNOWN):
                yield call.opaque(f"the script {step} as it was changed here", "code")
            yield from piped_downloads(call, text)
            more = " ".join(_quoted(item) for item in rest) if step == name else ""
            # Of those before and behind it npm alone runs each.
            via = _named(call, f"run {name}" if step == name or call.command.program == "npm" else f"--pre run {name}")
            yield from call.runner.script(f"{text} {more}", call, via, cwd=cwd, file=True)


def run_scripts(call: Call) -> Effects:
    """npm-run-all, run-s, run-p: every operand is a script of package.json, ``dev:*`` all that begin so."""
    scripts = package_scripts.scripts(call.script_text(paths.child(call.cwd, "package.json")))
    for item in call.operands:
        for name in fnmatch.filter(scripts, item.text):
            yield from _steps(call, name, (), call.cwd)


def node_script(call: Call) -> Effects:
    """``node --run NAME``."""
    names = [*call.parsed.values("--run"), *call.operands[:1]] if call.has("--run") else []
    for item in names[:1]:
        yield from _steps(call, item.text, (), call.cwd)


def _quoted(item: Field) -> str:
    return "'" + item.text.replace("'", "'\\''") + "'"


_JUST_RULE = re.compile(r"@?([A-Za-z_][\w-]*)((?:\s+[^:=]+?)?)\s*:(?!=)\s*(.*)$")
_JUST_VALUE = re.compile(r"\{\{.*?\}\}")
"""What just fills in: nobody knows here what it is."""
_JUST_SETS = re.compile(r"(?m)^(?:export\s+)?(\w+)(?=\s*:=)|(?<=\$)(\w+)(?=[^\n]*:\s*$)")
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
    made = makefiles.Makefile()
    current: list[str] = []
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and current:
            made.recipes[current[0]].append(_JUST_VALUE.sub('"$just_value"', line.strip().lstrip("@-")))
        elif match := _JUST_RULE.match(line):
            current = [match[1]]
            makefiles.add_rule(made, current, match[3].replace("&&", " ").split(), None)
    scope = call.scope.copy()
    own = {name for names in _JUST_SETS.findall(text) for name in names}
    scope.exported = frozenset() if "dotenv-override" in text else call.scope.reaching - own
    if CLUSTER in own or ("dotenv" in text and _names_cluster(call, call.locate(Field(".env")))):
        scope.hold(CLUSTER, None)
    call = replace(call, scope=scope)
    for line, *_ in makefiles.recipe(made, call.operands[0].text if call.operands else made.first):
        yield from piped_downloads(call, line)
        yield from call.runner.script(line, call, "just", file=found not in call.world.made())


OPTIONS = {
    "just": options("-f= --justfile= -d= --working-directory= --set= --shell="),
    "make": options(
        "-C= --directory= -f= --file= --makefile= --eval= -E= -j= --jobs= -I= --include-dir= -o= -W= -l= "
        "--output-sync= --old-file= --assume-old= --what-if= --ignore-errors --keep-going --touch --question --dry-run "
        "--just-print --recon --version --help --environment-overrides --print-directory --no-print-directory --silent "
        "--quiet --always-make --warn-undefined-variables --no-builtin-rules --no-builtin-variables --load-average="
    ),
}
OPTIONS["gmake"] = OPTIONS["make"]

PROGRAMS = {"make": make, "gmake": make, "just": just, **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), npm)}
PROGRAMS |= dict.fromkeys(("npm-run-all", "run-s", "run-p", "npm-run-all2"), run_scripts)
