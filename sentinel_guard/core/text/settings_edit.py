"""Which editor edits a settings file: by the ending of its name, TOML or JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sentinel_guard.core.text import json_edit, toml_edit


class Editor(Protocol):
    """What ``json_edit`` and ``toml_edit`` have in common; each raises ValueError for what it cannot edit."""

    def value(self, text: str) -> object: ...

    def put(self, text: str, path: Sequence[str], element: object) -> str: ...

    def put_member(self, text: str, name: str, element: object) -> str: ...

    def take(self, text: str, path: Sequence[str], ours: Callable[[object], bool]) -> str: ...


def editor(path: str) -> Editor:
    """The editor for a file of this name."""
    return toml_edit if path.endswith(".toml") else json_edit
