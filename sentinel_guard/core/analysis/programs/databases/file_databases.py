"""Databases that are files (sqlite, duckdb): which file statements reach, and where nothing can be lost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field

_CHANGES = re.compile(r"(?:\A|;)\s*(?:insert|update|delete|drop|create|alter|replace|vacuum)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(r"\battach\b|^\s*\.(?:open|restore)\b", re.IGNORECASE | re.MULTILINE)


@dataclass(slots=True)
class Opened:
    """The database that statements reach, while the texts of a client are followed."""

    loses: bool
    """False where no data can be lost."""
    file: str = ""
    """The absolute path of the file that it is, as long as nothing else was opened beside it."""

    def follow(self, text: str) -> None:
        """A text of SQL is read: after it opened another file, nobody knows which one is meant."""
        if self.file and _ELSEWHERE.search(text):
            self.file = ""


def opened(call: Call, items: Sequence[Field], texts: Sequence[Field]) -> Opened:
    """What a client of files opens, given its operands and the SQL on its command line."""
    item = items[0] if items else Field("")
    file = located(call, item.text) if item.known else ""
    return Opened(not _spared(call, items, texts, file), file)


def located(call: Call, name: str) -> str:
    """The absolute path of a database file that a client or library is given; empty where it is none."""
    if not name or ":memory:" in name:
        return ""
    if name.startswith("file:"):  # a URI: https://sqlite.org/uri.html
        name = name[5:].partition("#")[0].partition("?")[0]
        name = "" if "%" in name else "/" + name.lstrip("/") if name.startswith("//") else name
    return call.locate(name) if name and "://" not in name else ""


def as_path(call: Call, item: Field) -> Field:
    """The file that a URI names (``file:x.db?mode=ro``); any other operand as it stands."""
    path = located(call, item.text) if item.known and item.text.startswith("file:") else ""
    return Field(path) if path else item


_ATTACHES = re.compile(
    r"(?:\battach(?:\s+database)?(?:\s+if\s+not\s+exists)?|\bread_\w+\s*\()\s*'([^']+)'", re.IGNORECASE
)


def attached(texts: Sequence[Field]) -> list[str]:
    """Files that statements open or read beside the database."""
    return [path for item in texts for path in _ATTACHES.findall(item.text) if "://" not in path]


def changes(texts: Sequence[Field]) -> bool:
    """Whether one of the texts writes into the database."""
    return any(_CHANGES.search(item.text) for item in texts)


_ROWS = re.compile(r"(?:\A|;)\s*(?:delete\s+from|update\s|drop\s|replace\s+into)", re.IGNORECASE)


def loses_elsewhere(call: Call, file: str, text: str) -> bool:
    """Whether statements take rows, however chosen, from a database file outside of the repository."""
    root = call.world.root
    elsewhere = bool(root and file) and not f"{file}/".startswith((f"{root}/", *paths.TEMPORARY))
    return elsewhere and _ROWS.search(text) is not None


def in_memory(items: Sequence[Field]) -> bool:
    """Whether a client that is given these operands keeps its database in memory."""
    return not items or items[0].text == "" or ":memory:" in items[0].text


def _spared(call: Call, items: Sequence[Field], texts: Sequence[Field], file: str) -> bool:
    """Nothing can be lost: the database lies in memory, is opened to be read, or is a temporary file."""
    if any(_ELSEWHERE.search(item.text) for item in texts):
        return False
    if in_memory(items) or call.has("-readonly") or "mode=ro" in items[0].text:
        return True
    return bool(file) and is_scratch(file, call.world.root)


def is_scratch(path: str, root: str) -> bool:
    """Whether a database can be lost: it lies in memory, or in a temporary file outside of the repository."""
    if ":memory:" in path or "mode=memory" in path:
        return True
    return path.startswith(paths.TEMPORARY) and not (root and path.startswith(root + "/"))
