"""A project's own development database, as its ``.env`` says to the tools that load it themselves (ADR 0045).

What stands in ``.env`` is compared here and goes no further: no word of it is in an effect. Where another file, code, a
cache or a variable may say more than ``.env`` does, nothing is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial

from sentinel_guard.core.analysis import task_words
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.databases import client_servers

HERE = r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])"
ADDRESS = re.compile(
    rf"(?i)(?:postgres(?:ql)?|mysql2?|mariadb|mssql|sqlserver|mongodb|ecto)(?:\+\w+)?://(?:[^@/\s,?#]*@)?{HERE}(?::(?P<port>\d+))?"
    r"/(?P<name>[\w-]+)(?:\?(?!\S*(?:host|service))[\w=&.-]*)?"
)
"""Of one server on this machine."""
NAMED = re.compile(r"(?i)(?:\w+[_-])?(?:dev|develop|development|local|tests?|e2e|ci)(?:[_-]\w+|\d+)?")
VARIABLE = "DATABASE_URL"
COMPARED = "postgresql://localhost/development"
"""Among ``Scope.written``: stands for the address that a file of secrets gives, once it was compared."""
ENVIRONMENTS = frozenset(("RAILS_ENV", "RACK_ENV", "MIX_ENV", "NODE_ENV", "APP_ENV"))
"""Variables that say which environment a task is for; all of these tools take development where none is set."""
OTHERS = re.compile(
    r"PG(?:HOST\w*|SERVICE\w*|PORT|DATABASE)|MYSQL_\w+|\w*DATABASE_\w*URL|\w*DB_?\w*(?:HOST|URL|PORT)|\w*_DSN|\w*DBSTRING"
)
"""Names of variables that may say another database."""
LOADERS = ("dotenv", "dotenv-cli")
"""Programs that run a command with what a file gives, where nothing gives it already."""
_DATABASES = re.compile(
    r"(?i)(?:jdbc:)?(?:postgres|mysql|maria|ms-?sql|sqlserver|mongo|cockroach|prisma|libsql|ecto)[\w+-]*:"
)
_PLAIN = re.compile(r"\s*(?:#.*|(?:export[ \t]+)?\w+=(?:\"[^\"`$\\]*\"|'[^']*'|[\w./:@%+,=?-]*)\s*)?")
"""A line of settings that is the same to every reader: one assignment, with nothing that is put in."""
LINE = re.compile(r"(?m)^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*(.*?)[ \t]*$")
"""One assignment of a variable."""
_URL = re.compile(r"\b(?:url|directUrl|shadowDatabaseUrl)\s*=\s*(?:env\(\s*\"(\w+)\"\s*\)|(\S+))")
_FIXED = re.compile(r"['\"](?:host|url)['\"]\s*=>\s*+(?!env\()")
_LOCAL = frozenset(("local", "dev", "development", "testing"))


def is_named(address: str) -> bool:
    """Whether an address is that of a server on this machine, and of a database that is called one for development."""
    found = ADDRESS.fullmatch(address)
    return (
        found is not None and NAMED.fullmatch(found["name"]) is not None and not task_words.LIVE.search(found["name"])
    )


FOR_DEVELOPMENT = re.compile(r"\.env\.(?:dev|development|tests?|testing|e2e|ci)|(?:dev|development|test|e2e|ci)\.env")
"""Names of files that say what their settings are for."""


def gives_development(text: str, ports: frozenset[str] = frozenset()) -> bool:
    """Whether settings give ``DATABASE_URL`` once, as the address of such a database, and no other one's beside it; one
    at these ``ports`` of this machine needs no name that says so.
    """

    def is_development(address: str) -> bool:
        found = ADDRESS.fullmatch(address)
        at_port = found is not None and found["port"] in ports and not task_words.LIVE.search(found["name"])
        return at_port or is_named(address)

    if not all(map(_PLAIN.fullmatch, text.splitlines())):
        return False
    said = assignments(text)
    given = [value for key, value in said if key == VARIABLE or _DATABASES.match(value)]
    plain = task_words.DEVELOPMENT | {"test", "testing"}
    return (
        sum(key == VARIABLE for key, _ in said) == 1
        and all(map(is_development, given))
        and not any(OTHERS.fullmatch(key) for key, value in said if key != VARIABLE and not is_development(value))
        and all(value in plain for key, value in said if key in ENVIRONMENTS)
    )


def assignments(text: str) -> list[tuple[str, str]]:
    """Names and values of settings; empty where another variable is put in."""
    return [(name, _bare(value)) for name, value in LINE.findall(text)]


def prisma(call: Call) -> bool:
    """https://www.prisma.io/docs/orm/more/development-environment/environment-variables"""
    schema = _prisma_schema(call)
    names = prisma_variables(call)
    files = dict.fromkeys(
        call.locate(Field(name)) for name in (".env", "prisma/.env", f"{schema.rpartition('/')[0] or '.'}/.env")
    )
    for name in names or ():
        given = [file for file in files if call.world.fulfils(file, partial(_gives, name))]
        if not given or any(call.world.fulfils(file, partial(_leads_away, call, name)) for file in given):
            return False
    return bool(names)


def prisma_variables(call: Call) -> list[str] | None:
    """The variables that Prisma takes addresses from; none without a schema, None where code or the schema says one,
    or the schema stands in several files.
    """
    schema = _prisma_schema(call)
    names = _URL.findall(_read(call, schema)) if schema else []
    coded = call.world.glob(call.locate(Field("prisma.config.*"))) or call.world.glob(call.locate(".config/prisma.*"))
    apart = not schema and (prisma_settings(call).get("schema") or call.world.glob(call.locate("prisma/*/*.prisma")))
    return None if coded or apart or any(literal for _, literal in names) else [name for name, _ in names]


def _prisma_schema(call: Call) -> str:
    said = prisma_settings(call).get("schema", "")
    places = ["prisma/schema.prisma", "schema.prisma"] if said == "" else [said]
    return next((name for name in places if isinstance(name, str) and _read(call, name)), "")


def prisma_settings(call: Call) -> Mapping[str, object]:
    """What ``package.json`` says to Prisma."""
    try:
        said = json.loads(_read(call, "package.json") or "{}").get("prisma") or {}
    except (ValueError, AttributeError):
        return {"schema": None}
    return said if isinstance(said, dict) else {}


def _gives(name: str, text: str) -> bool:
    return bool(_values(text, name))


def _leads_away(call: Call, name: str, text: str) -> bool:
    return not all(is_named(value) or _is_own(call, value) for value in _values(text, name))


def _is_own(call: Call, address: str) -> bool:
    """Whether a server of this machine listens there which the session started."""
    found = ADDRESS.fullmatch(address)
    own = found is not None and client_servers.is_own_port(call, found["port"])
    return own and found is not None and task_words.LIVE.search(found["name"]) is None


def laravel(call: Call) -> bool:
    """https://laravel.com/docs/11.x/configuration#environment-configuration; ``--env`` would load another file."""
    cached = call.world.kind(call.locate(Field("bootstrap/cache/config.php")))
    if cached or _FIXED.search(_read(call, "config/database.php")):
        return False
    if any(item.text.startswith("--env") for item in call.fields):
        return False
    return call.world.fulfils(call.locate(Field(".env")), _is_local)


def _is_local(text: str) -> bool:
    """Whether Laravel's settings are for development, and on this machine."""
    said: dict[str, set[str]] = {}
    for key, value in assignments(text):
        said.setdefault(key, set()).add(value)
    here = all(re.fullmatch(HERE, host) for host in said.get("DB_HOST", ()))
    apart = any(re.fullmatch(r"DB_\w*(?:URL|SOCKET)|DB_\w+_HOST|DATABASE_URL", key) for key in said)
    return bool(said.get("APP_ENV")) and said["APP_ENV"] <= _LOCAL and here and not apart


def _values(text: str, name: str) -> list[str]:
    return [value for key, value in assignments(text) if key == name]


def _read(call: Call, name: str) -> str:
    return call.world.read(call.locate(Field(name))) or ""


def _bare(value: str) -> str:
    """Without quotes; empty where another variable is put in."""
    return "" if "$" in value else value.strip("\"'")
