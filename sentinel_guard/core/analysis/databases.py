"""Database clients and tools: the statements that lose data. argv -> effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.commands import UNKNOWN, Call, options
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_LITERAL = re.compile(r"'(?:[^'\\]|''|\\.)*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_SHOWN = 80


def statements(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of (statement, ``delete`` or ``truncate``) of an SQL text: those that lose data,
    strings and comments apart.
    """
    for statement in _LITERAL.sub(" '' ", text).split(";"):
        words = statement.upper().split()
        how = _loses(words)
        if how:
            yield " ".join(statement.split())[:_SHOWN], how


def _loses(words: list[str]) -> str:
    if not words:
        return ""
    if words[0] == "WITH":
        words = words[next((n for n, w in enumerate(words) if w in ("DELETE", "UPDATE", "SELECT", "INSERT")), 0) :]
    if words[0] in ("DROP", "FLUSHALL", "FLUSHDB") or (words[0] == "ALTER" and "DROP" in words):
        return "delete"
    if words[0] == "TRUNCATE":
        return "truncate"
    unbound = "WHERE" not in words and "LIMIT" not in words
    return "delete" if unbound and (words[0] == "DELETE" or (words[0] == "UPDATE" and "SET" in words)) else ""


def client(call: Call) -> Effects:
    """psql, mysql, sqlite3 …: SQL from ``-c``/``-e``, from an operand, a file or stdin."""
    given = call.parsed.values("-c", "--command", "-e", "--execute", "-Q", "-q", "--query", "-cmd")
    texts = [*given, *(call.operands[1:] if call.command.program in _OPERANDS else ())]
    for item in call.parsed.values("-f", "--file", "-i", "-init"):
        text = call.world.read(call.locate(item)) if item.known else None
        texts.append(Field(text or UNKNOWN, text is not None))
    if call.stdin:
        texts.append(Field(call.stdin, UNKNOWN not in call.stdin))
    for item in texts:
        for statement, how in statements(item.text):
            yield call.effect(Kind.DATABASE, statement, how, sure=item.known)
    for item in call.operands[:1] if call.command.program in _FILES else ():
        changes = any(
            re.match(r"\s*(insert|update|delete|drop|create|alter|replace|vacuum)", t.text, re.IGNORECASE)
            for t in texts
        )
        yield from call.write(item, "inplace") if changes else call.read(item)


_OPERANDS = ("sqlite3", "sqlite", "duckdb", "clickhouse-client", "litecli")
_FILES = ("sqlite3", "sqlite", "duckdb", "litecli")


def drop(call: Call) -> Effects:
    for item in call.operands[:1] or [Field(call.command.program, known=True)]:
        yield call.effect(Kind.DATABASE, item.text, "delete", sure=item.known)


def mysqladmin(call: Call) -> Effects:
    words = [item.text for item in call.operands]
    if "drop" in words:
        yield call.effect(Kind.DATABASE, " ".join(words[words.index("drop") + 1 :]) or "drop", "delete")


def redis(call: Call) -> Effects:
    words = [item.text.upper() for item in call.operands]
    if words and words[0] in ("FLUSHALL", "FLUSHDB", "DEL", "UNLINK", "SHUTDOWN"):
        yield call.effect(Kind.DATABASE, " ".join(words)[:_SHOWN], "delete")
    for line in call.stdin.splitlines():
        if line.strip().upper().startswith(("FLUSHALL", "FLUSHDB")):
            yield call.effect(Kind.DATABASE, line.strip()[:_SHOWN], "delete")


_MONGO = re.compile(
    r"\b(dropDatabase|drop|deleteMany\(\s*\{\s*\}|remove\(\s*\{\s*\}|dropIndexes)\b|\b(?:deleteMany|remove)\(\s*\{\s*\}"
)


def mongo(call: Call) -> Effects:
    for item in (*call.parsed.values("--eval"), *([Field(call.stdin, known=True)] if call.stdin else [])):
        if match := _MONGO.search(item.text):
            yield call.effect(Kind.DATABASE, match[0], "delete")


_TASKS: dict[str, str] = {
    "flush": "delete", "reset_db": "delete", "sqlflush": "", "zero": "delete", "db:drop": "delete",
    "db:reset": "delete",
    "db:purge": "delete", "db:wipe": "delete", "migrate:fresh": "delete", "migrate:reset": "delete",
    "migrate:refresh": "delete",
    "db:schema:load": "delete", "db:truncate_all": "truncate", "db:migrate:reset": "delete", "db:drop:all": "delete",
    "database:drop": "delete", "doctrine:database:drop": "delete", "doctrine:schema:drop": "delete",
    "ecto.drop": "delete",
    "ecto.reset": "delete", "schema:drop": "delete",
}  # fmt: skip


def tasks(call: Call) -> Effects:
    """rails, rake, artisan, manage.py, mix, prisma …: the tasks that drop a database."""
    for item in call.fields[1:]:
        if how := _TASKS.get(item.text):
            yield call.effect(Kind.DATABASE, f"{call.command.program} {item.text}", how)


def prisma(call: Call) -> Effects:
    words = [item.text for item in call.fields[1:]]
    if words[:2] == ["migrate", "reset"] or (
        words[:2] == ["db", "push"] and {"--force-reset", "--accept-data-loss"} & set(words)
    ):
        yield call.effect(Kind.DATABASE, " ".join(["prisma", *words[:2]]), "delete")


def dropper(call: Call) -> Effects:
    """Sqlx, diesel, dbmate: ``database drop``, ``database reset``, ``drop``."""
    words = [item.text for item in call.fields[1:] if not item.text.startswith("-")]
    verb = words[1:2] if words[:1] in (["database"], ["db"]) else words[:1]
    if verb in (["drop"], ["reset"]):
        yield call.effect(Kind.DATABASE, " ".join([call.command.program, *words[:2]]), "delete")


_SQL = options(
    "-c= --command= -e= --execute= -f= --file= -d= --dbname= --database= -h= --host= -p= --port= -U= --username= -u= "
    "--user= -v= -o="
)
OPTIONS = {
    **dict.fromkeys(("psql", "pgcli", "cockroach"), _SQL),
    **dict.fromkeys(
        ("mysql", "mariadb", "mycli"), options("-e= --execute= -h= --host= -P= --port= -u= --user= -D= --database=")
    ),
    "sqlcmd": options("-Q= -q= -i= -S= -U= -P= -d="),
    "clickhouse-client": options("-q= --query= -h= --host= -u= --user= -d= --database="),
    "sqlite3": options("-cmd= -init= -separator= -newline= -nullvalue= | words"),
    "duckdb": options("-c= -cmd= -init= -s= | words"),
    "dropdb": options("-h= --host= -p= --port= -U= --username= --maintenance-db="),
    "mysqladmin": options("-h= --host= -u= --user= -P= --port="),
    "redis-cli": options("-h= -p= -a= -n= -u= --user= --pass= -r= -i= -s="),
    "mongosh": options("--eval= --host= --port= -u= --username= -p= --password="),
}
OPTIONS["mongo"] = OPTIONS["mongosh"]

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys(
        ("psql", "pgcli", "mysql", "mariadb", "mycli", "sqlite3", "sqlite", "duckdb", "sqlcmd", "clickhouse-client",
        "cockroach",
         "litecli", "bq", "cqlsh"), client),
    **dict.fromkeys(("dropdb", "dropuser"), drop),
    "mysqladmin": mysqladmin, "mariadb-admin": mysqladmin, "redis-cli": redis, "valkey-cli": redis, "mongosh": mongo,
    "mongo": mongo,
    **dict.fromkeys(("rails", "rake", "artisan", "manage.py", "django-admin", "mix", "sequelize", "typeorm", "knex",
    "alembic"), tasks),
    "prisma": prisma, "sqlx": dropper, "diesel": dropper, "dbmate": dropper,
}  # fmt: skip
