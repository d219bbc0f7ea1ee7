"""Which one file a project's migrations work on, as its own settings say; where the session made that file, nothing of
anybody's is lost with it (ADR 0022). Files that may hold secrets (``.env``) are not looked into.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call

_URL = re.compile(r"(?:sqlite3?(?:\+\w+)?:(?:///)?|file:(?://)?)(?P<file>[^?\s\"'#:]+)")


class _Settings(NamedTuple):
    """A file of settings: what must stand in it, and the name of the database file behind one of these words."""

    path: str
    said: str
    named: str
    below: str = ""
    """The folder from which the name counts, below the project."""


_OTHER = re.compile(r"postgres|mysql|mariadb|mssql|sqlserver|oracle|mongodb|cockroach", re.IGNORECASE)
_RAILS = _Settings(
    "config/database.yml",
    r"adapter:\s*sqlite3",
    r"(?m)^development:\s*\n(?:[ \t]+.*\n)*?[ \t]+database:\s*(?P<file>[\w./-]+)",
)
_PRISMA = _Settings(
    "prisma/schema.prisma", r'provider\s*=\s*"sqlite"', r'url\s*=\s*"file:(?P<file>[^"]+)"', below="prisma"
)
_ALEMBIC = _Settings("alembic.ini", r"sqlalchemy\.url\s*=\s*sqlite", rf"sqlalchemy\.url\s*=\s*{_URL.pattern}")
_BY_PROGRAM = {
    "rails": _RAILS, "rake": _RAILS, "prisma": _PRISMA, "alembic": _ALEMBIC,
}  # fmt: skip


def only_file(call: Call, program: str) -> str:
    """The absolute path of the database; empty where it is no file, or more than one may be meant."""
    url = call.scope.lookup("DATABASE_URL")
    if url.isset:
        match = _URL.fullmatch("".join(url.items).partition("?")[0]) if url.known else None
        return _located(call, match["file"]) if match else ""
    row = _BY_PROGRAM.get(program)
    text = call.world.read(call.locate(row.path)) if row is not None and call.here else None
    if row is None or text is None or not re.search(row.said, text) or _OTHER.search(_plain(text)):
        return ""
    names = {match["file"] for match in re.finditer(row.named, text)}
    return _located(call, f"{row.below}/{names.pop()}".lstrip("/")) if len(names) == 1 else ""


def _plain(text: str) -> str:
    """Without comments."""
    return re.sub(r"(?m)^\s*(?:#|//|;).*$", "", text)


def _located(call: Call, name: str) -> str:
    return call.locate(paths.normal(name) if name.startswith("/") else name)
