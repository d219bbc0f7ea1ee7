"""Build and task tools whose files lie in the project: noxfile.py, tasks.py, settings.gradle, devcontainer.json.

Each reader turns a file's text into the shell lines that the tool starts for the words it is given. What is not of the
documented shape is left out.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.files.fetched_files import piped_downloads
from sentinel_guard.core.model import Effect

Lines = Iterator[str]


class _Tool(NamedTuple):
    """Which files a tool reads, how, and with which words it runs nothing of them."""

    files: tuple[str, ...]
    read: Callable[[str, Sequence[str]], Lines]
    looks: frozenset[str]
    verbs: tuple[str, ...] = ()
    """It must be given one of these; none: whatever it is given."""


def _named(words: Sequence[str], *options: str) -> list[str]:
    """The values of options that name what runs, lists at commas."""
    given = [after for word, after in pairwise((*words, "")) if word in options]
    given += [word.partition("=")[2] for word in words if word.partition("=")[0] in options and "=" in word]
    return [name for value in given for name in re.split(r"[,\s]+", value) if name]


def _python_tasks(text: str, wanted: Callable[[str], bool], methods: frozenset[str]) -> Lines:
    """Constant commands that the functions of a file hand to ``c.run(…)``, ``session.run(…)``."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and wanted(function.name.replace("_", "-")):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
                    yield from _command(node)


def _command(node: ast.Call) -> Lines:
    values = [_constant(value) for value in node.args]
    if len(values) == 1 and values[0]:
        yield values[0]
    elif values and all(values):
        yield shlex.join(values)


def _constant(node: ast.expr) -> str:
    """A text; what is filled in stands as a word that nobody knows."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_constant(part) or '"$value"' for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


_RUNS = frozenset(("run", "sudo", "local", "shell"))
_SESSION_RUNS = frozenset(("run", "run_always", "run_install"))


def _invoke(text: str, words: Sequence[str]) -> Lines:
    """https://docs.pyinvoke.org: the functions that are named, with what ``pre=`` names."""
    named = {word.rpartition(".")[2] for word in words if word[:1] != "-"}
    needs = {
        name.replace("_", "-")
        for group in re.findall(r"\bpre\s*=\s*\[([^\]]*)\]", text)
        for name in re.findall(r"\w+", group)
    }
    wanted = {name.replace("_", "-") for name in named} | (needs if named else set())
    return _python_tasks(text, wanted.__contains__, _RUNS)


def _nox(text: str, words: Sequence[str]) -> Lines:
    """https://nox.thea.codes: the sessions behind ``-s``, else all."""
    names = {name.partition("(")[0].replace("_", "-") for name in _named(words, "-s", "--session", "--sessions", "-e")}
    return _python_tasks(text, lambda name: not names or name in names, _SESSION_RUNS)


_COMMENT = re.compile(r"(?m)(?:^|(?<=[\s,{[]))//[^\n\"]*$|(?<=[\s,{[])/\*.*?\*/")


def _devcontainer(text: str, words: Sequence[str]) -> Lines:  # noqa: ARG001 - as the other readers
    """https://containers.dev/implementors/json_reference: ``initializeCommand`` runs on this machine."""
    try:
        given = json.loads(re.sub(r",(\s*[}\]])", r"\1", _COMMENT.sub("", text)), strict=False)
    except ValueError:
        return
    command = given.get("initializeCommand") if isinstance(given, dict) else None
    for one in command.values() if isinstance(command, dict) else [command]:
        if isinstance(one, str):
            yield one
        elif isinstance(one, list) and all(isinstance(word, str) for word in one):
            yield shlex.join(one)


_CMAKE_CALL = re.compile(
    r"(?i)\b(execute_process|add_custom_command|add_custom_target|file)\s*\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\([^()]*\))*)\)"
)
_CMAKE_WORD = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|([^\s\"]+)")
_CMAKE_KEYS = re.compile(r"[A-Z][A-Z_]{3,}")
_CMAKE_VALUE = re.compile(r"\$\{(\w+)\}|\$<[^>]*>")


def _cmake(text: str, words: Sequence[str]) -> Lines:
    """https://cmake.org/cmake/help/latest/command/execute_process.html; custom commands run where it builds."""
    builds, fetched = "--build" in words, dict[str, str]()
    for name, inner in _CMAKE_CALL.findall(re.sub(r"(?m)#[^\n]*", "", text)):
        given = [_CMAKE_VALUE.sub(r"cmake/\1", long or short) for long, short in _CMAKE_WORD.findall(inner)]
        if name.lower() == "file":
            if given[:1] == ["DOWNLOAD"] and len(given) > 2:
                fetched[given[2]] = given[1]
        elif builds or name.lower() == "execute_process":
            yield from (f"curl -s {shlex.quote(fetched[word])} | sh" for word in given if word in fetched)
            yield from _cmake_commands(given)


def _cmake_commands(words: Sequence[str]) -> Lines:
    command: list[str] | None = None
    for word in (*words, "COMMAND"):
        if word == "COMMAND":
            if command:
                yield shlex.join(command)
            command = []
        elif command is not None and _CMAKE_KEYS.fullmatch(word):
            if command:
                yield shlex.join(command)
            command = None
        elif command is not None:
            command.append(word)


_GRADLE_FAR = re.compile(r"\bapply\s*[( ]\s*from\s*[:=]\s*(?:uri\()?['\"](https?://[^'\"]+)")
_GRADLE_STARTS = re.compile(r"(?m)^\s*(?:def|val)?[\w\s=]*['\"]([^'\"\n]+)['\"]\.execute\(\)")


def _gradle(text: str, words: Sequence[str]) -> Lines:  # noqa: ARG001 - as the other readers
    """https://docs.gradle.org: what is read whatever the task: scripts by network, processes started."""
    for address in _GRADLE_FAR.findall(text):
        yield f"curl -s {shlex.quote(address)} | sh"
    yield from _GRADLE_STARTS.findall(text)


_ASKS = frozenset(("--help", "-h", "--version"))
_GRADLE = _Tool(
    ("settings.gradle", "settings.gradle.kts", "build.gradle", "build.gradle.kts", "init.gradle"), _gradle, _ASKS
)
_INVOKE = _Tool(("tasks.py",), _invoke, _ASKS | {"-l", "--list", "-R", "--dry"})
_TOOLS = {
    "invoke": _INVOKE, "inv": _INVOKE,
    "fab": _Tool(("fabfile.py",), _invoke, _ASKS | {"-l", "--list"}),
    "nox": _Tool(("noxfile.py",), _nox, _ASKS | {"-l", "--list", "--list-sessions", "--install-only"}),
    "devcontainer": _Tool((".devcontainer/devcontainer.json", ".devcontainer.json",
                           ".devcontainer/*/devcontainer.json"),
                          _devcontainer, _ASKS, ("up", "build", "run-user-commands", "open")),
    "cmake": _Tool(("CMakeLists.txt",), _cmake, _ASKS | {"-E", "-N", "--install", "-LA", "-L"}),
    "gradle": _GRADLE, "gradlew": _GRADLE,
}  # fmt: skip
_FOLDERS = ("-S", "-C", "-c", "-p", "--workspace-folder", "--root", "-r", "--project-dir", "--search-root", "-W")
_FILES = 12
"""Files of a tool that are looked at."""


def runs(call: Call) -> Iterable[Effect]:
    """What the tool starts, as its file in the project says."""
    tool = _TOOLS[call.command.program]
    words = [item.text for item in call.fields[1:]]
    if not tool.looks.isdisjoint(words) or (tool.verbs and not any(word in tool.verbs for word in words[:3])):
        return
    for path, cwd in _found(call, tool, words):
        text = call.script_text(path)
        for line in tool.read(text, words) if text else ():
            yield from piped_downloads(call, line)
            typed = path in call.world.made()
            yield from call.runner.script(line, call, call.command.program, cwd=cwd, file=not typed)


def _found(call: Call, tool: _Tool, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files that are there, each with the folder in which its lines run."""
    folders = [after for word, after in pairwise(words) if word in _FOLDERS and after[:1] != "-"]
    if call.command.program == "cmake":
        folders += [word for word in words[:1] if word[:1] != "-"]
    seen = list[str]()
    for folder in (*folders, "."):
        cwd = call.locate(folder)
        for name in tool.files:
            path = paths.child(cwd, name)
            seen += call.world.glob(path) if "*" in name else [path]
        if any(call.world.kind(path) == "file" for path in seen):
            return iter([(path, cwd) for path in dict.fromkeys(seen[:_FILES])])
    return iter(())


PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(_TOOLS, runs)
