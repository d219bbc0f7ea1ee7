"""``sentinel-guard run -- COMMAND…``: run an agent under guard, in this repository, on this terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sentinel_guard.client import Operator
from sentinel_guard.commands.run.agent_command import agent_command
from sentinel_guard.commands.run.event_loop import Runner
from sentinel_guard.commands.run.look_at_shims import ShimLook
from sentinel_guard.errors import ConfigError, HostError, SentinelError
from sentinel_guard.host.machine.agent_process import spawn
from sentinel_guard.host.machine.caught_signals import Signals
from sentinel_guard.host.machine.process_control import become_subreaper, forbid_tracing
from sentinel_guard.host.machine.pseudo_terminal import MULTIPLEXERS, AgentTerminal, UserTerminal
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.shim_integrity import ShimIntegrity
from sentinel_guard.humans.terminal_prompts import visible

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
    command, note = agent_command(program, command)
    outer = UserTerminal.open()
    try:
        with Operator(places) as operator:
            begun = operator.request(
                "start",
                command=[*command],
                cwd=cwd,
                pid=os.getpid(),
                interactive=outer is not None,
                path=path,
                kind="run",
                seconds=START_SECONDS,
            )
            tell([*filter(None, [note]), *begun.get("notes", ())])
            shims = ShimIntegrity.of(places.shims(str(begun["session"])), str(begun.get("shims", "")))
            return _guarded(operator, begun, program, command, outer, shims=shims)
    finally:
        if outer:
            outer.restore()
            outer.close()


def find(name: str, path: str) -> tuple[str, int, str]:
    """(the program's path, 0, "") or ("", exit code, why not)."""
    if found := shutil.which(name, path=path):
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


def environment(begun: dict[str, Any]) -> dict[str, str]:
    """Ours with what the daemon sets for the session."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(MULTIPLEXERS)}
    # A first shell (SHLVL 1) whose standard input is a socket reads ~/.bashrc in place of BASH_ENV (bash, shell.c).
    level = kept.get("SHLVL", "")
    below = {"SHLVL": level if level.isdigit() and int(level) else "1"}
    return {**kept, **below, **{str(name): str(value) for name, value in begun.get("environ", {}).items()}}


def tell(notes: Sequence[object]) -> None:
    """What the daemon wants the person to know at the start."""
    for note in notes:
        said = "\n".join(visible(line) for line in str(note).splitlines())
        print(f"sentinel-guard: {said}", file=sys.stderr)


def _guarded(
    operator: Operator,
    begun: dict[str, Any],
    program: str,
    command: Sequence[str],
    outer: UserTerminal | None,
    *,
    shims: ShimIntegrity,
) -> int:
    session, secret = str(begun["session"]), str(begun.get("secret", ""))
    become_subreaper()
    # It has the person's terminal. Before this the daemon has read with which environment the session begins.
    forbid_tracing()
    inner = AgentTerminal(outer) if outer else None
    with Signals() as signals:
        agent = spawn(program, command, environment(begun), signals, inner)
        try:
            operator.request("agent", session=session, pid=agent.pid)
        except SentinelError:
            # It waits for our word and ends without it.
            agent.drop()
            raise
        screen = (outer, inner) if outer and inner else None
        return Runner(
            operator, session, agent, signals, screen, shims=ShimLook(shims, operator, session), secret=secret
        ).run()
