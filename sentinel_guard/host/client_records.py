"""Reads what other programs of the user write: lines that are added, whole texts, JSON documents, rows of SQLite.

Rules of this file:
1. Where the files lie was told by others: only regular files are read, so many bytes at once, without waiting.
2. A line counts when its end is there. What is not there (any more) is nothing, and no error.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

FIRST = 8 << 20
"""Bytes at the end of a file with which reading begins, where it is longer."""
ONCE = 32 << 20
"""Bytes that are read at once."""
HEAD = 256 << 10
"""Bytes in which the first object of a file must end."""
FILES = 2000
"""Files that a pattern may find."""
QUERY = 0.5
"""Seconds that a query may take."""
STEPS = 10_000
"""Instructions of SQLite between two looks at the time."""


def find(folder: str, patterns: Sequence[str], since: float) -> list[str]:
    """Files below a folder that match a pattern (``Path.glob``) and were changed at ``since`` or later, seconds of the
    epoch.
    """
    found: list[str] = []
    for pattern in patterns:
        with contextlib.suppress(OSError, ValueError):
            for number, path in enumerate(Path(folder).glob(pattern)):
                if number >= FILES:
                    break
                with contextlib.suppress(OSError):
                    if path.stat().st_mtime >= since:
                        found.append(str(path))
    return found


def first_object(path: str) -> dict[str, object]:
    """The JSON object with which a file begins; empty where there is none."""
    with contextlib.suppress(OSError, ValueError, RecursionError), _open_regular(path) as fd:
        text = os.read(fd, HEAD).decode(errors="replace").lstrip()
        value, _ = json.JSONDecoder().raw_decode(text)
        return value if isinstance(value, dict) else {}
    return {}


def text(path: str, most: int) -> str:
    """What stands in a file; raises OSError for one that cannot be read or is none, ValueError for more bytes than
    ``most``.
    """
    with _open_regular(path) as fd:
        data = os.read(fd, most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {most} bytes")
    return data.decode(errors="replace")


def last_lines(path: str, most: int) -> list[str]:
    """The lines in the last ``most`` bytes of a file; none where it cannot be read or is none."""
    with contextlib.suppress(OSError, ValueError), _open_regular(path) as fd:
        at = max(0, os.fstat(fd).st_size - most)
        return os.pread(fd, most, at).decode(errors="replace").splitlines()
    return []


def parse_object(line: bytes) -> dict[str, object]:
    """The JSON object on a line. Raises ValueError."""
    try:
        value = json.loads(line)
    except RecursionError as e:
        raise ValueError("a line is nested too deeply") from e
    if not isinstance(value, dict):
        raise ValueError("a line holds no JSON object")  # noqa: TRY004 - the file's value, not a type of ours
    return value


class AddedLines:
    """The lines of a file that have come since the last look."""

    def __init__(self, path: str) -> None:
        self._path, self._at, self._file = path, -1, (0, 0)

    def read(self) -> list[bytes]:
        """New whole lines, without their ends. A file that is another one, or shorter, is begun anew."""
        try:
            with _open_regular(self._path) as fd:
                return self._read(fd)
        except OSError:
            return []

    def _read(self, fd: int) -> list[bytes]:
        seen = os.fstat(fd)
        if self._file != (seen.st_dev, seen.st_ino) or seen.st_size < self._at:
            self._file, self._at = (seen.st_dev, seen.st_ino), max(0, seen.st_size - FIRST)
            cut = self._at > 0
        else:
            cut = False
        if seen.st_size == self._at:
            return []
        data = os.pread(fd, min(ONCE, seen.st_size - self._at), self._at)
        whole = data.rfind(b"\n") + 1
        if not whole and len(data) == ONCE:
            whole = len(data)  # no line is that long
        self._at += whole
        return data[:whole].splitlines()[1 if cut else 0 :]


class Document:
    """A JSON object that fills a file."""

    def __init__(self, path: str) -> None:
        self._path, self._seen = path, (0, 0, 0)

    def read(self) -> dict[str, object] | None:
        """The object where it was written since the last look; None where it was not, or is half written.

        Raises ValueError where it is something else.
        """
        try:
            with _open_regular(self._path) as fd:
                stood = os.fstat(fd)
                seen = (stood.st_ino, stood.st_size, stood.st_mtime_ns)
                if seen == self._seen or stood.st_size > ONCE:
                    return None
                data = os.pread(fd, ONCE, 0)
        except OSError:
            return None
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return None
        self._seen = seen
        if not isinstance(value, dict):
            raise ValueError(f"{self._path} holds no JSON object")  # noqa: TRY004 - the file's value, not a type of ours
        return value


class Rows:
    """The rows that a query of an SQLite database gives, where they are others than at the last look."""

    def __init__(self, path: str, query: str) -> None:
        self._path, self._query = path, query
        self._told: dict[str, object] = {}

    def read(self, since: float) -> list[dict[str, object]]:
        """Rows since ``since`` (seconds of the epoch) that are new or changed; ``data`` is parsed where it is JSON.

        Raises ValueError where the database cannot be read so.
        """
        try:
            with _open_regular(self._path):
                pass
        except OSError:
            return []
        try:
            rows = self._rows(since)
        except sqlite3.OperationalError as e:
            if "locked" in str(e) or "busy" in str(e):
                return []
            raise ValueError(str(e)) from e
        except sqlite3.Error as e:
            raise ValueError(str(e)) from e
        new = [row for row in rows if self._told.get(str(row.get("id"))) != row]
        self._told = {str(row.get("id")): row for row in rows}
        return new

    def _rows(self, since: float) -> list[dict[str, object]]:
        deadline = time.monotonic() + QUERY
        with contextlib.closing(sqlite3.connect(f"{Path(self._path).as_uri()}?mode=ro", uri=True, timeout=0)) as opened:
            opened.row_factory = sqlite3.Row
            opened.set_progress_handler(lambda: int(time.monotonic() > deadline), STEPS)
            return [_row(row) for row in opened.execute(self._query, (int(since * 1000),))]


def _row(row: sqlite3.Row) -> dict[str, object]:
    values = dict(row)
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        values["data"] = json.loads(values["data"])
    return values


@contextlib.contextmanager
def _open_regular(path: str) -> Iterator[int]:
    """A descriptor of a regular file. Raises OSError for anything else."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(f"{path} is no regular file")
        yield fd
    finally:
        os.close(fd)
