"""``sentinel-guard log``: read the audit log, verify its hash chain, begin a new one. Needs no daemon."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from sentinel_guard.audit import head as head_file
from sentinel_guard.audit.opening import NOTES, hold
from sentinel_guard.audit.sqlite import SqliteReader, SqliteStore
from sentinel_guard.commands import require_human
from sentinel_guard.commands.local_time import when
from sentinel_guard.commands.log.log_filter import LogFilter
from sentinel_guard.commands.log.log_table import LogTable
from sentinel_guard.commands.log.suspected_stops import suspected
from sentinel_guard.core.hash_chain import ChainBreak, find_breaks
from sentinel_guard.core.json_codec import dumps, entry_json
from sentinel_guard.core.model import Entry
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.text.entry_summary import summary
from sentinel_guard.errors import SentinelError, StoreError
from sentinel_guard.host import audit_witness, policy_files
from sentinel_guard.host.audit_witness import Witnessed
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.styled_text import Printer
from sentinel_guard.humans.terminal_prompts import visible

POLL_SECONDS = 0.25
ALL = LogFilter()
MAX_BREAKS = 20
Told = dict[str, list[Witnessed]]
"""Witness -> what it was told, oldest first."""
ARCHIVED = "log-archived"
"""Event of the entry with which a log begins after another one was put away."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What ``show`` is asked for."""

    session: str = ""
    """Of this session alone; the last part of its name is enough."""
    limit: int = 0
    """The newest so many; 0 = all."""
    follow: bool = False
    """Go on as entries come."""
    wanted: LogFilter = ALL
    suspect: bool = False
    """Only stops that were probably false."""
    as_json: bool = False
    details: bool = False
    """All fields of each entry."""


def show(places: StatePaths, asked: Shown) -> int:
    """Print what is asked for: a table in a terminal, else a line an entry with tabs between the fields; as JSON one
    object, or with ``follow`` one a line. Raises StoreError.
    """
    path, session = places.database, _whole_name(places.database, asked.session)
    if not path.exists() and not asked.follow:
        print(f"Nothing is on record yet: there is no {path}.", file=sys.stderr)
        if asked.as_json:
            print(dumps({"entries": []}))
        return 0
    why = _suspected(path, session) if asked.suspect else {}
    found, count = _entries(path, session, asked, why), 0
    if asked.as_json and not asked.follow:
        entries = [entry_json(entry) for entry in found]
        count = len(entries)
        print(dumps({"entries": entries}))
    else:
        put = _printer(as_json=asked.as_json, follow=asked.follow, details=asked.details, why=why)
        for count, entry in enumerate(found, 1):  # noqa: B007
            put(entry)
    if not count and (session or asked.suspect):
        what = "Nothing of that" if asked.wanted or asked.suspect else "Nothing"
        whose = f" of the session '{visible(session)}'" if session else ""
        print(f"{what} is on record{whose}.", file=sys.stderr)
    return 0


def _suspected(path: Path, session: str) -> dict[int, str]:
    with contextlib.closing(SqliteReader(path)) as reader:
        found = suspected(reader.entries())
        return {e.seq: found[e.seq] for e in reader.entries(session=session) if e.seq in found} if session else found


def verify(places: StatePaths, *, as_json: bool = False) -> int:
    """Say whether the chain holds; exit code 1 with the place of each break in words. Raises StoreError."""
    if as_json:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = verify(places)
        print(dumps({"holds": code == 0, "said": said.getvalue().splitlines()}))
        return code
    path = places.database
    # Read before the log: what is appended meanwhile comes after it.
    head = head_file.read(head_file.path_of(path))
    if not path.exists():
        named = f", and its head file names entry {head.seq}" if head else ""
        print(f"There is no audit log at {path}{named}: nothing could be verified.")
        return 1
    told, unasked = _told(places)
    reader, seen = SqliteReader(path), _Seen(told)
    broken = list(islice(find_breaks(seen.through(reader.entries()), head), MAX_BREAKS))
    if head is None:
        words = f"The head file {head_file.path_of(path)} is missing or unreadable: a cut at the end cannot be seen."
        broken.append(ChainBreak(seen.count + 1, "truncated", words))
    faults = [f" at entry {b.seq}: {b.words}" for b in broken]
    faults += [f" at entry {note.seq}: It says: {visible(summary(note))}" for note in seen.notes]
    kept = head_file.broken(head_file.path_of(path))
    faults += [f": {name} is a head file that did not fit the log." for name in kept]
    faults += [f": {words}" for words in seen.against()]
    if missing := sorted(name for name in _session_folders(places) - seen.sessions if seen.began_later(name)):
        some = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        faults.append(f": {_of(len(missing), 'session')} left a folder and no entry ({some}): the log is not theirs.")
    for fault in faults:
        print(f"BROKEN{fault}")
    for words in unasked:
        print(words)
    if not faults and not unasked:
        entries = _of(seen.count, "entry", "entries")
        print(f"The chain holds: {entries}. The newest is {seen.last.seq}, hash {seen.last.hash[:16]}.")
    for note in seen.told_by_guard if faults else seen.archived:
        print(f"Entry {note.seq} says: {visible(summary(note))}")
    if faults:
        print("When you know what happened: 'sentinel-guard log archive' keeps this log and begins a new one.")
    return 1 if faults or unasked else 0


def _told(places: StatePaths) -> tuple[Told, list[str]]:
    """What the witnesses of the user's policy were told; and in words which of them cannot be asked."""
    found, unasked = Told(), []
    for witness in policy_files.load(places).audit.witness:
        try:
            found[witness] = audit_witness.told(witness) or []
        except SentinelError as e:
            unasked.append(f"A witness was told nothing yet, or is gone. {e}")
    return found, unasked


def archive(places: StatePaths, *, now: Callable[[], float] = time.time) -> int:
    """Keep the log with all that lies beside it in a folder of its own, and begin a new one, which says so.

    Raises StoreError where a daemon writes it, a session lives or it cannot be moved; SentinelError inside of a
    session.
    """
    require_human.require_human(places, None, "From inside a guarded session no record is put away.")
    path = places.database
    if not path.exists():
        print(f"There is no audit log at {path}: nothing is to be kept.")
        return 0
    folder = path.parent / f"audit-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now()))}"
    lock = hold(path)
    try:
        begun = _begun_anew(places, folder, now())
        # The database last: where this ends in between, the log that is there goes on.
        for kept in sorted(path.parent.glob("audit.*"), key=lambda p: (p == path, p.name)):
            if kept.suffix != ".lock":
                kept.rename(folder / kept.name)
        for made in (begun, head_file.path_of(begun)):
            made.rename(path.parent / made.name)
        shutil.rmtree(begun.parent)
    except OSError as e:
        hint = f"Mend that, and look what is in {folder}; then try again."
        raise StoreError(f"The audit log cannot be put away in {folder}: {e.strerror}.", hint) from e
    finally:
        os.close(lock)
    print(f"The log is kept in {folder}.")
    return 0


def _begun_anew(places: StatePaths, folder: Path, at: float) -> Path:
    """A log that goes on after this one, in the folder where this one will be kept: that sessions have ended, and what
    became of incidents, stays known. Raises StoreError where a session lives, OSError.
    """
    with contextlib.closing(SqliteReader(places.database)) as old:
        for begun in (e for name in old.live_sessions() for e in old.entries(session=name, kinds=("session",))):
            if _lives(begun.data.get("owner")):
                raise StoreError(f"The session {begun.session} is still running.", "End its agent first.")
        last = next(old.entries(last=1), Entry(0.0, "", ""))
        ends = {e.session: e for e in old.entries(kinds=("end",))}
        incidents = [*old.entries(kinds=("incident",))]
    told = {witness: len(lines) for witness, lines in _told(places)[0].items()}
    what = f"The log up to entry {last.seq} is kept in {folder}."
    data = {"event": ARCHIVED, "what": what, "seq": last.seq, "hash": last.hash, "told": told}
    folder.mkdir(mode=0o700)
    with contextlib.closing(SqliteStore(folder / "new" / places.database.name)) as new:
        new.append(Entry(at, "", "daemon", data, "L2"))
        for name in sorted(_session_folders(places)):
            lost = Entry(at, name, "end", {"code": -1, "reason": "its log was put away"})
            new.append(ends.get(name, lost))
        for entry in incidents:
            new.append(entry)
    return folder / "new" / places.database.name


def _lives(owner: object) -> bool:
    """Whether the owner of a session, as its entry names it, is running."""
    return isinstance(owner, list) and len(owner) == 2 and processes.alive(Peer(*owner))


def _session_folders(places: StatePaths) -> set[str]:
    try:
        return {path.name for path in (places.state / "sessions").iterdir() if path.is_dir()}
    except FileNotFoundError:
        return set()


def _of(count: int, what: str, many: str = "") -> str:
    return f"1 {what}" if count == 1 else f"{count} {many or f'{what}s'}"


class _Seen:
    """Remembers of the entries that go through how many they are, the sessions, and what the guard noted of the log."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._asked = {one.head.seq for lines in told.values() for one in lines}
        self._hashes: dict[int, str] = {}
        self._began = 0.0
        self.count, self.last = 0, Entry(0.0, "", "")
        self.sessions: set[str] = set()
        self.told_by_guard: list[Entry] = []
        """What the guard itself put on record, but for ``notes``."""
        self.notes: list[Entry] = []
        """What it found wrong with the log."""

    def through(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in entries:
            self.count, self.last = self.count + 1, entry
            if entry.seq in self._asked:
                self._hashes[entry.seq] = entry.hash
            self._began = self._began or entry.at
            if entry.kind in ("session", "end"):
                self.sessions.add(entry.session)
            elif entry.kind == "daemon":
                (self.notes if entry.data.get("event") in NOTES else self.told_by_guard).append(entry)
            yield entry

    @property
    def archived(self) -> list[Entry]:
        """The first entry, where it says that another log was put away: shown each time, for who knows of none."""
        return [e for e in self.told_by_guard[:1] if e.seq == 1 and e.data.get("event") == ARCHIVED]

    def began_later(self, session: str) -> bool:
        """Whether the log began after this session. One whose daemon was killed while it began has a folder alone."""
        try:
            at = datetime.strptime(session[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
        except ValueError:
            return False
        return not self.count or at + 1 < self._began

    def against(self) -> Iterator[str]:
        """What each witness says against the log; what it was told of one that was put away is no word on this one."""
        before = self.archived[0].data.get("told") if self.archived else None
        for witness, lines in self._told.items():
            known = before.get(witness, 0) if isinstance(before, dict) else 0
            if len(lines) < known:
                yield f"The witness {witness} has lost what it was told."
            for one in lines[known:]:
                if (found := self._hashes.get(one.head.seq)) != one.head.hash:
                    stands = "is another one" if found else "is missing"
                    told = f"was told of entry {one.head.seq} at {when(one.at)}"
                    yield f"The witness {witness} {told}, which {stands} here."
                    break


def _whole_name(path: Path, session: str) -> str:
    """The newest session of which this is the last part of the name; the text itself where there is none."""
    if not session or not path.exists():
        return session
    with contextlib.closing(SqliteReader(path)) as reader:
        names = [entry.session for entry in reader.entries(kinds=("session",))]
    return next((name for name in reversed(names) if name == session or name.endswith(f"-{session}")), session)


def _entries(path: Path, session: str, asked: Shown, why: Mapping[int, str]) -> Iterator[Entry]:
    while not path.exists():
        time.sleep(POLL_SECONDS)
    reader, after = SqliteReader(path), 0
    chosen = asked.suspect or bool(asked.wanted)
    # A filter looks at each entry: the newest that it takes may be far back.
    found = filter(asked.wanted.takes, reader.entries(session=session, last=0 if chosen else asked.limit))
    suspects = (entry for entry in found if entry.seq in why) if asked.suspect else found
    for entry in deque(suspects, maxlen=asked.limit or None) if chosen else suspects:
        after = entry.seq
        yield entry
    took = 0.0
    while asked.follow:
        time.sleep(max(POLL_SECONDS, 10 * took))
        began = time.monotonic()
        with contextlib.closing(SqliteReader(path)) as now:  # inside of a session a reader reads a copy
            new = [*now.entries(session=session, after=after)]
        took = time.monotonic() - began
        for entry in new:
            after = entry.seq
            if asked.wanted.takes(entry):
                yield entry


def _printer(*, as_json: bool, follow: bool, details: bool, why: Mapping[int, str]) -> Callable[[Entry], None]:
    if as_json and follow:
        return lambda entry: print(dumps(entry_json(entry)), flush=True)
    if sys.stdout.isatty():
        return LogTable(Printer(), details=details, why=why).put
    return lambda entry: print("\t".join(_fields(entry, why, details=details)), flush=True)


def _fields(entry: Entry, why: Mapping[int, str], *, details: bool) -> list[str]:
    fields = [entry.seq, when(entry.at), entry.session or "-", entry.level or "-", entry.kind, summary(entry)]
    fields += [f"suspect: {why[entry.seq]}"] if entry.seq in why else []
    fields += [dumps(entry_json(entry))] if details else []
    return [visible(str(field)) for field in fields]
