"""``sentinel-guard usage``: the tokens of past and present sessions, by session, source and model (R6)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field

from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.commands.local_time import when
from sentinel_guard.core.model import Entry, Usage
from sentinel_guard.core.session import token_ledger
from sentinel_guard.core.session.token_ledger import Row
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import ConfigError
from sentinel_guard.host import trial_folders
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.styled_text import Printer, Styled
from sentinel_guard.humans.text_tables import Column, table

BAR = 20
"""Columns of the longest bar."""
BESIDE = 92
"""Columns of a terminal that everything else needs."""
HEADINGS = ("replies", "input", "output", "c.write", "work", "c.read")
"""What ``_counts`` gives; c. is the cache."""
EIGHTHS = " ▏▎▍▌▋▊▉█"
MINUTES = 30
"""Of a session's last minutes with tokens, in the chart of one session."""
LAST = 20
"""Sessions that are shown where none is named."""
ESTIMATED = "Estimated: what calls said and printed, at four characters a token. What else the model read is not in it."
UNTOLD = "nobody told: no record of a coding agent that is known was read, and nothing was reported"


@dataclass
class Ledger:
    """What is on record of the tokens of sessions."""

    sessions: dict[str, Entry] = field(default_factory=dict)
    """Id of a session -> its first entry, in their order."""
    usages: dict[str, tuple[Usage, ...]] = field(default_factory=dict)
    lowered: dict[str, int] = field(default_factory=dict)
    """Id of a session -> its replies whose record was written anew with lower counts."""
    unread: dict[str, str] = field(default_factory=dict)
    """Id of a session -> why what its agent records was not read."""

    def unknown(self) -> dict[str, str]:
        """Sessions of which nobody told, and why; and those of which not all is known."""
        return {s: self.unread.get(s) or UNTOLD for s in self.sessions if self.unread.get(s) or s not in self.usages}


def usage(places: StatePaths, session: str, *, as_json: bool, last: int = LAST) -> int:
    """Print the tokens of a session (the end of its id is enough), or of the last ones.

    Raises ConfigError, StoreError.
    """
    ledger = _ledger(places, session, last)
    if session and not ledger.sessions:
        raise ConfigError(f"There is no session {session} on record.", "sentinel-guard log")
    rows = token_ledger.rows(ledger.usages)
    if as_json:
        shown = [{**asdict(row), "work": row.work} for row in rows]
        print(json.dumps({"rows": shown, "unknown": ledger.unknown()}))
        return 0
    printer = Printer()
    if not ledger.sessions:
        printer.put("No session is on record. Start an agent with: sentinel-guard run -- AGENT")
        return 0
    if rows:
        printer.lines(_table(rows, ledger.sessions, printer.width))
    for ident, why in ledger.unknown().items():
        printer.put((f"{ident}: tokens not known, or not all: {visible(why)}", "yellow"))
    for ident, count in ledger.lowered.items():
        said = f"{ident}: the record of {count} of its replies was written anew with lower counts, which do not count."
        printer.put((said, "yellow"))
    if any(row.estimated for row in rows):
        printer.put((ESTIMATED, "yellow"))
    if any(not row.counted for row in rows):
        printer.put(("Not added: a better source tells of the same replies.", "dim"))
    for ident, usages in ledger.usages.items() if session else ():
        printer.put(_chart(ident, token_ledger.counted(usages)))
    return 0


def _ledger(places: StatePaths, session: str, last: int) -> Ledger:
    ledger = Ledger()
    if not places.database.exists():
        return ledger
    with contextlib.closing(SqliteReader(places.database)) as reader:
        all_begun = (e for e in reader.entries(kinds=("session",)) if e.session.endswith(session))
        begun = {e.session: e for e in all_begun if not trial_folders.is_gone(str(e.data.get("root")))}
        ledger.sessions = dict([*begun.items()][-last if last and not session else 0 :])
        first = min((e.seq for e in ledger.sessions.values()), default=0)
        entries = [e for e in reader.entries(kinds=("usage",), after=first) if e.session in ledger.sessions]
    ledger.usages = token_ledger.latest(entries)
    for entry in entries:
        if token_ledger.lowered(entry):
            ledger.lowered[entry.session] = ledger.lowered.get(entry.session, 0) + 1
        if (why := token_ledger.unread(entry)) is not None:
            ledger.unread[entry.session] = why
    return ledger


def _table(rows: list[Row], sessions: dict[str, Entry], width: int) -> Iterator[Styled]:
    counted = [row for row in rows if row.counted]
    most = max((row.work for row in counted), default=0)
    longest = max(0, min(BAR, width - BESIDE))
    lines = [
        [
            row.session.rpartition("-")[2],
            when(sessions[row.session].at)[5:16],
            Styled.of(visible(f"{row.source} {row.model}".strip())),
            *(f"{n:,}" for n in _counts(row)),
            Styled.of((_bar(row.work, most, longest), "cyan")) if row.counted else "not added",
        ]
        for row in rows
    ]
    sums = [f"{sum(counts):,}" for counts in zip(*map(_counts, counted), strict=True)]
    about = [*map(Column, ("session", "began")), Column("told by, model", folds=True)]
    about += [Column(name, right=True) for name in HEADINGS]
    return table([*about, Column("")], [*lines, ["all", "", "", *sums, ""]], width)


def _counts(row: Row) -> tuple[int, ...]:
    return (row.replies, row.input, row.output, row.cache_write, row.work, row.cache_read)


def _bar(count: int, most: int, longest: int = BAR) -> str:
    eighths = round(count / most * longest * 8) if most else 0
    return EIGHTHS[8] * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _chart(session: str, usages: Iterable[Usage]) -> str:
    """Work tokens of each minute that has some, the last ones."""
    minutes: dict[int, int] = {}
    for one in usages:
        minutes[int(one.at // 60)] = minutes.get(int(one.at // 60), 0) + one.work
    shown = sorted(minutes.items())[-MINUTES:]
    most = max((count for _, count in shown), default=0)
    lines = [f"{when(minute * 60)[11:16]} {count:>10,} {_bar(count, most)}" for minute, count in shown]
    return "\n".join(["", f"work tokens a minute of {session}:", *lines])
