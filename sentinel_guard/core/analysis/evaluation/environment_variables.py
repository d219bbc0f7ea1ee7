"""Environment variables that change what other programs do: PATH, LD_PRELOAD, GIT_CONFIG_…, PROMPT_COMMAND."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import MAX_SCRIPT, STDIN, UNKNOWN, UNSEEN
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.shell_state import UNASSIGNED, Field, Scope, Value
from sentinel_guard.core.analysis.programs.databases import compose_databases, dotenv_databases
from sentinel_guard.core.model import Effect, Kind

Changed = TypeVar("Changed")
_SENSITIVE = frozenset(
    [
        "PATH",
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "PS0",
        "SHELLOPTS",
        "BASHOPTS",
        "SHELL",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_TEMPLATE_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_NOSYSTEM",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
        "ZDOTDIR",
    ]
)
_TEXTS = frozenset(
    [
        "PROMPT_COMMAND",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_PROXY_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "GIT_EDITOR",
        "EDITOR",
        "VISUAL",
        "GIT_SEQUENCE_EDITOR",
        "GIT_ASKPASS",
        "SUDO_ASKPASS",
        "SSH_ASKPASS",
        "MANPAGER",
        "LESSOPEN",
        "BROWSER",
    ]
)
"""Their value is run as a command."""
_STARTUP = ("BASH_ENV", "ENV")
"""A shell that starts runs the file that they name."""
_PROMPTS = ("PS0", "PS1", "PS2", "PS4")
"""What is substituted in their value is run each time that they are shown."""
_HIDES = {
    "TAR_OPTIONS": re.compile(
        r"(?:action=exec=|--(?:to|rsh|rmt)-command[= ]|--(?:info|new-volume)-script[= ]|--use-compress-program[= ])(.*)"
    ),
    "MAKEFLAGS": re.compile(r"--eval()"),
    "GNUMAKEFLAGS": re.compile(r"--eval()"),
}
"""Options that name a command; what make evaluates is not followed."""

SET_BY_FILES = frozenset(("DATABASE_URL", "KUBECONFIG", "DOCKER_HOST", "CONTAINER_HOST"))
"""What a file, or a text that is not known, may set, and a tool takes unasked: which database, cluster or engine of
containers it works on."""
_ASSIGNS = re.compile(r"[ \t]*(?:#.*|(?:export[ \t]+)?(?P<name>\w+)=(?:\"[^\"`]*\"|'[^']*'|[^\s\"'`]*)[ \t]*(?:#.*)?)?")
_SET_UP = re.compile(r"(?:.*/)?(?:bin/activate|nvm\.sh|\.cargo/env|asdf\.sh|sdkman-init\.sh|conda\.sh|setvars\.sh)")
"""Files that set up a tool, by their names."""
_SUBSTITUTED_FILE = re.compile(
    r"[\"']?\$\(((?:grep|egrep|sed|cat|xargs|cut|tr)\b[^()`;&<>]*)\)[\"']?|\$\(<\s*([^()`;&|]+)\)"
)
NOT_KNOWN = Value((), known=False, isset=True)


ALL_EXPORTED = "allexport"
"""``set -a``: what is assigned from here on reaches all that is started."""


def doubt_environment(scope: Scope) -> None:
    """What is started from here on may have any variable with another value than the text says, or more of them."""
    scope.exported = frozenset()
    scope.options[UNSEEN] = True


def doubt_values(scope: Scope, world: Overlay, path: str = "") -> None:
    """A file (empty: a text) that nobody read may have set the variables of this text, as far as it names them.

    One that holds a place in the project stays: a file of settings leads none of these elsewhere.
    """
    told = bool(path) and world.kind(path) == "file"
    for name, held in list(scope.variables.items()):
        if held is None or not name.isidentifier() or name == "BASH_SOURCE" or (held and _in_project(held[0], world)):
            continue
        if not (told and world.fulfils(path, partial(_cannot_set, name))):
            scope.doubt((name,))


def _in_project(value: str, world: Overlay) -> bool:
    return bool(world.root) and (value == world.root or value.startswith(f"{world.root}/"))


def _cannot_set(name: str, text: str) -> bool:
    matches = [_ASSIGNS.fullmatch(line) for line in text.splitlines()]
    return all(match is not None and match["name"] != name and "$(" not in match[0] for match in matches)


def is_read(path: str, world: Overlay) -> bool:
    """Whether a file that a shell takes in is known whole, or only prepares the shell for a tool, as its name says."""
    text = world.read(path)
    return _SET_UP.fullmatch(path) is not None if text is None else len(text) <= MAX_SCRIPT and UNKNOWN not in text


def names_database(path: str, world: Overlay) -> bool:
    """Whether a file that a shell takes in may set such a variable: what is no plain assignment may do anything."""
    if _SET_UP.fullmatch(path) and not world.kind(path):
        return False
    return not world.fulfils(path, _sets_up if _SET_UP.fullmatch(path) else _only_sets)


def take_database(path: str, world: Overlay, scope: Scope, *, exported: bool = True) -> None:
    """Notes that a file which is not looked into gives the address of a database for development, if it does: as it
    lies there, not where this text may have written it.
    """
    if world.kind(path) != "file" or path in world.made() or path in world.copies or world.is_unseen(path):
        return
    is_for_development = dotenv_databases.FOR_DEVELOPMENT.fullmatch(paths.base(path)) is not None
    is_for_development = is_for_development and not scope.lookup("COMPOSE_FILE").isset
    ports = compose_databases.lost_with_container(world, paths.parent(path)) if is_for_development else frozenset[str]()
    if world.fulfils(path, partial(dotenv_databases.gives_development, ports=ports)):
        scope.hold(dotenv_databases.VARIABLE, None)
        scope.written[dotenv_databases.VARIABLE] = dotenv_databases.COMPARED
        scope.exported |= {dotenv_databases.VARIABLE} if exported else set()


def _only_sets(text: str) -> bool:
    matches = [_ASSIGNS.fullmatch(line) for line in text.splitlines()]
    return all(match is not None and match["name"] not in SET_BY_FILES and "$(" not in match[0] for match in matches)


def _sets_up(text: str) -> bool:
    return not any(name in text for name in SET_BY_FILES)


def doubt_printed(walk: Walker, source: str, place: WalkContext) -> None:
    """The words that a substitution gives may set variables: ``export $(grep -v '^#' .env | xargs)``."""
    found = _printed_files(walk, source, place)
    doubt_environment(place.scope)
    doubt_values(place.scope, walk.world, found[0] if len(found) == 1 else "")
    if not found or any(names_database(path, walk.world) for path in found):
        place.scope.doubt(SET_BY_FILES)


def _printed_files(walk: Walker, source: str, place: WalkContext) -> list[str]:
    match = _SUBSTITUTED_FILE.fullmatch(source)
    if match is None or place.scope.cwd is None:
        return []
    words = [word.strip("\"'") for word in (match[1] or match[2]).split() if word[:1] != "-"]
    files = [paths.locate(word, place.scope.cwd, walk.world) for word in words[match[1] is not None :] if word]
    return [path for path in files if walk.world.kind(path) == "file"]


def environment(
    walk: Walker, name: str, value: Field, source: str, place: WalkContext, *, was: Value = NOT_KNOWN
) -> None:
    """The effects of giving a variable this value. ``was``: what PATH held before."""
    if name in ("PATH", "PROMPT_COMMAND", "PS0") and place.disk:
        return  # virtual environments and startup files do; what runs then is in their text, which is read
    if name in _SENSITIVE or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "BASH_FUNC_", "SENTINEL_")):
        old = place.scope.environ.get(name, "")
        written = source if value.known else _SUBSTITUTED.sub("", place.scope.as_written(source))
        keeps = f"${name}" in written or f"${{{name}" in written or (bool(old) and old in value.text)
        if name == "PATH":
            keeps = _keeps_path(value, was, place, derived=keeps)
        how = frozenset(("append",) if keeps else ())
        walk.add(Effect(Kind.PRIVILEGE, f"environment {name}", sure=value.known, how=how), place)
    if name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_PARAMETERS")) and "core.hookspath" in value.text.lower():
        walk.add(Effect(Kind.GIT_REWRITE, "config core.hookspath", sure=value.known), place)
    if name in _HIDES and value.known and (match := _HIDES[name].search(value.text)):
        walk.text(match[1] or UNKNOWN, place.inside())
    if name in (*_PROMPTS, *_STARTUP) and value.known and ("$(" in value.text or "`" in value.text):
        walk.text(f'echo "{value.text}"', place.inside())
    if name in _STARTUP and value.known and (text := _startup_text(walk, value.text, place)):
        walk.text(text, replace(place.inside(), stdin=""))
    if name in _TEXTS and value.known and value.text.strip():
        walk.text(value.text.replace(UNKNOWN, ""), place.inside())


def _startup_text(walk: Walker, path: str, place: WalkContext) -> str:
    """What stands in a startup file that the text itself wrote or substitutes: other ones are the person's."""
    if path in STDIN:
        return place.stdin
    at = path if path.startswith("/dev/fd/") else paths.locate(path, place.cwd, walk.world)
    text = walk.world.read(at) if at in walk.world.made() else None
    return text or ""


_SUBSTITUTED = re.compile(r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`")
"""What another program makes of it: which folders that leaves, nobody knows."""


def _keeps_path(value: Field, was: Value, place: WalkContext, *, derived: bool) -> bool:
    """Whether all folders stay that were in PATH; what is made of it by taking folders out, those of the guard's."""
    scope, held = place.scope, "".join(was.items[:1])
    if "PATH" in place.empty or (was.known and not held):
        return True  # it was empty: what made it so has been told of, or nobody in this text did
    if not value.known:
        return derived
    begun = scope.environ.get("PATH", "")
    folders = value.text.split(":")
    if any(old and f":{old}:" in f":{value.text}:" for old in (held, begun)):
        return True
    old = begun.split(":")
    return derived and all(folder in folders for folder in [f for f in old if f in scope.world.shims] or old[:1])


def reassigned(walk: Walker, place: WalkContext, change: Callable[[], Changed]) -> Changed:
    """Does what gives a variable another value without an assignment (``read``, ``unset``): PATH is looked at."""
    was, before = place.scope.scalar("PATH"), place.scope.variables.get("PATH", UNASSIGNED)
    done = change()
    held = place.scope.variables.get("PATH", UNASSIGNED)
    if held is not before:
        environment(walk, "PATH", Field("".join((held or ())[:1]), held is not None), "", place, was=was)
    return done
