"""Databases that test runs make anew, and those that variables of a framework name, beside those that hold data."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.core.checks.made_in_session.test_session_made_names import RUN
from tests.support.fakes import HOME
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK
READS = "<?php return ['default' => env('DB_CONNECTION', 'mysql'), 'sqlite' => ['database' => env('DB_DATABASE')]];"
FIXED = "<?php return ['default' => 'mysql', 'mysql' => ['host' => 'db.acme.io', 'database' => 'x']];"
FRESH = "DB_CONNECTION=sqlite DB_DATABASE=/tmp/inv.sqlite php artisan migrate:fresh --seed --force -q"
RESET = "source .envrc && MIX_ENV=test mix ecto.reset --quiet"
EXPORT = "export $(grep -v '^#' .env | xargs) && RAILS_ENV=test bin/rails db:reset"
URL = "postgres://me:x@localhost:54329/app"
GIVEN = f"export DATABASE_URL={URL};"
TAKES = {"app/settings.py": "DATABASES = {'default': env.db('DATABASE_URL')}\n"}
LOADED = {
    ".env": f"DATABASE_URL={URL}\n",
    "api/appsettings.Development.json": '{"ConnectionStrings": {"Db": "Server=localhost,54329;Database=x"}}',
}


def secrets(text: str) -> dict[str, str]:
    """Settings of .NET beside which the person keeps their own."""
    project = {"api/api.csproj": "<UserSecretsId>0a1b</UserSecretsId>"}
    return {**LOADED, **project, f"{HOME}/.microsoft/usersecrets/0a1b/secrets.json": text}


ROWS: list[tuple[str, str, dict[str, str], Response, str]] = [
    # Laravel, Symfony and others by their variables.
    ("ls", FRESH, {}, ALLOW, "the framework's own settings take them"),
    ("ls", FRESH, {"config/database.php": READS}, ALLOW, "the project's, too"),
    ("ls", FRESH, {"config/database.php": FIXED}, ASK, "these do not"),
    ("ls", FRESH, {".env": "DB_URL=mysql://db.acme.io/x\n"}, ASK, "an address counts before them"),
    ("ls", FRESH, {".env": "DB_URL=\nDB_HOST=db.acme.io\n"}, ALLOW, "an empty one does not, and a host is taken over"),
    ("ls", FRESH, {"bootstrap/cache/config.php": "<?php"}, ASK, "stored settings ask no variable"),
    ("ls", f"{FRESH} --database=mysql", {}, ASK, "a word chooses another connection"),
    ("ls", FRESH.replace("/tmp/inv.sqlite", ":memory:"), {}, ALLOW, "in memory"),
    ("ls", FRESH.replace("/tmp", "/srv"), {}, ASK, "a file that stays"),
    (RUN, "DB_CONNECTION=pgsql DB_HOST=127.0.0.1 DB_PORT=54329 php artisan migrate:fresh", {}, ALLOW, "own server"),
    (RUN, "DB_CONNECTION=pgsql DB_HOST=db.acme.io DB_PORT=54329 php artisan migrate:fresh", {}, ASK, "elsewhere"),
    (RUN, "FLYWAY_URL=jdbc:postgresql://localhost:54329/app flyway clean", {}, ALLOW, "Flyway"),
    (RUN, "FLYWAY_URL=jdbc:postgresql://db.acme.io:54329/app flyway clean", {}, ASK, "elsewhere"),
    ("ls", "GOOSE_DRIVER=sqlite3 GOOSE_DBSTRING=/tmp/x.db goose reset", {}, ALLOW, "goose"),
    # Clients ask their own variables alone, whatever the project's settings take.
    (RUN, f"{GIVEN} redis-cli flushall", TAKES, ASK, "Redis knows no such variable"),
    (RUN, f"{GIVEN} psql -c 'DROP TABLE x'", TAKES, ASK, "nor does psql"),
    (RUN, f"{GIVEN} dropdb shop", TAKES, ASK, "nor its tools"),
    (RUN, f"{GIVEN} mysql -e 'DROP DATABASE shop'", TAKES, ASK, "nor MySQL"),
    (RUN, f"{GIVEN} psql \"$DATABASE_URL\" -c 'DROP TABLE x'", TAKES, ALLOW, "a word that holds it"),
    (RUN, f"{GIVEN} python manage.py flush --noinput", TAKES, ALLOW, "the project's own task"),
    # Words count before the file that a tool loads.
    (RUN, "dbmate drop", LOADED, ALLOW, "by its file"),
    (RUN, "dbmate -e PROD_URL drop", LOADED, ASK, "another variable of it"),
    (RUN, "dbmate --env-file prod.env drop", LOADED, ASK, "another file"),
    (RUN, "bin/console doctrine:database:drop --force", LOADED, ALLOW, "Symfony's file"),
    (RUN, "bin/console doctrine:database:drop --force --env=prod", LOADED, ASK, "another environment"),
    (RUN, "APP_ENV=prod bin/console doctrine:database:drop --force", LOADED, ASK, "by a variable"),
    (RUN, "bin/console doctrine:database:drop --force --connection=eu", LOADED, ASK, "another connection"),
    (RUN, "dotnet ef database drop -f -p api --context Shop", LOADED, ALLOW, "one of the addresses of the settings"),
    (
        RUN,
        "dotnet ef database drop -f -p api",
        secrets('{"ConnectionStrings:Db": "x"}'),
        ASK,
        "the person's come before",
    ),
    (RUN, "dotnet ef database drop -f -p api", secrets('{"Stripe:Key": "x"}'), ALLOW, "where these say a database"),
    (RUN, "dotnet ef database drop -f -p api --connection 'Server=db.acme.io'", LOADED, ASK, "another address"),
    (RUN, "dotnet ef database drop -f -p api -- --environment Production", LOADED, ASK, "words for the program"),
    (RUN, "dotnet ef database drop -f -p api -s web", LOADED, ASK, "what is started has other settings"),
    # The environment of tests, behind files that a shell takes in.
    ("ls", RESET, {".envrc": "export DB_HOST=localhost\n# of mine\nexport DB_NAME=umb_dev\n"}, ALLOW, "plain values"),
    ("ls", RESET, {".envrc": "export DATABASE_URL=postgres://db.acme.io/x\n"}, ASK, "one says a database"),
    ("ls", RESET, {".envrc": "source_env ../.envrc\n"}, ASK, "another file"),
    ("ls", RESET, {".envrc": "export A=$(cat b)\n"}, ASK, "a command"),
    ("ls", EXPORT, {".env": "PORT=3000\nSECRET_KEY_BASE=abc\n"}, ALLOW, "words of a file that says none"),
    ("ls", EXPORT, {".env": "DATABASE_URL=postgres://x/y\n"}, ASK, "of one that does"),
    ("ls", "export $(vault-env) && RAILS_ENV=test bin/rails db:reset", {}, ASK, "words of a program"),
    ("ls", "source .venv/bin/activate && RAILS_ENV=test bin/rails db:reset", {}, ALLOW, "what sets up a tool"),
    ("ls", "bin/console -e test doctrine:database:drop --force", {}, ALLOW, "an option before the task"),
    ("ls", "python manage.py flush --noinput --settings=config.settings.test", {}, ALLOW, "Django's settings of tests"),
    ("ls", "python manage.py flush --noinput --settings=config.settings.base", {}, ASK, "other ones"),
    # Databases that are called as those of tests, and what stays in them.
    ("ls", "dropdb test_shop", {}, ALLOW, "as Django calls it"),
    ("ls", "dropdb latest", {}, ASK, "a name that only ends so"),
    ("ls", "ssh db1 dropdb shop_test", {}, ASK, "on another machine"),
    ("ls", "psql shop_test -c 'TRUNCATE orders'", {}, ALLOW, "a statement in it"),
    ("ls", "psql -d shop_test -f schema.sql", {"schema.sql": "drop table if exists public.a;"}, ALLOW, "a file"),
    ("ls", "psql -d shop_test -f schema.sql", {"schema.sql": "\\c shop\ndrop table a;"}, ASK, "that goes elsewhere"),
    ("ls", "psql shop_test -c 'DROP DATABASE shop'", {}, ASK, "another database of that server"),
    ("ls", "psql shop_test -h db.acme.io -c 'DROP TABLE x'", {}, ASK, "of another machine"),
    ("ls", "psql shop -c 'TRUNCATE orders'", {}, ASK, "one of no tests"),
    ("createdb shop", "psql shop -c 'DROP TABLE x'", {}, ALLOW, "the session's own"),
    ("ls", "mysql -uroot shop_test -e 'DROP TABLE orders'", {}, ALLOW, "MySQL"),
    ("ls", "mysql -uroot shop_test -e 'DROP TABLE shop.orders'", {}, ASK, "a table of another database"),
    ("ls", "mysql shop_test -e 'use shop; drop table x'", {}, ASK, "the same by USE"),
    ("ls", "mysql -uroot shop_test -e 'DROP TABLE shop . orders'", {}, ASK, "with blanks"),
    ("ls", "mysql -uroot shop_test -e 'DROP SCHEMA shop'", {}, ASK, "another word for a database"),
    ("ls", "psql -d shop_test -c 'DROP SCHEMA public CASCADE'", {}, ALLOW, "and not to PostgreSQL"),
    ("ls", "mysql shop_test -e 'connect shop db.acme.io; DROP TABLE orders'", {}, ASK, "a command of the client"),
    ("ls", "mysql -D shop_test shop -e 'DROP TABLE orders'", {}, ASK, "the last name counts"),
    ("ls", "psql -d shop_test -d shop -c 'DROP TABLE orders'", {}, ASK, "PostgreSQL's, too"),
    ("ls", "psql -d shop_test me -c 'DROP TABLE orders'", {}, ALLOW, "behind a name stands a user"),
    ("ls", "mysql -e 'DROP DATABASE `test-eu`'", {}, ASK, "a longer name"),
    ("ls", "mysql -e 'DROP DATABASE `shop_test`'", {}, ALLOW, "in quotes"),
    ("ls", "sqlcmd -Q 'DROP DATABASE shop_test, shop'", {}, ASK, "two"),
    ("ls", "mariadb -e 'CREATE OR REPLACE DATABASE shop'", {}, ASK, "what is made in its place"),
    ("ls", "mysql -e 'CREATE DATABASE shop'", {}, ALLOW, "what is made where there is none"),
    ("ls", "mysqladmin -uroot drop -f shop_test", {}, ALLOW, "its administration"),
    # By a variable, an option or an address.
    ("ls", "DATABASE_URL=file:/tmp/e2e.db npx prisma migrate reset --force", {}, ALLOW, "a file in a temporary folder"),
    ("ls", "DATABASE_URL=file:/tmp/../srv/x.db npx prisma migrate reset --force", {}, ASK, "that leads out of it"),
    ("ls", "DATABASE_URL=postgres://localhost/x npx prisma migrate reset --force", {}, ASK, "a server"),
    ("ls", "RAILS_ENV=test bin/rails runner 'User.delete_all'", {}, ALLOW, "the tests' own database"),
    ("ls", "bin/rails runner 'User.delete_all'", {}, ASK, "the one that is worked with"),
    (
        "ls",
        "python3 -c \"import chromadb; chromadb.EphemeralClient().delete_collection('x')\"",
        {},
        ALLOW,
        "held in memory",
    ),
    (
        "ls",
        "python3 -c \"import chromadb; chromadb.HttpClient('h').delete_collection('x')\"",
        {},
        ASK,
        "held by a server",
    ),
    ("ls", "bin/rails runner -e test 'User.delete_all'", {}, ALLOW, "the tests' own"),
    ("ls", "bin/rails runner --environment=test 'User.delete_all'", {}, ALLOW, "by the long name"),
    ("ls", "bin/rails runner -e production 'User.delete_all'", {}, ASK, "what others use"),
    ("ls", "bin/rails runner 'User.delete_all' # -e test", {}, ASK, "nobody says which"),
    ("ls", "RAILS_ENV=production bin/rails db:migrate", {}, ASK, "the schema that others use"),
    ("ls", "RAILS_ENV=staging bin/rails db:migrate", {}, ALLOW, "a rehearsal"),
    ("ls", "php artisan migrate --env=production --force", {}, ASK, "by an option"),
    ("ls", "goose -dir migrations sqlite3 /tmp/g.db reset", {}, ALLOW, "a file in a temporary folder"),
    ("ls", "goose -dir sqlite3 /tmp/g.db reset", {}, ASK, "a folder of that name"),
    ("ls", "goose -dir migrations postgres 'host=db user=x' reset", {}, ASK, "a server"),
    (
        "ls",
        "migrate -source file:///tmp/m -database sqlite3:///tmp/g.db drop -f",
        {},
        ALLOW,
        "the database's file is there, too",
    ),
    (
        "ls",
        "migrate --source=file:///tmp/m --database=postgres://db.acme.com/app drop -f",
        {},
        ASK,
        "the steps alone lie there",
    ),
    ("ls", "dbmate --migrations-dir=file:/tmp/m --url=postgres://db.acme.com/app drop", {}, ASK, "the same"),
    ("ls", "dbmate --url sqlite:/tmp/x.sqlite3 drop", {}, ALLOW, "a file in a temporary folder"),
    ("ls", "dbmate --url sqlite:/srv/x.sqlite3 drop", {}, ASK, "another one"),
    # MongoDB.
    ("ls", "mongosh mongodb://localhost:27099/unit_test --eval 'db.dropDatabase()'", {}, ALLOW, "tests make it anew"),
    ("ls", "mongosh mongodb://localhost:27099/shop --eval 'db.dropDatabase()'", {}, ASK, "another name"),
    (
        "ls",
        "mongosh mongodb://localhost/u_test --eval 'db.getSiblingDB(\"shop\").dropDatabase()'",
        {},
        ASK,
        "beside it",
    ),
    (
        "ls",
        "mongosh mongodb://localhost:27099/unit_test --eval 'db.users.deleteMany({}); db.posts.drop()'",
        {},
        ALLOW,
        "parts",
    ),
    ("ls", "mongosh unit_test --eval 'db.dropDatabase(); db.shutdownServer()'", {}, ASK, "the server"),
    ("ls", "mongosh mongodb://db.acme.com/unit_test --eval 'db.dropDatabase()'", {}, ASK, "of another machine"),
    ("ls", "mongo unit_test --eval 'db.getSisterDB(\"shop\").dropDatabase()'", {}, ASK, "beside it, by the old word"),
]


@pytest.mark.parametrize(
    ("first", "then", "files", "response"), [row[:4] for row in ROWS], ids=[f"{n}: {r[4]}" for n, r in enumerate(ROWS)]
)
def test_databases_of_tests(first: str, then: str, files: dict[str, str], response: Response) -> None:
    assert said_of_last((first, then), files) is response
