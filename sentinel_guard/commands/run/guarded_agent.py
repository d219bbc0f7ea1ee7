"""The agent of a session that has begun: its process, its terminal, the broker of its system calls."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sentinel_guard.client import Operator
from sentinel_guard.commands.run.event_loop import Runner
from sentinel_guard.commands.run.look_at_shims import ShimLook
from sentinel_guard.commands.run.session_notices import guarded_words, tell
from sentinel_guard.errors import HostError, SentinelError
from sentinel_guard.host import kernel_layer
from sentinel_guard.host.machine.agent_process import spawn
from sentinel_guard.host.machine.broker_process import BrokerCommand
from sentinel_guard.host.machine.caught_signals import Signals
from sentinel_guard.host.machine.process_control import become_subreaper, forbid_tracing
from sentinel_guard.host.machine.pseudo_terminal import MULTIPLEXERS, AgentTerminal, UserTerminal
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.shim_integrity import ShimIntegrity
from sentinel_guard.humans.session_menu import key_name
from sentinel_guard.humans.terminal_title import TerminalTitle


def run_guarded(
    places: StatePaths,
    operator: Operator,
    begun: dict[str, Any],
    program: str,
    command: Sequence[str],
    *,
    outer: UserTerminal | None,
    probe: kernel_layer.Probe,
) -> int:
    """Run the agent until it ends; its exit code. Raises HostError, SentinelError where it cannot begin."""
    shims = ShimIntegrity.of(places.shims(str(begun["session"])), str(begun.get("shims", "")))
    held_by = _held_by(places, begun, probe)
    session, secret = str(begun["session"]), str(begun.get("secret", ""))
    menu_key = str(begun.get("menu_key", "none"))
    if outer and "menu_key" in begun:
        tell([guarded_words(key_name(menu_key), held=held_by is not None)])
    become_subreaper()
    # It has the person's terminal. Before this the daemon has read with which environment the session begins.
    forbid_tracing()
    inner = AgentTerminal(outer) if outer else None
    with Signals() as signals:
        agent = spawn(program, command, environment(begun), signals, inner, held_by=held_by)
        try:
            operator.request("agent", session=session, pid=agent.pid, broker=agent.broker)
        except SentinelError:
            # It waits for our word and ends without it.
            agent.drop()
            raise
        screen = (outer, inner) if outer and inner else None
        return Runner(
            operator, session, agent, signals, screen,
            shims=ShimLook(shims, operator, session), secret=secret, menu_key=menu_key,
            title=TerminalTitle(Path(program).name, os.environ.get("TERM", "") if begun.get("title") is True else ""),
        ).run()  # fmt: skip


def environment(begun: dict[str, Any]) -> dict[str, str]:
    """Ours with what the daemon sets for the session."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(MULTIPLEXERS)}
    # A first shell (SHLVL 1) whose standard input is a socket reads ~/.bashrc in place of BASH_ENV (bash, shell.c).
    level = kept.get("SHLVL", "")
    below = {"SHLVL": level if level.isdigit() and int(level) else "1"}
    return {**kept, **below, **{str(name): str(value) for name, value in begun.get("environ", {}).items()}}


def _held_by(places: StatePaths, begun: dict[str, Any], probe: kernel_layer.Probe) -> BrokerCommand | None:
    """The broker of the session's system calls, where the policy wants one and this machine can hold calls.

    Tells the person where there is none. Raises HostError where the policy
    requires what the machine cannot do.
    """
    mode = str(begun.get("kernel", "off"))
    if mode == "off":
        kernel_layer.drop(probe)
        return None
    works, words = kernel_layer.probed(probe)
    if works:
        session, secret = str(begun["session"]), str(begun.get("secret", ""))
        return BrokerCommand(str(kernel_layer.BROKER), str(places.agent_socket), session, secret)
    if mode == "require":
        way = 'Set [kernel] mode = "auto" in your policy to run without it.'
        raise HostError(f"The kernel layer does not work here ({words}), and your policy requires it.", way)
    tell([f"kernel layer: {words}. Restricted files are watched, and put back."])
    return None
