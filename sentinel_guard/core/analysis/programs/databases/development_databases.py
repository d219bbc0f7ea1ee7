"""A project's own development database: where a framework's task works, as the settings of the repository say.

A task that drops a schema and builds it anew is the project's own recipe for a database that nobody but its developer
uses (ADR 0045). It is told by the file in which the project says so, in plain words and of this machine: where the
environment, ``.env`` or a word of the command may say otherwise, nothing is told. A database that is a file has a
witness of its own (project_databases.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call

_DEVELOPMENT = frozenset(("", "dev", "develop", "development", "local", "Development", "Local"))
_VARIABLES = (
    *("RAILS_ENV", "RACK_ENV", "MIX_ENV", "NODE_ENV", "APP_ENV", "FLASK_ENV", "ASPNETCORE_ENVIRONMENT"),
    *("DOTNET_ENVIRONMENT",),
)
"""Variables that say which environment a task is for; all of these frameworks take development where none is set."""
_OPTIONS = ("--env", "--environment", "-e")
_ADDRESSES = ("DATABASE_URL", "PGHOST", "MYSQL_HOST", "DB_HOST")
_LIVE = re.compile(r"(?i)(?:^|[^a-z])(?:prod|production|live|staging)(?:[^a-z]|$)")
_NAMED = re.compile(r"(?i)/(?:\w*[_-])?(?:dev|develop|development|local|test|tests)(?:[_-]?\w*)?(?:[?\s]|$)")
"""An address by itself says no more than a name; of settings the section says what the database is for."""
_URL = re.compile(
    r"(?:jdbc:)?(?:postgres(?:ql)?|mysql2?|mariadb|mssql|sqlserver|mongodb|cockroach(?:db)?|ecto)(?:\+\w+)?://[^\s\"'`,;)]+"
)
_HOST = re.compile(
    r"(?i)(?<![\w])[\"']?(?:host|hostname|server|data source)[\"']?\s*(?:=>|[:=])\s*[\"']?(?P<host>[^\s\"',;}]+)"
)
_NAME = re.compile(
    r"(?i)(?<![\w])[\"']?(?:database|dbname|initial catalog|name)[\"']?\s*(?:=>|[:=])\s*[\"']?(?P<name>[\w./-]+)"
)
_ASKS = re.compile(r"\bENV\b|get_env|process\.env|environ|getenv|\benv\(|\bconfig\(|\$\{|<%")
"""Settings that the environment, or another file, fills in."""
_COMMENTS = re.compile(r"(?m)^\s*(?:#|//|;|--).*$")
_APART = re.compile(
    r"(?i)(?<!\w)[\"']?\w*(?:pass(?:word|wd)?|secret|user(?:name)?(?: id)?|pool\w*|timeout)[\"']?\s*(?:=>|[:=])"
    r"[^,;\n}]*"
)
"""What says with what one logs in, and not where."""

_RAILS = (("config/database.yml",), r"(?m)^(?:default|development):.*\n(?:[ \t]+.*\n?|\s*\n)*")
_DOTNET = (("appsettings.Development.json",), r"(?s).+")
_SEQUELIZE = (("config/config.json",), r"\"development\"\s*:\s*\{[^{}]*\}")
_SAID: dict[str, tuple[tuple[str, ...], str]] = {
    "rails": _RAILS, "rake": _RAILS, "dotnet": _DOTNET, "dotnet-ef": _DOTNET,
    "sequelize": _SEQUELIZE, "sequelize-cli": _SEQUELIZE,
    "mix": (("config/dev.exs",), r"(?s).+"),
    "knex": (("knexfile.js", "knexfile.ts"), r"\bdevelopment\s*:\s*\{(?:[^{}]|\{[^{}]*\})*\}"),
}  # fmt: skip
"""Program -> the files in which a project names its database for development, and what of them says so."""
_NAMED_ONLY: dict[str, tuple[tuple[str, ...], str]] = {
    "manage.py": ((), r"(?s)\bDATABASES\s*=.+?(?:\n\}|\Z)"),
    "prisma": (("prisma/schema.prisma", "schema.prisma"), r"\bdatasource\b[^{]*\{[^}]*\}"),
    "drizzle-kit": (("drizzle.config.ts", "drizzle.config.js"), r"(?s).+"),
    "alembic": (("alembic.ini",), r"(?m)^sqlalchemy\.url\s*=.*$"),
    "flyway": (("flyway.conf", "conf/flyway.conf", "flyway.toml"), r"(?m)^\s*(?:flyway\.)?url\s*=.*$"),
    "mikro-orm": (("mikro-orm.config.ts", "src/mikro-orm.config.ts"), r"(?s).+"),
}  # fmt: skip
"""The same of files that know one database: there its name must say that it is one for development."""
_BY_URL = frozenset(
    ("sqlx", "diesel", "dbmate", "goose", "migrate", "atlas", "sea-orm-cli", "sea", "prisma", "drizzle-kit")
)
"""Tools that are given an address, in a word or as ``DATABASE_URL``."""
_OVERRIDE = {"alembic": ("migrations/env.py", "alembic/env.py")}
"""Code that may put another address in the place of the setting."""


def is_meant(call: Call, program: str, words: Sequence[str]) -> bool:
    """Whether a task is about the project's own development database, on this machine."""
    if not call.here or _says_otherwise(call, words):
        return False
    given = [url for word in words for url in _URL.findall(word)]
    url = call.scope.lookup("DATABASE_URL")
    if url.isset:
        given += _URL.findall("".join(url.items)) if url.known else ["?"]
    if given:
        return program in _BY_URL and all(_is_ours(url) and _NAMED.search(url) for url in given)
    if any(call.scope.lookup(name).isset for name in _ADDRESSES) or _dotenv_decides(call, program):
        return False
    said = _APART.sub("", "\n".join(_sections(call, program, words)))
    return _is_here(said, alone=program in _SAID) and (program in _SAID or _is_named(said))


def _says_otherwise(call: Call, words: Sequence[str]) -> bool:
    """Whether a word or a variable speaks of another environment, or a word cannot be known."""
    variables = [call.scope.lookup(name) for name in _VARIABLES]
    named = [" ".join(value.items) if value.known else "?" for value in variables if value.isset]
    named += [value for option, value in pairwise(words) if option in _OPTIONS]
    named += [word.partition("=")[2] for word in words if word.partition("=")[0] in _OPTIONS and "=" in word]
    return not _DEVELOPMENT.issuperset(named) or any(map(_LIVE.search, words))


def _dotenv_decides(call: Call, program: str) -> bool:
    """Whether ``.env``, which is not looked into, may name another database."""
    if not call.world.kind(call.locate(".env")):
        return False
    return program in ("prisma", "drizzle-kit") or (
        program in ("rails", "rake") and "dotenv" in (call.world.read(call.locate("Gemfile")) or "dotenv")
    )


def _sections(call: Call, program: str, words: Sequence[str]) -> Iterator[str]:
    """What the project's settings say of the development database."""
    names, section = _SAID.get(program) or _NAMED_ONLY.get(program) or ((), "")
    if program in ("dotnet", "dotnet-ef"):
        starts = [value for option, value in pairwise(words) if option in ("-s", "--startup-project")]
        starts = starts or [value for option, value in pairwise(words) if option in ("-p", "--project")]
        names = tuple(f"{starts[0]}/{name}" for name in names) if starts else names
    elif program == "manage.py":
        names = _django(call, words)
    text = next((text for name in names if (text := call.world.read(call.locate(name))) is not None), None)
    if (
        text is None
        or (names == _RAILS[0] and "sqlite" in text)
        or any("environ" in (call.world.read(call.locate(f)) or "") for f in _OVERRIDE.get(program, ()))
    ):
        return
    yield from (found[0] for found in re.finditer(section, _COMMENTS.sub("", text)))


def _django(call: Call, words: Sequence[str]) -> tuple[str, ...]:
    """The module of settings that ``manage.py`` names, or the command."""
    given = [word.partition("=")[2] for word in words if word.startswith("--settings=")]
    given += call.scope.lookup("DJANGO_SETTINGS_MODULE").items
    text = call.world.read(call.locate("manage.py")) or ""
    given += re.findall(r"DJANGO_SETTINGS_MODULE['\"]\s*,\s*['\"]([\w.]+)", text)
    return tuple(f"{module.replace('.', '/')}.py" for module in given[:1] if not _LIVE.search(module))


def _is_here(text: str, *, alone: bool) -> bool:
    """Whether settings name a server of this machine and nothing else, in plain words. ``alone``: a name without a
    host is one of this machine's.
    """
    urls, hosts = _URL.findall(text), [match["host"] for match in _HOST.finditer(text)]
    names = [match["name"] for match in _NAME.finditer(text)]
    if _ASKS.search(text) or any(map(_LIVE.search, names)):
        return False
    served = urls or hosts or (alone and names and "sqlite" not in text)
    return bool(served) and all(map(_is_ours, urls)) and all(map(_is_local, hosts))


def _is_named(section: str) -> bool:
    """Whether a database's name says that it is one for development."""
    names = [match["name"] for match in _NAME.finditer(section)]
    return any(map(_NAMED.search, _URL.findall(section))) or any(_NAMED.search(f"/{name}") for name in names)


def _is_local(host: str) -> bool:
    """``localhost``, ``localhost,1433``, ``tcp:127.0.0.1``, a socket's folder."""
    name = host.removeprefix("tcp:").partition(",")[0].partition("\\")[0]
    return name in (".", "(local)", "(localdb)") or name.startswith("/") or network_addresses.is_local_address(name)


def _is_ours(url: str) -> bool:
    return network_addresses.is_local_address(url.removeprefix("jdbc:")) and not _LIVE.search(paths.base(url))
