"""Databases that the repository's own files show to be for development, or to hold nothing, beside those that are not
(ADR 0045).
"""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK

RAILS = {
    "config/database.yml": "default: &default\n  adapter: postgresql\n  pool: <%= ENV['POOL'] %>\ndevelopment:\n"
    "  <<: *default\n  database: shop_dev\n  host: localhost\nproduction:\n  url: <%= ENV['DATABASE_URL'] %>\n"
}
RAILS_SHARED = {
    "config/database.yml": "shared: &shared\n  host: db.acme.io\ndevelopment:\n  <<: *shared\n  database: shop_dev\n"
}
MIX = {
    "config/dev.exs": 'config :shop, Shop.Repo, username: "x", password: "x", hostname: "localhost", database: "shop"\n'
}
SQLITE = {"config/database.yml": "development:\n  adapter: sqlite3\n  database: db/development.sqlite3\n"}
SCRIPT = '{"scripts": {"reset": "%s"}}'
PRISMA = {
    "prisma/schema.prisma": 'datasource db {\n provider = "postgresql"\n url = env("DATABASE_URL")\n}\n',
    ".env": 'DATABASE_URL="postgresql://dev:dev@localhost:5466/shop_dev?schema=public"\n',
}
LARAVEL = {".env": "APP_ENV=local\nDB_CONNECTION=mysql\nDB_HOST=127.0.0.1\nDB_DATABASE=shop\nDB_PASSWORD=x\n"}
OF_TESTS = {".env.test": "DATABASE_URL=postgresql://t:t@localhost:5439/teams_e2e\n# of the tests\nNODE_ENV=test\n"}
RESET, BY_FILE = "npx prisma migrate reset -f", "set -a; . ./.env.test; set +a; npx prisma migrate reset -f"
BY_DOTENV = "npx dotenv -e .env.test -- prisma migrate reset -f"
GRADLE = {"app/build.gradle": 'applicationId "io.acme.shop"\n debug { applicationIdSuffix ".debug" }'}
AWAY = {"config/dev.exs": 'config :shop, Shop.Repo, hostname: "db.acme.io", database: "shop_dev"\n'}
ASKS = {"config/dev.exs": 'config :shop, Shop.Repo, hostname: System.get_env("DB_HOST"), database: "shop_dev"\n'}
DJANGO = {
    "manage.py": "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_.settings')\n",
    "site_/settings.py": "DATABASES = {'default': {'NAME': 'shop_dev', 'HOST': '127.0.0.1'}}\n",
}
ALEMBIC = {"alembic.ini": "[alembic]\nsqlalchemy.url = postgresql://shop@localhost/%s\n"}
LOOSE = "services:\n  db:\n    image: postgres:17\n    environment: {POSTGRES_PASSWORD: dev}\n"
KEPT = f"{LOOSE}    volumes:\n      - pg:/var/lib/postgresql/data\nvolumes:\n  pg: {{}}\n"
SEEDED = f"{LOOSE}    volumes: ['./seed.sql:/docker-entrypoint-initdb.d/seed.sql:ro']\n"
WEB = LOOSE + "  web:\n    build: .\n    environment:\n      DATABASE_URL: postgres://postgres:dev@%s:5432/shop\n"
KNEX = """module.exports = {
  client: "pg", // PostgreSQL
  connection: process.env.DATABASE_URL || "postgres://p:d@127.0.0.1:55432/plan_test",
  migrations: { directory: "./migrations" },
};
"""
LOOSE_AT = f"{LOOSE}    ports: ['127.0.0.1:54329:5432']\n"
OF_COMPOSE = {"compose.yaml": LOOSE_AT, ".env.development": "DATABASE_URL=postgres://p:d@127.0.0.1:54329/plan\n"}
BY_DEV = BY_FILE.replace(".env.test", ".env.development")
PLAIN, SERVED = {"compose.yml": LOOSE}, {"compose.yml": WEB % "db"}
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
    ("python manage.py flush --noinput", DJANGO, ASK, "settings that are code"),
    ("alembic downgrade base", {"alembic.ini": ALEMBIC["alembic.ini"] % "shop_dev"}, ASK, "code says where"),
    ("alembic downgrade base", {"alembic.ini": ALEMBIC["alembic.ini"] % "shop"}, ASK, "nothing says what it is for"),
    ("alembic downgrade base", {"alembic.ini": ALEMBIC["alembic.ini"] % "shop_dev", "alembic/env.py": "os.environ"},
     ASK, "code may say another"),
    ("DATABASE_URL=postgres://localhost/shop_dev npx prisma migrate reset --force", {}, ALLOW, "by an address"),
    ("DATABASE_URL=postgres://localhost/shop_prod npx prisma migrate reset --force", {}, ASK, "a name of production"),
    ("npx prisma migrate reset --force", PRISMA, ALLOW, "by the .env that prisma loads"),
    ("npx prisma db push --force-reset --accept-data-loss", PRISMA, ALLOW, "the same"),
    ("npx prisma migrate reset --force", {**PRISMA, ".env": "DATABASE_URL=postgres://db.acme.io/shop_dev\n"}, ASK,
     "of another machine"),
    ("npx prisma migrate reset --force", {**PRISMA, ".env": "DATABASE_URL=postgres://localhost/shop\n"}, ASK,
     "a name that says nothing"),
    ("npx prisma migrate reset --force", {**PRISMA, ".env": "A=1\n"}, ASK, "nothing is said"),
    ("npx prisma migrate reset --force", {**PRISMA, ".env": "DATABASE_URL=postgres://${U}@localhost/shop_dev\n"}, ASK,
     "another variable is put in"),
    ("npx prisma migrate reset --force", {**PRISMA, "prisma/.env": "DATABASE_URL=postgres://db.acme.io/shop\n"}, ASK,
     "two files say two things"),
    *((f"{text}; npx prisma migrate reset --force", {**PRISMA, ".env.example": PRISMA[".env"], **more}, response, why)
      for text in ("[ -f .env ] || cp .env.example .env", "if [ ! -f .env ]; then cp .env.example .env; fi")
      for more, response, why in (
        ({".env": "DATABASE_URL=postgres://db.acme.io/shop\n"}, ASK, "what is there is not written over"),
        ({}, ALLOW, "both say one"))),
    ("npx prisma migrate reset --force", {**PRISMA, "prisma.config.ts": "x"}, ASK, "code that may say another"),
    ("npx prisma migrate reset --force", {**PRISMA, "package.json": '{"prisma": {"schema": "db/x.prisma"}}'}, ASK,
     "another schema"),
    *(("npx prisma migrate reset -f --skip-seed", {**PRISMA, "package.json": text}, ALLOW, why) for text, why in (
        ('{"devDependencies": {"prisma": "^5.22.0"}}', "the tool is installed"),
        ('{"prisma": {"seed": "tsx prisma/seed.ts"}}', "what fills it anew"),
        ('{"prisma": {"schema": "./prisma/schema.prisma"}}', "the usual schema by its name"))),
    ("npx prisma migrate reset --force", {**PRISMA, "package.json": '{"prisma": {"seed": "rm -rf ~"}}'}, Response.KILL,
     "what it would run"),
    ("npx prisma migrate reset --force --skip-seed", {**PRISMA, "package.json": '{"prisma": {"seed": "rm -rf ~"}}'},
     ALLOW, "and does not"),
    ("npx prisma migrate reset -f", {**PRISMA, "package.json": '{"prisma": {"schema": "db/x.prisma"}}',
     "db/x.prisma": 'url = env("DATABASE_URL")\n', "db/.env": "DATABASE_URL=postgres://db.acme.io/shop\n"}, ASK,
     "a file beside the schema says another"),
    ("npx prisma migrate reset -f", {**PRISMA, "package.json": '{"prisma": {"schema": "db/x.prisma"}}',
     "db/x.prisma": 'url = env("LIVE_URL")\n'}, ASK, "another schema asks for another one"),
    ("npx prisma migrate reset -f", {**PRISMA, "package.json": "{"}, ASK, "settings that nobody can read"),
    *((f"{text} prisma migrate reset --force", PRISMA, ALLOW, text) for text in (
        "pnpm", "pnpm exec", "yarn", "yarn exec", "npm exec --", "npm x", "bun x", "bunx", "npx --yes", "pnpm dlx")),
    *((f"{text} prisma migrate reset --force", PRISMA, ASK, text) for text in (
        "pnpm --filter api exec", "pnpm -F api", "pnpm -r exec", "pnpm -C api", "npm -w api exec --", "npx -w api",
        "npm --prefix ../live exec --", "npx --prefix ../live", "yarn workspace api", "yarn workspace api run",
        "yarn --cwd api", "pnpm -C $X")),
    ("npm -w api run reset", {**PRISMA, "package.json": SCRIPT % "prisma migrate reset --force"}, ASK, "another's"),
    ("pnpm -C api prisma migrate reset -f", {f"api/{name}": text for name, text in PRISMA.items()}, ALLOW, "its own"),
    ("npx prisma migrate reset --force",
     {**PRISMA, "prisma/schema.prisma": 'url = env("DATABASE_URL")\ndirectUrl = env("DIRECT_URL")\n'}, ASK,
     "a second address"),
    ("npx prisma migrate reset --force --schema x.prisma", PRISMA, ASK, "by an option"),
    ("npm run reset", {**PRISMA, "package.json": SCRIPT % "prisma migrate reset --force"}, ALLOW, "a package's script"),
    ("pnpm reset", {**PRISMA, "package.json": SCRIPT % "npx prisma migrate reset --force"}, ALLOW, "by another one"),
    ("npm run reset", {**PRISMA, "package.json": SCRIPT % "dotenv -e .env.remote -- prisma migrate reset --force"}, ASK,
     "which loads another file"),
    ("npm run reset",
     {**PRISMA, "package.json": SCRIPT % "DATABASE_URL=postgres://db.acme.io/shop prisma migrate reset --force"}, ASK,
     "or sets a variable"),
    ("npm run reset", {**PRISMA, "package.json": SCRIPT % ". ./x.sh; prisma migrate reset --force"}, ASK,
     "or reads a file"),
    ("npm run reset", {**PRISMA, "package.json": SCRIPT % "sh x.sh", "x.sh": "prisma migrate reset --force"}, ASK,
     "or starts one"),
    ("make reset", {**PRISMA, "Makefile": "reset:\n\tnpx prisma migrate reset --force\n"}, ASK, "make has variables"),
    ("dotenv -e .env.remote -- prisma migrate reset --force", PRISMA, ASK, "a wrapper loads another file"),
    ("DATABASE_URL=$X npx prisma migrate reset --force", PRISMA, ASK, "a variable that is not known goes first"),
    # What a file of secrets gives.
    *((text, OF_TESTS, ALLOW, "the file names the tests' own") for text in (
        BY_FILE, BY_FILE.replace(";", " &&"), BY_DOTENV, BY_DOTENV.removeprefix("npx "),
        BY_FILE.replace("set -a", "set -o allexport"), f"set -a; . ./.env.test && {RESET}",
        "set -a; . ./.env.test; set +a; sqlx database reset -y")),
    *((BY_DEV, {**OF_COMPOSE, **more}, response, why) for more, response, why in (
        ({}, ALLOW, "at the port of a service that keeps nothing, by settings for development"),
        ({"compose.yaml": LOOSE_AT.replace(" ['127.0.0.1:54329:5432']", "\n      - 54329:5432")}, ALLOW, "as a list"),
        ({".env.development": "DATABASE_URL=postgres://p:d@127.0.0.1:54330/plan\n"}, ASK, "at another port"),
        ({".env.development": "DATABASE_URL=postgres://p:d@db.acme.io:54329/plan\n"}, ASK, "on another machine"),
        ({".env.development": "DATABASE_URL=postgres://p:d@127.0.0.1:54329/plan_prod\n"}, ASK, "of production"),
        ({"compose.yaml": LOOSE_AT + "    volumes: ['pg:/var/lib/postgresql/data']\n"}, ASK, "a volume holds it"),
        ({"compose.yaml": LOOSE_AT.replace("postgres:17", "gcr.io/x/cloud-sql-proxy")}, ASK, "that leads elsewhere"),
        ({"compose.yaml": LOOSE_AT.replace("image", "entrypoint: socat\n    image")}, ASK, "the same"),
        ({"compose.yaml": LOOSE_AT.replace("image: postgres:17", "build: .")}, ASK, "of which nobody knows what it is"),
        ({"compose.override.yaml": "services:\n  db:\n    volumes: ['pg:/data']\n"}, ASK, "another file keeps it"),
        ({"compose.live.yaml": LOOSE_AT.replace("db:", "other:")}, ASK, "another file publishes the port"),
        ({"ops/compose.yaml": LOOSE_AT.replace("image", "volumes: ['pg:/data']\n    image")}, ASK, "in a folder, too"),
        ({"compose.yaml": LOOSE_AT.replace("ports:", "#ports:")}, ASK, "a comment"),
        ({"compose.yaml": f"{LOOSE_AT}    command: postgres -c fsync=off\n"}, ALLOW, "an option of the server"),
        ({"compose.yaml": f"{LOOSE_AT}    command: sh -c 'socat x y'\n"}, ASK, "another program"),
        ({"compose.yaml": LOOSE_AT.replace("{POSTGRES", "{UPSTREAM_HOST: x, POSTGRES")}, ASK, "led elsewhere"),
        ({".env": "COMPOSE_FILE=live.yaml\n"}, ASK, "other files are taken"))),
    (f"export COMPOSE_FILE=live.yaml; {BY_DEV}", OF_COMPOSE, ASK, "the same by a variable"),
    ("ssh -fNL 55432:x:5432 web; npx knex migrate:rollback --all", {"knexfile.js": KNEX}, ASK, "the port is led away"),
    ("NODE_OPTIONS='-r ./x.js' npx knex migrate:rollback --all", {"knexfile.js": KNEX}, ASK, "code that runs first"),
    (BY_DEV.replace("npx", "ssh -fNL 54329:db.acme.io:5432 web; npx"), OF_COMPOSE, ASK, "the port is led away"),
    (f"cp live.yaml compose.yaml; {BY_DEV}", OF_COMPOSE, ASK, "the text writes the compose file"),
    *((BY_DEV.replace(".env.development", name), {**OF_COMPOSE, name: OF_COMPOSE[".env.development"]}, ASK,
       "a name that does not say so") for name in (".env", ".env.staging", ".env.local")),
    ("npm run reset", {**OF_TESTS, "package.json": SCRIPT % BY_DOTENV}, ALLOW, "in a script"),
    (BY_FILE.replace(RESET, "npm run reset"), {**OF_TESTS, "package.json": SCRIPT % "prisma migrate reset -f"}, ALLOW,
     "by a script"),
    *((text, {".env.test": f"{held}\n"}, ASK, held) for text in (BY_FILE, BY_DOTENV) for held in (
        "DATABASE_URL=postgres://db.acme.io/teams_e2e", "DATABASE_URL=postgres://localhost/teams",
        "DATABASE_URL=postgres://localhost/teams_e2e\nDATABASE_URL=postgres://db.acme.io/teams_e2e",
        "DATABASE_URL=postgres://localhost/teams_e2e\nDIRECT_URL=postgres://db.acme.io/teams",
        "DATABASE_URL=postgres://localhost/teams_e2e\nPGHOSTADDR=10.1.2.3", "DATABASE_URL=$LIVE_URL",
        "DATABASE_URL=postgres://localhost/teams_e2e\nNODE_ENV=production", "DATABASE_URL=`pass url`",
        'DATABASE_URL="postgres://localhost/teams_e2e$LIVE"',
        "if true; then DATABASE_URL=postgres://localhost/x_e2e; fi",
        "DATABASE_URL=postgres://localhost/teams_e2e_prod", "NODE_ENV=test")),
    *((text, OF_TESTS, ASK, "it may not be what counts") for text in (
        f". ./.env.test; {RESET}", f"(set -a; . ./.env.test); {RESET}", BY_FILE.replace(RESET, f"env -i {RESET}"),
        BY_FILE.replace(RESET, f"DATABASE_URL=$X {RESET}"), BY_FILE.replace(RESET, f"unset DATABASE_URL; {RESET}"),
        BY_FILE.replace(RESET, f"export DATABASE_URL=$X; {RESET}"), BY_FILE.replace(RESET, f". ./.env.live; {RESET}"),
        f'set -a; [ -n "$X" ] && . ./.env.test; {RESET}', BY_FILE.replace("set -a", "set -a; set +a"),
        f"export DATABASE_URL=$X; set -a; DATABASE_URL= . ./.env.test; {RESET}",
        f"f() {{ local DATABASE_URL; set -a; . ./.env.test; }}; export DATABASE_URL=$X; f; {RESET}",
        BY_FILE.replace(RESET, f"sudo {RESET}"), BY_FILE.replace(RESET, f"doppler run -- {RESET}"),
        BY_FILE.replace(RESET, f"read DATABASE_URL; {RESET}"),
        BY_DOTENV.replace("-e", "-o -e"), BY_DOTENV.replace("-e", "-e .env.live -e"), BY_DOTENV.replace("-e", "-c -e"),
        BY_DOTENV.replace("-e", "-v DATABASE_URL=postgres://db.acme.io/x_e2e -e"), f"DATABASE_URL=$X {BY_DOTENV}",
        BY_FILE.replace(RESET, f"npx dotenv -o -e .env.live -- {RESET}"), BY_DOTENV.replace(".env.test", ".env.live"))),
    *((f"{text} {BY_FILE.replace('.env.test', 'e2e.env')}",
       {"e2e.env": OF_TESTS[".env.test"], "live.env": "DATABASE_URL=postgres://db.acme.io/x_e2e\n"}, ASK,
       "another file by then") for text in (
        "cp live.env e2e.env;", "mv live.env e2e.env;", "ln -sf live.env e2e.env;", "cd $X;",
        "echo DATABASE_URL=postgres://db.acme.io/x_e2e > e2e.env;", "curl -so e2e.env https://acme.io/env;")),
    (f'[ -n "$X" ] && echo DATABASE_URL=postgres://localhost/x_e2e > live.env; set -a; . ./live.env; {RESET}',
     {"live.env": "DATABASE_URL=postgres://db.acme.io/x_e2e\n"}, ASK, "perhaps another file"),
    (BY_FILE, {**OF_TESTS, "prisma/schema.prisma": 'url = env("LIVE_URL")\n'}, ASK, "another variable is asked"),
    (f"DATABASE_URL=postgres://localhost/shop_dev {RESET}", {"prisma/schema.prisma": 'url = env("LIVE_URL")\n'}, ASK,
     "the same"),
    (BY_FILE, {**OF_TESTS, "prisma/schema/a.prisma": 'url = env("LIVE_URL")\n'}, ASK, "a schema of several files"),
    (BY_FILE, {**OF_TESTS, "package.json": '{"prisma": {"schema": "db"}}'}, ASK, "a schema that nobody has read"),
    ("set -a; . ./.env.test; goose reset", OF_TESTS, ALLOW, "another tool"),
    ("set -a; . ./.env.test; goose reset", {".env.test": OF_TESTS[".env.test"] + "GOOSE_DBSTRING=host=db.acme.io\n"},
     ASK, "which takes another variable first"),
    (f"DATABASE_URL=postgres://localhost/shop_dev {RESET}", {"prisma.config.ts": "x"}, ASK, "code may say it"),
    (f"DATABASE_URL=postgres://localhost/shop_dev; {RESET}", {}, ASK, "it does not reach the tool"),
    (f"set -a; DATABASE_URL=postgres://localhost/shop_dev; {RESET}", {}, ALLOW, "so it does"),
    (f"ls && export DATABASE_URL=postgres://localhost/shop_dev && {RESET}", {}, ALLOW, "and so"),
    (f'[ -n "$X" ] && export DATABASE_URL=postgres://localhost/shop_dev; {RESET}', {}, ASK, "perhaps"),
    (f"DATABASE_URL=postgres://localhost/dev_prod {RESET}", {}, ASK, "a name of production, too"),
    (f"DATABASE_URL=postgres://localhost/shop_ci {RESET}", {}, ALLOW, "a name of tests"),
    ("dropdb shop_e2e", {}, ALLOW, "the same, by hand"),
    ("dropdb shop_e2e_old", {}, ASK, "another one"),
    ("php artisan migrate:fresh --seed", LARAVEL, ALLOW, "by the .env that Laravel loads"),
    ("php artisan db:wipe --force", LARAVEL, ALLOW, "the same"),
    ("php artisan migrate:fresh", {".env": "APP_ENV=local\nDB_CONNECTION=sqlite\n"}, ALLOW, "a file"),
    ("php artisan migrate:fresh", {".env": "APP_ENV=production\nDB_HOST=127.0.0.1\n"}, ASK, "of production"),
    ("php artisan migrate:fresh", {".env": "APP_ENV=local\nDB_HOST=db.acme.io\n"}, ASK, "of another machine"),
    ("php artisan migrate:fresh", {".env": "DB_HOST=127.0.0.1\n"}, ASK, "nothing says what for"),
    ("php artisan migrate:fresh", {".env": "APP_ENV=local\nDB_URL=mysql://db.acme.io/x\n"}, ASK, "an address"),
    ("php artisan migrate:fresh", {**LARAVEL, "config/database.php": "'host' => 'db.acme.io'"}, ASK, "code says it"),
    ("php artisan migrate:fresh", {**LARAVEL, "config/database.php": "'host' => env('DB_HOST')"}, ALLOW, "or asks"),
    ("php artisan migrate:fresh", {**LARAVEL, "bootstrap/cache/config.php": "x"}, ASK, "a cache is older"),
    ("php artisan migrate:fresh --env=local", LARAVEL, ASK, "another file"),
    ("php artisan migrate:fresh --database=live", LARAVEL, ASK, "another connection"),
    ("DB_HOST=db.acme.io php artisan migrate:fresh", LARAVEL, ASK, "by a variable"),
    ("DATABASE_URL=postgres://db.acme.io/shop_dev npx prisma migrate reset --force", {}, ASK, "of another machine"),
    ("supabase db reset", {"supabase/config.toml": "x"}, ALLOW, "the stack that the repository describes"),
    ("supabase db reset --linked", {"supabase/config.toml": "x"}, ASK, "the one that is linked"),
    ("supabase db reset", {}, ASK, "no stack is described"),
    ("dropdb shop_dev", RAILS, ASK, "no task that makes it anew"),
    *((text, {"knexfile.js": KNEX}, ALLOW, "settings that are one object of values") for text in (
        "npx knex migrate:rollback --all", "npx knex migrate:rollback --all && npx knex migrate:latest")),
    *(("npx knex migrate:rollback --all", {"knexfile.js": held}, response, why) for held, response, why in (
        (KNEX.replace("module.exports =", "export default"), ALLOW, "a module"),
        (KNEX.replace("process.env.DATABASE_URL || ", ""), ALLOW, "without a variable"),
        (KNEX.replace("plan_test", "plan"), ASK, "a name that says nothing"),
        (KNEX.replace("plan_test", "plan_test_prod"), ASK, "a name of production"),
        (KNEX.replace("127.0.0.1", "db.acme.io"), ASK, "of another machine"),
        (KNEX.replace(' || "postgres://p:d@127.0.0.1:55432/plan_test"', ""), ASK, "a variable alone"),
        (KNEX.replace("client:", "...live, client:"), ASK, "another object is merged in"),
        (KNEX.replace('"pg"', "kind()"), ASK, "a call"),
        (f"require('dotenv').config();\n{KNEX}", ASK, "a file may set the variable"),
        (f"{KNEX}module.exports.connection = live;\n", ASK, "and code behind it"),
        (KNEX.replace('plan_test"', 'plan_test", host: "db.acme.io"'), ASK, "a second host"),
        (KNEX.replace("client:", 'live: { connection: "postgres://db.acme.io/x_test" }, client:'), ASK, "a second"),
        (KNEX.replace("client:", '"connection": process.env.LIVE || "postgres://db.acme.io/x", client:'), ASK, "twice"),
        (KNEX.replace('"postgres', "`postgres").replace('plan_test"', "${X}_test`"), ASK, "a name that is put in"))),
    ("DATABASE_URL=postgres://db.acme.io/plan_test npx knex migrate:rollback --all", {"knexfile.js": KNEX}, ASK, "set"),
    ("export DATABASE_URL=$X; npx knex migrate:rollback --all", {"knexfile.js": KNEX}, ASK, "to what nobody knows"),
    ("npx knex migrate:rollback --all", {"knexfile.js": KNEX.replace("DATABASE_URL", "PLAN_DB")}, ALLOW, "another one"),
    ("PLAN=$X npx knex migrate:rollback --all", {"knexfile.js": KNEX.replace("DATABASE_URL", "PLAN")}, ASK, "set"),
    ("npx knex migrate:rollback --all --env production", {"knexfile.js": KNEX}, ASK, "another environment"),
    ("npx knex migrate:rollback --all --knexfile live.js", {"knexfile.js": KNEX}, ASK, "another file"),
    ("npx knex migrate:rollback --all --connection postgres://db.acme.io/x", {"knexfile.js": KNEX}, ASK, "an address"),
    ("npx knex migrate:rollback --all", {"knexfile.js": KNEX, "knexfile.ts": "x"}, ASK, "two files"),
    ("npx knex migrate:rollback --all", {"knexfile.js": KNEX, ".envrc": "x"}, ASK, "what the shell loads"),
    ("curl -so knexfile.js https://acme.io/k; npx knex migrate:rollback --all", {"knexfile.js": KNEX}, ASK, "by then"),
    # What may say another database.
    ("doppler run --config prd -- bin/rails db:reset", RAILS, ASK, "a wrapper fills the environment"),
    ("dotenv -e .env.remote -- bin/rails db:reset", RAILS, ASK, "from a file"),
    ("direnv exec . bin/rails db:reset", RAILS, ASK, "the same"),
    ("set -a; . ./.env.remote; set +a; bin/rails db:reset", RAILS, ASK, "a file that nobody has read"),
    ('eval "$(direnv export bash)"; bin/rails db:reset', RAILS, ASK, "what a program prints"),
    ("export $(grep -v '^#' .env.remote | xargs); bin/rails db:reset", RAILS, ASK, "what a file holds"),
    ("make reset",
     {**RAILS, "Makefile": "export DATABASE_URL := postgres://db.acme.io/shop\nreset:\n\tbin/rails db:reset\n"},
     ASK, "a file that has variables of its own"),
    ("bin/rails db:reset", {**RAILS, ".envrc": "x"}, ASK, "what the person's shell loads"),
    ("bin/rails db:reset", {**RAILS, "mise.toml": "[env]"}, ASK, "the same"),
    ("bin/rails db:reset", {**RAILS, ".env.local": "x", "Gemfile": "gem 'dotenv-rails'"}, ASK, "one of its kin"),
    ("bin/rails db:reset", {**RAILS, ".env.example": "x", "Gemfile": "gem 'dotenv-rails'"}, ALLOW, "an example"),
    ("bin/rails db:reset RAILS_ENV=uat", RAILS, ASK, "a word sets a variable"),
    ("bin/rails db:reset $X", RAILS, ASK, "a word that is not known"),
    ("rake -f other/Rakefile db:reset", RAILS, ASK, "other tasks"),
    ("PGHOSTADDR=10.1.2.3 bin/rails db:reset", RAILS, ASK, "a variable of the client"),
    ("PGSERVICE=live bin/rails db:reset", RAILS, ASK, "the same"),
    ("PGPORT=15432 bin/rails db:reset", RAILS, ASK, "another server here"),
    ("PRIMARY_DATABASE_URL=postgres://db.acme.io/shop bin/rails db:reset", RAILS, ASK, "an address by another name"),
    ("bin/rails db:reset", RAILS_SHARED, ASK, "what another section holds"),
    ("bin/rails db:reset",
     {"config/database.yml": "development:\n  database: shop_dev\n  hostaddr: 10.1.2.3\n"}, ASK, "an address"),
    ("bin/rails db:reset",
     {"config/database.yml": "development:\n  database: shop\n  url: postgis://db.acme.io/shop\n"}, ASK, "a URL"),
    ("bin/rails db:reset",
     {"config/database.yml": "development:\n  database: shop\n  host: db01.corp.local\n"},
     ASK, "no name of this machine"),
    ("mix ecto.reset",
     {"config/dev.exs": MIX["config/dev.exs"] + 'import_config "dev.secret.exs"\n'}, ASK, "another file"),
    ("mix ecto.reset",
     {"config/dev.exs": 'config :shop, Shop.Mailer, hostname: "localhost"\n'}, ASK, "of something else"),
    ("mix ecto.reset", {**MIX, "config/runtime.exs": "config :shop, Shop.Repo, url: x\n"}, ASK, "set as it starts"),
    ("DATABASE_URL='postgres://localhost/shop_dev?host=db.acme.io' npx prisma migrate reset --force",
     {}, ASK, "a second host"),
    ("DATABASE_URL=postgres://localhost,db.acme.io/shop npx prisma migrate reset --force", {}, ASK, "two servers"),
    ("DATABASE_URL=postgres://localhost/devices npx prisma migrate reset --force",
     {}, ASK, "a name that begins like it"),
    ("DATABASE_URL=postgres://nas.local/shop_dev npx prisma migrate reset --force",
     {}, ASK, "a machine of the network"),
    ('DATABASE_URL=postgres://localhost/shop_dev sqlx database drop -y -D "$REMOTE"',
     {}, ASK, "an address that is not known"),
    ("RAILS_ENV=production bin/rails db:reset file:/tmp/x", RAILS, ASK, "no tool that takes an address"),
    ("supabase --workdir ../other db reset", {"supabase/config.toml": "x"}, ASK, "another folder's"),
    # Services of the project's compose file.
    (DROP, PLAIN, ALLOW, "`compose down` takes as much"),
    (DROP, {"compose.yml": KEPT}, ASK, "a volume holds it"),
    (DROP, {"compose.yml": SEEDED}, ALLOW, "what is mounted sets it up"),
    (DROP, {"compose.yml": LOOSE, "compose.override.yml": KEPT}, ASK, "another file is read along"),
    (DROP, {}, ASK, "no file is there"),
    (DROP.replace("compose", "compose -f $F"), PLAIN, ASK, "one that is not known"),
    (DROP.replace("docker", "docker --context prod"), PLAIN, ASK, "on another machine"),
    (DROP.replace("psql", "psql -h db.acme.io"), PLAIN, ASK, "the server of somebody else"),
    ("docker compose exec db redis-cli FLUSHALL", PLAIN, ALLOW, "whatever the store"),
    ("docker compose run --rm web bin/rails db:reset", SERVED, ALLOW, "a task beside it"),
    ("docker compose run --rm web bin/rails db:reset", {"compose.yml": WEB % "db.acme.io"}, ASK, "elsewhere"),
    ("docker compose run --rm web bin/rails db:reset", PLAIN, ASK, "that nobody knows"),
    ("docker compose exec web psql postgres://db.acme.io/shop -c 'drop table users'", SERVED, ASK, "elsewhere"),
    ("docker compose exec web dropdb -h db.acme.io shop", SERVED, ASK, "the same"),
    ("docker compose exec web sqlx database drop -y -D postgres://db.acme.io/shop", SERVED, ASK, "the same"),
    ("docker compose exec -e DATABASE_URL=postgres://db.acme.io/x web bin/rails db:reset", SERVED, ASK, "set"),
    ("docker compose exec web env DATABASE_URL=postgres://db.acme.io/x bin/rails db:reset", SERVED, ASK, "set"),
    ("docker compose exec web sh -c 'DATABASE_URL=postgres://db.acme.io/x bin/rails db:reset'", SERVED, ASK, "set"),
    ("docker compose exec web bin/rails db:reset",
     {"compose.yml": WEB.replace("%s:5432/shop", "db:5432/shop\n      PGHOST: x")}, ASK, "two"),
    ("docker compose exec web bin/rails db:reset",
     {"compose.yml": WEB.replace("DATABASE_URL: postgres://postgres:dev@%s:5432/shop", "API_URL: http://db:8080")},
     ASK, "no database"),
    (DROP.replace("psql", "psql -h localhost -h db.acme.io"), PLAIN, ASK, "the last one counts"),
    (DROP.replace("psql", "psql -qh db.acme.io"), PLAIN, ASK, "among other options"),
    (DROP.replace("psql", "env PGHOST=db.acme.io psql"), PLAIN, ASK, "set"),
    ("docker compose exec db mongosh db.acme.io:27017/shop --eval 'db.dropDatabase()'", PLAIN, ASK, "an operand"),
    ("docker compose exec db mongosh shop --quiet --eval 'db.dropDatabase()'", PLAIN, ALLOW, "here"),
    (DROP,
     {"compose.yml": SEEDED.replace("ro']", "ro', {type: volume, source: pg, target: /var/lib/postgresql/data}]")},
     ASK, "long form"),
    (DROP,
     {"compose.yml": "services:\n  db: {image: postgres, volumes_from: [data]}\n  data:\n    image: x\n"},
     ASK, "another's volumes"),
    ("docker compose run --rm -v pg:/var/lib/postgresql/data db rm -rf /var/lib/postgresql/data",
     PLAIN, ASK, "its own"),
    (DROP.replace("docker", "DOCKER_CONTEXT=live docker"), PLAIN, ASK, "on another machine"),
    (f"export COMPOSE_FILE=live.yml; {DROP}", PLAIN, ASK, "other files"),
    (DROP.replace("compose", "compose -p shop_other"), PLAIN, ASK, "another project's"),
    (DROP, {"docker-compose.yaml": LOOSE, "docker-compose.yml": KEPT}, ASK, "the one that Compose takes"),
    ("docker compose exec db rm -f /var/lib/postgresql/data/postmaster.pid",
     {"compose.yml": KEPT}, ALLOW, "of a server that fell"),
    # Containers that the text started.
    ("docker run -d --name t-$$ postgres && sleep 1; docker rm -f t-$$", {}, ALLOW, "by the shell's number"),
    ("docker rm -f $X", {}, ASK, "any"),
    ("docker rm -f x${IFS}$(docker ps -aq)", {}, ASK, "a name, and all"),
    # What the session, or the project, makes anew.
    ("git reflog expire --expire=now refs/heads/x", {".git/HEAD": "x", ".git/logs/refs/heads/x": "x"}, ASK, "a log"),
    ("adb uninstall io.acme.shop.debug", GRADLE, ALLOW, "the project's app"),
    ("adb uninstall io.acme.shop.bank", GRADLE, ASK, "another one of its maker's"),
    ("adb uninstall io.acme.shopper", GRADLE, ASK, "another one"),
    ("adb uninstall io.acme.shop.test", GRADLE, ALLOW, "the tests of the project's app"),
    ("adb -s emulator-5554 uninstall io.acme.app", {"app/build.gradle.kts": 'namespace = "io.acme.app"'}, ALLOW,
     "an app without an identifier is called as its namespace"),
    ("adb uninstall io.acme.app", {"app/build.gradle": 'namespace "io.acme.app"\napplicationId "x.y"'}, ASK,
     "the namespace of one that has another identifier"),
    ("esptool.py erase_region 0x10000 0x100000", {}, ALLOW, "what the next image is written over"),
    ("esptool.py erase_flash", {}, ASK, "all that a board knows"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "files", "response", "why"), ROWS, ids=[f"{row[0]}: {row[3]}"[:90] + str(n) for n, row in enumerate(ROWS)]
)
def test_what_the_repository_says_of_a_database(text, files, response, why):
    assert said_of_last((text,), files) is response, why
