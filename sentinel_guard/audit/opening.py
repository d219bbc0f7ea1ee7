"""Open the audit log for writing: take the lock, create the schema, deal with a corrupt or truncated log.

Rules of this file:
1. Append-only: triggers refuse UPDATE, DELETE and every insert that is not at the end, REPLACE among them.
2. One writer: a lock on the file ``.lock`` beside the log, held until it is closed.
3. A log in which damage was met is read as a whole before it is taken up, and so is one that was not closed before the
   machine started anew: its disk may have lost half of what was written. What a killed process had written is whole. A
   small one is read always.
4. A log that cannot be read is moved aside and kept; one that is shorter than its head file says is taken up again
   after the gap. Either way a note for the log says so, and ``seq`` never goes back.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sentinel_guard.core.hash_chain import Head
from sentinel_guard.errors import StoreError

SCHEMA_VERSION = 1
BUSY_SECONDS = 2.0
SESSION = "SENTINEL_SESSION"
"""Set inside of a guarded session."""
SMALL = 16 << 20
"""Bytes of a log that is read as a whole whatever its end was: 30 ms."""
FEW = ("end", "human", "incident", "owner", "recovery", "session", "usage", "watch")
"""Kinds of which a session has few entries; all of one of them are found without reading its calls."""
OF_FEW = f"kind IN {FEW!r}"
"""The index's condition. SQLite uses the index only where a query says it in these words."""
COPIES = 20
"""Times that a log is copied, where it is being written into its main file."""
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS log (
    seq INTEGER PRIMARY KEY, at REAL NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, level TEXT NOT NULL,
    data TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS log_session ON log (session);
DROP INDEX IF EXISTS log_lives;
CREATE INDEX IF NOT EXISTS log_few ON log (kind, session) WHERE {OF_FEW};
CREATE TRIGGER IF NOT EXISTS log_no_update BEFORE UPDATE ON log
    BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS log_no_delete BEFORE DELETE ON log
    BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS log_no_replace BEFORE INSERT ON log
    WHEN EXISTS (SELECT 1 FROM log WHERE seq >= NEW.seq)
    BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
COMMIT;
"""  # noqa: S608 - constants
EDITED = "log-edited"
MISFITS = frozenset({"head-missing", "log-truncated", EDITED})
"""Notes on a head file that does not fit its log."""
NOTES = MISFITS | {"log-damaged"}
"""Events of the notes that say what was wrong with a log."""
_NEWEST = "SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1"
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FAILURES = {
    sqlite3.SQLITE_FULL: ("cannot grow: the disk is full", "Free some space on that disk."),
    sqlite3.SQLITE_READONLY: ("is read-only", "Make it writable, or set SENTINEL_HOME to a folder that is."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "Make its folder writable, or set SENTINEL_HOME to one that is."),
    sqlite3.SQLITE_PERM: ("cannot be opened", "Make it writable, or set SENTINEL_HOME to a folder that is."),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "Restart the guard: it keeps the damaged log and begins a new one."),
    sqlite3.SQLITE_NOTADB: ("is damaged", "Restart the guard: it keeps the damaged log and begins a new one."),
    sqlite3.SQLITE_BUSY: ("is locked by another program", "Close what else has it open."),
    sqlite3.SQLITE_LOCKED: ("is locked by another program", "Close what else has it open."),
    sqlite3.SQLITE_IOERR: ("cannot be written or read: the disk failed", "Check the disk and its free space."),
}


class DamagedError(Exception):
    """The file is no log that SQLite can read."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A log that is ready to be appended to."""

    db: sqlite3.Connection
    head: Head
    """Where the chain goes on."""
    note: dict[str, object] | None
    """``data`` of the entry that says what was wrong; None where nothing was."""


def failure(path: Path, error: sqlite3.Error) -> StoreError:
    """The same in words. The text of SQLite follows in brackets."""
    what, hint = _FAILURES.get(_code(error), ("cannot be used", ""))
    return StoreError(f"The audit log {path} {what} ({error}).", hint)


def hold(path: Path) -> int:
    """The descriptor whose lock makes its holder the one writer; whoever holds it notes there when the machine was
    started. Raises StoreError, OSError.
    """
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as e:
        os.close(lock)
        hint = "One daemon a user writes it; see 'sentinel-guard daemon status'."
        raise StoreError(f"Another guard is writing the audit log {path}.", hint) from e
    return lock


def read_only(path: Path) -> sqlite3.Connection:
    """Raises sqlite3.Error where there is no such file; for other faults the first query does.

    Inside of a guarded session a copy is read: SQLite opens the files beside the log for writing, and as root gives
    them to their owner anew, even where it only reads; there that is an attack.
    """
    if SESSION in os.environ and path.exists():
        return _read_copy(path)
    uri = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)


def writing(path: Path) -> sqlite3.Connection:
    """A connection of the log's one writer. Raises sqlite3.Error."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)


def _read_copy(path: Path) -> sqlite3.Connection:
    """A copy that is whole: made again where the log was written into its main file, or its journal began anew."""
    with tempfile.TemporaryDirectory(prefix="sentinel-log-") as folder:
        copy = Path(folder, path.name)
        for _ in range(COPIES):
            before = _state(path)
            for name in (path.name, f"{path.name}-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(path.with_name(name), copy.with_name(name))
            if _state(path) == before:
                break
        db = sqlite3.connect(copy, isolation_level=None, check_same_thread=False)
        # What it has open stays when the folder goes.
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        db.execute("PRAGMA query_only = 1")
        return db


def _state(path: Path) -> tuple[int, int, bytes]:
    """Changes where the log's main file was written, or its journal (of which the first 32 bytes are the head) began
    anew; what is added to the journal changes nothing.
    """
    seen, head = path.stat(), b""
    with contextlib.suppress(FileNotFoundError), path.with_name(f"{path.name}-wal").open("rb") as journal:
        head = journal.read(32)
    return seen.st_mtime_ns, seen.st_size, head


def remember_damage(path: Path, error: sqlite3.Error) -> None:
    """Have the log be read as a whole when it is opened next, where an error says that it is damaged."""
    if _code(error) in _DAMAGED:
        with contextlib.suppress(OSError):
            _doubt(path).touch(0o600)


def newest(db: sqlite3.Connection) -> Head:
    """The last entry's place and hash. Raises sqlite3.Error."""
    row = db.execute(_NEWEST).fetchone()
    return Head(int(row[0]), str(row[1])) if row else Head()


def open_log(path: Path, named: Head | None) -> Opened:
    """Opens or begins the log that the head file names. Raises StoreError, sqlite3.Error, OSError."""
    kept, found = None, Head()
    if _orphaned(path):
        kept = _set_aside(path)
    try:
        db = _prepared(path)
    except DamagedError:
        found = _salvage(path)
        kept = _set_aside(path)
        db = _prepared(path)
    with contextlib.suppress(OSError):  # a full disk: the next start reads all
        _boot_note(path).write_text(_boot(), encoding="ascii")
    last = newest(db)
    head = max(last, found, named or Head(), key=lambda h: h.seq)
    return Opened(db, head, _note(db, kept, last, named))


def _note(db: sqlite3.Connection, kept: Path | None, last: Head, named: Head | None) -> dict[str, object] | None:
    if kept:
        what = f"The log could not be read. It is kept as {kept}, and a new one goes on from there."
        return {"event": "log-damaged", "what": what, "kept": str(kept)}
    if named is None:
        what = "The head file is missing or unreadable: whether the log was cut at its end cannot be shown."
        return {"event": "head-missing", "what": what} if last.seq else None
    if named.seq > last.seq:
        what = f"The log ended at entry {last.seq}, and its head file names entry {named.seq}."
        return {"event": "log-truncated", "what": what}
    stands = db.execute("SELECT hash FROM log WHERE seq = ?", (named.seq,)).fetchone()
    if named.seq and (stands is None or stands[0] != named.hash):
        return {"event": EDITED, "what": f"Entry {named.seq} is not the one that the head file names."}
    return None


def _prepared(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    fell = size_of(Path(f"{path}-wal")) and not _is_of_this_boot(path)
    whole = path.stat().st_size <= SMALL or fell or _doubt(path).exists()
    db = writing(path)
    try:
        _prepare(db, path, whole=bool(whole))
    except BaseException as e:
        db.close()
        if isinstance(e, sqlite3.Error) and _code(e) in _DAMAGED:
            raise DamagedError(str(e)) from e
        raise
    _doubt(path).unlink(missing_ok=True)
    return db


def _doubt(path: Path) -> Path:
    """Is there where damage was met."""
    return Path(f"{path}.doubt")


def _is_of_this_boot(path: Path) -> bool:
    """Whether the machine has run since a writer opened the log last."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return bool(boot := _boot()) and _boot_note(path).read_text(encoding="ascii") == boot
    return False


def _boot_note(path: Path) -> Path:
    return Path(f"{path}.lock")


def _boot() -> str:
    """What tells one start of this machine from the next (random(4)); empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return ""


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _prepare(db: sqlite3.Connection, path: Path, *, whole: bool) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(f"The audit log {path} was made by a newer sentinel-guard.", "Install that version again.")
    if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        hint = "Set SENTINEL_HOME to a folder on a local disk."
        raise StoreError(f"The audit log {path} is on a file system without shared memory.", hint)
    db.execute("PRAGMA synchronous = NORMAL")
    # Who appends waits for no disk: the store does it beside (sqlite.py).
    db.execute("PRAGMA wal_autocheckpoint = 0")
    # Who closes a log leaves no journal. 0.8 s of processor time for a million entries.
    if whole and (said := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise DamagedError(said)
    db.executescript(SCHEMA)
    if version != SCHEMA_VERSION:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    newest(db)


def _salvage(path: Path) -> Head:
    """The newest entry that a damaged log still shows, so that the new one goes on after it."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(read_only(path)) as db:
        return newest(db)
    return Head()


def _orphaned(path: Path) -> bool:
    """True for a write-ahead log whose database is gone: SQLite would throw it away."""
    return Path(f"{path}-wal").exists() and not (path.exists() and path.stat().st_size)


def _set_aside(path: Path) -> Path:
    kept = next(p for n in itertools.count(1) if not os.path.lexists(p := Path(f"{path}.damaged-{n}")))
    for tail in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{tail}").rename(f"{kept}{tail}")
    return kept


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
