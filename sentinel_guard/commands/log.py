"""``sentinel-guard log``: read the audit log and verify its hash chain. Needs no daemon, changes nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.core.hash_chain import ChainBreak, find_breaks
from sentinel_guard.core.json_codec import dumps, entry_json
from sentinel_guard.core.model import Entry
from sentinel_guard.core.text.entry_summary import summary
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.terminal_prompts import visible

POLL_SECONDS = 0.25
MAX_BREAKS = 20
COLOURS = {"L1": "cyan", "L2": "yellow", "L3": "magenta", "L4": "bold red"}
WIDTHS = {"seq": 6, "time": 12, "session": 20, "": 2, "kind": 11}
"""Columns of the table; the date stands in the session's name."""


def show(places: StatePaths, *, as_json: bool, session: str, follow: bool, limit: int) -> int:
    """Print the newest ``limit`` entries (0 = all), of one session if named; with ``follow`` go on as entries come.

    A table in a terminal, else a line an entry: JSON with ``as_json``, or fields with tabs between. Raises StoreError.
    """
    if not places.database.exists() and not follow:
        print(f"Nothing is on record yet: there is no {places.database}.", file=sys.stderr)
        return 0
    put, shown = _printer(as_json=as_json), 0
    for shown, entry in enumerate(_entries(places.database, session, limit, follow=follow), 1):  # noqa: B007
        put(entry)
    if session and not shown:
        print(f"Nothing is on record of the session '{visible(session)}'.", file=sys.stderr)
    return 0


def verify(places: StatePaths) -> int:
    """Say whether the chain holds; exit code 1 with the place of each break in words. Raises StoreError."""
    path = places.database
    # Read before the log: what is appended meanwhile comes after it.
    head = head_file.read(head_file.path_of(path))
    if not path.exists():
        named = f", and its head file names entry {head.seq}" if head else ""
        print(f"There is no audit log at {path}{named}: nothing could be verified.")
        return 1
    reader, seen = SqliteReader(path), _Count()
    broken = list(islice(find_breaks(seen.through(reader.entries()), head), MAX_BREAKS))
    if head is None:
        words = f"The head file {head_file.path_of(path)} is missing or unreadable: a cut at the end cannot be seen."
        broken.append(ChainBreak(seen.count + 1, "truncated", words))
    if not broken:
        entries = "1 entry" if seen.count == 1 else f"{seen.count} entries"
        print(f"The chain holds: {entries}. The newest is {seen.last.seq}, hash {seen.last.hash[:16]}.")
        return 0
    for b in broken:
        print(f"BROKEN at entry {b.seq}: {b.words}")
    for note in reader.entries(kinds=("daemon",)):
        print(f"Entry {note.seq} says: {visible(summary(note))}")
    return 1


class _Count:
    """Counts what goes through."""

    def __init__(self) -> None:
        self.count, self.last = 0, Entry(0.0, "", "")

    def through(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in entries:
            self.count, self.last = self.count + 1, entry
            yield entry


def _entries(path: Path, session: str, limit: int, *, follow: bool) -> Iterator[Entry]:
    while not path.exists():
        time.sleep(POLL_SECONDS)
    reader, after = SqliteReader(path), 0
    for entry in reader.entries(session=session, last=limit):
        after = entry.seq
        yield entry
    while follow:
        time.sleep(POLL_SECONDS)
        for entry in reader.entries(session=session, after=after):
            after = entry.seq
            yield entry


def _printer(*, as_json: bool) -> Callable[[Entry], None]:
    if as_json:
        return lambda entry: print(dumps(entry_json(entry)), flush=True)
    if not sys.stdout.isatty():
        return lambda entry: print(_line(entry), flush=True)
    console = Console(highlight=False)
    console.print(_row([Text(name) for name in (*WIDTHS, "what")], "bold"))
    return lambda entry: console.print(_row(_cells(entry), COLOURS.get(entry.level, "")))


def _line(entry: Entry) -> str:
    fields = (entry.seq, when(entry.at), entry.session or "-", entry.level or "-", entry.kind, summary(entry))
    return "\t".join(visible(str(field)) for field in fields)


def _cells(entry: Entry) -> list[Text]:
    cells = (str(entry.seq), when(entry.at)[11:23], entry.session, entry.level, entry.kind, summary(entry))
    return [Text(visible(cell)) for cell in cells]


def _row(cells: list[Text], style: str) -> Table:
    # A grid a row, with fixed widths: rows stay in line, and are shown as they come.
    row = Table.grid(padding=(0, 1), expand=True)
    for width in WIDTHS.values():
        row.add_column(width=width, no_wrap=True)
    row.add_column(ratio=1, overflow="fold")
    row.add_row(*cells, style=style)
    return row


def when(at: float) -> str:
    """Local time with milliseconds and offset: ``2026-11-21 14:03:22.123 +01:00``."""
    try:
        local = datetime.fromtimestamp(at, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return repr(at)
    return local.isoformat(" ", "milliseconds")[:23] + " " + local.isoformat()[-6:]
