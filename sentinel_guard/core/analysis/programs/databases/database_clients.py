"""Database clients (psql, mysql, redis-cli …): data that is lost, files that are read or written. argv -> effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from sentinel_guard.core.analysis import places
from sentinel_guard.core.analysis.expansion.command_and_options import STDIN, UNKNOWN, Call, options, parse
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import other_service_clis
from sentinel_guard.core.analysis.programs.databases import (
    client_servers,
    file_databases,
    given_databases,
    migrations,
    other_stores,
    own_databases,
    remote_databases,
    sql_client_commands,
    sql_statements,
)
from sentinel_guard.core.analysis.programs.databases.file_databases import Opened
from sentinel_guard.core.analysis.programs.databases.sql_statements import Found
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

MAX_SOURCES = 2
"""Files of SQL that are followed from one another."""
_SHOWN = 80


def statements(text: str, dialect: str = "") -> Iterator[tuple[str, str]]:
    """Pairs of (statement, ``delete`` or ``truncate``) of an SQL text: those that lose data."""
    return ((what.text, what.how) for what in sql_statements.found(text, dialect) if what.how in ("delete", "truncate"))


class Client(NamedTuple):
    """How a client is given its SQL."""

    dialect: str
    """sqlglot's name; empty for none."""
    style: str = ""
    """The family of its own commands (sql_client_commands.py)."""
    sql: tuple[str, ...] = ()
    """Options whose values are SQL."""
    files: tuple[str, ...] = ()
    """Options whose values are files of SQL."""
    outputs: tuple[str, ...] = ()
    """Options whose values are written."""
    operands: int = -1
    """From this operand on they are SQL."""
    verb: str = ""
    """The subcommand that takes SQL."""
    local: bool = False
    """The first operand is the database's file."""


_C, _E, _F, _Q = ("-c", "--command"), ("-e", "--execute"), ("-f", "--file"), ("-q", "--query")
_PSQL = Client("postgres", "psql", _C, _F, ("-o", "--output", "-L", "--log-file"))
_MYSQL = Client("mysql", "mysql", (*_E, "--init-command"), (), ("--tee",))
_SQLITE = Client("sqlite", "sqlite", ("-cmd",), ("-init",), operands=1, local=True)
_DUCKDB = Client("duckdb", "sqlite", ("-c", "-s", "-cmd"), ("-init", "-f", "-file"), operands=1, local=True)
_CLICKHOUSE = Client("clickhouse", "", _Q, ("--queries-file",))
_TSQL = Client("tsql", "sqlcmd", ("-Q", "-q"), ("-i",), ("-o",))
_HIVE = Client("hive", "", ("-e",), _F)
CLIENTS: dict[str, Client] = {
    **dict.fromkeys(("psql", "pgcli", "ysqlsh", "vsql"), _PSQL),
    "usql": _PSQL._replace(dialect=""),
    **dict.fromkeys(("mysql", "mariadb", "mycli"), _MYSQL),
    **dict.fromkeys(("sqlite3", "sqlite"), _SQLITE),
    "litecli": _SQLITE._replace(sql=_E),
    "duckdb": _DUCKDB,
    "sqlite-utils": Client("sqlite", operands=1),
    **dict.fromkeys(("sqlcmd", "mssql-cli"), _TSQL),
    "clickhouse-client": _CLICKHOUSE, "clickhouse": _CLICKHOUSE._replace(verb="client"),
    "cockroach": Client("postgres", "psql", _E, _F, verb="sql"),
    "snowsql": Client("snowflake", "", _Q, ("-f", "--filename"), ("-o",)),
    "snow": Client("snowflake", "", _Q, ("-f", "--filename"), verb="sql"),
    **dict.fromkeys(("cqlsh", "ycqlsh"), Client("", "", _E, _F)),
    **dict.fromkeys(("trino", "presto"), Client("trino", "", ("--execute",), _F)),
    **dict.fromkeys(("hive", "beeline", "spark-sql"), _HIVE),
    "impala-shell": Client("hive", "", _Q, ("-f", "--query_file")),
    "sqlplus": Client("oracle", "oracle"), "sqlcl": Client("oracle", "oracle"),
    "dolt": Client("mysql", "", _Q, _F, verb="sql"),
    "influx": Client("", "", ("-execute", "--execute")), "mysqlsh": Client("mysql", "mysql", (*_E, "--sql"), _F),
    "db2": Client("", operands=0), "surreal": Client("", verb="sql"),
}  # fmt: skip


def client(call: Call) -> Effects:
    """psql, mysql, sqlite3 …: SQL from options, operands, files and standard input."""
    row = CLIENTS[call.command.program]
    parsed = call.parsed if row.style != "mysql" else parse(client_servers.without_password(call), client_servers.MYSQL)
    items, verbs = list(parsed.operands), row.verb.split()
    if verbs and (not items or items.pop(0).text not in verbs):
        return
    texts = parsed.values(*row.sql) + (items[row.operands :] if row.operands >= 0 else [])
    files = [item for item in parsed.values(*row.files) if item.text not in STDIN]
    if row.style == "oracle":
        files += [Field(item.text[1:], item.known) for item in items if item.text.startswith("@")]
    if not texts and not files and call.stdin:
        texts = [Field(call.stdin.replace(UNKNOWN, " _ "), UNKNOWN not in call.stdin)]
    base = file_databases.opened(call, items, texts) if row.local else Opened(not _is_own(call, texts, files))
    if base.loses and UNKNOWN in call.stdin and sql_client_commands.MAKES_SQL.search(call.scope.feeds):
        yield replace(_losing(call, "statements that", call.scope.feeds), file=base.file)
    found = [effect for item in texts for effect in run(call, item, row, base)]
    found += [effect for item in files for effect in _source(call, item, row, 0, base)]
    yield from found
    if any(remote_databases.lets_in(item.text) for item in texts):
        yield call.effect(Kind.PRIVILEGE, "open access", sure=False)
    if (not row.local or call.command.program == "duckdb") and remote_databases.is_remote(call):
        yield from _changed_away(call, texts, files)
    for item in parsed.values(*row.outputs):
        yield from _written(call, item)
    for item in items[:1] if row.local and not file_databases.in_memory(items) else ():
        changes = file_databases.changes(texts) or any(e.kind is Kind.DATABASE for e in found)
        named = file_databases.as_path(call, item)
        yield from call.write(named, "inplace") if changes else call.read(named)
    for path in file_databases.attached(texts) if row.local else ():
        file = file_databases.located(call, path)
        yield from call.read(Field(file)) if is_secret(file, home=call.world.home) else ()


def _is_own(call: Call, texts: list[Field], files: list[Field]) -> bool:
    """Whether statements reach no more than a server that the session started, or a database of its own or of tests."""
    held = [call.world.read(call.locate(item)) if item.known else None for item in files]
    said = [*(item.text for item in texts), *(text or "" for text in held)]
    if own_databases.listens_own(call):
        return not any(map(places.CONNECTS.search, said))
    if call.command.program not in ("psql", "pgcli", "mysql", "mariadb"):
        return False
    return None not in held and own_databases.works_on_own(call, said)


def _changed_away(call: Call, texts: list[Field], files: list[Field]) -> Effects:
    """A database of another machine: statements that nobody wrote or can read, those that change rows or rights."""
    made = any(remote_databases.is_made(call, item) for item in texts)
    if made or remote_databases.is_generated(call) or any(remote_databases.is_missing(call, item) for item in files):
        yield call.opaque("statements that another program makes", "code")
    for item in texts:
        if remote_databases.changes_rows(item.text):
            yield call.effect(Kind.DATABASE, item.text[:_SHOWN], "delete", sure=False)
        if remote_databases.gives_rights(item.text):
            yield call.effect(Kind.DEPLOY, item.text[:_SHOWN], sure=False)


def run(call: Call, item: Field, row: Client, base: Opened, depth: int = 0) -> Iterator[Effect]:
    """The effects of a text that such a client is given."""
    own_databases.note_created(call, item.text)
    base.follow(item.text)
    text, did = sql_client_commands.split(item.text, row.style, row.dialect)
    for what in did:
        yield from _done(call, what, row, depth, item, base=base)
    if row.local and base.loses and file_databases.loses_elsewhere(call, base.file, item.text):
        yield replace(call.effect(Kind.DATABASE, item.text[:_SHOWN], "delete"), file=base.file)
    for what in sql_statements.found(text, row.dialect, plain=not did):
        for effect in _done(call, what, row, depth, item, base=base):
            yield effect if row.local or effect.kind is Kind.DATABASE else replace(effect, sure=False)


def _done(call: Call, what: Found, row: Client, depth: int, item: Field, *, base: Opened) -> Iterator[Effect]:
    named = Field(what.text, item.known or "$" not in what.text)
    if what.how in ("delete", "truncate"):
        if base.loses and not own_databases.drops_own(call, what.text):
            yield replace(call.effect(Kind.DATABASE, what.text, what.how, sure=item.known), file=base.file)
    elif what.how in ("shell", "program"):
        reader = replace(call, stdin=UNKNOWN) if what.how == "program" else call
        for effect in call.runner.script(what.text, reader, call.command.program):
            sent = what.how == "program" and effect.kind is Kind.NETWORK and "data" in effect.how
            yield replace(effect, how=effect.how | {"raw"}) if sent else effect  # rows that nobody has seen
    elif what.how == "code":
        yield call.opaque(what.text, "code")
    elif what.how == "write":
        yield from call.write(named, "truncate")
    elif what.how == "read":
        yield from call.read(named)
    elif what.how == "source":
        yield from _source(call, named, row, depth + 1, base)


def _source(call: Call, item: Field, row: Client, depth: int, base: Opened) -> Iterator[Effect]:
    """A file of SQL is what it holds."""
    yield from call.read(item)
    text = call.world.read(call.locate(item)) if item.known and depth < MAX_SOURCES else None
    if text:
        yield from run(call, Field(text), row, base, depth)


def _written(call: Call, item: Field) -> Effects:
    if item.text.startswith("|"):
        return call.runner.script(item.text[1:], call, call.command.program)
    return call.write(item, "truncate")


# Servers and their data


def _losing(call: Call, *words: str, how: str = "delete") -> Effect:
    return call.effect(Kind.DATABASE, " ".join(words)[:_SHOWN], how)


def drop(call: Call) -> Effects:
    if own_databases.listens_own(call):
        return
    for item in call.operands[:1] or [Field(call.command.program)]:
        kind = "role" if call.command.program == "dropuser" else "database"
        if own_databases.is_own(call, item.text, kind):
            continue
        yield call.effect(Kind.DATABASE, item.text, "delete", sure=item.known)


def mysqladmin(call: Call) -> Effects:
    if own_databases.listens_own(call):
        return
    words = [field.text for field in parse(client_servers.without_password(call), client_servers.MYSQL).operands]
    for verb in ("drop", "shutdown"):
        if verb == "drop" and own_databases.is_own(call, words[-1] if words else ""):
            continue
        if verb in words:
            yield _losing(call, *words[words.index(verb) :])


def restore(call: Call) -> Effects:
    """pg_restore, mongorestore, mysqlimport: what is there is dropped before the copy comes."""
    if own_databases.listens_own(call):
        return
    if call.has("--drop", "--delete", "-D") and call.command.program != "pg_restore":
        yield _losing(call, call.command.program, "--drop")
    elif call.has("-c", "--clean") and call.has("-d", "--dbname"):
        yield _losing(call, "pg_restore", "--clean")


def dump(call: Call) -> Effects:
    for item in call.parsed.values("-f", "--file", "-r", "--result-file"):
        yield from call.write(item, "truncate")


def influx(call: Call) -> Effects:
    yield from client(call)
    words = [item.text for item in call.operands]
    if (words[:1] == ["delete"] or words[1:2] == ["delete"]) and not own_databases.listens_own(call):
        yield _losing(call, "influx", *words)


def sqlite_utils(call: Call) -> Effects:
    words = [item.text for item in call.operands]
    row = CLIENTS["sqlite-utils"]
    drops = words[:1] and words[0] in ("drop-table", "drop-view")
    named, *texts = call.operands[bool(drops or words[:1] == ["query"]) :] or [Field("")]
    base = file_databases.opened(call, [named], [] if drops else texts)
    if drops:
        yield from (replace(_losing(call, *words), file=base.file),) if base.loses else ()
        return
    for item in texts:
        yield from run(call, item, row, base)


def flush(call: Call) -> Effects:
    yield _losing(call, call.command.program)


def task(call: Call) -> Effects:
    """A framework's task that empties its database, else what the program does to a service."""
    first = migrations.PROGRAMS.get(call.command.program, client)
    found = list(first(call))
    yield from found
    own = given_databases.is_thrown_away(call, call.command.program)
    if not own and not any(effect.kind is Kind.DATABASE for effect in found):
        yield from other_service_clis.service(call)


_POSTGRES = (
    "-c= --command= -d= --dbname= -f= --file= -F= --field-separator= -h= --host= -L= --log-file= -o= --output= -p= "
    "--port= -P= --pset= -R= --record-separator= -T= --table-attr= -U= --username= -v= --set= --variable="
)
_EMBEDDED = "-cmd= -init= -separator= -newline= -nullvalue= -maxsize= -mmap= -heap= -vfs="
_QUERY = "-q= --query= -f= --filename= --file= -o= -h= --host= -u= --user= -d= --database= -e= --execute="
OPTIONS = {
    **dict.fromkeys(("psql", "pgcli", "ysqlsh", "vsql", "usql"), options(_POSTGRES)),
    **dict.fromkeys(("mysql", "mariadb", "mycli", "mysqladmin", "mariadb-admin", "mysqlimport"), client_servers.MYSQL),
    **dict.fromkeys(("sqlite3", "sqlite"), options(f"{_EMBEDDED} | words")),
    "duckdb": options(f"{_EMBEDDED} -c= -s= -f= -file= | words"),
    **dict.fromkeys(("sqlcmd", "mssql-cli"), options("-Q= -q= -i= -o= -S= -U= -P= -d= -v= -s= -w= -W -E -h= -l= -t=")),
    **dict.fromkeys(("clickhouse-client", "clickhouse"), options(f"{_QUERY} --queries-file= --port= --password=")),
    "cockroach": options("-e= --execute= -f= --file= -d= --database= --host= --url= -u= --user= --port= -p="),
    **dict.fromkeys(("snowsql", "snow"), options(f"{_QUERY} -a= -c= --connection= -r= -w= -s= -D=")),
    **dict.fromkeys(("cqlsh", "ycqlsh"), options("-e= --execute= -f= --file= -u= -p= -k= --keyspace=")),
    **dict.fromkeys(("trino", "presto"), options("--execute= -f= --file= --server= --catalog= --schema= --user=")),
    **dict.fromkeys(("hive", "beeline", "spark-sql"), options("-e= -f= --file= -u= -n= -p= -d= --conf= --database=")),
    "impala-shell": options("-q= --query= -f= --query_file= -i= -d= -u="),
    "mysqlsh": options("-e= --execute= -f= --file= -u= -h= -P= -D= --uri= --schema="),
    "litecli": options("-e= --execute= -t"),
    "arangosh": options("--javascript.execute-string= --server.endpoint= --server.database= --server.password="),
    "surreal": options("--conn= --endpoint= -e= --user= --pass= --ns= --db="),
    "dolt": options("-q= --query= -f= --file= --data-dir="),
    "influx": options(
        "-execute= --execute= -b= --bucket= -n= --name= -o= --org= -t= --token= --start= --stop= -p= --predicate= "
        "--host= -host= -port= | words"
    ),
    **dict.fromkeys(
        ("initdb", "pg_ctl"), options("-D= --pgdata= -o= --options= -l= --log= -U= --username= -A= --auth= -t=")
    ),
    **dict.fromkeys(
        ("createdb", "createuser", "dropdb", "dropuser"),
        options("-h= --host= -p= --port= -U= --username= --maintenance-db="),
    ),
    **dict.fromkeys(
        ("kafka-topics", "kafka-topics.sh"),
        options("--bootstrap-server= --topic= --partitions= --replication-factor= --config= --command-config="),
    ),
    **dict.fromkeys(
        ("mongorestore", "mongoimport"),
        options(
            "--uri= -h= --host= --port= -u= --username= -p= --password= -d= --db= -c= --collection= --file= --type= -j="
        ),
    ),
    "etcdctl": options("--endpoints= --user= --cacert= --cert= --key= | words"),
    "pg_restore": options("-d= --dbname= -f= -h= -p= -U= -j= -n= -t= -L= -F= -S= -T= -P= -I= -N="),
    **dict.fromkeys(("pg_dump", "pg_dumpall"), options("-f= --file= -d= -h= -p= -U= -j= -n= -t= -F= -T= -N= -Z=")),
    **dict.fromkeys(("mysqldump", "mariadb-dump"), options("-r= --result-file= -h= -P= -u= -w= --where= -S=")),
    **dict.fromkeys(
        ("redis-cli", "valkey-cli"),
        options("-h= -p= -s= -a= -n= -u= --user= --pass= -r= -i= -d= --pattern= --eval="),
    ),
    **dict.fromkeys(
        ("mongosh", "mongo"),
        options(
            "--eval= --host= --port= -u= --username= -p= --password= -f= --file= --quiet --norc "
            "--nodb --tls --shell --json"
        ),
    ),
    **dict.fromkeys(("console", "artisan"), options("-e= --env= --em= --connection= --database= --path=")),
    "cypher-shell": options(
        "-a= -u= -p= -d= -f= --file= --format= -P= --param= --uri= --address= --username= --password= --database="
    ),
}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **migrations.PROGRAMS,
    **dict.fromkeys(CLIENTS, client),
    **dict.fromkeys(("createdb", "createuser"), own_databases.create),
    **dict.fromkeys(("redis-server", "valkey-server", "mongod", "pg_ctl"), own_databases.serve),
    "initdb": own_databases.make_cluster,
    **dict.fromkeys(("dropdb", "dropuser", "pg_dropcluster", "pg_resetwal"), drop),
    **dict.fromkeys(("mysqladmin", "mariadb-admin"), mysqladmin),
    **dict.fromkeys(("pg_restore", "mongorestore", "mongoimport", "mysqlimport"), restore),
    **dict.fromkeys(("pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump"), dump),
    **dict.fromkeys(("redis-cli", "valkey-cli"), other_stores.redis),
    **dict.fromkeys(("mongosh", "mongo"), other_stores.mongo),
    **dict.fromkeys(other_service_clis.TABLES.keys() & {*CLIENTS, *migrations.PROGRAMS}, task),
    **dict.fromkeys(("hbase", "arangosh", "surreal", "rman"), other_stores.own_shell),
    **dict.fromkeys(("memcflush", "memflush"), flush),
    "influx": influx, "sqlite-utils": sqlite_utils, "cypher-shell": other_stores.cypher, "etcdctl": other_stores.etcd,
}  # fmt: skip
