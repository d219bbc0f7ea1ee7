"""``sentinel-guard status``: shows the live guarded sessions, their states and health metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from sentinel_guard.client import Operator
from sentinel_guard.core.response_phrases import seconds
from sentinel_guard.core.session import token_ledger
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import DaemonError, SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.styled_text import Printer, Styled, fold, own_screen
from sentinel_guard.humans.text_tables import Column, table

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
        printer = Printer()
        printer.lines(_shown(sessions, printer.width))
    return 0


def watch(places: StatePaths, pause: Callable[[float], object] = time.sleep) -> int:
    """Show the sessions on a screen of their own, anew each second, until the person interrupts it.

    ``pause``: waits so many seconds. Raises SentinelError where the output is no terminal.
    """
    if not Printer().terminal:
        raise SentinelError("--watch needs a terminal.", "sentinel-guard status --json, for programs")
    with own_screen() as show:
        try:
            while True:
                sessions, printer = _sessions(places), Printer()
                head = Styled.of((f"sentinel-guard, {time.strftime('%H:%M:%S')}; Ctrl-C ends this view", "dim"))
                said = _shown(sessions, printer.width) if sessions else fold(Styled.of(_none(sessions)), printer.width)
                show([head, *said])
                pause(WATCH)
        except KeyboardInterrupt:
            return 0


def _none(sessions: list[dict[str, Any]] | None) -> str:
    what = "No session is live." if sessions is not None else "No guard daemon runs, so no session is live."
    return f"{what} Start an agent with: sentinel-guard run -- AGENT"


def _shown(sessions: list[dict[str, Any]], width: int) -> list[Styled]:
    grants = (line for words in (*_grants(sessions), *_unread(sessions)) for line in fold(Styled.of(words), width))
    return [*_table(sessions, max(8, min(40, width - OTHERS)), width), *grants]


def _sessions(places: StatePaths) -> list[dict[str, Any]] | None:
    try:
        with Operator(places, start=False) as operator:
            return list(operator.request("status")["sessions"])
    except DaemonError:
        return None


def _table(sessions: list[dict[str, Any]], room: int, width: int) -> Iterator[Styled]:
    """``room``: characters for an agent's command. Only the repository may go over several lines."""
    about = [*map(Column, ("session", "state", "calls", "loop", "errors", "tok/min", "agent"))]
    rows = list[list[str | Styled]]()
    for s in sessions:
        colour = COLOURS.get(s["state"], "cyan")
        left = f" {s['seconds_left']:.0f} s" if s["seconds_left"] else ""
        numbers = (str(s["calls"]), str(s["loop_count"]), f"{s['error_rate']:.0%}", tokens(s))
        agent, root = visible(_short(s["command"], room)), visible(s["root"])
        rows.append([s["session"], Styled.of((s["state"] + left, colour)), *numbers, agent, root])
    return table([*about, Column("repo", folds=True)], rows, width)


def tokens(session: dict[str, Any]) -> str:
    """Tokens a minute; a question mark where they are not known, and a tilde before what is only estimated."""
    minute = session["tokens_per_minute"]
    about = "~" if session.get("tokens_from") == [token_ledger.ESTIMATE] else ""
    return "?" if minute is None else f"{about}{minute:,}"


def _unread(sessions: list[dict[str, Any]]) -> list[str]:
    """Why the tokens of a session are not known, or not all of them."""
    why = ((s["session"], s.get("tokens_unread")) for s in sessions)
    return [visible(f"tokens of {session} are not known: {said}") for session, said in why if said]


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
