"""``sentinel-guard status``: shows the live guarded sessions, their states and health metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sentinel_guard.client import Operator
from sentinel_guard.core.response_phrases import seconds
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import DaemonError, SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths

COLOURS = {"ACTIVE": "green", "KILLED": "red", "PAUSED": "yellow", "COOLING": "yellow"}
WATCH = 1.0
"""Seconds between two looks of ``--watch``."""
OTHERS = 72
"""Columns of a terminal that everything but an agent's command needs at most, a few for the repository with it."""


def status(places: StatePaths, *, as_json: bool) -> int:
    """Print every live session: state, seconds left and health metrics."""
    sessions = _sessions(places)
    if as_json:
        print(json.dumps({"running": sessions is not None, "sessions": sessions or []}))
    elif not sessions:
        print(_none(sessions))
    else:
        console = Console()
        console.print(_shown(sessions, console.width))
    return 0


def watch(places: StatePaths, pause: Callable[[float], object] = time.sleep) -> int:
    """Show the sessions on a screen of their own, anew each second, until the person interrupts it.

    ``pause``: waits so many seconds. Raises SentinelError where the output is no terminal.
    """
    console = Console()
    if not console.is_terminal:
        raise SentinelError("--watch needs a terminal.", "sentinel-guard status --json, for programs")
    with Live(console=console, screen=True, auto_refresh=False) as screen:
        try:
            while True:
                sessions = _sessions(places)
                now = time.strftime("%H:%M:%S")
                shown = _shown(sessions, console.width) if sessions else Text(_none(sessions))
                screen.update(Group(Text(f"sentinel-guard, {now}; Ctrl-C ends this view", "dim"), shown), refresh=True)
                pause(WATCH)
        except KeyboardInterrupt:
            return 0


def _none(sessions: list[dict[str, Any]] | None) -> str:
    what = "No session is live." if sessions is not None else "No guard daemon runs, so no session is live."
    return f"{what} Start an agent with: sentinel-guard run -- AGENT"


def _shown(sessions: list[dict[str, Any]], width: int) -> Group:
    return Group(_table(sessions, max(8, min(40, width - OTHERS))), *map(Text, _grants(sessions)))


def _sessions(places: StatePaths) -> list[dict[str, Any]] | None:
    try:
        with Operator(places, start=False) as operator:
            return list(operator.request("status")["sessions"])
    except DaemonError:
        return None


def _table(sessions: list[dict[str, Any]], room: int) -> Table:
    """``room``: characters for an agent's command. Only the repository may go over several lines."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("session", "state", "calls", "loop", "errors", "tok/min", "agent"):
        table.add_column(heading, no_wrap=True)
    table.add_column("repo", overflow="fold")
    for s in sessions:
        colour = COLOURS.get(s["state"], "cyan")
        left = f" {s['seconds_left']:.0f} s" if s["seconds_left"] else ""
        numbers = (str(s["calls"]), str(s["loop_count"]), f"{s['error_rate']:.0%}", f"{s['tokens_per_minute']:,}")
        # Text, not markup: a command or a folder may have brackets in it.
        agent, root = (Text(visible(said)) for said in (_short(s["command"], room), s["root"]))
        table.add_row(s["session"], Text(s["state"] + left, colour), *numbers, agent, root)
    return table


def _grants(sessions: list[dict[str, Any]]) -> list[str]:
    """What a person has said yes to for a while."""
    rows = [(s["session"], grant) for s in sessions for grant in s.get("grants", ())]
    words = "yes to {} {} for {} more in {}: sentinel-guard revoke {}"
    return [
        visible(words.format(g["action"], g["target"], seconds(g["seconds_left"]), session, g["grant"]))
        for session, g in rows
    ]


def _short(command: list[str], room: int) -> str:
    """An agent's command without its folder, cut to ``room`` characters."""
    program, *words = command or [""]
    text = " ".join([program.rpartition("/")[2], *words])
    return text if len(text) <= room else text[: room - 1] + "…"
