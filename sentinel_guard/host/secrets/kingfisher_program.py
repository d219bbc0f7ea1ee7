"""Finds the program of Kingfisher (``kingfisher``), without what it takes to run it: most machines have none."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def installed() -> str:
    """Its program beside our interpreter, or an empty string."""
    program = Path(sys.executable).parent / "kingfisher"
    return str(program) if os.access(program, os.X_OK) else ""
