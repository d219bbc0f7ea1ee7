"""Task runners whose commands stand in a data file: Taskfile.yml, composer.json, Procfile, tox.ini, Snakefile.

Every reader turns a file's text into the shell lines of each task; anything that is not of the documented shape is left
out, for what the runner refuses runs nothing.
"""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.files.fetched_files import piped_downloads
from sentinel_guard.core.model import Effect

Tasks = Mapping[str, list[str]]
"""Name -> shell lines; ``@name`` is another task."""

_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_LOOKS = frozenset(("--dry", "--dry-run", "--list", "--list-all", "--summary", "--status", "--help"))
"""Options with which no task runs."""
_OWN_LOOKS: dict[str, frozenset[str]] = {
    "snakemake": frozenset(
        ("-n", "--dry-run", "--dryrun", "--lint", "--dag", "--rulegraph", "--list", "-l", "--summary")
    ),
    "act": frozenset(("-l", "--list", "-n", "--dryrun", "-g", "--graph", "--validate")),
    "tox": frozenset(("-l", "-a", "--listenvs", "--listenvs-all", "--showconfig", "--notest", "-n", "list", "config")),
    **dict.fromkeys(("ninja", "samu"), frozenset(("-n", "-t"))),
}
"""The same, of one runner alone."""
_TAKES_OPTIONS_ANYWHERE = ("task", "go-task")
"""Runners that take them behind a task's name, too; the others give them to the task."""
LONGEST = 20_000
"""Characters of a file that is not made by a generator."""
DEEP = 20
"""Tasks that call tasks."""


def _taskfile(text: str) -> Tasks:
    """https://taskfile.dev/reference/schema: ``cmds``, ``cmd``, ``deps``; a task may be a text or a list of them."""
    import yaml  # noqa: PLC0415 - 15 ms that only who uses a Taskfile should pay

    try:
        tasks = _mapping(_mapping(yaml.safe_load(text)).get("tasks"))
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return {
        str(name): [_TEMPLATE.sub("${TASK}", line) for line in _taskfile_lines(task)] for name, task in tasks.items()
    }


def _taskfile_lines(task: object) -> Iterator[str]:
    if isinstance(task, str):
        yield task
    elif isinstance(task, list):
        for item in task:
            yield from _taskfile_lines(item)
    elif isinstance(task, dict):
        for need in task.get("deps") or ():
            yield f"@{need.get('task') if isinstance(need, dict) else need}"
        if isinstance(task.get("task"), str):
            yield f"@{task['task']}"
        for key in ("cmd", "cmds", "defer"):
            yield from _taskfile_lines(task.get(key))


def _composer(text: str) -> Tasks:
    """https://getcomposer.org/doc/articles/scripts.md: texts, lists; ``@name`` is another one, ``@php`` is php."""
    scripts = _mapping(_mapping(json.loads(text)).get("scripts"))
    return {name: [line.removeprefix("@composer run ") for line in _texts(script)] for name, script in scripts.items()}


def _deno(text: str) -> Tasks:
    """https://docs.deno.com/runtime/reference/cli/task: a text, or ``command`` and ``dependencies``."""
    given = _mapping(json.loads(text))
    tasks = {**_mapping(given.get("scripts")), **_mapping(given.get("tasks"))}  # a package.json will do, too
    return {name: _deno_lines(task) for name, task in tasks.items()}


def _deno_lines(task: object) -> list[str]:
    if isinstance(task, dict):
        return [*(f"@{need}" for need in _texts(task.get("dependencies"))), *_texts(task.get("command"))]
    return _texts(task)


def _poe(text: str) -> Tasks:
    """https://poethepoet.natn.io/tasks: ``cmd``, ``shell``, ``sequence`` of texts and references."""
    tasks = _mapping(_mapping(_mapping(tomllib.loads(text).get("tool")).get("poe")).get("tasks"))
    return {name: list(_poe_lines(task)) for name, task in tasks.items()}


def _poe_lines(task: object) -> Iterator[str]:
    if isinstance(task, list):
        yield from (f"@{item}" if isinstance(item, str) else line for item in task for line in _poe_lines(item))
    elif isinstance(task, dict):
        yield from _texts(task.get("cmd"))
        yield from _texts(task.get("shell"))
        yield from _poe_lines(task.get("sequence") or [])
    else:
        yield from _texts(task)


_HOOK_LINE = re.compile(r"(?m)^[ \t]*(?:-[ \t]+)?(?:entry|run):[ \t]*(['\"]?)([^|>\n].*?)\1[ \t]*$")


def _hook_lines(text: str) -> Tasks:
    """Commands of git hooks: ``entry`` of https://pre-commit.com/#new-hooks, ``run`` of lefthook; all of them count."""
    return {"default": [match[2] for match in _HOOK_LINE.finditer(text)]}


def _table(*keys: str) -> Callable[[str], Tasks]:
    """Tasks in a table of a TOML file: a text, a list of texts, or ``run``, ``cmd``, ``shell`` with ``depends``."""

    def read(text: str) -> Tasks:
        found: dict[str, object] = tomllib.loads(text)
        for key in keys:
            found = _mapping(found.get(key))
        return {name: list(_table_lines(task)) for name, task in found.items()}

    return read


def _table_lines(task: object) -> Iterator[str]:
    if not isinstance(task, dict):
        yield from _texts(task)
        return
    for key in ("depends", "depends-on", "depends_on"):
        yield from (f"@{need}" for need in _texts(task.get(key)))
    for key in ("run", "cmd", "shell", "composite"):
        yield from _texts(task.get(key))


_PROCESS = re.compile(r"(?m)^([\w-]+):[ \t]+(.+)$")


def _procfile(text: str) -> Tasks:
    """https://devcenter.heroku.com/articles/procfile: ``name: command``; all of them are started."""
    return {"default": [match[2] for match in _PROCESS.finditer(text)]}


_SECTION = re.compile(r"(?m)^\[([^\]\n]+)\][ \t]*$")
_TOX_COMMANDS = re.compile(r"(?m)^commands(?:_pre|_post)?[ \t]*=[ \t]*(.*(?:\n[ \t]+.*)*)")


def _tox(text: str) -> Tasks:
    """https://tox.wiki/en/latest/config.html: ``commands`` of each environment, one a line; ``-`` keeps going."""
    parts = _SECTION.split(text)
    found: dict[str, list[str]] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = "\n".join(_TOX_COMMANDS.findall(body)).splitlines()
        given = [re.sub(r"\{[^{}]*\}", "${TASK}", line.strip().lstrip("- ")) for line in lines if line.strip()]
        found["default" if name == "testenv" else name.removeprefix("testenv:")] = given
    return found


_NINJA = re.compile(r"(?m)^[ \t]+command[ \t]*=[ \t]*(.*(?:\$\n.*)*)")


def _ninja(text: str) -> Tasks:
    """https://ninja-build.org/manual.html: the command of each rule, ``$$`` for a dollar."""
    lines = [match.replace("$\n", " ") for match in _NINJA.findall(text)] if len(text) <= LONGEST else []
    return {"default": [re.sub(r"\$(\$|\w+)", lambda m: "$" if m[1] == "$" else "${TASK}", line) for line in lines]}


_RULE = re.compile(r"(?m)^(?:rule|checkpoint)[ \t]+(\w+)[ \t]*:")
_TEXT = r"(?:\"\"\"(?P<a>.*?)\"\"\"|'{3}(?P<b>.*?)'{3}|\"(?P<c>(?:[^\"\\\n]|\\.)*)\"|'(?P<d>(?:[^'\\\n]|\\.)*)')"
_SHELL = re.compile(rf"\bshell[ \t]*[:(]\s*[rf]?{_TEXT}", re.DOTALL)
_LOCAL = re.compile(
    rf"\blocal(?:_resource)?\(\s*(?:['\"][\w-]*['\"]\s*,\s*)?(?:(?:serve_)?cmd\s*=\s*)?{_TEXT}", re.DOTALL
)


def _strings(pattern: re.Pattern[str], text: str) -> list[str]:
    found = [next(filter(None, match.group("a", "b", "c", "d")), "") for match in pattern.finditer(text)]
    return [re.sub(r"\{[\w.\[\]]*\}", "${TASK}", line).strip() for line in found]


def _snakefile(text: str) -> Tasks:
    """https://snakemake.readthedocs.io: ``shell`` of each rule, ``{output}`` filled in; none named: all."""
    parts = _RULE.split(text)
    rules = {name: _strings(_SHELL, body) for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    return {**rules, "default": [line for lines in rules.values() for line in lines]}


def _tiltfile(text: str) -> Tasks:
    """https://docs.tilt.dev/api.html: ``local``, ``local_resource``; the file runs whole."""
    return {"default": _strings(_LOCAL, text)}


_TARGET = re.compile(r"<Target\s[^>]*?Name=\"([\w.-]+)\"([^>]*)>(.*?)</Target>", re.DOTALL)
_DEED = re.compile(r"<(Exec|RemoveDir|Delete)\s[^>]*?(?:Command|Directories|Files)=\"([^\"]*)\"")


def _msbuild(text: str) -> Tasks:
    """https://learn.microsoft.com/visualstudio/msbuild/msbuild-targets: ``Exec``, ``RemoveDir``, ``Delete``."""
    found: dict[str, list[str]] = {"default": []}
    for name, rest, body in _TARGET.findall(text):
        lines = []
        for deed, value in _DEED.findall(body):
            told = re.sub(r"\$\(([\w.]+)\)", r"${\1}", html.unescape(value)).replace("\\", "/")
            lines.append(told if deed == "Exec" else f"rm -rf {told.replace(';', ' ')}")
        found[name] = lines
        found["default"] += lines if "Before" in rest or "After" in rest or name == "Build" else []
    return found


_RUN_BLOCK = re.compile(
    r"(?m)^([ \t]*)(?:-[ \t]+)?run:[ \t]*(?:[|>][-+]?[ \t]*\n((?:\1[ \t]+.*\n?|[ \t]*\n)+)|([^|>\n].*))"
)


def _workflow(text: str) -> Tasks:
    """https://docs.github.com/actions: ``run`` of every step, as act starts them on this machine."""
    return {
        "default": [re.sub(r"\$\{\{.*?\}\}", "${TASK}", block or line) for _, block, line in _RUN_BLOCK.findall(text)]
    }


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> list[str]:
    return (
        [value]
        if isinstance(value, str)
        else [v for v in value if isinstance(v, str)]
        if isinstance(value, list)
        else []
    )


class _Runner(NamedTuple):
    """Which files hold the tasks, how they are read, and behind which subcommands a task is named."""

    files: tuple[str, ...]
    read: Callable[[str], Tasks]
    verbs: tuple[str, ...] = ()
    short: bool = False
    """A task's name may stand where a verb would: ``composer reset``."""
    every: bool = False
    """All of the file counts, whatever is named."""


_TARGETS = ("-t:", "-target:", "/t:", "/target:", "--target:")
_PROCFILE = _Runner(("Procfile", "Procfile.dev"), _procfile, ("start", "s"), every=True)
_RUNNERS = {
    **dict.fromkeys(("foreman", "honcho", "overmind", "hivemind", "goreman"), _PROCFILE),
    "tox": _Runner(("tox.ini",), _tox),
    **dict.fromkeys(("ninja", "samu"), _Runner(("build.ninja",), _ninja, every=True)),
    "snakemake": _Runner(("Snakefile", "workflow/Snakefile"), _snakefile),
    "tilt": _Runner(("Tiltfile",), _tiltfile, ("up", "ci"), every=True),
    **dict.fromkeys(("msbuild", "xbuild"), _Runner((), _msbuild)),
    "act": _Runner(
        (".github/workflows/release.yml", ".github/workflows/release.yaml", ".github/workflows/ci.yml"),
        _workflow,
        every=True,
    ),
    "task": _Runner(("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"), _taskfile),
    "go-task": _Runner(
        ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"), _taskfile
    ),
    "composer": _Runner(("composer.json",), _composer, ("run", "run-script"), short=True),
    "deno": _Runner(("deno.json", "deno.jsonc", "package.json"), _deno, ("task",)),
    "poe": _Runner(("pyproject.toml",), _poe),
    "pre-commit": _Runner((".pre-commit-config.yaml", ".pre-commit-config.yml"), _hook_lines, ("run",), every=True),
    "lefthook": _Runner(("lefthook.yml", ".lefthook.yml", "lefthook.yaml"), _hook_lines, ("run",), every=True),
    "mise": _Runner(
        ("mise.toml", ".mise.toml", "mise.local.toml", ".mise/config.toml"), _table("tasks"), ("run", "r"), short=True
    ),
}


def run(call: Call) -> Iterator[Effect]:
    """The lines of the tasks that are named, those that they need first."""
    runner = _RUNNERS[call.command.program]
    words = [item.text for item in call.fields[1:]]
    named = next((n for n, word in enumerate(words) if word[:1] != "-" and word not in runner.verbs), len(words))
    if not _OWN_LOOKS.get(call.command.program, frozenset()).isdisjoint(words):
        return
    if not _LOOKS.isdisjoint(words if call.command.program in _TAKES_OPTIONS_ANYWHERE else words[:named]):
        return
    names = _named(call)
    verb = call.command.subcommand or (names.pop(0) if names and runner.verbs else "")
    folder = call.parsed.value("-d", "--dir", "-C", "--directory", "--working-dir")
    cwd = call.locate(folder) if folder is not None and folder.known else call.cwd
    text, typed = _file(call, runner, cwd)
    if UNKNOWN in text:
        yield call.opaque(f"a file of {call.command.program} that is not known whole", "code")
        return
    tasks = _tasks(runner, text)
    if runner.verbs and verb not in runner.verbs:
        names = [verb] if verb in tasks and runner.short else []
        if not names:
            return
    for name in (names or ["default"]) if not runner.every else ["default"]:
        for line in _lines(tasks, name, DEEP):
            yield from piped_downloads(call, line)
            yield from call.runner.script(line, call, f"{call.command.program} {name}", cwd=cwd, file=not typed)


def _named(call: Call) -> list[str]:
    """The tasks that a call names: its operands, tox's environments, the targets of MSBuild."""
    if call.command.program == "tox":
        return [name for item in call.parsed.values("-e") for name in item.text.split(",")]
    targets = [item.text.partition(":")[2] for item in call.fields[1:] if item.text.startswith(_TARGETS)]
    plain = [item.text for item in call.operands if "=" not in item.text and not item.text.endswith(_PROJECTS)]
    return [name for target in targets for name in target.split(";")] or plain


def msbuild(call: Call) -> Iterator[Effect]:
    """``dotnet build X.proj -t:NAME``: the tasks of the project's file."""
    words = [item.text for item in call.fields[1:]]
    if call.command.program == "dotnet" and words[:1] not in (["build"], ["msbuild"], ["publish"], ["test"], ["run"]):
        return
    for item in call.fields[1:]:
        text = call.script_text(call.locate(item)) if item.known and item.text.endswith(_PROJECTS) else None
        tasks = _msbuild(text) if text else {}
        names = [name for name in _named(call) if name in tasks] or ["default"]
        for line in (line for name in names for line in tasks.get(name, ())):
            folder = paths.parent(call.locate(item))
            yield from call.runner.script(line, call, f"{call.command.program} {names[0]}", cwd=folder, file=True)


_PROJECTS = (".proj", ".csproj", ".fsproj", ".vbproj", ".targets", ".sln")


def _file(call: Call, runner: _Runner, cwd: str) -> tuple[str, bool]:
    """The text of the runner's file, and whether this very text wrote it; empty where there is none."""
    given = call.parsed.value("-t", "--taskfile", "-c", "--config", *_FILE_OPTIONS.get(call.command.program, ()))
    names = [given] if given is not None and given.known else [Field(name) for name in runner.files]
    for name in names:
        path = paths.locate(name.text, cwd, call.world)
        text = call.script_text(path)
        if text is not None:
            return text, path in call.world.made() or call.is_stdin(name)
    return "", False


def _tasks(runner: _Runner, text: str) -> Tasks:
    try:
        return runner.read(text) if text else {}
    except ValueError:  # json's and tomllib's: the runner cannot read it either
        return {}


def _lines(tasks: Tasks, name: str, left: int) -> Iterator[str]:
    for line in tasks.get(name, ()):
        head, _, rest = line.partition(" ")
        if head[:1] == "@" and head[1:] in tasks and not rest:
            yield from _lines(tasks, head[1:], left - 1) if left else ()
        else:
            yield line.removeprefix("@")


_FILE_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("foreman", "honcho", "overmind", "hivemind", "goreman"), ("-f", "--procfile")),
    **dict.fromkeys(("ninja", "samu", "tilt"), ("-f", "--file")),
    "snakemake": ("-s", "--snakefile"), "act": ("-W", "--workflows"),
}  # fmt: skip
OPTIONS = {
    **dict.fromkeys(
        ("foreman", "honcho", "overmind", "hivemind", "goreman"),
        options("-f= --procfile= -e= --env= -d= -p= --port= -m= | sub"),
    ),
    "tox": options("-e= -c= --conf= --workdir= -p= -x= --override="),
    **dict.fromkeys(("ninja", "samu"), options("-f= -C= -j= -k= -l= -d= -w=")),
    "snakemake": options(
        "-s= --snakefile= -c= --cores= -j= --jobs= -d= --directory= --profile= --configfile= --config="
    ),
    "tilt": options("-f= --file= --context= --namespace= --port= --host= | sub"),
    "act": options(
        "-W= --workflows= -j= --job= -P= --platform= -s= --secret= --secret-file= -e= --eventpath= --env= "
        "--env-file= -C= --directory= --container-architecture="
    ),
    **dict.fromkeys(("pre-commit", "lefthook"), options("-c= --config=")),
    "task": options("-d= --dir= -t= --taskfile= -o= --output= -C= --concurrency= -I= --interval="),
    "composer": options("-d= --working-dir= | sub"),
    "poe": options("-C= --directory= -e= --executor="),
    "mise": options("-C= --cd= -E= --env= -j= --jobs= | sub"),
}
OPTIONS["go-task"] = OPTIONS["task"]

PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = {
    **dict.fromkeys(_RUNNERS.keys() - {"deno"}, run),
    **dict.fromkeys(("msbuild", "xbuild"), msbuild),
}
"""deno has other verbs, too: registry.py comes here for ``deno task`` only."""
