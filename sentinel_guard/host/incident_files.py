"""Finds, reads and writes the incident report files of a repository (R9).

Most lie in the repository's ``docs/incidents``; those that could not be written there lie beside the session's state.

Rule of this file: an agent can put links anywhere below the repository, and nothing is written through one.
"""

from __future__ import annotations

import calendar
import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine.state_paths import StatePaths

FOLDER = "docs/incidents/"
MAX_REPORT = 4 << 20
"""Bytes of a report that are read."""
_INSIDE = tuple(FOLDER.strip("/").split("/"))
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NAME = re.compile(r"INCIDENT-(\d{4}-\d\d-\d\dT\d{6})Z-")


def folders(places: StatePaths, root: str, session: str) -> tuple[Path, Path]:
    """Where the report of a session is written: in the repository, or else beside the session's state."""
    return Path(root, FOLDER), places.session(session) / "incidents"


def found(places: StatePaths, root: str) -> list[Path]:
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
    """Put a report, or a patch beside it, in place, whole or not at all; its folder is made. Raises HostError.

    What stands there is replaced, a link too: nothing is written to where it leads.
    """
    aside = f".{report.name[:100]}.{os.getpid()}-{time.monotonic_ns()}"
    try:
        with _folder(report.parent) as at:
            try:
                with open(os.open(aside, _NEW, 0o600, dir_fd=at), "wb") as file:  # noqa: PTH123 - a descriptor
                    file.write(text.encode(errors="surrogateescape"))
                    file.flush()
                    os.fchmod(file.fileno(), _mode(report.name, at))
                    os.fsync(file.fileno())
                os.rename(aside, report.name, src_dir_fd=at, dst_dir_fd=at)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(aside, dir_fd=at)
                raise
            os.fsync(at)
    except OSError as e:
        hint = f"Make room, and see that {report.parent} is a folder of yours and no link."
        raise HostError(f"{report} cannot be written: {e.strerror}.", hint) from e


@contextlib.contextmanager
def _folder(folder: Path) -> Iterator[int]:
    """The descriptor of a folder of reports, made where it is missing. Raises OSError for a link on the way to it."""
    inside = _INSIDE if folder.parts[-len(_INSIDE) :] == _INSIDE else (folder.name,)
    at = os.open(folder.parents[len(inside) - 1], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in inside:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=at)
            below = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _mode(name: str, at: int) -> int:
    """A file's mode; of what is none, and of a link, that of a private one."""
    try:
        seen = os.stat(name, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return 0o600
    return stat.S_IMODE(seen.st_mode) if stat.S_ISREG(seen.st_mode) else 0o600


def _repository(report: Path) -> str:
    with contextlib.suppress(HostError):
        return repository(read(report))
    return ""


def _said(text: str, key: str) -> str:
    """The value of a row of the table at the report's head."""
    match = re.search(rf"(?m)^\| {key} \| (.*) \|\r?$", text[:8192])
    return match[1].replace("\\|", "|") if match else ""
