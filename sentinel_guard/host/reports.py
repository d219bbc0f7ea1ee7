"""The incident reports of a repository: where they lie, and their text (R9).

Most lie in the repository's ``docs/incidents``; those that could not be written there lie beside the session's state.
"""

from __future__ import annotations

import calendar
import contextlib
import os
import re
import stat
import time
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host import files
from sentinel_guard.host.places import Places

FOLDER = "docs/incidents/"
MAX_REPORT = 4 << 20
"""Bytes of a report that are read."""
_NAME = re.compile(r"INCIDENT-(\d{4}-\d\d-\d\dT\d{6})Z-")


def folders(places: Places, root: str, session: str) -> tuple[Path, Path]:
    """Where the report of a session is written: in the repository, or else beside the session's state."""
    return Path(root, FOLDER), places.session(session) / "incidents"


def found(places: Places, root: str) -> list[Path]:
    """The reports of a repository, the oldest first."""
    elsewhere = (p for p in places.state.glob("sessions/*/incidents/INCIDENT-*.md") if _repository(p) == root)
    return sorted([*Path(root, FOLDER).glob("INCIDENT-*.md"), *elsewhere], key=lambda p: p.stem)


def when(report: Path) -> float:
    """The time in a report's name, seconds since the epoch; 0 where there is none."""
    with contextlib.suppress(TypeError, ValueError):
        match = _NAME.match(report.name)
        return float(calendar.timegm(time.strptime(match[1], "%Y-%m-%dT%H%M%S"))) if match else 0.0
    return 0.0


def session(text: str) -> str:
    """The session that a report says it is about."""
    return _said(text, "Session")


def repository(text: str) -> str:
    """The repository that a report says it is about."""
    return _said(text, "Repository")


def read(report: Path) -> str:
    """The text of a report. Raises HostError for a link, a device, what is too large or cannot be read."""
    hint = "A report is a plain text file; bring it back from git or a backup."
    try:
        with open(os.open(report, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
            seen = os.fstat(file.fileno())
            if not stat.S_ISREG(seen.st_mode) or seen.st_size > MAX_REPORT:
                raise HostError(f"The incident report {report} is no file of ours.", hint)
            return file.read().decode(errors="surrogateescape")
    except OSError as e:
        raise HostError(f"The incident report {report} cannot be read: {e.strerror}.", hint) from e


def write(report: Path, text: str) -> None:
    """Put a new text in place of a report, whole or not at all. Raises HostError."""
    files.write(report, text.encode(errors="surrogateescape"))


def _repository(report: Path) -> str:
    with contextlib.suppress(HostError):
        return repository(read(report))
    return ""


def _said(text: str, key: str) -> str:
    """The value of a row of the table at the report's head."""
    match = re.search(rf"(?m)^\| {key} \| (.*) \|\r?$", text[:8192])
    return match[1].replace("\\|", "|") if match else ""
