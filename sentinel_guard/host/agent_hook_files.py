"""Settings files of coding agents in which ``install --agent`` put hooks: written aside, and given back to the byte.

What each file held before stands in the state folder. Where a file was changed since, only what is ours is taken out.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.state_paths import StatePaths

_NAME = "agent-hooks.json"
_SHARED, _PROGRAM = 0o644, 0o755
Edit = Callable[[str], str]
"""A file's text -> another one; raises ValueError where the file is none that can be edited."""


class Installed(NamedTuple):
    """One file that holds hooks of ours."""

    agent: str
    before: bytes | None
    """What it held; None where it was not there."""
    after: str
    """SHA-256 (hex) of what was written."""
    folders: tuple[str, ...] = ()
    """Folders that were made for it, the outermost first."""


def known(places: StatePaths) -> dict[Path, Installed]:
    """Every file with what is known of it. Raises HostError where the record is none of ours."""
    file = places.state / _NAME
    try:
        rows = json.loads(file.read_bytes())
        return {Path(path): _row(row) for path, row in rows.items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
        raise HostError(f"{file} cannot be read: {e}.", "Remove it, and take the agents' hooks out by hand.") from e


_record = functools.lru_cache(maxsize=64)(lambda places: str(places.state / _NAME))
_seen: dict[str, tuple[int, tuple[str, ...]]] = {}


def files(places: StatePaths) -> tuple[str, ...]:
    """The paths of these files; none where the record cannot be read. Each verdict asks for them."""
    record = _record(places)
    try:
        changed = os.stat(record).st_mtime_ns  # noqa: PTH116 - hot
        if _seen.get(record, (0,))[0] != changed:
            _seen[record] = changed, tuple(map(str, known(places)))
        return _seen[record][1]
    except (OSError, HostError):
        return ()


def put(places: StatePaths, file: Path, agent: str, edit: Edit, take: Edit, *, program: bool = False) -> bool:
    """Put hooks into a file; False where they stand there as they should. ``take`` takes older ones of ours out.

    ``program``: the file is a script. Raises HostError, also where the file is none that can be edited.
    """
    rows, now = known(places), _read(file)
    before = _without(rows.get(file), now, take, file)
    after = _edited(edit, before, file)
    if after == now:
        return False
    folders = _make_folders(file)
    kept = rows[file].folders if file in rows else folders
    row = Installed(agent, before, hashlib.sha256(after).hexdigest(), kept)
    _remember(places, rows | {file: row})  # first: what is not known is not given back
    mode = _PROGRAM if program else None if now is not None else _SHARED
    atomic_files.write(file, after, mode)
    return True


def take_out(places: StatePaths, file: Path, take: Edit) -> str:
    """Give a file back; says what was done. Raises HostError."""
    rows = known(places)
    row, now = rows.get(file), _read(file)
    before = _without(row, now, take, file)
    said = f"Took the hooks out of {file}."
    if before is None or (not before.strip() and now is not None and row is not None and row.before is None):
        file.unlink(missing_ok=True)
        rows = _without_folders(rows, row.folders if row else ())
        said = f"Took {file} away: it held nothing else."
    elif before != now:
        atomic_files.write(file, before)
    rows.pop(file, None)
    _remember(places, rows)
    return said


def _without_folders(rows: dict[Path, Installed], made: Sequence[str]) -> dict[Path, Installed]:
    """Take folders away that were made for a file; what another file of ours is still in goes with that one."""
    for folder in reversed(made):
        with contextlib.suppress(OSError):  # somebody else's files may be in it
            Path(folder).rmdir()
    left = tuple(folder for folder in made if Path(folder).exists())
    heir = next((file for file in rows if left and file.exists() and str(file.parent) == left[-1]), None)
    return rows | {heir: rows[heir]._replace(folders=left)} if heir else rows


def _without(row: Installed | None, now: bytes | None, take: Edit, file: Path) -> bytes | None:
    """What a file would hold without us: as it was where nobody has changed it since."""
    if row and now is not None and hashlib.sha256(now).hexdigest() == row.after:
        return row.before
    if now is None:
        return None
    rest = _edited(take, now, file)
    return None if row and row.before is None and rest.strip() in (b"", b"{}") else rest


def _edited(edit: Edit, data: bytes | None, file: Path) -> bytes:
    try:
        return edit((data or b"").decode()).encode()
    except ValueError as e:
        raise HostError(f"{file} cannot be edited: {e}.", "Correct it, or take it away; then try again.") from e


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as e:
        raise HostError(f"{file} cannot be read: {e.strerror}.", "Look at its owner and its permissions.") from e


def _make_folders(file: Path) -> tuple[str, ...]:
    missing = [str(folder) for folder in file.parents if not folder.exists()]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise HostError(f"Cannot make {file.parent}: {e.strerror}.", "Look at its permissions.") from e
    return tuple(reversed(missing))


def _row(row: Mapping[str, object]) -> Installed:
    before, folders = row["before"], row["folders"]
    held = base64.b64decode(before) if isinstance(before, str) else None
    return Installed(str(row["agent"]), held, str(row["after"]), tuple(folders) if isinstance(folders, list) else ())


def _remember(places: StatePaths, rows: Mapping[Path, Installed]) -> None:
    told = {
        str(file): {
            **row._asdict(),
            "before": None if row.before is None else base64.b64encode(row.before).decode(),
            "folders": [*row.folders],
        }
        for file, row in rows.items()
    }
    atomic_files.write(places.state / _NAME, json.dumps(told, indent=1).encode(), atomic_files.PRIVATE)
