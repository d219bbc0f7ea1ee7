"""``sentinel-guard install --agent``: puts our hook program into the settings of coding agents, and takes it out."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import HookDialect
from sentinel_guard.commands import require_human
from sentinel_guard.commands.install import INSIDE
from sentinel_guard.core.text.settings_edit import editor
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host import agent_hook_files, codex_hook_trust, shims
from sentinel_guard.host.git import repository
from sentinel_guard.host.machine.find_program import find_program
from sentinel_guard.host.machine.state_paths import StatePaths, places

PROJECT, USER, MANAGED = "project", "user", "managed"
ALL = "all"
"""Stands for every agent that is on PATH."""


TRUST = (
    "Codex runs a hook only once you have said that you trust it, and keeps that in its config.toml, by the hook's\n"
    "  hash. Let Codex record it for the hooks above, through its own app-server?"
)


def install(folder: Path, agents: Sequence[str], level: str, *, trust: bool = False) -> int:
    """Puts the hooks of these agents in place; says what it did. ``trust``: clients are told to trust them, unasked.

    Raises HostError, ConfigError, SentinelError.
    """
    where = places()
    where.make()
    root = repository.top(str(folder))
    require_human.require_human(where, Path(root) if root else None, INSIDE)
    command = shlex.quote(str(shims.place_hooks(where, registry.hook_forms())))
    for dialect in _dialects(agents):
        for file, edit in _files(dialect, file_of(dialect, level, root), command, level).items():
            program = bool(dialect.scripts(command))
            take = partial(_take, dialect, file)
            changed = agent_hook_files.put(where, file, dialect.client, edit, take, program=program)
            done = ("Put", "into") if changed else ("There already:", "in")
            print(f"{done[0]} hooks of {dialect.client} {done[1]} {file}.")
        for line in dialect.notes:
            print(f"  {line}")
        if dialect.trusts and level != MANAGED:
            _trust(dialect, root or str(folder), sure=trust)
    print("They guard from the agent's next start on. Try them out: sentinel-guard doctor")
    return 0


def uninstall(folder: Path, agents: Sequence[str]) -> int:
    """Takes the hooks out of every file of these agents here, and of the user's own and the machine's."""
    where = places()
    root = repository.top(str(folder))
    require_human.require_human(where, Path(root) if root else None, INSIDE)
    names = {dialect.client for dialect in _dialects(agents, everywhere=True)}
    for line in take_out(where, lambda file, name: name in names and _is_here(file, root)):
        print(line)
    return 0


def take_out(where: StatePaths, chosen: Callable[[Path, str], bool]) -> list[str]:
    """Gives back the files that are chosen by path and agent; says what was done. Raises HostError."""
    said = []
    for file, row in agent_hook_files.known(where).items():
        dialect = registry.hooks_of(row.agent)
        if dialect and chosen(file, row.agent):
            said.append(agent_hook_files.take_out(where, file, partial(_take, dialect, file)))
    return said or ["No agent's settings hold hooks of sentinel-guard here."]


def file_of(dialect: HookDialect, level: str, root: str | None) -> Path:
    """The settings file of a level. Raises ConfigError where there is none."""
    at = dialect.places
    if level == MANAGED:
        if not at.managed:
            raise ConfigError(f"{dialect.client} has no settings that an agent cannot change.", "Use --user.")
        return Path(at.managed)
    if level == USER:
        home, below = Path(os.environ.get("HOME", "/")), Path(at.user)
        other = os.environ.get(at.variable, "") if at.variable else ""
        return Path(other, *below.parts[1:]) if other else home / below
    if root is None:
        raise ConfigError("Not in a git repository.", "cd into one, or use --user for all of your projects.")
    return Path(root, at.project)


def found() -> list[HookDialect]:
    """The agents that are on PATH and whose hooks are known."""
    path = os.environ.get("PATH", os.defpath)
    return [a.hooks for a in registry.AGENTS if a.hooks and any(find_program(name, path) for name in a.programs)]


def _trust(dialect: HookDialect, cwd: str, *, sure: bool) -> None:
    program = program_of(dialect)
    if program is None or not (sure or _confirmed(TRUST)):
        print(f"  {dialect.client} runs them once you trust them there: /hooks")
        return
    count = codex_hook_trust.trust(program, cwd, os.environ, dialect.is_ours)
    print(f"  {dialect.client} trusts {count} of {len(dialect.events)} hooks.")
    if count < len(dialect.events):
        raise HostError(
            "Not all hooks are trusted.", "Is the project itself trusted? Start the agent here once, or use --user."
        )


def program_of(dialect: HookDialect) -> str | None:
    """The path of the client's program on PATH; None where it is not there."""
    agent, path = registry.named(dialect.client), os.environ.get("PATH", os.defpath)
    return next(filter(None, (find_program(name, path) for name in sorted(agent.programs))), None) if agent else None


def _confirmed(question: str) -> bool:
    """Whether the person says so, where there is one."""
    if not sys.stdin.isatty():
        return False
    return input(f"  {question} (y/N) ").strip().lower() == "y"


def _dialects(agents: Sequence[str], *, everywhere: bool = False) -> list[HookDialect]:
    if ALL in agents:
        known = [agent.hooks for agent in registry.AGENTS if agent.hooks]
        there = known if everywhere else found()
        if not there:
            raise HostError("No agent whose hooks are known is on PATH.", "Name one: --agent claude")
        return there
    chosen = [(name, registry.hooks_of(name)) for name in agents]
    wrong = [name for name, dialect in chosen if dialect is None]
    if wrong:
        names = ", ".join(agent.name for agent in registry.AGENTS if agent.hooks)
        raise ConfigError(f"No hooks are known of {', '.join(wrong)}.", f"Known: {names}; or {ALL}.")
    return [dialect for _, dialect in chosen if dialect]


def _is_here(file: Path, root: str | None) -> bool:
    """Whether a file is this repository's, the user's own or the machine's; other repositories keep theirs."""
    here = [Path(root)] if root else []
    levels = [file_of(d.hooks, level, None) for d in registry.AGENTS if d.hooks for level in (USER,)]
    managed = [Path(d.hooks.places.managed) for d in registry.AGENTS if d.hooks and d.hooks.places.managed]
    return any(at == file or at in file.parents for at in (*levels, *managed)) or any(
        folder in file.parents for folder in here
    )


def _files(dialect: HookDialect, place: Path, command: str, level: str) -> dict[Path, agent_hook_files.Edit]:
    """The files that get hooks, and what is done to each."""
    scripts = dialect.scripts(command)
    if not scripts:
        beside = {**dialect.settings, **(dialect.managed_settings if level == MANAGED else {})}
        return {place: partial(_put, dialect, place, command, beside)}
    return {place / name: partial(_script, text) for name, text in scripts.items()}


def _script(ours: str, text: str) -> str:
    if text:
        raise ValueError("a hook of somebody else's has this name")
    return ours


def _put(dialect: HookDialect, file: Path, command: str, beside: Mapping[str, object], text: str) -> str:
    edits = editor(file.name)
    for name, value in beside.items():
        text = edits.put_member(text, name, value)
    for edit in dialect.edits(command):
        text = edits.put(text, edit.path, edit.element)
    return text


def _take(dialect: HookDialect, file: Path, text: str) -> str:
    if dialect.scripts("."):
        return "" if dialect.mark in text else text
    for edit in dialect.edits(""):
        text = editor(file.name).take(text, edit.path, dialect.is_ours)
    return text
