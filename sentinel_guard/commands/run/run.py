"""``sentinel-guard run -- COMMAND…``: run an agent under guard, in this repository, on this terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sentinel_guard.client import Operator
from sentinel_guard.commands.run.agent_command import agent_command
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine.find_program import find_program
from sentinel_guard.host.machine.pseudo_terminal import UserTerminal
from sentinel_guard.host.machine.state_paths import StatePaths

START_SECONDS = 300.0
"""The baseline of a large repository takes its time."""


def run(places: StatePaths, command: Sequence[str]) -> int:
    """The agent's exit code; 137 after the kill switch, 126 and 127 as a shell gives them.

    Raises ConfigError without a command, and with one that would work outside of the session; SentinelError with the
    daemon's words (not a repository, say).
    """
    if not command:
        raise ConfigError("There is no command to run.", "sentinel-guard run -- COMMAND [ARGUMENT…]")
    path = os.environ.get("PATH", os.defpath)
    program, code, words = find(command[0], path)
    if code:
        print(f"sentinel-guard: {visible(command[0])}: {words}", file=sys.stderr)
        return code
    cwd = here()
    command, note = agent_command(places, program, command)
    outer = UserTerminal.open()
    try:
        with Operator(places) as operator:
            operator.send(
                "start",
                command=[*command],
                cwd=cwd,
                pid=os.getpid(),
                interactive=outer is not None,
                path=path,
                kind="run",
            )
            # What is needed from here on is loaded, and the machine probed, while the daemon begins the session.
            from sentinel_guard.commands.run.guarded_agent import run_guarded  # noqa: PLC0415
            from sentinel_guard.commands.run.session_notices import tell  # noqa: PLC0415
            from sentinel_guard.host import kernel_layer  # noqa: PLC0415

            probe = kernel_layer.begin_probe()
            begun = operator.reply(START_SECONDS)
            tell([*filter(None, [note]), *begun.get("notes", ())])
            return run_guarded(places, operator, begun, program, command, outer=outer, probe=probe)
    finally:
        if outer:
            outer.restore()
            outer.close()


def find(name: str, path: str) -> tuple[str, int, str]:
    """(the program's path, 0, "") or ("", exit code, why not)."""
    if found := find_program(name, path):
        return found, 0, ""
    places = [name] if "/" in name else [f"{folder}/{name}" for folder in path.split(":") if folder]
    there = next((place for place in places if name and os.path.lexists(place)), None)
    if there is None:
        return "", 127, "no such file" if "/" in name else "command not found"
    return "", 126, "is a directory" if Path(there).is_dir() else "not executable; chmod +x makes it so"


def here() -> str:
    """The current directory. Raises HostError where it was deleted."""
    try:
        return str(Path.cwd())
    except OSError as e:
        words = "The current directory cannot be read; was it deleted?"
        raise HostError(words, "Change to a folder that exists.") from e
