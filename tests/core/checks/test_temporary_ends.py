"""Registries, databases and processes of this machine, or among temporary files: nobody else has what goes there."""

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
ROWS = [
    ("npm publish --registry=http://localhost:4873", ALLOW, "a registry of this machine"),
    ("npm publish --registry https://npm.acme.io", ASK, "a company's"),
    ("TWINE_REPOSITORY_URL=http://localhost:8095 twine upload dist/*", ALLOW, "by a variable"),
    ("TWINE_REPOSITORY_URL=http://localhost:8095; twine upload dist/*", ASK, "one that twine is not given"),
    ("gh release create v1 --draft", ALLOW, "nobody sees a draft"),
    ("gh release create v1", ASK, "everybody sees it"),
    ("gh release create v1 --draft=false", ASK, "the same"),
    ("redis-server --port 6399 & redis-cli -p 6399 flushall", ALLOW, "a server of the text's own"),
    ("redis-server --port 6399 --dir /tmp/r & redis-cli -p 6399 flushall", ALLOW, "among temporary files"),
    ("redis-server --port 6399 --dir /tmp & redis-cli -p 6399 flushall", ALLOW, "the folder itself"),
    ("redis-server --port 6399 --dir /var/lib/redis & redis-cli -p 6399 flushall", ASK, "on somebody's data"),
    ("redis-server /etc/redis.conf --port 6399 & redis-cli -p 6399 flushall", ASK, "with somebody's settings"),
    ("redis-server --port 6399 --replicaof db.acme.io 6379 & redis-cli -p 6399 flushall", ASK, "a copy of another"),
    ("redis-server --port 6379 & redis-cli -p 6379 flushall", ASK, "where the person's may listen already"),
    ("mongod --dbpath /tmp/m --port 27099 & mongosh --port 27099 --eval 'db.dropDatabase()'", ALLOW, "MongoDB"),
    ("mongod --port 27099 & mongosh --port 27099 --eval 'db.dropDatabase()'", ASK, "on the data of the machine"),
    ("helm plugin install https://github.com/databus23/helm-diff", ALLOW, "an owner whom many use"),
    ("helm plugin install https://github.com/databus23/../evil/x", ASK, "and a way from there to another"),
    ('env -i PATH="$PATH" sh x.sh', ALLOW, "the guard's programs come first as before"),
    ("env -i sh x.sh", ASK, "they do not"),
    ('gdb -batch -ex bt -p "$(cat /tmp/x.pid)"', ALLOW, "a process that a temporary file names"),
    ('gdb -batch -ex bt -p "$(cat /tmp/sshd.pid)"', ASK, "whose name says that it is none of the developer's"),
    ('gdb -batch -ex bt -p "$(cat /run/x.pid)"', ASK, "one of the system"),
    ("sqlite-utils drop-table /tmp/x.db t", ALLOW, "a database among temporary files"),
    ("sqlite-utils drop-table x.db t", ASK, "one that stays"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "response", "why"), ROWS, ids=[f"{n}: {row[2]}" for n, row in enumerate(ROWS)])
def test_what_goes_no_further_than_this_machine(text: str, response: Response, why: str) -> None:
    world = FakeWorld(folders=(ROOT,), environ={"PATH": "/shims:/usr/bin:/bin"})
    action = Action("a", "s", Layer.HOOK, "bash", {"command": text}, ROOT, 1.0, ROOT)
    case = Case(action, analyse(action, world), Session("s", ROOT), merge(builtin()), home=HOME)
    assert max((f.response for f in rules(case)), default=ALLOW) is response, why
