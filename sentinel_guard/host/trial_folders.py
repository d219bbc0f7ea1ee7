"""The throw-away folders in which ``doctor`` tries whether the guard is in effect."""

from __future__ import annotations

import os

TRIAL = "sentinel-doctor-"
"""Begin of their names."""


def is_gone(root: str) -> bool:
    """Whether a session's root was such a folder, and has gone with its trial: anybody can give a folder that name."""
    return root.rpartition("/")[2].startswith(TRIAL) and not os.path.lexists(root)
