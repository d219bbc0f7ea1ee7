"""Finds a program on a PATH, as a shell does."""

from __future__ import annotations

import functools
import os


def find_program(name: str, path: str) -> str | None:
    """The first file of that name that may be run; None for none. What has a slash is looked for as it stands.

    Raises nothing, whatever the name. ``shutil.which`` looks three times at each folder; this runs with each verdict.
    """
    places = [name] if "/" in name else [folder + name for folder in _folders(path)]
    try:
        return next((place for place in places if os.access(place, os.X_OK) and os.path.isfile(place)), None)  # noqa: PTH113
    except ValueError:  # a zero byte
        return None


@functools.lru_cache(maxsize=64)
def _folders(path: str) -> tuple[str, ...]:
    """The folders of a PATH, each once, as what stands before a name."""
    return tuple(dict.fromkeys(f if f.endswith("/") or not f else f"{f}/" for f in path.split(":")))
