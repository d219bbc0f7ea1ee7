"""Reads the coding agents' own records of tokens into the ledger (R6): before each call, after it, and at the end.

Rules of this file:
1. A record is read where its conversation belongs to the session: by the ids that the agent's tools are told, else by
   its work folder. Of two agents of one kind that tell no ids and work in one folder, each session sees both.
2. What is not there, or not understood, is on record as unread, and never as 0.
3. A call waits for no record that is yet to be written: what comes late is read before the next one.
4. The agent can write to its records: lower counts are on record as such and do not count, and no reply that is known
   gets another time. A new one from before the session belongs to a conversation that is resumed.
"""

from __future__ import annotations

import asyncio
import glob
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sentinel_guard.agents import registry as agents
from sentinel_guard.agents.token_records import registry
from sentinel_guard.agents.token_records.base import Form, Json, Parser, TokenRecord
from sentinel_guard.core.model import Action, Usage
from sentinel_guard.core.session import token_ledger
from sentinel_guard.daemon.live_sessions import HOOKS, Live, Sessions
from sentinel_guard.errors import SentinelError
from sentinel_guard.host import client_records, trial_folders
from sentinel_guard.host.machine import ancestry, processes

log = logging.getLogger(__name__)
SEARCH = 2.0
"""Seconds between two searches for records, while there is one that is read."""
LATE = (0.1, 2.0)
"""Seconds after the end of a call, and between the looks after it: what tells of a reply may come late."""
MISSING = 5.0
"""Seconds after the first look after which a record that is not there is on record as unread."""
BEFORE = 30.0
"""Seconds before a session that an agent's hooks began in which replies to the same process are its own: Cline does not
wait for its first hook, and that may have to start the daemon."""
EARLY = 1.0
"""Seconds that a file may seem older than its session: file systems and clocks are coarse."""
NAME = re.compile(r"[\w.-]{1,200}")


class _File:
    """One record, and what reads it."""

    def __init__(self, record: TokenRecord, path: str) -> None:
        self._record, self._parser = record, record.parser()
        self._lines = client_records.AddedLines(path)
        self._document = client_records.Document(path)

    def usages(self) -> Iterable[Usage]:
        """Of the replies that have come since the last look. Raises ValueError, KeyError, TypeError."""
        if self._record.form is Form.DOCUMENT:
            document = self._document.read()
            yield from self._parser(document) if document is not None else ()
            return
        for line in self._lines.read():
            if any(mark in line for mark in self._record.marks):
                yield from self._parser(client_records.parse_object(line))


class _Table:
    """A database whose rows are of many conversations."""

    def __init__(self, record: TokenRecord, path: str, is_ours: Callable[[Json], bool]) -> None:
        self._parser: Parser = record.parser()
        self._rows, self._is_ours = client_records.Rows(path, record.query), is_ours

    def usages(self, since: float) -> Iterable[Usage]:
        """Of the replies that are new or changed since the last look. Raises ValueError, KeyError, TypeError."""
        for row in self._rows.read(since):
            if self._is_ours(row):
                yield from self._parser(row)


@dataclass
class _Client:
    """A coding agent in a session, and what is known of its records."""

    record: TokenRecord
    since: float
    """When its session began, seconds of the epoch."""
    environ: dict[str, str]
    folders: set[str]
    """Where it works."""
    named: set[str] = field(default_factory=set)
    """Ids of its conversations that its tools were told."""
    files: dict[str, _File | _Table] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    """Records of conversations that are not its own."""
    searched: float = -SEARCH
    begun: float = field(default_factory=time.monotonic)
    wrong: str = ""
    """What of a record was not understood."""

    def learn(self, environ: Mapping[str, str], folder: str) -> None:
        """What a process that it has started tells of it."""
        self.environ.update(environ)
        self.folders.add(folder)
        name = environ.get(self.record.named_by, "")
        if self.record.named_by and NAME.fullmatch(name) and name not in self.named:
            if not self.named:
                self.files.clear()  # what was only in the same folder may be another one's
            self.named.add(name)
            self.searched = -SEARCH
            self.others.clear()

    def read(self, *, ends: bool = False) -> list[Usage]:
        """The usages that are new since the last look, as far as they can be read; ``ends``: it is the last look."""
        now = time.monotonic()
        if ends or not self.files or now - self.searched >= SEARCH:
            self._search()
            self.searched = now
        found: list[Usage] = []
        for path, file in self.files.items():
            try:
                usages = file.usages(self.since - EARLY) if isinstance(file, _Table) else file.usages()
                found += usages
            except (ValueError, KeyError, TypeError, AttributeError) as e:
                self.wrong = f"{path} is not understood: {type(e).__name__}: {e}"
        return found

    def unread(self, *, ends: bool) -> str:
        """Why its record is not read; empty where it is, or may only be late."""
        if self.wrong:
            return self.wrong
        if self.files or not (ends or time.monotonic() - self.begun > MISSING):
            return ""
        return f"{self.record.agent} has no record of this conversation in {self._folder() or 'a known folder'}"

    def _folder(self) -> str:
        return self.record.folder(self.environ)

    def _search(self) -> None:
        names = [glob.escape(name) for name in sorted(self.named)] or ["*"]
        patterns = {pattern.replace("{name}", name) for pattern in self.record.files for name in names}
        # SQLite writes what is new into a file beside the database, which seems old then.
        since = 0.0 if self.record.form is Form.ROWS else self.since - EARLY
        for path in client_records.find(self._folder(), sorted(patterns), since):
            if path in self.files or path in self.others:
                continue
            if self.record.form is Form.ROWS:
                self.files[path] = _Table(self.record, path, lambda row: self._is_ours("", row))
            elif first := client_records.first_object(self.record.about(path)):
                if self._is_ours(path, first):
                    self.files[path] = _File(self.record, path)
                else:
                    self.others.add(path)

    def _is_ours(self, path: str, told: Json) -> bool:
        return registry.belongs(self.record.conversation(path, told), self.named, self.folders)


@dataclass
class _Reading:
    """A session's clients, and what of their tokens is on record."""

    since: float
    """Replies of before belong to a conversation that is resumed: seconds of the epoch."""
    known: dict[tuple[str, str], Usage]
    lowered: set[tuple[str, str]]
    """Replies of which it is on record that lower counts were written."""
    clients: dict[str, _Client] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    soon: asyncio.Task[None] | None = None
    telemetry: bool = False
    """Whether its telemetry tells of it, too: then what is not recorded is known all the same."""
    unread: dict[str, str] = field(default_factory=dict)


class TokenRecords:
    def __init__(self, sessions: Sessions, now: Callable[[], float]) -> None:
        self._sessions, self._now = sessions, now
        self._readings: dict[str, _Reading] = {}

    async def look(self, live: Live, action: Action) -> None:
        """Read what has come, before an action of the session is judged."""
        reading = self._reading(live)
        if action.agent and action.who:
            client = self._client(live, reading, action.agent)
            if client:
                client.learn(processes.environ(action.who.pid), action.cwd)
        await self._read(live, reading)

    def look_soon(self, live: Live) -> None:
        """The same, a moment after the end of a call."""
        reading = self._reading(live)
        if reading.clients and (reading.soon is None or reading.soon.done()):
            reading.soon = asyncio.create_task(self._later(live, reading))

    def finish(self, live: Live) -> None:
        """Read the rest of a session that ends, and forget it."""
        reading = self._reading(live)
        if not reading.turn.locked():  # else a thread is at it, and its finds are on record a moment later
            for name, client in reading.clients.items():
                self._take(live, reading, name, client.read(ends=True), ends=True)
        if reading.soon:
            reading.soon.cancel()
        self._readings.pop(live.id, None)

    def told(self, live: Live, usages: Iterable[Usage]) -> None:
        """What an agent's telemetry tells of its replies. Raises StoreError."""
        reading, found = self._reading(live), [usage for usage in usages if usage.work]
        reading.telemetry = reading.telemetry or bool(found)
        self._note(live, reading, found)

    async def _later(self, live: Live, reading: _Reading) -> None:
        for seconds in LATE:
            await asyncio.sleep(seconds)
            await self._read(live, reading)

    def _reading(self, live: Live) -> _Reading:
        """What is known of a session's records. After a restart of the daemon: with what is on record."""
        reading = self._readings.get(live.id)
        if reading is None:
            stored = [*self._sessions.store.entries(session=live.id, kinds=("usage",))]
            known = token_ledger.latest(stored).get(live.id, ())
            lowered = map(token_ledger.usage_from, filter(token_ledger.lowered, stored))
            reading = _Reading(_since(live), {_key(u): u for u in known}, set(map(_key, lowered)))
            reading.telemetry = any(u.source == token_ledger.TELEMETRY for u in known)
            self._readings[live.id] = reading
            started = agents.started(live.session.command)
            if started:
                self._client(live, reading, started.agent.name)
        return reading

    def _client(self, live: Live, reading: _Reading, name: str) -> _Client | None:
        record = registry.of_agent(name)
        if record and name not in reading.clients:
            client, ident = live.session.client
            named = {ident} if client == name and NAME.fullmatch(ident) else set()
            environ, folders = dict(live.begun_in), {live.session.root}
            reading.clients[name] = _Client(record, reading.since, environ, folders, named)
        return reading.clients.get(name)

    async def _read(self, live: Live, reading: _Reading) -> None:
        async with reading.turn:
            for name, client in [*reading.clients.items()]:
                self._take(live, reading, name, await asyncio.to_thread(client.read))

    def _take(self, live: Live, reading: _Reading, name: str, usages: Iterable[Usage], *, ends: bool = False) -> None:
        try:
            self._note(live, reading, usages)
            known = reading.telemetry or trial_folders.is_gone(live.session.root)
            why = "" if known else reading.clients[name].unread(ends=ends)
            self._note_unread(live, reading, name, why)
        except SentinelError as e:
            log.warning("the tokens of %s are not on record: %s", live.id, e)

    def _note(self, live: Live, reading: _Reading, usages: Iterable[Usage]) -> None:
        now, lowered = self._now(), dict[tuple[str, str], Usage]()
        told: dict[tuple[str, str], Usage] = {}
        for usage in usages:
            key = _key(usage)
            if usage.at < reading.since and key not in reading.known and key not in told:
                continue
            if key in told and token_ledger.is_lower(usage, told[key]):
                lowered[key] = usage
            told[key] = token_ledger.grown(told.get(key), replace(usage, at=min(usage.at, now)))
        # A record that is read anew begins with the lower counts of before: only what it tells in the end is compared.
        known = [key for key in told if key in reading.known]
        lowered = {k: told[k] for k in known if token_ledger.is_lower(told[k], reading.known[k])} | lowered
        lowered = {key: usage for key, usage in lowered.items() if key not in reading.lowered}
        grown = {key: token_ledger.grown(reading.known.get(key), usage) for key, usage in told.items()}
        new = {key: usage for key, usage in grown.items() if key in lowered or reading.known.get(key) != usage}
        entries = [token_ledger.entry(live.id, now, usage, lowered.get(key)) for key, usage in new.items()]
        self._sessions.note(live, entries)
        reading.known |= new
        reading.lowered |= lowered.keys()

    def _note_unread(self, live: Live, reading: _Reading, name: str, why: str) -> None:
        if why != reading.unread.get(name, ""):
            self._sessions.note(live, [token_ledger.unread_entry(live.id, self._now(), name, why)])
            reading.unread[name] = why


def _since(live: Live) -> float:
    # A reply's time is told to the millisecond, rounded down or up.
    began, owner = live.session.started - 0.001, live.session.owner
    if live.kind != HOOKS or owner is None:
        return began
    return max(began - BEFORE, min(began, ancestry.began(owner)))


def _key(usage: Usage) -> tuple[str, str]:
    return usage.source, usage.key
