"""Task runners whose commands stand in a data file: Taskfile.yml, composer.json, deno.json, pyproject.toml.

Every reader turns a file's text into the shell lines of each task; anything that is not of the documented shape is left
out, for what the runner refuses runs nothing.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect

Tasks = Mapping[str, list[str]]
"""Name -> shell lines; ``@name`` is another task."""

_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_LOOKS = frozenset(("--dry", "--dry-run", "--list", "--list-all", "--summary", "--status", "--help"))
"""Options with which no task runs."""
_TAKES_OPTIONS_ANYWHERE = ("task", "go-task")
"""Runners that take them behind a task's name, too; the others give them to the task."""
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


_RUNNERS = {
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
    if not _LOOKS.isdisjoint(words if call.command.program in _TAKES_OPTIONS_ANYWHERE else words[:named]):
        return
    names = [item.text for item in call.operands if "=" not in item.text]
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
            yield from call.runner.script(line, call, f"{call.command.program} {name}", cwd=cwd, file=not typed)


def _file(call: Call, runner: _Runner, cwd: str) -> tuple[str, bool]:
    """The text of the runner's file, and whether this very text wrote it; empty where there is none."""
    given = call.parsed.value("-t", "--taskfile", "-c", "--config")
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


OPTIONS = {
    **dict.fromkeys(("pre-commit", "lefthook"), options("-c= --config=")),
    "task": options("-d= --dir= -t= --taskfile= -o= --output= -C= --concurrency= -I= --interval="),
    "composer": options("-d= --working-dir= | sub"),
    "poe": options("-C= --directory= -e= --executor="),
    "mise": options("-C= --cd= -E= --env= -j= --jobs= | sub"),
}
OPTIONS["go-task"] = OPTIONS["task"]

PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(_RUNNERS.keys() - {"deno"}, run)
"""deno has other verbs, too: registry.py comes here for ``deno task`` only."""
