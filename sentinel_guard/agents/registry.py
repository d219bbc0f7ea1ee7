"""Registry of the coding agents that the guard knows, and how a process or a command line is recognised as theirs."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sentinel_guard.agents import claude, cline, codex, copilot, cursor, gemini, opencode, qwen
from sentinel_guard.agents.base import CodingAgent, Start
from sentinel_guard.agents.hook_dialect import SPARE, HookDialect

AGENTS: tuple[CodingAgent, ...] = (
    claude.AGENT,
    cline.AGENT,
    codex.AGENT,
    copilot.AGENT,
    cursor.AGENT,
    gemini.AGENT,
    opencode.AGENT,
    qwen.AGENT,
)
ENDINGS = (".js", ".mjs", ".cjs", ".exe")
INTERPRETERS = frozenset({"node", "bun", "deno"})
"""Programs whose process is the agent that its script is."""
FETCHERS = frozenset({"npx", "bunx", "pnpx", "pnpm", "yarn"})
"""Programs that fetch a package and run it: ``npx -y @openai/codex@latest``, ``pnpm dlx codex``."""
FETCHES = frozenset({"dlx", "exec", "x"})
"""Their subcommands that do so."""
HOMES = ("HOME", "CODEX_HOME")
"""Variables below whose folders an agent's clients and its servers find one another."""
SOON = 20.0
"""Seconds that a client waits for a hook at which nothing can be stopped."""
WORDS = 6
"""Words of a command line among which the script stands: ``node --max-old-space-size=12052 /x/gemini``."""

NAMED = tuple(sorted(program for agent in AGENTS if agent.start is not Start for program in agent.programs))
"""Programs whose start inside a session is looked at: agents that need an option, or can work elsewhere."""

_BY_PROGRAM = {program: agent for agent in AGENTS for program in agent.programs}


def of_process(executable: str, command: Sequence[str]) -> CodingAgent | None:
    """The agent that a process is, by the path of its program and its command line; None for any other."""
    first = command[0] if command else ""
    paths = [executable, first]
    if {_base(executable), _base(first)} & INTERPRETERS:
        paths += [word for word in command[1:WORDS] if not word.startswith("-")][:1]
    return next((agent for path in paths if (agent := _by_path(path))), None)


class Started(NamedTuple):
    """A command line that starts an agent."""

    agent: CodingAgent
    by: tuple[str, ...]
    """Up to the word that names the agent: ``npx -y codex``."""
    start: Start

    @property
    def command(self) -> tuple[str, ...]:
        """The command line with which its tools run inside the session."""
        return (*self.by, *self.start.words)


def named(name: str) -> CodingAgent | None:
    """The agent of this name, as it stands on record."""
    return next((agent for agent in AGENTS if agent.name == name), None)


def hooks_of(name: str) -> HookDialect | None:
    """How the hooks of the agent of this name speak; None where it is not known, or has none."""
    agent = named(name)
    return agent.hooks if agent else None


def hook_forms() -> dict[str, str]:
    """What the launcher says by itself, for each client and event: ``hook.CLIENT.EVENT`` -> ``SECONDS FORM``."""
    found = {}
    for dialect in (agent.hooks for agent in AGENTS if agent.hooks):
        for name in dialect.events:
            form = dialect.form(name)
            found[f"hook.{dialect.client}.{name}"] = f"{dialect.waits - SPARE if form else SOON:.0f} {form}"
    return found


def started(command: Sequence[str]) -> Started | None:
    """How an agent is started that a command line names; None where it names none."""
    return _started(tuple(command))


@functools.lru_cache(maxsize=4)
def _started(words: tuple[str, ...]) -> Started | None:
    at = _naming(words)
    agent = _by_path(_package(words[at])) if words else None
    return Started(agent, words[: at + 1], agent.start(words[at + 1 :])) if agent else None


def server_of(executable: str, command: Sequence[str]) -> CodingAgent | None:
    """The agent whose server a process is: it runs tools for others of its kind, and may outlive them."""
    agent = of_process(executable, command)
    if agent is None or not agent.servers:
        return None
    return agent if re.search(agent.servers, "".join(f"{word}\0" for word in command)) else None


def meet(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether processes with these environments would find one another's servers; what cannot be read is taken to."""
    return not (one and other) or all(one.get(name) == other.get(name) for name in HOMES)


def environ(folder: str) -> dict[str, str]:
    """Variables that keep the agents' tools inside a session; ``folder`` is the session's own."""
    return {name: value.format(folder=folder) for agent in AGENTS for name, value in agent.environ.items()}


def _naming(words: tuple[str, ...]) -> int:
    """Where the word stands that names the program: the first, or one behind an interpreter or a package's fetcher."""
    if not words or _base(words[0]) not in INTERPRETERS | FETCHERS:
        return 0
    plain = (at for at, word in enumerate(words[:WORDS]) if at and not word.startswith("-") and word not in FETCHES)
    at = next(plain, 0)
    # ``npx -p @openai/codex codex``: the package, then its program.
    program = words[at + 1 : at + 2]
    return at + 1 if at and program and _by_path(_package(words[at])) and _by_path(program[0]) else at


def _package(word: str) -> str:
    """``@openai/codex`` in ``@openai/codex@latest``."""
    return re.sub(r"(?<=[^/])@[^/@]*$", "", word) if "@" in word else word


def _by_path(path: str) -> CodingAgent | None:
    """By the base name of a program or script; one that is called as any other is known by its package's folder."""
    base = _base(path)
    if base in ("cli", "index", "main"):
        return next((agent for part in path.split("/")[-3:-1] if (agent := _BY_PROGRAM.get(part))), None)
    return _BY_PROGRAM.get(base)


def _base(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)
