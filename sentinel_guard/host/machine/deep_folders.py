"""Walks and makes folders of any depth: ``os.walk`` and ``mkdir(parents=True)`` are recursive, and a thousand nested
folders end them with an error that no caller expects.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

HEAVY = frozenset(
    (".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache")
)
"""Folders of generated or foreign files: not searched for restricted files."""


PATH_MAX = 4096
"""Bytes of a path that a system call takes, with its end (limits.h of Linux)."""
_NEAR = (PATH_MAX - 256) // 4
"""Characters of a folder's path up to which no name in it makes it longer than that."""


def walk(top: str | Path, *, far: bool = False) -> Iterator[tuple[str, list[str], list[str]]]:
    """As ``os.walk`` from the top down; links are files, those to folders too. What cannot be read is passed over.

    ``far``: folders whose paths are too long to be read are told as files are, and not passed over.
    """
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
        if far and len(folder) > _NEAR:
            files += [name for name in below if len(os.fsencode(f"{folder}/{name}")) >= PATH_MAX]
        yield folder, below, files
        todo += [f"{folder}/{name}" for name in reversed(below)]


def special_files(top: str) -> list[str]:
    """Names relative to the top of what is none of files, links and folders: named pipes, sockets, devices."""
    found, todo = list[str](), [top]
    while todo:
        folder = todo.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo += [] if entry.name in HEAVY else [entry.path]
                elif not (entry.is_file(follow_symlinks=False) or entry.is_symlink()):
                    found.append(os.path.relpath(entry.path, top))
    return sorted(found)


def make(folder: str | Path, mode: int = 0o777) -> None:
    """A folder and its parents, each with this mode. Raises OSError."""
    path, missing = os.fspath(folder), list[str]()
    while path and not os.path.isdir(path):  # noqa: PTH112 - three times as fast, and asked of each file
        missing.append(path)
        path = path.rpartition("/")[0]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, mode)  # noqa: PTH102
