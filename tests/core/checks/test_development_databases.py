"""Databases that the repository's own files show to be for development, or to hold nothing, beside those that are not
(ADR 0045).
"""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Layer, Response
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import HOME, FakeWorld

ROOT = f"{HOME}/project"
ALLOW, ASK = Response.ALLOW, Response.ASK

RAILS = {
    "config/database.yml": "default: &default\n  adapter: postgresql\n  pool: <%= ENV['POOL'] %>\ndevelopment:\n"
    "  <<: *default\n  database: shop_dev\n  host: localhost\nproduction:\n  url: <%= ENV['DATABASE_URL'] %>\n"
}
MIX = {
    "config/dev.exs": 'config :shop, Shop.Repo, username: "x", password: "x", hostname: "localhost", database: "shop"\n'
}
SQLITE = {"config/database.yml": "development:\n  adapter: sqlite3\n  database: db/development.sqlite3\n"}
GRADLE = {"app/build.gradle": 'applicationId "io.acme.shop"'}
AWAY = {"config/dev.exs": 'config :shop, Shop.Repo, hostname: "db.acme.io", database: "shop_dev"\n'}
ASKS = {"config/dev.exs": 'config :shop, Shop.Repo, hostname: System.get_env("DB_HOST"), database: "shop_dev"\n'}
DOTNET = {
    "src/Api/appsettings.Development.json": '{"ConnectionStrings": {"Shop": "Server=localhost,14330;Database=shop;'
    'User Id=sa;Password=Dev_Passw0rd"}}\n'
}
DJANGO = {
    "manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_.settings')\n",
    "site_/settings.py": "SECRET_KEY = os.environ['KEY']\nDATABASES = {\n    'default': {'ENGINE': 'postgresql', "
    "'NAME': 'shop_dev', 'HOST': '127.0.0.1', 'PASSWORD': os.environ['PASSWORD']}\n}\n",
}
ALEMBIC = {"alembic.ini": "[alembic]\nsqlalchemy.url = postgresql://shop@localhost/%s\n"}
LOOSE = "services:\n  db:\n    image: postgres:17\n    environment: {POSTGRES_PASSWORD: dev}\n"
KEPT = f"{LOOSE}    volumes:\n      - pg:/var/lib/postgresql/data\nvolumes:\n  pg: {{}}\n"
SEEDED = f"{LOOSE}    volumes: ['./seed.sql:/docker-entrypoint-initdb.d/seed.sql:ro']\n"
WEB = LOOSE + "  web:\n    build: .\n    environment:\n      DATABASE_URL: postgres://postgres:dev@%s:5432/shop\n"
DROP = "docker compose exec -T db psql -U postgres -c 'drop database shop'"

ROWS = [
    # Tasks of frameworks.
    ("bin/rails db:reset", RAILS, ALLOW, "the section of development names this machine"),
    ("bin/rails db:drop db:create db:schema:load", RAILS, ALLOW, "the same"),
    ("bin/rails db:reset", SQLITE, ASK, "a file, of which its birth tells"),
    ("RAILS_ENV=production bin/rails db:reset", RAILS, ASK, "another section is meant"),
    ("DATABASE_URL=postgres://db.acme.io/shop bin/rails db:reset", RAILS, ASK, "an address counts more"),
    ("export PGHOST=db.acme.io; bin/rails db:reset", RAILS, ASK, "and a variable of the client"),
    ("cd $X && bin/rails db:reset", RAILS, ASK, "nobody knows where"),
    ("bin/rails db:reset", {}, ASK, "no settings are there"),
    ("bin/rails db:reset", {**RAILS, ".env": "x", "Gemfile": "gem 'dotenv-rails'"}, ASK, "a file may say another"),
    ("bin/rails db:reset", {**RAILS, ".env": "x", "Gemfile": "gem 'rails'"}, ALLOW, "which nothing loads"),
    ("mix ecto.drop", MIX, ALLOW, "a file for development alone"),
    ("MIX_ENV=prod mix ecto.reset", MIX, ASK, "and another environment"),
    ("MIX_ENV=$E mix ecto.reset", MIX, ASK, "an environment that is not known"),
    ("mix ecto.reset", AWAY, ASK, "of another machine"),
    ("mix ecto.reset", ASKS, ASK, "the environment says which"),
    ("dotnet ef database drop --force -p src/Data -s src/Api", DOTNET, ALLOW, "the project that starts"),
    ("ASPNETCORE_ENVIRONMENT=Production dotnet ef database drop -s src/Api", DOTNET, ASK, "another environment"),
    ("dotnet ef database drop --force", DOTNET, ASK, "no settings are there"),
    ("python manage.py flush --noinput", DJANGO, ALLOW, "a name of development on this machine"),
    ("python manage.py flush --settings=site_.production", DJANGO, ASK, "other settings"),
    ("alembic downgrade base", {"alembic.ini": ALEMBIC["alembic.ini"] % "shop_dev"}, ALLOW, "the same"),
    ("alembic downgrade base", {"alembic.ini": ALEMBIC["alembic.ini"] % "shop"}, ASK, "nothing says what it is for"),
    ("alembic downgrade base", {"alembic.ini": ALEMBIC["alembic.ini"] % "shop_dev", "alembic/env.py": "os.environ"},
     ASK, "code may say another"),
    ("DATABASE_URL=postgres://localhost/shop_dev npx prisma migrate reset --force", {}, ALLOW, "by an address"),
    ("DATABASE_URL=postgres://localhost/shop_prod npx prisma migrate reset --force", {}, ASK, "a name of production"),
    ("DATABASE_URL=postgres://db.acme.io/shop_dev npx prisma migrate reset --force", {}, ASK, "of another machine"),
    ("supabase db reset", {"supabase/config.toml": "x"}, ALLOW, "the stack that the repository describes"),
    ("supabase db reset --linked", {"supabase/config.toml": "x"}, ASK, "the one that is linked"),
    ("supabase db reset", {}, ASK, "no stack is described"),
    ("dropdb shop_dev", RAILS, ASK, "no task that makes it anew"),
    # Services of the project's compose file.
    (DROP, {"compose.yml": LOOSE}, ALLOW, "`compose down` takes as much"),
    (DROP, {"compose.yml": KEPT}, ASK, "a volume holds it"),
    (DROP, {"compose.yml": SEEDED}, ALLOW, "what is mounted sets it up"),
    (DROP, {"compose.yml": LOOSE, "compose.override.yml": KEPT}, ASK, "another file is read along"),
    (DROP, {}, ASK, "no file is there"),
    (DROP.replace("compose", "compose -f $F"), {"compose.yml": LOOSE}, ASK, "one that is not known"),
    (DROP.replace("docker", "docker --context prod"), {"compose.yml": LOOSE}, ASK, "on another machine"),
    (DROP.replace("psql", "psql -h db.acme.io"), {"compose.yml": LOOSE}, ASK, "the server of somebody else"),
    ("docker compose exec db redis-cli FLUSHALL", {"compose.yml": LOOSE}, ALLOW, "whatever the store"),
    ("docker compose run --rm web bin/rails db:reset", {"compose.yml": WEB % "db"}, ALLOW, "a task beside it"),
    ("docker compose run --rm web bin/rails db:reset", {"compose.yml": WEB % "db.acme.io"}, ASK, "elsewhere"),
    ("docker compose run --rm web bin/rails db:reset", {"compose.yml": LOOSE}, ASK, "that nobody knows"),
    # Containers that the text started.
    ("docker run -d --name t-$$ postgres && sleep 1; docker rm -f t-$$", {}, ALLOW, "by the shell's number"),
    ("docker rm -f $X", {}, ASK, "any"),
    # What the session, or the project, makes anew.
    ("git reflog expire --expire=now refs/heads/x", {".git/HEAD": "x", ".git/logs/refs/heads/x": "x"}, ASK, "a log"),
    ("adb uninstall io.acme.shop.debug", GRADLE, ALLOW, "the project's app"),
    ("adb uninstall io.acme.shopper", GRADLE, ASK, "another one"),
    ("esptool.py erase_region 0x10000 0x100000", {}, ALLOW, "what the next image is written over"),
    ("esptool.py erase_flash", {}, ASK, "all that a board knows"),
    # Packages that the project asks for.
    ("sudo apt-get update && sudo apt-get install -y stow", {"README.md": "Needs `stow`.\n"}, ALLOW, "by its README"),
    ("sudo DEBIAN_FRONTEND=noninteractive apt install -y jq", {"Dockerfile": "RUN apk add jq"}, ALLOW, "by its image"),
    ("sudo apt-get install -y stow", {"README.md": "Needs stowaway.\n"}, ASK, "nobody asks for it"),
    ("sudo apt-get install -y stow -o DPkg::Pre-Invoke::=id", {"README.md": "stow"}, ASK, "a program runs first"),
    ("sudo apt-get install -y ./stow.deb", {"README.md": "./stow.deb"}, ASK, "a file"),
    ("sudo apt-get remove -y stow", {"README.md": "stow"}, ASK, "taken away"),
    ("sudo -u root apt-get update", {}, ASK, "an option of sudo"),
    ("sudo APT_CONFIG=/tmp/x apt-get update", {}, ASK, "settings that may name a program"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "files", "response", "why"), ROWS, ids=[f"{row[0]}: {row[3]}"[:90] + str(n) for n, row in enumerate(ROWS)]
)
def test_what_the_repository_says_of_a_database(text, files, response, why):
    world = FakeWorld({f"{ROOT}/{name}": held for name, held in files.items()}, folders=(ROOT,))
    action = Action("a", "s", Layer.HOOK, "bash", {"command": text}, ROOT, 1.0, ROOT)
    case = Case(action, analyse(action, world), Session("s", ROOT), merge(builtin()), home=HOME)
    assert max((f.response for f in rules(case)), default=ALLOW) is response, why


def test_the_log_of_a_branch_that_the_session_made_is_its_own():
    files = {f"{ROOT}/.git/HEAD": "x", f"{ROOT}/.git/logs/refs/heads/x": "x"}
    action = Action("a", "s", Layer.HOOK, "bash", {"command": "git reflog expire refs/heads/x"}, ROOT, 1.0, ROOT)
    case = Case(action, analyse(action, FakeWorld(files)), Session("s", ROOT), merge(builtin()), home=HOME,
                new=f"{ROOT}/.git/logs/refs/heads/x".__eq__)  # fmt: skip
    assert not [*rules(case)]
