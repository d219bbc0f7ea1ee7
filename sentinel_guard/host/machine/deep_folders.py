"""Walks and makes folders of any depth: ``os.walk`` and ``mkdir(parents=True)`` are recursive, and a thousand nested
folders end them with an error that no caller expects.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

HEAVY = frozenset(
    (".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache")
)
"""Folders of generated or foreign files: not searched for restricted files."""


def walk(top: str | Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """As ``os.walk`` from the top down; links are files, those to folders too. What cannot be read is passed over."""
    todo = [os.fspath(top)]
    while todo:
        folder = todo.pop()
        below, files = list[str](), list[str]()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (below if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        except OSError:
            continue
        yield folder, below, files
        todo += [f"{folder}/{name}" for name in reversed(below)]


def make(folder: Path, mode: int = 0o777) -> None:
    """A folder and its parents, each with this mode. Raises OSError."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        if folder == folder.parent:
            break
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(mode, exist_ok=True)
