"""The head file: number and hash of the newest audit entry, kept beside the log to detect its truncation.

Written aside, then renamed, and only after the entry that it names is safely on disk. One that did not fit its log is
kept beside the next.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from pathlib import Path

from sentinel_guard.core.hash_chain import Head

_LINE = re.compile(r"(\d{1,18}) ([0-9a-f]{64})\n")


def path_of(log: Path) -> Path:
    """``audit.head`` beside ``audit.sqlite3``."""
    return log.with_suffix(".head")


def read(path: Path) -> Head | None:
    """The head that the file names; None where there is no file, or none that can be read."""
    try:
        found = _LINE.fullmatch(path.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError):
        return None
    return Head(int(found[1]), found[2]) if found else None


def set_aside(path: Path) -> None:
    """Keep a head file that did not fit its log, as ``audit.head.broken-N``; nothing where there is none."""
    with contextlib.suppress(FileNotFoundError):
        path.rename(_next_broken(path))


def keep_broken(path: Path, head: Head) -> None:
    """The same for a head that somebody else knew. Raises OSError."""
    write(_next_broken(path), head)


def _next_broken(path: Path) -> Path:
    return next(p for n in itertools.count(1) if not os.path.lexists(p := path.with_name(f"{path.name}.broken-{n}")))


def broken(path: Path) -> list[Path]:
    """The head files that did not fit, oldest first."""
    return sorted(path.parent.glob(f"{path.name}.broken-*"), key=lambda p: (len(p.name), p.name))


def write(path: Path, head: Head) -> None:
    """Raises OSError; the file that was there is then still there."""
    aside = path.with_name(path.name + ".new")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(f"{head.seq} {head.hash}\n")
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)
