"""Which server a database client speaks to, as its words and variables say, and whether the session started it.

A port alone says nothing: the host must be this machine, and each word that may be an address must name such a server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sentinel_guard.core.analysis import places, task_words
from sentinel_guard.core.analysis.expansion.command_and_options import Call, Parsed, options, parse
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import engine_witness


class _Words(NamedTuple):
    """How a client is told its server."""

    hosts: tuple[str, ...] = ()
    """Options whose value is a host, ``host:port`` or an address."""
    ports: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Options whose value is a database's name, or an address."""
    operands: str = ""
    """``name``: the first is a database's name or an address; ``host``: a host and its port; empty: none of these."""
    host_variables: tuple[str, ...] = ()
    port_variable: str = ""
    always: tuple[str, ...] = ()
    """Variables that say where a client connects, whatever host its words name."""
    by_socket: bool = False
    """Where the host is ``localhost``, or not said, a port counts for nothing."""


_PG = _Words(("-h", "--host"), ("-p", "--port"), (), "", ("PGHOST",), "PGPORT", ("PGHOSTADDR", "PGSERVICE"))
_PSQL = _PG._replace(names=("-d", "--dbname"), operands="name")
_MYSQL = _Words(("-h", "--host"), ("-P", "--port"), (), "", ("MYSQL_HOST",), "MYSQL_TCP_PORT", by_socket=True)
_REDIS = _Words(("-h", "-u"), ("-p",))
_MONGO = _Words(("--host", "-h", "--uri"), ("--port",), (), "name")
CLIENTS: dict[str, _Words] = {
    **dict.fromkeys(("psql", "pgcli", "ysqlsh", "vsql"), _PSQL),
    "usql": _Words(operands="name"),
    **dict.fromkeys(("createdb", "createuser", "dropdb", "dropuser"), _PG._replace(names=("--maintenance-db",))),
    "pg_restore": _PG._replace(names=("-d", "--dbname")),
    **dict.fromkeys(("mysql", "mariadb", "mycli", "mysqladmin", "mariadb-admin", "mysqlimport"), _MYSQL),
    **dict.fromkeys(("redis-cli", "valkey-cli"), _REDIS),
    **dict.fromkeys(("mongosh", "mongo"), _MONGO),
    **dict.fromkeys(("mongorestore", "mongoimport"), _MONGO._replace(operands="")),
    **dict.fromkeys(("clickhouse-client", "clickhouse"), _Words(("-h", "--host"), ("--port",))),
    "cockroach": _Words(("--host", "--url"), ("-p", "--port"), (), "", ("COCKROACH_HOST", "COCKROACH_URL")),
    "cypher-shell": _Words(("-a", "--address", "--uri"), host_variables=("NEO4J_URI", "NEO4J_ADDRESS")),
    "sqlcmd": _Words(("-S",), host_variables=("SQLCMDSERVER",)),
    **dict.fromkeys(("cqlsh", "ycqlsh"), _Words(operands="host", host_variables=("CQLSH_HOST",))),
    "influx": _Words(("--host", "-host"), ("-port", "--port"), host_variables=("INFLUX_HOST",)),
    "etcdctl": _Words(("--endpoints",), host_variables=("ETCDCTL_ENDPOINTS",)),
    **dict.fromkeys(("trino", "presto"), _Words(("--server",))),
}  # fmt: skip
_HOST = r"localhost|127\.0\.0\.1|\[::1\]"
_ADDRESS = re.compile(
    rf"(?:(?:jdbc:)?[a-z][\w+.-]*://(?:[^@/\s,?#]*@)?|tcp:)?(?:{_HOST})(?:[:,](?P<port>\d+))?(?:/[\w-]*)?"
    r"(?:\?(?!\S*(?:host|service))[\w=&.%-]*)?"
)
_URL = re.compile(r"[a-z][\w+.-]*://")
_NAME = re.compile(r"[\w$-]*")
_PAIRS = re.compile(r"(?:\s*(?:user|password|dbname|sslmode|connect_timeout|host|port)=[^\s'\\]+)+\s*")
_PAIR = re.compile(r"\b(host|port)=([^\s'\\]+)")
MYSQL = options(
    "-e= --execute= -h= --host= -P= --port= -u= --user= -D= --database= -S= --socket= --tee= --init-command= "
    "--defaults-file= --defaults-extra-file= --default-character-set= --delimiter= --protocol= --pager="
)


_BY_SETTINGS = frozenset(
    ("--connection", "--config-file", "--config", "--cqlshrc", "--active-config", "--configs-path")
)
"""Options with which a client takes a server from settings."""


def is_own(call: Call) -> bool:
    """Whether all that a client is told leads to servers of this machine that this text or session started."""
    if places.is_away(call.command) or any(word.partition("=")[0] in _BY_SETTINGS for word in call.command.argv):
        return False
    row = CLIENTS.get(call.command.program)
    if row is None:
        values = (task_words.value(item.text) for item in call.fields[1:])
        addresses = (value for value in values if "://" in value)
        found = [match and match["port"] for match in map(_ADDRESS.fullmatch, addresses)]
    else:
        found = [*_said(call, row, parse(without_password(call), MYSQL) if row.by_socket else call.parsed)]
    addressed = row is None or row.port_variable != "PGPORT" or any(_told(call, row, call.parsed)[0])
    return bool(found) and all(port is not None and is_own_port(call, port, addressed=addressed) for port in found)


def is_own_port(call: Call, port: str, *, addressed: bool = True) -> bool:
    """Whether this text or session started what listens at a port of this machine, and nothing leads from there.

    ``addressed``: a host is named, too. Without one libpq speaks to a socket that bears the port's number, of which the
    engine of containers knows nothing.
    """
    number = re.compile(rf"(?<!\d){port}(?!\d)")
    own = call.world.is_own(f"port {port}") or f"server at port {port}" in call.world.own
    led = any(map(number.search, call.world.forwards))
    return not led and (own or (addressed and engine_witness.is_own_port(call, port)))


def without_password(call: Call) -> list[Field]:
    """The words of a client of MySQL: ``-pSECRET`` has its value in the same word, or none."""
    return [f for f in call.fields[1:] if not (f.text.startswith("-p") and len(f.text) > 2)]


_FAMILIES = {
    **dict.fromkeys(("psql", "pgcli", "createdb", "createuser", "dropdb", "dropuser", "pg_restore"), "postgres"),
    **dict.fromkeys(("mysql", "mariadb", "mycli", "mysqladmin", "mariadb-admin", "mysqlimport"), "mysql"),
}
_BY_FILE = ("--defaults-file", "--defaults-extra-file", "--defaults-group-suffix", "--login-path", "-S", "--socket")


def name(call: Call) -> str | None:
    """A server of this machine by what a client is told: its family and port, and the container where it is asked; None
    where another may be meant.
    """
    row, container = CLIENTS.get(call.command.program), places.container(call.command)
    if row is None or places.is_away(call.command) or container is None:
        return None
    parsed = parse(without_password(call), MYSQL) if row.by_socket else call.parsed
    addresses, ports, known = _told(call, row, parsed)
    database = call.scope.lookup("PGDATABASE")
    if database.isset and not (database.known and _NAME.fullmatch("".join(database.items))):
        return None
    said = [*map(_ADDRESS.fullmatch, addresses)]
    if not known or None in said or (row.by_socket and parsed.values(*_BY_FILE)):
        return None
    found = {match["port"] for match in said if match and match["port"]} | {*ports}
    socket = row.by_socket and (not addresses or "localhost" in addresses)
    family = _FAMILIES.get(call.command.program, call.command.program)
    where = (f"{places.IN}{container}",) if container else ()
    return " ".join((family, *(("by socket",) if socket else sorted(found)), *where))


def _told(call: Call, row: _Words, parsed: Parsed) -> tuple[list[str], list[str], bool]:
    """The addresses and ports that a client is told, and whether all of its words that may say one are known."""
    named = [*parsed.values(*row.names), *(parsed.operands[:1] if row.operands == "name" else ())]
    hosts, given = parsed.values(*row.hosts), parsed.values(*row.ports)
    if row.operands == "host":
        hosts, given = parsed.operands[:1], parsed.operands[1:2]
    pairs = [pair for item in named if _PAIRS.fullmatch(item.text) for pair in _PAIR.findall(item.text)]
    addresses = [item.text for item in hosts] + [value for name, value in pairs if name == "host"]
    addresses += [item.text for item in named if not (_NAME.fullmatch(item.text) or _PAIRS.fullmatch(item.text))]
    ports = [item.text for item in given] + [value for name, value in pairs if name == "port"]
    addresses += [item.text for found in parsed.flags.values() for item in found if _URL.match(item.text)]
    addresses = [*(addresses or _held(call, row.host_variables)), *_held(call, row.always)]
    ports = ports or _held(call, (row.port_variable,))
    return addresses, ports, all(item.known for item in (*named, *hosts, *given))


def _said(call: Call, row: _Words, parsed: Parsed) -> Iterator[str | None]:
    """The ports of this machine that a client is told, one for each server; None where it may be another's."""
    addresses, ports, known = _told(call, row, parsed)
    if not known:
        yield None
    if row.by_socket:
        spoken = [item.text.lower() for item in parsed.values("--protocol")]
        by_host = not spoken and addresses and "localhost" not in addresses
        yield from () if by_host or (spoken and {*spoken} == {"tcp"}) else (None,)
    said = [match and (match["port"] or "") for match in map(_ADDRESS.fullmatch, addresses)]
    yield from (port for port in said if port != "")
    yield from ports
    if not ports and "" in said:
        yield None


def _held(call: Call, names: Sequence[str]) -> list[str]:
    """What these variables hold; what nobody knows is no address."""
    values = [call.scope.lookup(name) for name in names if name]
    return ["".join(value.items) if value.known else "?" for value in values if value.isset]
