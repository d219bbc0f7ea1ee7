"""The command line with which ``run`` starts a coding agent, so that its tools run inside the session (ADR 0016)."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from sentinel_guard.agents import registry
from sentinel_guard.agents.base import CodingAgent
from sentinel_guard.agents.registry import Started
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine.state_paths import StatePaths

HELP_SECONDS = 10.0
MEMORY = "agent-options.json"
"""Which agents' help names the option, by their programs' files: asking takes 0.1 s."""


def agent_command(places: StatePaths, program: str, command: Sequence[str]) -> tuple[tuple[str, ...], str]:
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
    if start.listed and not _lists(places.state / MEMORY, program, started):
        _refuse_beside_a_server(agent, start.added)
        return tuple(command), ""
    return started.command, start.note


def _lists(memory: Path, program: str, started: Started) -> bool:
    """Whether the agent's help names the option, as it said last or says now."""
    option, file = started.start.added, Path(program).resolve()
    seen = file.stat()
    # An update changes these, though npm gives each file the same time.
    known = {"file": str(file), "inode": seen.st_ino, "changed": seen.st_ctime_ns, "option": option}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        row = json.loads(memory.read_bytes())[started.agent.name]
        if known.items() <= row.items():
            return bool(row["listed"])
    said = _help(program, started)
    if said is None:
        return True  # where it does not say, the option is taken to be there
    listed = option.encode() in said.split()
    if len(started.by) == 1:  # else it is what node, or npx, says of another file
        from sentinel_guard.host.machine import atomic_files  # noqa: PLC0415 - once for each version of an agent

        with contextlib.suppress(OSError):
            atomic_files.write_json(memory, {started.agent.name: known | {"listed": listed}})
    return listed


def _help(program: str, started: Started) -> bytes | None:
    import subprocess  # noqa: PLC0415 - one session in many needs it

    asked = [*started.by, "--help"]
    try:
        return subprocess.run(
            asked, executable=program, stdin=subprocess.DEVNULL, capture_output=True, timeout=HELP_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _refuse_beside_a_server(agent: CodingAgent, option: str) -> None:
    """An agent that cannot be told to work by itself would use a server that runs already. Raises ConfigError."""
    from sentinel_guard.host.machine import processes  # noqa: PLC0415 - most agents know the option

    servers = (p for p in processes.of_user() if registry.server_of(processes.executable(p.pid), p.command) is agent)
    if there := [str(p.pid) for p in servers if registry.meet(processes.environ(p.pid), os.environ)]:
        words = f"This {agent.name} has no {option}: it would work in its server that runs outside of the session."
        raise ConfigError(words, f"End that server first (kill {' '.join(there)}), or update {agent.name}.")
