"""Containers, ports and databases that a call made, proved by its success, are the session's own (ADR 0022)."""

from __future__ import annotations

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
TOPIC = "kafka-topics.sh --bootstrap-server localhost:9092"
ROWS = [
    (RUN, 0, "docker rm -f -v tmp", Response.ALLOW, "with its anonymous volumes"),
    (RUN, 0, "docker rm -f -v tmp other", Response.ASK, "and somebody's"),
    (RUN, 125, "docker rm -f -v tmp", Response.ASK, "the name was taken"),
    (f"{RUN} || true", 0, "docker rm -f -v tmp", Response.ASK, "it may have failed"),
    (f"{RUN}; docker ps", 0, "docker rm -f -v tmp", Response.ASK, "another command's exit code"),
    (f"{RUN} | tail -1", 0, "docker rm -f -v tmp", Response.ASK, "the same of a pipeline"),
    (f"{RUN} &", 0, "docker rm -f -v tmp", Response.ASK, "nobody waits for it"),
    (f"docker pull postgres:17 && {RUN}", 0, "docker rm -f -v tmp", Response.ALLOW, "all had to succeed"),
    (RUN, 0, "psql -h localhost -p 54329 -c 'DROP TABLE x'", Response.ALLOW, "a server in the session's container"),
    (RUN, 0, "psql -h localhost -p 5432 -c 'DROP TABLE x'", Response.ASK, "another server"),
    ("docker run -d --name tmp -v pg:/data -p 54329:5432 postgres", 0, "psql -h localhost -p 54329 -c 'DROP TABLE x'",
     Response.ASK, "a volume that may have been there"),
    ("redis-server --port 6399 --daemonize yes", 0, "redis-cli -p 6399 flushall", Response.ASK,
     "a server may fail in the background, unseen"),
    ("createdb shop", 0, "dropdb shop", Response.ALLOW, "a database"),
    ("createdb shop", 1, "dropdb shop", Response.ASK, "it was there"),
    ("psql -c 'CREATE DATABASE shop'", 0, "dropdb shop", Response.ALLOW, "by a statement"),
    ("ls", 0, "dropdb shop", Response.ASK, "nobody made it"),
    ("createdb -p 5499 shop", 0, "dropdb shop", Response.ASK, "one of that name on another server"),
    ("createdb shop", 0, "dropdb -h db.acme.io shop", Response.ASK, "on another machine"),
    ("createdb shop", 0, "PGHOST=db.acme.io dropdb shop", Response.ASK, "the same, by a variable"),
    ("createdb -h localhost shop", 0, "dropdb shop", Response.ALLOW, "this machine, by its name"),
    ("docker exec pg createdb shop", 0, "dropdb shop", Response.ASK, "one in a container"),
    ("psql postgres://me@localhost:5499/postgres -c 'CREATE DATABASE shop'", 0, "psql -c 'DROP DATABASE shop'",
     Response.ASK, "the server of an address"),
    ("createuser app", 0, "dropuser app", Response.ALLOW, "a role"),
    ("createuser shop", 0, "dropdb shop", Response.ASK, "a role is no database"),
    (f"{TOPIC} --create --topic demo", 0, f"{TOPIC} --delete --topic demo", Response.ALLOW, "a topic"),
    (f"{TOPIC} --create --topic demo", 1, f"{TOPIC} --delete --topic demo", Response.ASK, "it was there"),
    (f"{TOPIC} --create --if-not-exists --topic demo", 0, f"{TOPIC} --delete --topic demo", Response.ASK,
     "it may have been there"),
    (f"{TOPIC} --create --topic demo", 0, f"{TOPIC} --delete --topic 'demo.*'", Response.ASK, "a pattern takes others"),
    (f"docker compose exec -T kafka {TOPIC} --create --topic demo", 0, f"{TOPIC} --delete --topic demo", Response.ASK,
     "one in a container"),
    ("kafka-topics.sh --bootstrap-server prod:9092 --create --topic demo", 0, f"{TOPIC} --delete --topic demo",
     Response.ASK, "on another server"),
    ("ls", 0, "C=$(docker run -d postgres:17) && docker exec $C psql -c 'DROP TABLE x'", Response.ALLOW,
     "a container by the identifier that this text got"),
    ("ls", 0, 'C=$(docker run -d postgres:17); docker exec "$C" psql -c "DROP TABLE x"; docker rm -fv ${C}',
     Response.ALLOW, "and taken away"),
    ("ls", 0, "C=$(docker run -d -v pg:/data postgres:17); docker exec $C psql -c 'DROP TABLE x'", Response.ASK,
     "with a volume"),
    ("ls", 0, "C=$(docker run -d postgres || docker ps -q); docker exec $C psql -c 'DROP TABLE x'", Response.ASK,
     "or another one"),
    ("ls", 0, "C=$(docker run -d postgres); read C; docker exec $C psql -c 'DROP TABLE x'", Response.ASK,
     "a value that came later"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "code", "then", "response"), [row[:4] for row in ROWS], ids=[f"{r[0]}: {r[4]}" for r in ROWS]
)
def test_what_the_session_made_by_name_is_its_own(first: str, code: int, then: str, response: Response) -> None:
    policy, session = merge(builtin()), Session("s", ROOT)
    action = Action("a", "s", Layer.HOOK, "bash", {"command": first}, ROOT, 1.0, ROOT)
    verdict = Verdict(action, analyse(action, FakeWorld()))
    for entry in encode_entries.of_verdict(verdict, "op", poll=False, policy=policy):
        session = session.after(entry)
    session = session.after(encode_entries.of_outcome(action, Outcome("a", 2.0, code)))
    action = Action("b", "s", Layer.HOOK, "bash", {"command": then}, ROOT, 3.0, ROOT)
    case = Case(action, analyse(action, FakeWorld(), session.made), session, policy, home=HOME)
    assert max((f.response for f in rules(case)), default=Response.ALLOW) is response
