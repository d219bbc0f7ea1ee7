"""The changes of restricted files that became originals, remembered over a restart of the daemon."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine.atomic_files import write_json
from sentinel_guard.host.machine.content_addressed_store import Kept


def remember(memory: Path, accepted: Mapping[str, Kept]) -> None:
    """Raises OSError."""
    write_json(memory, {name: kept.row() for name, kept in accepted.items()})


def remembered(memory: Path) -> dict[str, Kept]:
    """Nothing where nothing was. Raises HostError."""
    try:
        rows = json.loads(memory.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as e:
        hint = "Remove it; changes of restricted files that were allowed in this session are then undone."
        raise HostError(f"{memory} is damaged: {e}.", hint) from e
    return {name: Kept(*row) for name, row in rows.items()}
