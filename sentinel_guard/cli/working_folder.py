"""The folder that the user stands in."""

from __future__ import annotations

import os
from pathlib import Path

from sentinel_guard.errors import ConfigError


def working_folder() -> Path:
    """By the name that the shell knows where the folder was deleted meanwhile: a rollback brings it back.

    Raises ConfigError where it has none.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        named = os.environ.get("PWD", "")
        if named.startswith("/"):
            return Path(named)
        raise ConfigError("The folder that you stand in is gone.", "cd to another one, and try again.") from None
