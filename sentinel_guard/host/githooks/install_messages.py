"""Messages of ``install`` and ``uninstall``: what was done with a repository's git hooks, one line per action."""

from __future__ import annotations

from collections.abc import Iterable

Row = tuple[str, str]
"""What was done, and the name of the hook; rows that say the same are one line."""


def summed(rows: Iterable[Row]) -> list[str]:
    """A line for each thing that was done, in the order of the first: ``Put git hooks in FOLDER: NAME, NAME.``"""
    names: dict[str, list[str]] = {}
    for what, name in rows:
        names.setdefault(what, []).append(name)
    return [f"{what}: {', '.join(hooks)}." for what, hooks in names.items()]


def put(folder: object, *, renewed: bool) -> str:
    return f"Renewed git hooks in {folder}" if renewed else f"Put git hooks in {folder}"
