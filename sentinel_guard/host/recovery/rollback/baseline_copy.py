"""A baseline that may be looked at without a change of what is kept: for a rollback that only tells."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

_WRITTEN = "git"
"""The private git directory: git refreshes its index when it compares."""


@contextlib.contextmanager
def to_look_at(baseline: Baseline) -> Iterator[Baseline]:
    """The baseline in a folder that lives as long as the context: what is written is a copy, the rest are links."""
    with tempfile.TemporaryDirectory(prefix="sentinel-look-") as name:
        for kept in baseline.folder.iterdir():
            if kept.name == _WRITTEN:
                shutil.copytree(kept, Path(name, _WRITTEN), symlinks=True)
            else:
                Path(name, kept.name).symlink_to(kept)
        yield replace(baseline, folder=Path(name))
