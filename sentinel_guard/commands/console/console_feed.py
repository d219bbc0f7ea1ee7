"""What the console shows: live sessions, open questions, the log as it grows, and rates a minute. No terminal here."""

from __future__ import annotations

import contextlib
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.client import Operator
from sentinel_guard.core.model import Entry
from sentinel_guard.core.session import token_ledger
from sentinel_guard.errors import NoDaemonError, SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths

FIRST = 300
"""Entries of the log that are shown at the start."""
SPOKEN = 200
"""Entries of a session that are looked at for what was said."""
MINUTES = 30
SECONDS = 3.0
"""For which a daemon's answer is waited."""
NOBODY = "No guard daemon runs, so no session is live."


@dataclass(slots=True)
class Look:
    """One look at the guard."""

    sessions: list[dict[str, Any]] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """What has come since the last look."""
    spoken: list[Entry] = field(default_factory=list)
    """States and words of the session whose chat is open, oldest first."""
    trouble: str = ""


class Rates:
    """Calls and tokens of each session in each of the last MINUTES minutes."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._usages: dict[str, token_ledger.Latest] = defaultdict(token_ledger.Latest)

    def take(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            minute = int(entry.at // 60)
            if entry.kind == "verdict" and entry.data.get("call"):
                self._calls[entry.session][minute] += 1
            elif entry.kind == "usage":
                self._usages[entry.session].take(entry)

    def calls(self, session: str, now: float) -> list[float]:
        """The oldest minute first."""
        return _series(self._calls[session], now)

    def tokens(self, session: str, now: float) -> list[float]:
        minutes: dict[int, int] = defaultdict(int)
        for usage in token_ledger.counted(self._usages[session].usages()):
            minutes[int(usage.at // 60)] += usage.work
        return _series(minutes, now)


class Feed:
    """Looks again and again, from one thread at a time."""

    def __init__(self, places: StatePaths) -> None:
        self._places = places
        self._after = -1

    def look(self, chat: str = "") -> Look:
        """Never raises for a guard that is away: ``trouble`` says so. ``chat``: the session whose chat is open."""
        look = Look()
        try:
            with Operator(self._places, start=False).connect(SECONDS) as operator:
                look.sessions = list(operator.request("status", seconds=SECONDS)["sessions"])
                look.questions = list(operator.request("questions", seconds=SECONDS, watches=True)["questions"])
        except NoDaemonError:
            look.trouble = NOBODY
        except SentinelError as e:
            look.trouble = str(e)
        try:
            look.entries = self._new()
            look.spoken = self.spoken(chat) if chat else []
        except SentinelError as e:
            look.trouble = look.trouble or str(e)
        return look

    def ask(self, op: str, **fields: object) -> str:
        """Do something for the person; the words of a refusal, or none."""
        try:
            with Operator(self._places, start=False).connect(SECONDS) as operator:
                operator.request(op, seconds=float(str(fields.pop("within", SECONDS))), **fields)
        except SentinelError as e:
            return str(e)
        return ""

    def spoken(self, session: str) -> list[Entry]:
        """What is on record of a session's states and chats, the newest entries, oldest first. Raises SentinelError."""
        if not self._places.database.exists():
            return []
        with contextlib.closing(SqliteReader(self._places.database)) as reader:
            return [*reader.entries(session=session, kinds=("state", "chat"), last=SPOKEN)]

    def _new(self) -> list[Entry]:
        if not self._places.database.exists():
            return []
        with contextlib.closing(SqliteReader(self._places.database)) as reader:
            found = deque(reader.entries(last=FIRST) if self._after < 0 else reader.entries(after=self._after))
        if found:
            self._after = found[-1].seq
        return [*found]


def _series(minutes: dict[int, int], now: float) -> list[float]:
    last = int(now // 60)
    return [float(minutes.get(minute, 0)) for minute in range(last - MINUTES + 1, last + 1)]
