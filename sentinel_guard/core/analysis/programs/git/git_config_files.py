"""Reads git configuration files: what an alias stands for, what is set for one command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.world import World

Entry = tuple[str, str]
"""A key and its value; section and name in lower case, a subsection as it is written."""

HOOKS = "core.hookspath"
HOMES = {
    "GIT_CONFIG_GLOBAL": "",
    "GIT_CONFIG_SYSTEM": "",
    "HOME": "/.gitconfig",
    "XDG_CONFIG_HOME": "/git/config",
}
"""Variables that put another file in the place of one of the person's, and where below their value it lies."""
_BARE = ("HEAD", "objects", "refs")
"""What git knows a repository by."""
MAX_GIVEN = 100
"""Settings by environment variables that are looked at."""
_HEADER = re.compile(r"\s*\[\s*([\w.-]+)\s*(?:\"((?:\\.|[^\"\\])*)\")?\s*\]")
_ENTRY = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=(.*))?$")
_PIECE = re.compile(r"\"((?:\\.|[^\"\\])*)\"|(\\.)|([^\"\\#;]+)|[#;].*")
_PARAMETER = re.compile(r"'([^'=]*)(?:=([^']*))?'(?:='([^']*)')?")
_ESCAPES = {"n": "\n", "t": "\t", "b": ""}


def entries(text: str) -> Iterator[Entry]:
    """The settings of a file, in order; a name without a value is ``true``."""
    section = ""
    for line in text.replace("\\\n", "").splitlines():
        rest = line
        if header := _HEADER.match(line):
            section = header[1].lower() + (f".{_escaped(header[2])}" if header[2] is not None else "")
            rest = line[header.end() :]
        if section and (entry := _ENTRY.match(rest)):
            yield f"{section}.{entry[1].lower()}", "true" if entry[2] is None else _value(entry[2])


def _value(text: str) -> str:
    pieces = _PIECE.finditer(text.strip())
    return "".join(_escaped(m[1] or m[2] or "") if m[3] is None else m[3] for m in pieces).strip()


def _escaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text)


def variable(call: Call, name: str) -> Field | None:
    """What an environment variable holds, None for nothing and for what is not known."""
    value = call.scope.lookup(name)
    return Field(value.items[0]) if value.known and value.items and value.items[0] else None


def top(call: Call) -> str | None:
    """The folder with the ``.git`` that git would find; None where there is none, or where it cannot be told."""
    folder = call.cwd
    while call.here and not call.world.kind(f"{folder.rstrip('/')}/.git"):
        if folder == "/":
            return None
        folder = paths.parent(folder)
    return folder if call.here else None


def alias(call: Call, name: str, settings: Iterable[Entry]) -> str | None:
    """What an alias stands for: as given for this command, made by this text, or found on disk."""
    key = f"alias.{name.lower()}"
    made = [value for given, value in settings if given.lower() == key]
    made = made or [value for given, value in _by_environment(call, _inherited) if given.lower() == key]
    if made or key in call.world.settings:
        return made[-1] if made else call.world.settings[key]
    for path in _files(call):
        found = [value for given, value in read(call, path) if given == key]
        if found:
            return found[-1]
    return None


def _files(call: Call) -> Iterator[str]:
    """The files of the configuration, the one that counts most first."""
    if (nearest := own(call)) is not None:
        yield nearest
    instead = variable(call, "GIT_CONFIG_GLOBAL")
    if instead is not None:
        yield call.locate(instead)
    else:
        yield f"{call.world.home}/.gitconfig"
        folder = variable(call, "XDG_CONFIG_HOME")
        yield f"{call.locate(folder) if folder else f'{call.world.home}/.config'}/git/config"
    yield "/etc/gitconfig"


def own(call: Call) -> str | None:
    """The repository's own file, behind the ``.git`` file of a submodule or a worktree too."""
    folder = common_dir(call)
    return None if folder is None else f"{folder}/config"


def common_dir(call: Call) -> str | None:
    """The folder that holds a repository's settings, references and hooks, whatever work tree the command is in; None
    where there is no repository, or where it cannot be told.
    """
    given = call.head.value("--git-dir") or variable(call, "GIT_DIR")
    git = call.locate(given) if given is not None and given.known else _found(call)
    if git is None:
        return None
    common = variable(call, "GIT_COMMON_DIR")
    return behind(git, call.world) if common is None else call.locate(common)


def behind(git: str, world: World) -> str:
    """The directory that a ``.git`` stands for: itself, or that of the repository that it names."""
    if world.kind(git) == "file":
        git = paths.locate((world.read(git) or "").removeprefix("gitdir:").strip(), paths.parent(git), world)
    said = (world.read(f"{git}/commondir") or "").strip()
    return paths.locate(said, git, world) if said else git


def _found(call: Call) -> str | None:
    """The git directory that git finds from its folder up; a bare one is the folder itself."""
    folder = call.cwd.rstrip("/")
    while call.here:
        if call.world.kind(f"{folder}/.git"):
            return f"{folder}/.git"
        if all(call.world.kind(f"{folder}/{name}") for name in _BARE):
            return folder
        if not folder:
            return None
        folder = paths.parent(folder).rstrip("/")
    return None


def read(call: Call, path: str, *, follow: bool = True) -> Iterator[Entry]:
    """The settings of a file and, one level deep, of the files that it includes, whatever their condition."""
    for key, value in entries(call.world.read(path) or ""):
        yield key, value
        if follow:
            yield from included(call, key, value, paths.parent(path), follow=False)


def included(call: Call, key: str, value: str, folder: str, *, follow: bool = True) -> Iterator[Entry]:
    """What a setting ``include.path`` brings along; nothing for any other one."""
    low = key.lower()
    if value and (low == "include.path" or (low.startswith("includeif.") and low.endswith(".path"))):
        named = call.world.home + value[1:] if value.startswith("~/") else value
        yield from read(call, paths.locate(named, folder, call.world), follow=follow)


def given(call: Call) -> Iterator[Entry]:
    """What is set for this one command: by options, by the environment that the text made, by files that they name."""
    for key, value in (*_by_option(call), *_by_environment(call, _assigned)):
        yield key, value
        yield from included(call, key, value, call.cwd)
    for name, below in HOMES.items():
        if (path := _assigned(call, name)) and path not in paths.IGNORED:
            yield from read(call, call.locate(path + below))


def _by_option(call: Call) -> Iterator[Entry]:
    for item in call.head.values("-c"):
        key, equals, value = item.text.partition("=")
        yield key, value if equals else "true"
    for item in call.head.values("--config-env"):
        key, _, name = item.text.partition("=")
        value_of = variable(call, name)
        yield key, value_of.text if value_of else ""


def _by_environment(call: Call, holds: Callable[[Call, str], str]) -> Iterator[Entry]:
    """The hooks' path apart, which environment_variables.py tells of."""
    count = holds(call, "GIT_CONFIG_COUNT")
    for at in range(min(int(count), MAX_GIVEN) if count.isdigit() else 0):
        key = holds(call, f"GIT_CONFIG_KEY_{at}")
        if key and key.lower() != HOOKS:
            yield key, holds(call, f"GIT_CONFIG_VALUE_{at}")
    for match in _PARAMETER.finditer(holds(call, "GIT_CONFIG_PARAMETERS")):
        if match[1].lower() != HOOKS:
            yield match[1], match[2] or match[3] or ""


def _assigned(call: Call, name: str) -> str:
    """What the text gave a variable, empty for nothing: the person's own environment is the person's."""
    items = call.scope.variables.get(name)
    return items[0] if items else ""


def _inherited(call: Call, name: str) -> str:
    """What a variable holds, whoever gave it: who started git may be no shell."""
    held = variable(call, name)
    return held.text if held and held.known else ""
