"""What looks like the session's own and may be somebody's: other words, other servers, names that come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Layer, Outcome, Response, Verdict
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import HOME, FakeWorld

ROOT = f"{HOME}/project"
RUN = "docker run -d --name tmp -p 54329:5432 postgres:17"
URL = "DATABASE_URL=postgres://me:x@localhost:54329/app"
ALLOW, ASK = Response.ALLOW, Response.ASK

SETTINGS = {
    "shop/settings.py": "DATABASES = {'default': env.db('DATABASE_URL'), 'legacy': {'HOST': 'db.acme.io'}}\n",
    "only/settings.py": "# DATABASE_URL was read from env once\nDATABASES = {'default': {'HOST': 'db.acme.io'}}\n",
    "alembic/env.py": "url = os.environ['DATABASE_URL']\n",
    "knexfile.js": "module.exports = {development: {connection: process.env.DATABASE_URL}, production: {}}\n",
    "config/config.js": "module.exports = {development: {url: process.env.DATABASE_URL}, production: {host: 'x'}}\n",
    "src/data-source.ts": "url: process.env.DATABASE_URL\n",
    "src/other-source.ts": "url: 'postgres://db.acme.io/shop'\n",
    "prisma/schema.prisma": 'url = env("DATABASE_URL")\n',
    "direct/prisma/schema.prisma": 'url = env("DATABASE_URL")\ndirectUrl = env("DIRECT_URL")\n',
    "config/runtime.exs": 'url: System.get_env("DATABASE_URL")\n',
    "late/config/runtime.exs": 'if config_env() == :prod do\n  url: System.get_env("DATABASE_URL")\nend\n',
    "two/config/database.yml": "development:\n  primary:\n    database: a\n  legacy:\n    database: b\n",
    "url/config/database.yml": "development:\n  url: <%= ENV['SHOP_URL'] %>\n",
    "one/config/database.yml": "development:\n  database: shop_dev\nproduction:\n  database: shop\n",
    "config/database.php": "'url' => env('DATABASE_URL')\n",
    "/tmp/air/airflow.cfg": "sql_alchemy_conn = postgresql://db.acme.io/airflow\n",
}
TASKS = [
    # Django, Alembic, Flask: options and modules of settings that name another database.
    (f"{URL} python manage.py flush --noinput", ALLOW, "the settings take it"),
    (f"{URL} python manage.py flush --noinput --database=legacy", ASK, "the second database of the settings"),
    (f"{URL} python manage.py flush --noinput --settings=shop.prod", ASK, "other settings"),
    (f"DJANGO_SETTINGS_MODULE=shop.settings.prod {URL} python manage.py flush --noinput", ASK, "by a variable"),
    (f"DJANGO_SETTINGS_MODULE=shop.settings {URL} python manage.py flush --noinput", ALLOW, "the usual ones"),
    (f"cd only && {URL} python manage.py flush --noinput", ASK, "a comment takes nothing"),
    (f"{URL} alembic downgrade base", ALLOW, "the environment's script takes it"),
    (f"{URL} alembic -c prod.ini downgrade base", ASK, "another file of settings"),
    (f"{URL} alembic -n other downgrade base", ASK, "another section of them"),
    (f"{URL} alembic -x db=eu downgrade base", ASK, "a word that the script may read first"),
    # JavaScript.
    (f"{URL} npx knex migrate:rollback --all", ALLOW, "development takes it"),
    (f"{URL} npx knex migrate:rollback --all --env production", ASK, "production has another one"),
    (f"NODE_ENV=production {URL} npx knex migrate:rollback --all", ASK, "by a variable"),
    (f"{URL} npx sequelize db:drop --env production", ASK, "Sequelize"),
    (f"{URL} npx sequelize db:drop --url postgres://db.acme.io/shop", ASK, "an address counts first"),
    (f"{URL} npx typeorm schema:drop -d src/data-source.ts", ALLOW, "the file takes it"),
    (f"{URL} npx typeorm schema:drop -d src/other-source.ts", ASK, "another file does not"),
    (f"{URL} npx prisma migrate reset --force", ALLOW, "the schema takes it"),
    (f"{URL} npx prisma migrate reset --force --schema prisma/legacy.prisma", ASK, "another schema"),
    (f"{URL} npx prisma migrate reset --force --config x.config.ts", ASK, "another configuration"),
    (f"cd direct && {URL} npx prisma migrate reset --force", ASK, "migrations go by the second address"),
    # Rails, Ecto, Laravel.
    (f"cd one && {URL} bin/rails db:drop", ALLOW, "one database"),
    (f"cd one && {URL} bin/rails db:drop:all", ASK, "those of every environment"),
    (f"cd one && RAILS_ENV=production {URL} bin/rails db:drop", ASK, "another environment"),
    (f"cd two && {URL} bin/rails db:drop", ASK, "of two databases the variable names the first"),
    (f"cd two && {URL} bin/rails db:drop:legacy", ASK, "the second by its name"),
    (f"cd url && {URL} bin/rails db:reset", ASK, "the settings take another variable"),
    (f"{URL} mix ecto.drop --force", ALLOW, "the settings take it"),
    (f"MIX_ENV=prod {URL} mix ecto.drop --force", ASK, "another environment"),
    (f"{URL} mix ecto.drop -r Shop.LegacyRepo", ASK, "another repository"),
    (f"cd late && {URL} mix ecto.drop", ASK, "production alone takes it"),
    (f"{URL} php artisan migrate:fresh --database=legacy", ASK, "another connection"),
    # Tools that read the variable by themselves.
    (f"{URL} dbmate drop", ALLOW, "its own variable"),
    (f"{URL} dbmate -e PROD_URL drop", ASK, "another variable"),
    (f"{URL} dbmate --env-file prod.env drop", ASK, "a file of variables"),
    (f'{URL} sqlx database drop -y -D "$PROD_URL"', ASK, "an address that nobody knows"),
    # Folders and files.
    ("AIRFLOW_HOME=/tmp/air airflow db reset -y", ASK, "its settings lie there and name a server"),
    ("ln -s /srv/shop.db /tmp/n.db; SHOP_DB=/tmp/n.db python manage.py flush", ASK, "a link of this text"),
    # A client's own variables.
    ("PGHOSTADDR=10.2.3.4 psql -h localhost -p 54329 -c 'DROP TABLE x'", ASK, "it counts beside any word"),
]  # fmt: skip


@pytest.mark.parametrize(("then", "response"), [row[:2] for row in TASKS], ids=[f"{r[0]}: {r[2]}" for r in TASKS])
def test_words_and_settings_that_say_another_database(then: str, response: Response) -> None:
    assert last((RUN, then), SETTINGS) is response


def test_a_temporary_file_is_where_it_leads() -> None:
    then = "SHOP_DB=/tmp/n.db python manage.py flush --noinput"
    files = {"app/settings.py": 'DB = os.environ["SHOP_DB"]\n'}
    assert last((then,), files) is ALLOW
    assert last((then,), files, links={"/tmp/n.db": "/srv/shop.db"}) is ASK


def last(
    calls: Sequence[str | tuple[str, int]], files: Mapping[str, str], *, links: Mapping[str, str] | None = None
) -> Response:
    """What is said of the last call, after the others ended with their codes (0 where none stands beside one)."""
    there = {
        name if name[0] == "/" else f"{HOME}/{name[2:]}" if name[0] == "~" else f"{ROOT}/{name}": text
        for name, text in files.items()
    }
    policy, session, world = merge(builtin()), Session("s", ROOT), FakeWorld(there, links=links, folders=(ROOT,))
    said = ALLOW
    for number, call in enumerate(calls):
        text, code = (call, 0) if isinstance(call, str) else call
        action = Action(f"a{number}", "s", Layer.HOOK, "bash", {"command": text}, ROOT, 1.0 + number, ROOT)
        effects = analyse(action, world, session.made)
        case = Case(action, effects, session, policy, home=HOME, new=lambda _path: False)
        said = max((f.response for f in rules(case)), default=ALLOW)
        for entry in encode_entries.of_verdict(Verdict(action, effects), "op", poll=False, policy=policy):
            session = session.after(entry)
        session = session.after(encode_entries.of_outcome(action, Outcome(action.id, 1.5 + number, code)))
    return said
