"""Registry of the coding agents that the guard knows, and how a process is recognised as one of them."""

from __future__ import annotations

from collections.abc import Sequence

from sentinel_guard.agents import claude, cline, codex, copilot, gemini, opencode, qwen
from sentinel_guard.agents.base import PATIENCE, CodingAgent

AGENTS: tuple[CodingAgent, ...] = (
    claude.AGENT,
    cline.AGENT,
    codex.AGENT,
    copilot.AGENT,
    gemini.AGENT,
    opencode.AGENT,
    qwen.AGENT,
)
ENDINGS = (".js", ".mjs", ".cjs", ".exe")
INTERPRETERS = frozenset({"node", "bun", "deno"})
"""Programs whose process is the agent that its script is."""
WORDS = 6
"""Words of a command line among which the script stands: ``node --max-old-space-size=12052 /x/gemini``."""

_BY_PROGRAM = {program: agent for agent in AGENTS for program in agent.programs}


def of_process(executable: str, command: Sequence[str]) -> CodingAgent | None:
    """The agent that a process is, by the path of its program and its command line; None for any other."""
    first = command[0] if command else ""
    paths = [executable, first]
    if {_base(executable), _base(first)} & INTERPRETERS:
        paths += [word for word in command[1:WORDS] if not word.startswith("-")][:1]
    return next((agent for path in paths if (agent := _by_path(path))), None)


def patience(command: Sequence[str]) -> float:
    """Seconds for which the agent that a command line starts waits for a call."""
    agent = of_process("", command)
    return agent.patience if agent else PATIENCE


def _by_path(path: str) -> CodingAgent | None:
    """By the base name of a program or script; one that is called as any other is known by its package's folder."""
    base = _base(path)
    if base in ("cli", "index", "main"):
        return next((agent for part in path.split("/")[-3:-1] if (agent := _BY_PROGRAM.get(part))), None)
    return _BY_PROGRAM.get(base)


def _base(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return next((name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending)), name)
