"""What the engine of containers says came after the session began is the session's (ADR 0050)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from sentinel_guard.core.analysis.engine_facts import Container, Mount, Told, Volume
from sentinel_guard.core.model import Response
from tests.support.judge_cases import PROJECT, said_of_last

ASK, ALLOW = Response.ASK, Response.ALLOW
DATA = "/var/lib/postgresql/data"
COMPOSE = (
    f"services:\n  db:\n    image: postgres:16\n    ports: ['5432:5432']\n    volumes: [pg:{DATA}]\nvolumes:\n  pg:\n"
)
FILES = {
    ".env.prod": "COMPOSE_PROJECT_NAME=prod\n",
    "compose.yaml": COMPOSE,
    "prisma/schema.prisma": 'datasource db {\n  provider = "postgresql"\n  url = env("DATABASE_URL")\n}\n',
    ".env": "DATABASE_URL=postgresql://app:pw@localhost:5432/shop\n",
}
NEW, OLD = Mount(DATA, False, True, False), Mount(DATA, False, False, False)
PLAIN = Told(("docker-entrypoint.sh", "postgres"), ("PATH", "PGDATA", "POSTGRES_PASSWORD"), "project_default")
DB = Container("1f", ("project-db-1",), "postgres:16", "project", "db", PROJECT, frozenset(("5432",)), (NEW,), True)
APP = DB._replace(
    ident="2f", names=("project-app-1",), image="project-app", service="app", ports=frozenset(),
    mounts=(Mount("/app", True, False, False),),
)  # fmt: skip
VOLUMES = {"project_pg": Volume("project", True)}


@dataclass
class FakeEngine:
    containers: tuple[Container, ...] = (DB, APP)
    volumes: Mapping[str, Volume] = field(default_factory=lambda: VOLUMES)
    said: Told | None = PLAIN

    full: bool = False

    def keeps(self, ident: str) -> bool:
        return self.full

    def told(self, ident: str) -> Told | None:
        return self.said if ident == DB.ident else PLAIN


def of(db: Container = DB, *others: Container, volumes: Mapping[str, Volume] = VOLUMES, said: Told | None = PLAIN):
    return FakeEngine((db, *others), volumes, said)


MINE = of(DB, APP)
N8N = DB._replace(names=("n8n",), image="n8nio/n8n", project="", service="", mounts=(), is_new=False)
FULL = FakeEngine((N8N,), {}, full=True)
RM = "docker stop n8n && docker rm n8n"
DROP = "psql -h localhost -p 5432 -U app -c 'drop table orders'"
IN = "docker compose exec -T db psql -U app -c 'drop table orders'"
DOWN = "docker compose down -v"
RESET = "npx prisma migrate reset --force"
REPLACED = "docker rm -f project-db-1 && docker run -d --name project-db-1 -v x:/data alpine"
KEPT = of(DB._replace(mounts=(OLD,)), volumes={"project_pg": Volume("project", False)})
FOLDER = of(DB._replace(mounts=(Mount(DATA, True, False, False),)), volumes={})
SET_UP = of(DB._replace(mounts=(NEW, Mount("/etc/app", True, False, False))))
MSSQL = DB._replace(image="mcr.microsoft.com/mssql/server:2022-latest", ports=frozenset(("14333",)), mounts=())
EF = (
    "export ConnectionStrings__Zoo='Server=127.0.0.1,14333;Database=zoo_dev;User Id=sa;Password=x'; "
    "dotnet ef database update -p src/Data -s src/Web | tail -1 && dotnet ef database update 0 -p src/Data -s src/Web "
    "--no-build | tail -1"
)
MINE_PASS = [
    (DROP, MINE, ALLOW, "a server at a port"),
    ("dropdb -h localhost -p 5432 -U app shop", MINE, ALLOW, "a whole database"),
    (RESET, MINE, ALLOW, "the one of .env"),
    (IN, MINE, ALLOW, "in its service"),
    ("docker exec project-db-1 dropdb -U app shop", MINE, ALLOW, "in its container"),
    (DOWN, MINE, ALLOW, "its volumes"),
    ("docker compose -p project down -v", MINE, ALLOW, "the same by name"),
    ("docker volume rm project_pg", MINE, ALLOW, "a volume"),
    ("docker rm -fv project-db-1", MINE, ALLOW, "a container with what it keeps"),
    (f"{DROP} && {DOWN}", MINE, ALLOW, "one after the other"),
    ("docker rm -f project-db-1 && docker volume rm project_pg", MINE, ALLOW, "what it left"),
    ("env PGPASSWORD=x " + DROP, MINE, ALLOW, "with a variable"),
    ("redis-cli -p 6379 flushall", of(DB._replace(image="redis:7", ports=frozenset(("6379",)))), ALLOW, "a cache"),
    (EF, of(MSSQL), ALLOW, "by the variable that .NET takes before its settings"),
    (DOWN, of(volumes=VOLUMES), ALLOW, "without the application"),
    (DOWN, FakeEngine((), VOLUMES), ALLOW, "volumes alone, its containers are gone"),
    (
        IN,
        of(DB._replace(mounts=(NEW, Mount("/docker-entrypoint-initdb.d/a.sql", True, False, False)))),
        ALLOW,
        "set up",
    ),
    (IN, of(DB._replace(mounts=(NEW, Mount("/seed", True, False, True)))), ALLOW, "a folder to be read only"),
    ("docker exec project-db-1 dropdb -U app shop", SET_UP, ALLOW, "a database beside a folder of settings"),
    ("docker exec project-db-1 rm -rf /tmp/x /var/lib/postgresql/data", SET_UP, ALLOW, "what the container keeps"),
    (f"npx dotenv -e .env.test -- {DROP}", MINE, ALLOW, "through what stays on this machine"),
    (f"timeout 60 bash -c '{DOWN}'", MINE, ALLOW, "the same"),
    (f"docker context ls; {DOWN}", MINE, ALLOW, "a look at the engines"),
    ("mysql --protocol=tcp -h localhost -P 5432 -e 'drop database x'", MINE, ALLOW, "by the port, as it says"),
]
NOT_MINE = [
    (RM, FULL, ASK, "a container of before, with data in its own layer"),
    ("docker rm -f other n8n", FULL, ASK, "among others"),
    (RM, FakeEngine((N8N,), {}), ALLOW, "nothing but traces"),
    (RM, FakeEngine((N8N._replace(is_new=True),), {}, full=True), ALLOW, "the session's"),
    (RM, FakeEngine((N8N._replace(project="shop"),), {}, full=True), ALLOW, "a file makes it anew"),
    (RM, None, ALLOW, "no engine answers"),
    ("docker stop n8n", FULL, ALLOW, "it only stops"),
    (DROP, None, ASK, "no engine answers"),
    (DOWN, None, ASK, "no engine answers"),
    (DROP, of(DB._replace(is_new=False)), ASK, "a container of before"),
    (IN, of(DB._replace(is_new=False)), ASK, "a container of before"),
    (DOWN, of(DB._replace(is_new=False)), ASK, "a container of before"),
    (EF, of(MSSQL._replace(is_new=False)), ASK, "a container of before"),
    (EF, None, ASK, "no engine answers"),
    (EF.replace("14333", "14334"), of(MSSQL), ASK, "another port"),
    (DROP, KEPT, ASK, "a new container, an old volume"),
    (RESET, KEPT, ASK, "the same"),
    (IN, KEPT, ASK, "the same"),
    (DOWN, KEPT, ASK, "the same"),
    ("docker volume rm project_pg", KEPT, ASK, "the volume itself"),
    ("docker exec project-db-1 dropdb -U app shop", KEPT, ASK, "in the container"),
    ("docker rm -fv project-db-1", KEPT, ASK, "with the container"),
    (DROP, FOLDER, ASK, "a new container, an old folder"),
    (IN, FOLDER, ASK, "the same"),
    (DROP, of(DB._replace(ports=frozenset())), ASK, "it does not run, or is not alone there"),
    (DROP, of(DB, DB._replace(ident="3f", names=("x",))), ASK, "two that say so"),
    (DROP, of(DB._replace(image="alpine/socat")), ASK, "it leads on"),
    (DROP, of(DB._replace(image="edoburu/pgbouncer")), ASK, "it leads on"),
    (DROP, of(said=PLAIN._replace(words=("sh", "-c", "x"))), ASK, "nobody knows what it runs"),
    (DROP, of(said=PLAIN._replace(variables=("UPSTREAM_HOST",))), ASK, "it is told of another server"),
    (IN, of(said=PLAIN._replace(variables=("PGHOST",))), ASK, "its clients are"),
    (DROP, of(said=PLAIN._replace(network="host")), ASK, "in the machine's network"),
    (DROP, of(said=None), ASK, "the engine does not say"),
    ("psql -h db.example.com -p 5432 -c 'drop table orders'", MINE, ASK, "another machine"),
    ("psql -h localhost -p 5433 -c 'drop table orders'", MINE, ASK, "another port"),
    (f"ssh -fNL 5432:db:5432 prod && {DROP}", MINE, ASK, "a tunnel of the same text"),
    (f"ssh prod {DROP}", MINE, ASK, "on another machine"),
    (f"minikube ssh -- {DROP}", MINE, ASK, "in a machine of this one"),
    (f"colima ssh -- {DROP}", MINE, ASK, "the same"),
    (f"parallel-ssh -H db1 {DROP}", MINE, ASK, "on others"),
    (f"proxychains {DROP}", MINE, ASK, "through another network"),
    ("mysql --protocol=socket -h 127.0.0.1 -P 5432 -e 'drop database x'", MINE, ASK, "a socket, whatever the host"),
    ("docker exec project-db-1 rm -rf /etc/app", SET_UP, ASK, "a folder of this machine from before"),
    (f"npx dotenv -e .env.prod -- {DOWN}", MINE, ASK, "a file may choose the engine"),
    (f"doppler run -- {DOWN}", MINE, ASK, "a service may"),
    (f"source .env.prod; {DOWN}", MINE, ASK, "a file that nobody has read may choose engine, project or files"),
    (f"export $(cat .env.prod | xargs); {DOWN}", MINE, ASK, "the same"),
    (f"docker context update mine --docker host=ssh://prod; {DOWN}", MINE, ASK, "the context leads elsewhere"),
    (f"COMPOSE_ENV_FILES=prod.env {DOWN}", MINE, ASK, "other settings"),
    (f"docker exec web {DROP}", MINE, ASK, "in a container of its own"),
    (f"docker stop project-db-1 && docker start other && {DROP}", MINE, ASK, "another one has started"),
    (f"docker compose down && docker start other && {DROP}", MINE, ASK, "the same"),
    (f"docker compose stop && docker-compose -p other start && {DROP}", MINE, ASK, "the same"),
    (f"docker compose stop; ./start-db.sh; {DROP}", MINE, ASK, "what listens there next may be somebody's"),
    (f"docker rm -f project-db-1; brew services start postgresql; {DROP}", MINE, ASK, "the same"),
    (f"PGSERVICE=prod {DROP}", MINE, ASK, "a service may name an address"),
    ("psql -p 5432 -U app -c 'drop table orders'", MINE, ASK, "a socket that bears the number"),
    ("PGPORT=5432 psql -U app -c 'drop table orders'", MINE, ASK, "the same"),
    (f"docker compose up -d && {DOWN}", MINE, ASK, "what is up now is not what will be"),
    (f"docker compose up -d && {IN}", MINE, ASK, "the same"),
    (f"{REPLACED} && docker exec project-db-1 rm -rf /data", MINE, ASK, "another's volume"),
    ("docker -H ssh://prod compose down -v", MINE, ASK, "another engine"),
    ("docker --context colima compose down -v", MINE, ASK, "another engine of this machine"),
    (f"DOCKER_HOST=unix:///tmp/x.sock {DOWN}", MINE, ASK, "a socket of the text's"),
    (f"export DOCKER_HOST=unix:///tmp/x.sock; {DOWN}", MINE, ASK, "the same"),
    (f"sudo {DOWN}", MINE, ASK, "the settings of root"),
    ("podman compose down -v", MINE, ASK, "an engine that does not answer"),
    ("podman volume rm project_pg", MINE, ASK, "the same"),
    ("docker volume rm project_pg other", MINE, ASK, "another one beside it"),
    ("docker compose -p other down -v", MINE, ASK, "a project of which nothing is there"),
    (DOWN, FakeEngine((), {}), ASK, "nothing is there: another name may be meant"),
    (DOWN, of(volumes={**VOLUMES, "project_old": Volume("project", False)}), ASK, "one volume of before"),
    (DOWN, of(volumes={"project_pg": Volume("", False)}), ASK, "one that a container of before uses"),
    (DOWN, of(DB, APP._replace(is_new=False)), ASK, "one container of before"),
    (DOWN, of(DB, APP._replace(project="x", is_new=False)), ASK, "one of this folder by another name"),
    (DOWN, of(DB._replace(mounts=(NEW, OLD))), ASK, "one without a name, of before"),
]


@pytest.mark.parametrize(("text", "engine", "response", "why"), [*MINE_PASS, *NOT_MINE])
def test_what_the_engine_says(text: str, engine: FakeEngine | None, response: Response, why: str) -> None:
    engines = {"docker": engine} if engine else {}
    assert said_of_last([text], FILES, engines=engines) is response, why


NAMED = "name: shop\n" + COMPOSE
SHOP = of(DB._replace(project="shop"), volumes={"shop_pg": Volume("shop", True)})
NAMES = [
    ({"compose.yaml": NAMED}, SHOP, ALLOW, "the file's own name"),
    ({"compose.yaml": NAMED}, MINE, ASK, "of that name nothing is there"),
    ({"compose.yaml": NAMED}, of(volumes={"shop_pg": Volume("", False)}), ASK, "a volume of the name"),
    ({"compose.yaml": "name: ${X:-shop}\n" + COMPOSE}, SHOP, ASK, "a name that is put in"),
    ({".env": "COMPOSE_PROJECT_NAME=y\n"}, MINE, ASK, "a name in .env"),
    ({".env": "COMPOSE_FILE=y.yaml\n"}, MINE, ASK, "other files by .env"),
    ({".env": "DOCKER_HOST=ssh://prod\n"}, MINE, ASK, "another engine by .env"),
    ({"compose.yaml": COMPOSE.replace("  pg:\n", "  pg:\n    name: x\n").replace("\n", "\r\n")}, MINE, ASK, "CRLF"),
    ({"compose.yaml": COMPOSE.replace("\n", "\r\n")}, MINE, ALLOW, "the same, the project's own"),
    ({"compose.yaml": COMPOSE.replace("volumes:\n  pg:\n", "volumes :\n  pg:\n    name: x\n")}, MINE, ASK, "a blank"),
    ({"compose.yaml": COMPOSE.replace("  pg:\n", '  pg:\n    "na\\u006de": x\n')}, MINE, ASK, "by escapes"),
    ({"compose.yaml": COMPOSE.replace("pg:\n", "pg:\n    external: true\n")}, MINE, ASK, "another project's volume"),
    ({"compose.yaml": COMPOSE.replace("  pg:\n", "  pg:\n    name: prod\n")}, MINE, ASK, "a name that others may have"),
    ({"compose.yaml": "include: [x.yaml]\n" + COMPOSE}, MINE, ASK, "other files"),
]


@pytest.mark.parametrize(("files", "engine", "response", "why"), NAMES)
def test_which_project_is_meant(files: dict[str, str], engine: FakeEngine, response: Response, why: str) -> None:
    assert said_of_last([DOWN], {**FILES, **files}, engines={"docker": engine}) is response, why
