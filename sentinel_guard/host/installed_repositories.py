"""Where ``sentinel-guard install`` put hooks, so that ``uninstall --all`` finds them: a file in the state folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.state_paths import StatePaths

REPOSITORY, TEMPLATE = "repository", "template"
_NAME = "repositories.json"


def known(places: StatePaths) -> dict[Path, str]:
    """Every folder with what it is, the oldest first. Raises HostError where the file is none of ours."""
    file = places.state / _NAME
    try:
        told = json.loads(file.read_text(errors="surrogateescape"))
        return {Path(os.fspath(folder)): str(kind) for folder, kind in dict(told).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as e:
        raise HostError(f"{file} cannot be read: {e}.", "Remove it, and run uninstall in each repository.") from e


def remember(places: StatePaths, folder: Path, kind: str = REPOSITORY) -> None:
    """Raises HostError."""
    folders = known(places)
    if folders.get(folder := folder.absolute()) != kind:
        _write(places, folders | {folder: kind})


def forget(places: StatePaths, folder: Path) -> None:
    """Raises HostError."""
    folders = known(places)
    if folders.pop(folder.absolute(), None):
        _write(places, folders)


def _write(places: StatePaths, folders: dict[Path, str]) -> None:
    text = json.dumps({str(folder): kind for folder, kind in folders.items()}, indent=1)
    atomic_files.write(places.state / _NAME, text.encode(), atomic_files.PRIVATE)
