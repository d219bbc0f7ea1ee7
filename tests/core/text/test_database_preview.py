"""Which database a client's command line is about."""

from __future__ import annotations

import shlex

import pytest

from sentinel_guard.core.model import Command
from sentinel_guard.core.text.database_preview import database

ROWS = [
    ("psql -h db.example.com -d shop -c 'DROP TABLE users'", "shop on db.example.com (psql)", "named by options"),
    ("psql -hdb -dshop", "shop on db (psql)", "in one word"),
    ("psql --dbname=shop --host=db", "shop on db (psql)", "long ones"),
    ("psql -c 'DROP TABLE a' shop", "shop (psql)", "an operand; the statement is none"),
    ("psql postgres://u:hunter2@h/prod", "postgres://u:<redacted>@h/prod (psql)", "an address, without its password"),
    ("psql -c 'DROP TABLE a'", "the one of its settings (the command names none) (psql)", "none is told as none"),
    ("mysql -u root shop -e 'DROP TABLE a'", "shop (mysql)", "mysql"),
    ("mysqladmin -h db drop shop", "the one of its settings (the command names none) on db (mysqladmin)", "no operand"),
    ("sqlite3 app.db 'DROP TABLE a'", "app.db (sqlite3)", "a file"),
    ("redis-cli -h cache -n 3 flushdb", "3 on cache (redis-cli)", "a number"),
    ("mongosh --host db shop --eval 'db.dropDatabase()'", "shop on db (mongosh)", "mongo"),
    ("ls -d shop", "", "no client of a database"),
]


@pytest.mark.parametrize(("command", "said"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_the_database_of_a_command(command, said):
    argv = tuple(shlex.split(command))
    assert database(Command(argv[0], argv)) == said
