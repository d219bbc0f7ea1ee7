"""What looks like the session's own and may be somebody's: other words, other servers, names that come back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

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
    assert said_of_last((RUN, then), SETTINGS) is response


DROP = "psql -h localhost -p 54329 -c 'DROP TABLE x'"
RUN_REDIS = "docker run -d --name cache -p 6399:6379 redis:7"
INITDB = "initdb -D /tmp/pg"
PORTS = [
    # What never bound a port of this machine.
    ((RUN, DROP), ALLOW, "a server in the background"),
    (("docker run -dit -p 127.0.0.1:54329:5432 bitnami/postgresql:17", DROP), ALLOW, "in a cluster of letters"),
    (("docker create -p 54329:5432 postgres", DROP), ASK, "nothing runs yet"),
    (("docker run -p 54329:5432 postgres", DROP), ASK, "it has ended"),
    (("docker run -d --network host -p 54329:5432 postgres", DROP), ASK, "ports count for nothing there"),
    (("docker run -d -p 127.0.0.2:54329:5432 postgres", DROP), ASK, "another address"),
    (("docker run -d -p 192.168.1.5:54329:5432 postgres", DROP), ASK, "that of a network"),
    (("docker run -d -p '[::1]:54329:5432' postgres", DROP), ASK, "localhost may mean the other"),
    (("docker run -d -p 54329:5432/udp postgres", DROP), ASK, "another protocol"),
    (("docker run -d -p 54329:5432 alpine sleep 9", DROP), ASK, "an image that serves nothing"),
    (("docker run -d -p 54329:5432 edoburu/pgbouncer", DROP), ASK, "what leads elsewhere"),
    (("docker run -d -p 54329:5432 -e DB_HOST=db.acme.io postgres", DROP), ASK, "the same, as a variable says"),
    # Another machine's.
    (("DOCKER_HOST=ssh://build1 docker run -d -p 54329:5432 postgres", DROP), ASK, "by a variable"),
    (("docker --context prod run -d -p 54329:5432 postgres", DROP), ASK, "by an option"),
    (("podman --remote run -d -p 54329:5432 postgres", DROP), ASK, "podman's"),
    (("CONTAINER_HOST=ssh://build1 podman run -d -p 54329:5432 postgres", DROP), ASK, "its variable"),
    (("ssh build1 docker run -d -p 54329:5432 postgres", DROP), ASK, "there"),
    (("vagrant ssh -c 'docker run -d -p 54329:5432 postgres'", DROP), ASK, "in a machine"),
    (("docker exec dind docker run -d -p 54329:5432 postgres", DROP), ASK, "in a container"),
    (("ssh build1 docker run -d --name tmp postgres", "docker rm -f -v tmp"), ASK, "its name, too"),
    ((RUN, "docker context use prod && docker rm -f -v tmp"), ASK, "another engine from here on"),
    ((RUN, "docker context use prod", "docker exec tmp psql -c 'DROP TABLE x'"), ASK, "and afterwards"),
    # Another store of containers, in which the name was free.
    (("podman run -d --name shop-db redis", "docker rm -f -v shop-db"), ASK, "of another engine"),
    (("podman run -d --name tmp redis", "podman rm -f -v tmp"), ALLOW, "of the same"),
    (("podman --root /tmp/x run -d --name shop-db redis", "podman rm -f -v shop-db"), ASK, "in another folder"),
    (("nerdctl -n try run -d --name shop-db redis", "nerdctl rm -f -v shop-db"), ASK, "in another namespace"),
    (("docker --config /tmp/c run -d --name shop-db redis", "docker rm -f -v shop-db"), ASK, "by other settings"),
    (("DOCKER_CONFIG=/tmp/c docker run -d --name shop-db redis", "docker rm -f -v shop-db"), ASK, "by a variable"),
    (("HOME=/tmp/c podman run -d --name shop-db redis", "podman rm -f -v shop-db"), ASK, "in another home"),
    ((". ./.env; docker run -d --name shop-db redis", "docker rm -f -v shop-db"), ASK, "a file names an engine"),
    (('eval "$(docker-machine env ci)"; docker run -d --name a redis', "docker rm -fv a"), ASK, "a program may"),
    (("podman run -d --replace --name shop-db redis", "podman rm -f -v shop-db"), ASK, "it may have been there"),
    # What prints no identifier of what it makes.
    (("C=$(docker run --rm -it -d redis); docker rm -fv $C",), ALLOW, "it goes on in the background"),
    (("C=$(docker create --name t redis); docker rm -fv $C",), ALLOW, "it is only made"),
    (("C=$(docker run --rm alpine echo shop-db); docker rm -fv $C",), ASK, "what runs in there prints"),
    (("C=$(docker run --rm alpine echo -d shop-db); docker rm -fv $C",), ASK, "the same"),
    (("C=$(docker run -d redis > /dev/null\necho shop-db); docker rm -fv $C",), ASK, "a second line"),
    # What takes the place of a container that ended by itself.
    ((RUN_REDIS, "docker run -d --name cache -v shop:/data alpine sleep 9", "docker exec cache rm -rf /data"), ASK,
     "one with somebody's volume"),
    ((RUN_REDIS, RUN_REDIS, "docker exec cache rm -rf /data"), ALLOW, "one like it"),
    ((RUN, "docker run -d -p 54329:1 alpine/socat tcp-l:1,fork tcp:db.acme.io:5432", DROP), ASK, "at its port"),
    ((RUN, "docker run -d -p 8080:80 -p 127.0.0.1::443 -p 5432 nginx", DROP), ALLOW, "at other ports"),
    ((RUN, "docker run -d -p 54000-54999:1-1000 nginx", DROP), ASK, "at many"),
    ((RUN, "docker network disconnect bridge tmp", DROP), ASK, "it is there no longer"),
    (("docker run -d -p 54329:5432 acme/postgres-relay", DROP), ASK, "by its name it leads on"),
    (("docker run -d -p 54329:5432 postgres sh -c 'nc -lp 5432 -e x'", DROP), ASK, "a shell in its place"),
    (("docker run -d -p 54329:5432 postgres postgres -c fsync=off", DROP), ALLOW, "the server with an option"),
    # Clusters of PostgreSQL.
    ((INITDB, "pg_ctl -D /tmp/pg -o '-p 54329' start", DROP), ALLOW, "one that was made"),
    ((INITDB, "pg_ctl -D /tmp/pg -o '-p 54329 -D /srv/pg' start", DROP), ASK, "another folder"),
    ((INITDB, "pg_ctl -D /tmp/pg -o '-p 54329 -c data_directory=/srv/pg' start", DROP), ASK, "by a setting"),
    ((INITDB, "rm -rf /tmp/pg && ln -s /srv/pg /tmp/pg", "pg_ctl -D /tmp/pg -o '-p 54329' start", DROP), ASK,
     "another one in its place"),
    # What is no longer there: the next at its port, or of its name, may be the person's.
    ((RUN, "docker rm -f tmp", DROP), ASK, "taken away"),
    ((RUN, "docker stop tmp", DROP), ASK, "ended"),
    ((RUN, "docker container stop tmp", DROP), ASK, "by the longer name"),
    ((RUN, "docker compose down", DROP), ALLOW, "it is none of a project's"),
    ((RUN, RUN_REDIS, "docker rm -f cache", DROP), ALLOW, "another container was taken away"),
    ((RUN, RUN_REDIS, "docker rm -f cache tmp", DROP), ASK, "both"),
    ((RUN, "docker stop 3fa9c1d2", DROP), ASK, "by a number that nobody knows"),
    ((RUN, f"cleanup() {{ docker rm -fv tmp; }}; trap cleanup EXIT; {DROP}"), ALLOW, "at the end"),
    ((RUN, f"docker rm -f tmp; docker start shop-db; {DROP}"), ASK, "another took its place"),
    ((RUN, ("docker rm -f tmp", 1), DROP), ASK, "whatever came of it"),
    ((RUN, "docker rm -f tmp", RUN, DROP), ALLOW, "started anew"),
    ((RUN, f"docker rm -f tmp && {RUN}", DROP), ALLOW, "the same in one text"),
    ((RUN, f"docker rm -f tmp; kubectl port-forward svc/pg 54329:5432 & {DROP}"), ASK, "led elsewhere"),
    ((RUN, f"ssh -fNL 54329:pg:5432 bastion; {DROP}"), ASK, "the same by ssh"),
    ((RUN, "ssh -fNL 54329:pg:5432 bastion", DROP), ASK, "by another call"),
    ((RUN, "ssh -fNL 9999:pg:5432 bastion", DROP), ALLOW, "another port"),
    (("docker run -d --name db postgres", "docker rm -f db", "docker rename shop-db db", "docker rm -fv db"), ASK,
     "another container has its name"),
    (("docker compose up -d", "psql -h localhost -p 5433 -c 'DROP TABLE x'"), ALLOW, "a service that keeps nothing"),
    (("docker compose up", "psql -h localhost -p 5433 -c 'DROP TABLE x'"), ASK, "it has ended"),
    (("docker compose up -d", "docker compose down", "psql -h localhost -p 5433 -c 'DROP TABLE x'"), ASK, "ended"),
    (("docker compose up -d --scale db=0", "psql -h localhost -p 5433 -c 'DROP TABLE x'"), ASK, "none of it"),
    (("docker compose up -d --no-recreate", "psql -h localhost -p 5433 -c 'DROP TABLE x'"), ASK, "as it was"),
    (("docker compose up --no-start", "psql -h localhost -p 5433 -c 'DROP TABLE x'"), ASK, "not started"),
    (("docker compose up -d", "psql -h localhost -p 5434 -c 'DROP TABLE x'"), ASK, "a profile that nobody chose"),
    (("docker compose up -d", "psql -h localhost -p 5435 -c 'DROP TABLE x'"), ASK, "replicas: 0"),
    (("docker compose up -d", "psql -h localhost -p 5436 -c 'DROP TABLE x'"), ASK, "in the network of the machine"),
    (("docker compose up -d", "psql -h localhost -p 5437 -c 'DROP TABLE x'"), ASK, "what leads elsewhere"),
    (("docker compose up -d", "docker compose -f kept.yaml up -d", "psql -h localhost -p 5433 -c 'DROP TABLE x'"), ASK,
     "another file puts a volume behind it"),
]  # fmt: skip
SERVICES = """services:
  db:
    image: postgres
    ports: ['5433:5432']
  chosen:
    image: postgres
    profiles: ['local']
    ports: ['5434:5432']
  none:
    image: postgres
    deploy:
      replicas: 0
    ports: ['5435:5432']
  host:
    image: postgres
    network_mode: host
    ports: ['5436:5432']
  led:
    image: alpine/socat
    ports: ['5437:5432']
  tools:
    image: postgres
    environment:
      PGHOST: db.acme.io
  near:
    image: postgres
    environment:
      PGHOST: db
"""
KEPT = """services:
  db:
    image: postgres
    ports: ['5433:5432']
    volumes: ['pg:/var/lib/postgresql/data']
volumes:
  pg:
"""


@pytest.mark.parametrize(("calls", "response"), [row[:2] for row in PORTS], ids=[f"{r[0][0]}: {r[2]}" for r in PORTS])
def test_whose_a_port_is(calls: Sequence[str | tuple[str, int]], response: Response) -> None:
    files = {"compose.yaml": SERVICES, "kept.yaml": KEPT, ".env": "DOCKER_HOST=ssh://ci\n"}
    assert said_of_last(calls, files) is response


UP, DOWN = "docker compose -p try7 up -d", "docker compose -p try7 down -v"
PROJECTS = [
    ({}, UP, DOWN, ALLOW, "a name that nothing says"),
    ({"~/try7/compose.yaml": KEPT}, UP, DOWN, ASK, "a folder beside the repository"),
    ({"~/Try.7/compose.yaml": KEPT}, UP, DOWN, ASK, "one that Compose calls so"),
    ({"try7/a.txt": ""}, UP, DOWN, ASK, "a folder within it"),
    ({".envrc": "export COMPOSE_PROJECT_NAME=try7\n"}, UP, DOWN, ASK, "what the shell sets"),
    ({".env": "COMPOSE_PROJECT_NAME=try7\n"}, UP, DOWN, ASK, "what Compose loads"),
    ({"README.md": "docker compose -p TRY7 up\n"}, UP, DOWN, ASK, "in other letters"),
    ({"README.md": "docker compose -p try7 up\n", "ops/compose.yaml": KEPT}, f"cd ops; {UP}", f"cd ops; {DOWN}", ASK,
     "a file above"),
    ({"ops/dev/compose.yaml": f"name: try7\n{KEPT}"}, UP.replace("-p", "-f ops/dev/compose.yaml -p"),
     DOWN.replace("-p", "-f ops/dev/compose.yaml -p"), ASK, "its own name for itself"),
    ({}, UP.replace("try7", "demo"), DOWN.replace("try7", "demo"), ASK, "a name that anybody gives"),
    ({}, "ls", DOWN.replace("try7", "shop-it"), ASK, "two letters say no test"),
    ({".env": "COMPOSE_FILE=other.yaml\n"}, UP, DOWN, ASK, "nobody knows which files"),
    ({}, "ls", DOWN.replace("try7", "shop-e2e"), ALLOW, "a project of tests"),
    ({}, "ls", f"docker context use prod && {DOWN.replace('try7', 'shop-e2e')}", ASK, "another engine's"),
    ({"~/.docker/config.json": '{"currentContext": "prod"}'}, "ls", DOWN.replace("try7", "shop-e2e"), ASK, "chosen"),
    # Volumes that are another project's.
    ({"compose.yaml": KEPT.replace("pg:\n", "pg: {name: shopdata}\n")}, UP, DOWN, ASK, "a name in one line"),
    ({"compose.yaml": KEPT.replace("volumes:\n  pg:\n", "volumes: {pg: {}}\n")}, UP, DOWN, ALLOW, "in one line"),
    ({"compose.yaml": KEPT.replace("pg:\n", "pg: {external: true}\n")}, UP, DOWN, ASK, "external in one line"),
    ({"compose.yaml": KEPT.replace("volumes:\n  pg:", "volumes: # data\n  pg:\n    name: x")}, UP, DOWN, ASK,
     "behind a comment"),
    ({"compose.yaml": KEPT.replace("\nvolumes:", '\n"volumes":') + "    name: x\n"}, UP, DOWN, ASK, "in quotes"),
    ({"compose.override.yaml": "volumes: {pg: {name: x}}\n"}, UP, DOWN, ASK, "of a second file"),
    ({"compose.yaml": f"include: [base.yaml]\n{KEPT}"}, UP, DOWN, ASK, "a file that is taken in"),
    ({"compose.yaml": KEPT + "    driver_opts: {device: /srv}\n"}, UP, DOWN, ASK, "a folder of the machine"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "first", "then", "response"),
    [row[:4] for row in PROJECTS],
    ids=[f"{n}: {r[4]}" for n, r in enumerate(PROJECTS)],
)
def test_whose_a_project_is(files: dict[str, str], first: str, then: str, response: Response) -> None:
    assert said_of_last((first, then), {"compose.yaml": KEPT} | files) is response


AT = "docker run -d --name t postgres"
SERVERS = [
    ("createdb shop", "dropdb --maintenance-db=postgres://db.acme.io/postgres shop", ASK, "by an option"),
    ("createdb shop", "psql --dbname=postgres://db.acme.io/postgres -c 'DROP DATABASE shop'", ASK, "by an address"),
    ("createdb shop", "psql 'host=db.acme.io' -c 'DROP DATABASE shop'", ASK, "by pairs"),
    ("createdb shop", "psql -d 'host=db.acme.io' -c 'DROP DATABASE shop'", ASK, "by pairs of an option"),
    ("createdb shop", "psql service=eu -c 'DROP DATABASE shop'", ASK, "by a service"),
    ("createdb shop", "PGDATABASE=postgres://db.acme.io/x psql -c 'DROP DATABASE shop'", ASK, "by a variable"),
    ("mysql -e 'CREATE DATABASE shop'", "mysql -e 'DROP DATABASE shop'", ALLOW, "the same server"),
    ("mysql -e 'CREATE DATABASE shop'", "mysql --defaults-file=eu.cnf -e 'DROP DATABASE shop'", ASK, "by a file"),
    ("mysql -e 'CREATE DATABASE shop'", "mysql --login-path=eu -e 'DROP DATABASE shop'", ASK, "by a login"),
    ("mysql -e 'CREATE DATABASE shop'", "mysql -S /tmp/o.sock -e 'DROP DATABASE shop'", ASK, "by a socket"),
    ("psql -c 'CREATE DATABASE shop'", "mysql -e 'DROP DATABASE shop'", ASK, "another kind of server"),
    ("sqlcmd -S localhost -Q 'CREATE DATABASE shop'", "sqlcmd -S eu -Q 'DROP DATABASE shop'", ASK, "sqlcmd"),
    ("createdb shop", "heroku run 'dropdb shop'", ASK, "there"),
    ("createdb shop", "flyctl ssh console -C 'dropdb shop'", ASK, "in a machine of others"),
    ("createdb shop", "vagrant ssh -c 'dropdb shop'", ASK, "in a virtual one"),
    ("docker exec one createdb shop", "docker exec two dropdb shop", ASK, "in another container"),
    ("createdb shop && psql -c 'ALTER DATABASE live RENAME TO shop'", "dropdb shop", ASK, "another one has its name"),
    # What proves no name.
    ("psql -c 'CREATE DATABASE \"shop-copy\"'", "dropdb shop-copy", ALLOW, "a name in quotes"),
    ("psql -c 'CREATE DATABASE \"shop-copy\"'", "dropdb shop", ASK, "which is no part of it"),
    ("psql -c \"SELECT 'create database shop'\"", "dropdb shop", ASK, "words in quotes"),
    ("mysql -e \"CREATE USER a IDENTIFIED BY 'x'; CREATE DATABASE shop\"", "mysql -e 'DROP DATABASE shop'", ALLOW,
     "a statement behind them"),
    ("createdb -V shop", "dropdb shop", ASK, "a version"),
    ("docker -v run -d --name t postgres", "docker rm -f -v t", ASK, "the engine's"),
    ("kafka-topics.sh --bootstrap-server localhost:9092 --create --topic a --version",
     "kafka-topics.sh --bootstrap-server localhost:9092 --delete --topic a", ASK, "a tool's"),
    ("createdb shop && psql -c 'ALTER DATABASe live RENAME TO shop'", "dropdb shop", ASK, "in mixed letters"),
    # What a container, or a service, is told of others.
    ("docker run -d --name t postgres", "docker exec t psql -c 'DROP TABLE x'", ALLOW, "its own server"),
    ("docker run -d --name t postgres", "docker exec t kubectl delete ns x", ASK, "a cluster is not in it"),
    ("docker run -d --name t tools", "docker exec t aws s3 rb s3://shop --force", ASK, "nor a cloud"),
    ("docker run -d --name t tools", "docker exec t terraform destroy -auto-approve", ASK, "nor what it made"),
    (AT, "docker exec t psql -c '\\c postgres://db.acme.io/x' -c 'DROP TABLE x'", ASK, "by a word"),
    (AT, "docker exec t psql -c '\\c shop' -c 'DROP TABLE x'", ALLOW, "a database there"),
    (AT, "docker exec t mysql -e 'connect x db.acme.io; DROP TABLE x'", ASK, "MySQL's word"),
    (AT, "docker exec t mongosh --eval 'connect(\"db.acme.io/x\").dropDatabase()'", ASK, "MongoDB's"),
    (AT, "docker exec t cqlsh shop-db -e 'DROP KEYSPACE x'", ASK, "a host by its name"),
    (AT, "docker exec t cqlsh -u me -e 'DROP KEYSPACE x'", ALLOW, "its own"),
    (AT, "docker exec t redis-cli --cluster call shop:6379 flushall", ASK, "the nodes of another"),
    (RUN, "psql -h localhost -p 54329 -c \"select dblink_exec('host=db.acme.io', 'drop table x')\"", ASK, "a link"),
    (RUN, "mysql -h 127.0.0.1 -P 54329 -e 'connect x db.acme.io; DROP TABLE x'", ASK, "a word of the client"),
    (RUN, "mysql -h 127.0.0.1 -P 54329 -e 'DROP TABLE x'", ALLOW, "without it"),
    (RUN, "clickhouse-client --port 54329 --connection eu -q 'DROP TABLE x'", ASK, "settings that name another"),
    (RUN, "redis-cli -p 54329 --cluster call cache.acme.io:6379 flushall", ASK, "the nodes of another"),
    ("docker run -d --name t --env-file a.env postgres", "docker exec t psql -c 'DROP TABLE x'", ASK, "variables"),
    ("docker run -d --name t -e PGHOST=db.acme.io postgres", "docker exec t psql -c 'DROP TABLE x'", ASK, "one"),
    ("docker run -d --name t --net host postgres", "docker exec t psql -c 'DROP TABLE x'", ASK, "this machine's"),
    ("docker run -d --name t --network container:shop postgres", "docker exec t psql -c 'DROP TABLE x'", ASK, "its"),
    ("docker run -d --name t postgres", "docker exec -e PGHOST=shop-db t psql -c 'DROP TABLE x'", ASK, "told now"),
    ("docker run -d --name t postgres", "docker exec t env PGHOST=shop-db psql -c 'DROP TABLE x'", ASK, "the same"),
    ("ls", "docker compose exec db psql -c 'DROP TABLE x'", ALLOW, "a service that keeps nothing"),
    ("ls", "docker compose exec tools psql -c 'DROP TABLE x'", ASK, "one that is told of another server"),
    ("ls", "docker compose exec near psql -c 'DROP TABLE x'", ALLOW, "one that is told of a service beside it"),
    ("ls", "docker context use prod && docker compose exec db psql -c 'DROP TABLE x'", ASK, "another engine's"),
    ("ls", "DOCKER_HOST=ssh://build1 docker compose exec db psql -c 'DROP TABLE x'", ASK, "the same by a variable"),
    ("ls", "docker compose -f free.yaml exec db psql -c 'DROP TABLE x'", ALLOW, "a file that agrees with the usual"),
    ("ls", "cd old; docker compose -f free.yaml exec db psql -c 'DROP TABLE x'", ASK, "which says that it keeps data"),
    ("ls", "docker compose --env-file ci.env exec db psql -c 'DROP TABLE x'", ALLOW, "a file of variables"),
    ("ls", "docker compose --env-file file.env exec db psql -c 'DROP TABLE x'", ASK, "one that names other files"),
    ("ls", "docker compose --env-file name.env exec db psql -c 'DROP TABLE x'", ASK, "or another project"),
    ("ls", "mkdir ../shop; cp compose.yaml ../shop; cd ../shop; docker compose exec db psql -c 'DROP TABLE x'", ASK,
     "a project that is there under that name"),
    # Clones.
    ("git clone u /tmp/shop", "cd /tmp/shop && git reflog expire --expire=now --all", ALLOW, "a copy"),
    ("ssh h git clone u /tmp/shop", "cd /tmp/shop && git reflog expire --expire=now --all", ASK, "there"),
    ("git clone -h u /tmp/shop", "cd /tmp/shop && git reflog expire --expire=now --all", ASK, "nothing was made"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "response"), [row[:3] for row in SERVERS], ids=[f"{n}: {r[3]}" for n, r in enumerate(SERVERS)]
)
def test_where_a_client_or_container_leads(first: str, then: str, response: Response) -> None:
    files = {"compose.yaml": SERVICES, "free.yaml": SERVICES, "old/compose.yaml": KEPT, "old/free.yaml": SERVICES}
    files |= {"ci.env": "A=1\n", "file.env": "COMPOSE_FILE=x.yaml\n", "name.env": "COMPOSE_PROJECT_NAME=shop\n"}
    assert said_of_last((first, then), files) is response


def test_a_clone_that_another_folder_replaced_is_nobodys() -> None:
    expire = "cd /tmp/shop && git reflog expire --expire=now --all"
    assert said_of_last(("git clone u /tmp/shop", "echo x > /tmp/shop/a.txt", expire), {}) is ALLOW
    for other in ("rm -rf /tmp/shop", "mv /home/ann/other /tmp/shop", "rsync -a /home/ann/other/ /tmp/shop/"):
        assert said_of_last(("git clone u /tmp/shop", other, expire), {}) is ASK


def test_a_temporary_file_is_where_it_leads() -> None:
    then = "SHOP_DB=/tmp/n.db python manage.py flush --noinput"
    files = {"app/settings.py": 'DB = os.environ["SHOP_DB"]\n'}
    assert said_of_last((then,), files) is ALLOW
    assert said_of_last((then,), files, links={"/tmp/n.db": "/srv/shop.db"}) is ASK
