"""Switches to the environment of the tests, and what they lead to where it has no settings of its own (ADR 0045)."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK

OWN = {".env": "APP_ENV=local\nDB_HOST=127.0.0.1\nDB_DATABASE=shop\n"}
LIVE, TESTS = "DATABASE_URL=postgres://db.acme.io/shop\n", "DATABASE_URL=postgres://localhost/shop_test\n"
DOTENV = {"Gemfile": "gem 'dotenv-rails'\n"}
SUFFIX = {
    "config/packages/doctrine.yaml": "doctrine:\n  dbal:\n    url: x\nwhen@test:\n  doctrine:\n    dbal:\n"
    "      dbname_suffix: '_test'\n"
}
SETTINGS = "shop/settings/test.py"
FRESH = "php artisan migrate:fresh --env=testing"
RAILS, SYMFONY = "RAILS_ENV=test bin/rails db:reset", "APP_ENV=test php bin/console doctrine:schema:drop --force"
PRISMA, KNEX = "NODE_ENV=test npx prisma migrate reset -f", "NODE_ENV=test npx knex migrate:rollback --all"
DJANGO = "python manage.py flush --noinput --settings=shop.settings.test"

ROWS = [
    (FRESH, {}, ALLOW, "nothing that it could fall back to"),
    (FRESH, OWN, ASK, "Laravel loads .env where there is no .env.testing"),
    (FRESH.replace("=testing", " testing"), OWN, ASK, "in two words"),
    ("APP_ENV=testing php artisan migrate:fresh", OWN, ASK, "by a variable"),
    (FRESH, {**OWN, ".env.testing": "DB_DATABASE=shop_test\n"}, ALLOW, "the file of the tests"),
    (FRESH, {**OWN, ".env.test": "DB_DATABASE=shop_test\n"}, ASK, "the file of another environment"),
    ("cd api && " + FRESH, {"api/.env": "DB_DATABASE=shop\n"}, ASK, "where the project is"),
    (FRESH.replace("artisan", "api/artisan"), {"api/.env": "DB_DATABASE=shop\n"}, ASK, "where the script is"),
    (f"docker compose exec app {FRESH}", OWN, ASK, "the project in a container"),
    (f"DB_CONNECTION=sqlite DB_DATABASE=/tmp/x.sqlite {FRESH}", OWN, ALLOW, "variables come before any file"),
    (RAILS, {**DOTENV, ".env": LIVE}, ASK, "the gem loads .env for the tests, too"),
    (RAILS, {"Gemfile": "gem 'rails'\n", ".env": LIVE}, ALLOW, "nothing loads it"),
    (RAILS, {**DOTENV, ".env": TESTS}, ALLOW, "a database for tests"),
    (RAILS, {**DOTENV, ".env": LIVE, ".env.test": TESTS}, ALLOW, "the file of the tests comes first"),
    (SYMFONY, {".env": LIVE}, ASK, "Symfony loads .env for each environment"),
    (SYMFONY, {".env": LIVE, ".env.test": TESTS}, ALLOW, "and that of the tests"),
    (SYMFONY, {".env": LIVE, **SUFFIX}, ALLOW, "a name of its own"),
    (PRISMA, {".env": LIVE}, ASK, "Prisma knows no environments"),
    (PRISMA, {".env": LIVE, ".env.test": TESTS}, ASK, "and no other file"),
    (PRISMA, {".env": TESTS}, ALLOW, "a database for tests"),
    (KNEX, {".env": LIVE, "knexfile.js": "test: {connection: process.env.DATABASE_URL}"}, ASK, "the same address"),
    (KNEX, {".env": LIVE, "knexfile.js": "dev: {connection: process.env.DATABASE_URL}, test: {connection: 'x_test'}"},
     ALLOW, "a section that asks for none"),
    (KNEX, {".env": LIVE}, ASK, "settings that nobody has read"),
    ("NODE_ENV=test npx sequelize db:drop", {".env": LIVE, "config/config.json": '{"test": {"database": "x_test"}}'},
     ALLOW, "settings that are data"),
    (DJANGO, {}, ALLOW, "settings that nobody has read, by their name"),
    (DJANGO, {SETTINGS: "from .base import *\nDEBUG = False\n"}, ASK, "the database of what they are made from"),
    (DJANGO, {SETTINGS: "DATABASES = {'default': {'NAME': ':memory:'}}\n"}, ALLOW, "one of their own"),
    (DJANGO, {SETTINGS: "DATABASES = {'default': env.db('DATABASE_URL')}\n", ".env": LIVE}, ASK, "from .env"),
    (DJANGO, {SETTINGS: "from .base import *\n# DATABASES: those of base\n"}, ASK, "a remark gives none"),
    *((DJANGO.replace("manage.py", "api/manage.py"), {f"api/{SETTINGS}": text, "api/.env": LIVE}, response, why)
      for text, response, why in (
        ("from .base import *\n", ASK, "settings beside the script"),
        ("DATABASES = {'default': env.db('DATABASE_URL')}\n", ASK, "and .env"),
        ("DATABASES = {'default': {'NAME': ':memory:'}}\n", ALLOW, "with one of their own"))),
    ("MIX_ENV=test mix ecto.reset", {".env": LIVE}, ALLOW, "Mix loads no such file"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "files", "response", "why"), ROWS, ids=[f"{row[0][:50]}: {row[3]}" for row in ROWS])
def test_what_a_switch_to_the_tests_leads_to(text, files, response, why):
    assert said_of_last((text,), files) is response, why


def test_a_temporary_file_that_leads_to_another_is_none():
    text = "DATABASE_URL=file:/tmp/e2e.db npx prisma migrate reset --force"
    assert said_of_last((text,), {}, links={"/tmp/e2e.db": "/srv/shop.db"}) is ASK
