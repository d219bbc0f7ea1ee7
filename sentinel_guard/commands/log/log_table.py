"""How ``log`` shows entries on a terminal: a heading where the day or the session changes, then a line an entry.

A narrow terminal drops the least important column first (``DROPPED``); the entry's number stays, since other commands
and other people go by it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from sentinel_guard.commands.local_time import when
from sentinel_guard.core.model import Entry
from sentinel_guard.core.text.entry_summary import summary
from sentinel_guard.humans.styled_text import Printer, Styled, cut
from sentinel_guard.humans.terminal_prompts import visible
from sentinel_guard.humans.text_tables import Column, table

COLOURS = {"L1": "cyan", "L2": "yellow", "L3": "magenta", "L4": "bold red"}
WIDTHS = {"seq": 6, "time": 8, "": 2, "kind": 11}
"""Columns before what an entry says; the one without a heading is the level, which the colour tells, too."""
DROPPED = (("kind", 90), ("", 60), ("time", 45))
"""Column, and the columns of a terminal below which it is left out."""


class LogTable:
    """Prints entries as they come."""

    def __init__(self, printer: Printer, *, details: bool = False, why: Mapping[int, str] | None = None) -> None:
        """``details``: all fields below each entry. ``why``: words behind some entries, by number."""
        self._printer, self._details, self._why = printer, details, why or {}
        gone = {name for name, columns in DROPPED if printer.width < columns}
        self._columns = {name: width for name, width in WIDTHS.items() if name not in gone}
        self._below = ("", "")
        self._agents: dict[str, str] = {}

    def put(self, entry: Entry) -> None:
        at = when(entry.at)
        if entry.kind == "session":
            self._agents[entry.session] = _agent(entry)
        if (heading := (at[:10], entry.session)) != self._below:
            self._heading(at, entry.session)
            self._below = heading
        cells = {"seq": str(entry.seq), "time": at[11:19], "": entry.level, "kind": entry.kind}
        said = summary(entry) + (f"  <- {self._why[entry.seq]}" if entry.seq in self._why else "")
        row = [*(cells[name] for name in self._columns), said]
        self._print(row, COLOURS.get(entry.level, ""))
        if self._details:
            self._printer.put(("\n".join(f"       {line}" for line in details(entry)), "dim"))

    def _heading(self, at: str, session: str) -> None:
        if not self._below[0]:
            self._print([*self._columns, "what"], "bold")
        agent = self._agents.get(session, "")
        whose = f"session {short(session)}" + (f": {agent}" if agent else "") if session else "outside of sessions"
        self._printer.lines([cut(Styled.of((f"{at[:10]} {at[-6:]}  {visible(whose)}", "bold")), self._printer.width)])

    def _print(self, cells: list[str], style: str) -> None:
        # A table a row, with fixed widths: rows stay in line, and are shown as they come.
        about = [*(Column(width=width) for width in self._columns.values()), Column(folds=True)]
        row = [Styled.of((visible(cell), style)) for cell in cells]
        self._printer.lines(table(about, [row], self._printer.width, headed=False))


def short(session: str) -> str:
    """The last part of a session's name."""
    return session.rpartition("-")[2]


def details(entry: Entry) -> Iterator[str]:
    """Every field of an entry, a line each."""
    yield f"at: {when(entry.at)}"
    yield f"session: {visible(entry.session) or '-'}"
    for key, value in entry.data.items():
        yield visible(f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    yield f"hash: {entry.hash}"


def _agent(entry: Entry) -> str:
    command = entry.data.get("command")
    words = " ".join(map(str, command)) if isinstance(command, list | tuple) else str(command or "")
    return f"{words} in {entry.data.get('root', '')}"
