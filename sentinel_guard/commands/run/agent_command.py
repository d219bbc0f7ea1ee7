"""The command line with which ``run`` starts a coding agent, so that its tools run inside the session (ADR 0016)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from sentinel_guard.agents import registry
from sentinel_guard.agents.base import CodingAgent
from sentinel_guard.agents.registry import Started
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine import processes

HELP_SECONDS = 10.0


def agent_command(program: str, command: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The command line to run, and what the person is told of it; any other command as it is. ``program`` is its path.

    Raises ConfigError where the agent's tools would run outside of the session.
    """
    started = registry.started(command)
    if started is None:
        return tuple(command), ""
    agent, start = started.agent, started.start
    if start.refused:
        words = f"'{agent.name} {start.refused}' works outside of the session, where nobody guards it."
        raise ConfigError(words, f"Start {agent.name} without it.")
    if start.listed and not _lists(program, started):
        _refuse_beside_a_server(agent, start.added)
        return tuple(command), ""
    return started.command, start.note


def _lists(program: str, started: Started) -> bool:
    """Whether the agent's help names the option. Where it does not say, the option is taken to be there."""
    try:
        asked = [*started.by, "--help"]
        said = subprocess.run(
            asked, executable=program, stdin=subprocess.DEVNULL, capture_output=True, timeout=HELP_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return True
    return started.start.added.encode() in said.stdout.split()


def _refuse_beside_a_server(agent: CodingAgent, option: str) -> None:
    """An agent that cannot be told to work by itself would use a server that runs already. Raises ConfigError."""
    servers = (p for p in processes.of_user() if registry.server_of(processes.executable(p.pid), p.command) is agent)
    if there := [str(p.pid) for p in servers if registry.meet(processes.environ(p.pid), os.environ)]:
        words = f"This {agent.name} has no {option}: it would work in its server that runs outside of the session."
        raise ConfigError(words, f"End that server first (kill {' '.join(there)}), or update {agent.name}.")
