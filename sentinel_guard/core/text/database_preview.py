"""Which database a client's command line is about, as a person is told; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sentinel_guard.core.model import Command
from sentinel_guard.core.text.redact_by_pattern import redact


class _Client(NamedTuple):
    """How a client is told where to work."""

    database: tuple[str, ...] = ()
    """Options whose value is the database."""
    host: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    """Options that take another value, so that it is no operand."""
    first: bool = True
    """Whether the first operand is the database."""


_POSTGRES = _Client(
    ("-d", "--dbname"), ("-h", "--host"),
    ("-c", "--command", "-f", "--file", "-p", "--port", "-U", "--username", "-v", "--set", "-o", "--output"),
)  # fmt: skip
_MYSQL = _Client(
    ("-D", "--database"), ("-h", "--host"),
    ("-e", "--execute", "-P", "--port", "-u", "--user", "-S", "--socket", "--protocol", "--default-character-set"),
)  # fmt: skip
CLIENTS = {
    **dict.fromkeys(("psql", "dropdb", "pg_restore", "pgcli"), _POSTGRES),
    **dict.fromkeys(("mysql", "mariadb", "mycli"), _MYSQL),
    "mysqladmin": _MYSQL._replace(first=False),
    **dict.fromkeys(("sqlite3", "sqlite", "litecli", "duckdb"), _Client(other=("-cmd", "-init", "-separator"))),
    **dict.fromkeys(("mongosh", "mongo"), _Client(host=("--host",), other=("--eval", "--port", "-u", "-p", "-f"))),
    "redis-cli": _Client(("-n",), ("-h",), ("-p", "-a", "-u"), first=False),
}
"""Program -> how it is told (the clients' manuals)."""


def database(command: Command) -> str:
    """``shop on db.example.com (psql)``; without a name where the command has none: its settings decide."""
    client = CLIENTS.get(command.program)
    if client is None:
        return ""
    # Of several the first counts.
    found = dict(reversed(list(_words(command.argv[1:], client))))
    name = found.get("database") or (found.get("operand") if client.first else "")
    host = f" on {found['host']}" if found.get("host") else ""
    unnamed = "the one of its settings (the command names none)"
    return f"{redact(name) if name else unnamed}{redact(host)} ({command.program})"


def _words(argv: tuple[str, ...], client: _Client) -> Iterator[tuple[str, str]]:
    """What each word is: ``database``, ``host``, ``operand``."""
    kinds = {**dict.fromkeys(client.database, "database"), **dict.fromkeys(client.host, "host")}
    kinds |= dict.fromkeys(client.other, "other")
    rest = iter(argv)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in kinds:
            yield kinds[word], next(rest, "")
        elif equals and name in kinds:
            yield kinds[name], value
        elif len(word) > 2 and word[:2] in kinds and not word.startswith("--"):
            yield kinds[word[:2]], word[2:]
        elif not word.startswith("-"):
            yield "operand", word
