"""Names that scripts and recipes of a project, and clients in containers make, are the session's, too (ADR 0022)."""

from __future__ import annotations

import json

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK
PG, OTHER = "docker compose exec -T pg", "docker compose -p other exec -T pg"
INSIDE = [
    (f"{PG} createdb -U app shop", f"{PG} dropdb -U app shop", ALLOW, "in the same service"),
    (f"{PG} createdb shop", f"{PG} psql -d shop -c 'DROP TABLE x'", ALLOW, "what is in it"),
    (f"{PG} psql -c 'CREATE DATABASE shop'", f"{PG} dropdb shop", ALLOW, "made by a statement"),
    (f"{PG} createdb shop", f"{OTHER} dropdb shop", ASK, "of another project"),
    (f"{PG} createdb shop", "cd api && docker compose exec -T pg dropdb shop", ASK, "of another folder's"),
    (f"{PG} createdb shop", f"COMPOSE_FILE=b.yml {PG} dropdb shop", ASK, "by other files"),
    (f"{PG} createdb shop", f"DOCKER_HOST=ssh://b {PG} dropdb shop", ASK, "on another machine"),
    (f"{PG} createdb shop", "docker compose exec -T db dropdb shop", ASK, "in another service"),
    (f"{PG} createdb shop", f"{PG} dropdb -h db.acme.io shop", ASK, "from there to another machine"),
    (f"{PG} createdb shop", "dropdb shop", ASK, "on this machine"),
    ("docker compose -f x exec pg createdb d", "docker compose -p x exec pg dropdb d", ASK, "another option"),
    ("docker-compose exec pg createdb d", "podman-compose exec pg dropdb d", ASK, "another engine"),
    (f"{PG} createdb shop || true", f"{PG} dropdb shop", ASK, "it may have been there"),
    (f"{PG} createdb shop", f"docker compose down && docker compose up -d && {PG} dropdb shop", ASK, "gone"),
    ("docker compose run pg createdb shop", f"{PG} dropdb shop", ASK, "a container of its own"),
    ("docker exec a createdb shop", "docker exec a dropdb shop", ALLOW, "in one container"),
    ("docker exec a createdb shop", "docker exec b dropdb shop", ASK, "in another one"),
    ("docker exec a createdb shop", "docker exec -e PGHOST=b a dropdb shop", ASK, "another server"),
    ("docker exec a createdb shop", "docker rm -f a; docker rename b a; docker exec a dropdb shop", ASK,
        "another one of that name"),
    ("docker exec $C createdb shop", "docker exec $C dropdb shop", ASK, "nobody knows which"),
]  # fmt: skip
FILES = {
    "compose.yaml": "services:\n  pg:\n    image: postgres\n    volumes: [pg:/var/lib]\nvolumes:\n  pg: {}\n",
    "package.json": json.dumps({"scripts": {
        "db": "docker run -d --name tmp -p 6390:6379 redis:7", "predeep": "echo x", "deep": "npm run db",
        "try": "docker run -d --name tmp redis:7 || true", "late": "docker run -d --name tmp redis:7; echo up",
    }}),
    "Makefile": ".PHONY: up deep\nup:\n\t@docker run -d --name tmp -p 6390:6379 redis:7\n\tsleep 1\ndeep: up\n"
        "keeps:\n\t-docker run -d --name tmp redis:7\nfile:\n\tdocker run -d --name tmp redis:7\n"
        "lines:\n\tdocker run -d --name tmp redis:7; sleep 1\n",
    "file": "", "if/Makefile": "ifdef CI\nup:\n\tdocker run -d --name tmp redis:7\nelse\nup:\n\ttrue\nendif\n",
    "one/Makefile": ".ONESHELL:\nup:\n\tdocker run -d --name tmp redis:7\n\ttrue\n",
    "twice/Makefile": "up:\n\tdocker run -d --name tmp redis:7\nup:\n\ttrue\n",
    "other/.npmrc": "script-shell=/bin/true\n",
    "other/package.json": json.dumps({"scripts": {"db": "docker run -d --name tmp redis:7"}}),
    "shell/Makefile": "up: SHELL = /bin/true\nup:\n\tdocker run -d --name tmp redis:7\n",
    "path/Makefile": "export PATH := ./bin:$(PATH)\nup:\n\tdocker run -d --name tmp redis:7\n",
    "planted/package.json": json.dumps({"scripts": {"db": "docker run -d --name tmp redis:7"}}),
    "before/package.json": json.dumps({"scripts": {"predb": "docker run -d --name tmp redis:7", "db": "true"}}),
    "quiet/package.json": json.dumps({"scripts": {"predb": "docker run -d --name tmp redis:7", "db": "true"}}),
    "quiet/.npmrc": "ignore-scripts=true\n",
    "yarn/package.json": json.dumps({"scripts": {"db": "docker run -d --name tmp redis:7"}}),
    "yarn/.yarnrc": "script-shell /bin/true\n",
    "found/Makefile": "VPATH = bin\nup:\n\tdocker run -d --name tmp redis:7\n", "found/bin/up": "", "bin/deep": "",
    "sought/Makefile": "vpath % bin\nup:\n\tdocker run -d --name tmp redis:7\n", "sought/bin/up": "",
    "plain/Makefile": "up:\n\tdocker run -d --name tmp redis:7\n", "plain/bin/up": "",
    "planted/node_modules/.bin/docker": "", "planted/api/package.json": json.dumps({"scripts": {
        "db": "docker run -d --name tmp redis:7"}}), "/tmp/f/docker": "",
    "ignore/Makefile": ".IGNORE: up\nup:\n\tdocker run -d --name tmp redis:7\n",
}  # fmt: skip
FLUSH = "docker exec tmp redis-cli flushall"
BY_SCRIPTS = [
    ("npm run -s db && sleep 3", FLUSH, ALLOW, "a script ends as its command does"),
    ("yarn -s db && docker exec tmp redis-cli ping", "redis-cli -p 6390 flushall", ALLOW, "its port"),
    ("npm run deep", FLUSH, ALLOW, "a script of a script"),
    ("pnpm db", FLUSH, ALLOW, "the same"),
    ("npm run db; sleep 3", FLUSH, ASK, "it may have failed"),
    ("npm run db || true", FLUSH, ASK, "the same"),
    ("npm run try", FLUSH, ASK, "its command may have failed"),
    ("npm run late", FLUSH, ASK, "the same"),
    ("bash -c 'npm run db; true'", FLUSH, ASK, "behind a text that hides it"),
    ("make deep && docker exec tmp redis-cli ping", FLUSH, ALLOW, "what a recipe needs ran before"),
    ("make up", "redis-cli -p 6390 flushall", ALLOW, "its port"),
    ("make -k up", FLUSH, ASK, "told to go on"),
    ("make -q up", FLUSH, ASK, "nothing runs"),
    ("MAKEFLAGS=-i make up", FLUSH, ASK, "told to go on by a variable"),
    ("make keeps", FLUSH, ASK, "a line that may fail"),
    ("make file", FLUSH, ASK, "a target that is there is not made"),
    ("make lines", FLUSH, ASK, "not the last of its line"),
    ("make -C if up", FLUSH, ASK, "one of two branches"),
    ("make -C one up", FLUSH, ASK, "one shell for all lines"),
    ("make -C ignore up", FLUSH, ASK, "told to go on by itself"),
    ("make -C twice up", FLUSH, ASK, "the last of two recipes counts"),
    ("make up SHELL=/bin/true", FLUSH, ASK, "another program than a shell"),
    ("make -v up", FLUSH, ASK, "a version"),
    ("npm run db --version", FLUSH, ASK, "the same of npm"),
    ("npm --script-shell=/bin/true run db", FLUSH, ASK, "another program than a shell"),
    ("npm_config_script_shell=/bin/true npm run db", FLUSH, ASK, "the same by a variable"),
    ("npm --prefix other run db", FLUSH, ASK, "the same by a file"),
    ("make up | tail -1", FLUSH, ASK, "another command's exit code"),
    ("docker run --rm -v .:/w node npm run db", FLUSH, ASK, "in a container of its own"),
    ("make -C shell up", FLUSH, ASK, "another program than a shell, of one target"),
    ("make -C path up", FLUSH, ASK, "a folder in which another docker may lie"),
    ("MAKEFILES=x.mk make up", FLUSH, ASK, "another makefile before it"),
    ("npm --prefix planted run db", FLUSH, ASK, "a program of that name among the packages"),
    ("PATH=/tmp/f:$PATH docker run -d --name tmp redis:7", FLUSH, ASK, "a program of that name in a folder before"),
    ("export PATH=/tmp/f:$PATH; docker run -d --name tmp redis:7", FLUSH, ASK, "the same, exported"),
    ("export PATH=/tmp/g:$PATH && docker run -d --name tmp redis:7", FLUSH, ALLOW, "no such program there"),
    ("/tmp/f/docker run -d --name tmp redis:7", FLUSH, ASK, "by its path"),
    ("npm --prefix before run db", FLUSH, ALLOW, "what npm runs before"),
    ("npm --prefix before run db --ignore-scripts", FLUSH, ASK, "nothing runs before it"),
    ("npm_config_ignore_scripts=true npm --prefix before run db", FLUSH, ASK, "the same by a variable"),
    ("npm --prefix quiet run db", FLUSH, ASK, "the same by a file"),
    ("yarn --cwd before db", FLUSH, ASK, "newer yarns run nothing before"),
    ("npm --userconfig other/.npmrc run db", FLUSH, ASK, "other settings"),
    ("NPM_CONFIG_USERCONFIG=other/.npmrc npm run db", FLUSH, ASK, "the same by a variable"),
    ("npm --script-sh=/bin/true run db", FLUSH, ASK, "an option that is cut short"),
    ("npm run db --if-pres", FLUSH, ASK, "the same"),
    ("yarn --cwd yarn db", FLUSH, ASK, "another program than a shell, by yarn's own file"),
    ("npm --prefix planted/api run db", FLUSH, ASK, "a program of that name among the packages above"),
    ("make -C found up", FLUSH, ASK, "a target that make finds in another folder"),
    ("make -C sought up", FLUSH, ASK, "the same by a pattern"),
    ("make -C plain up", FLUSH, ALLOW, "a folder that make does not look into"),
    ("VPATH=bin make -C plain up", FLUSH, ASK, "the same by a variable"),
    ("make -C plain up VPATH=bin", FLUSH, ASK, "by its own word"),
    ("make up 'PATH=/tmp/f:$$PATH'", FLUSH, ASK, "a folder before, by make's own word"),
    ("make --keep up", FLUSH, ASK, "an option that is cut short"),
    ("make --ignore up", FLUSH, ASK, "the same"),
]
ROWS = [*INSIDE, *BY_SCRIPTS]


@pytest.mark.parametrize(
    ("first", "then", "response"), [row[:3] for row in ROWS], ids=[f"{n}: {row[3]}" for n, row in enumerate(ROWS)]
)
def test_what_a_script_or_client_makes(first: str, then: str, response: Response) -> None:
    assert said_of_last((first, then), FILES) is response
