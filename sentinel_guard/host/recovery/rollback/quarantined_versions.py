"""What lies in a session's quarantine: each version that was moved away, by the name that it had."""

from __future__ import annotations

import re
from pathlib import Path

from sentinel_guard.host.machine import deep_folders

_HOMES = {"root": "../", "worktree": "", "git": ".git/", "common": ".git/", "objects": ".git/objects/", "user": "/"}
"""Folder of the quarantine -> what stands before a name of it."""


def versions(quarantine: Path) -> tuple[tuple[str, str], ...]:
    """The name that it had, as in ``Report.restored``, and its path."""
    found = sorted(f"{at}/{name}" for at, _, names in deep_folders.walk(quarantine) for name in names)
    return tuple((_named(path[len(str(quarantine)) + 1 :]), path) for path in found)


def _named(inside: str) -> str:
    home, _, rest = inside.partition("/")
    return _HOMES.get(home, f"{home}/") + re.sub(r"^\.again-\d+-\d+/", "", rest)
