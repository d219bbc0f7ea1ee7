"""What was not there when the session began is the session's own: it may be made, changed and deleted (ADR 0022)."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Layer, Response
from sentinel_guard.core.policy.file_schema import parse
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import HOME, FakeWorld
from tests.support.judge_cases import said_of_last

ROOT = f"{HOME}/project"
FILES = {f"{ROOT}/{name}": "x\n" for name in ("app.db", ".env.example", "keys/old.pem", "README.md", "made.db")}
FILES |= {
    f"{ROOT}/drop.sql": "DROP TABLE x;\n",
    f"{ROOT}/other.sql": ".open app.db\n",
    f"{ROOT}/attach.sql": "ATTACH 'app.db' AS a; DROP TABLE a.x;\n",
}
STASH = f"{ROOT}/.git/objects/aa/{'b' * 38}"
ENTRY = "{old} {new} Dev <d@example.com> 1 +0000\tWIP on main: x\n"
FILES |= {
    STASH: "x",
    f"{ROOT}/.git/objects/cc/{'d' * 38}": "x",
    f"{ROOT}/.git/HEAD": "ref: refs/heads/main\n",
    f"{ROOT}/.git/logs/refs/stash": ENTRY.format(old="0" * 40, new="cc" + "d" * 38)
    + ENTRY.format(old="cc" + "d" * 38, new="aa" + "b" * 38),
}
FILES |= {
    f"{ROOT}/alembic.ini": "[alembic]\nsqlalchemy.url = sqlite:///./made.db\n",
    f"{ROOT}/config/database.yml": "a: &a\n  adapter: sqlite3\n"
    "development:\n  <<: *a\n  database: app.db\ntest:\n  database: t.db\n",
    f"{ROOT}/prisma/schema.prisma": 'datasource db {\n  provider = "sqlite"\n  url = "file:../made.db"\n}\n',
}
FILES |= {f"{HOME}/notes.txt": "x\n", f"{HOME}/made.txt": "x\n"}
FILES |= {f"{ROOT}/.made": "../made.txt\n", f"{ROOT}/.noted": "../notes.txt\n"}
REMOVE = 'git worktree remove --force "$(cat {})"'
MADE = (f"{ROOT}/made.db", f"{HOME}/made.txt", STASH)
"""What the session made, of all that is there."""


def python(code):
    return f"python3 -c {shlex.quote('import sqlite3; ' + code)}"


def judged(text, *, policy=None):
    world = FakeWorld(FILES, programs={"openssl": "/usr/bin/openssl"})
    action = Action("a", "s", Layer.SHELL, "shell", {"command": text}, ROOT, 0.0, ROOT)
    case = Case(
        action, analyse(action, world), Session("s", ROOT), policy or merge(builtin()), home=HOME,
        new=lambda path: path in MADE or not world.kind(path),
    )  # fmt: skip
    return max((f.response for f in rules(case)), default=Response.ALLOW)


ROWS = [
    ("cp .env.example .env", Response.ALLOW, "nothing was there"),
    ("touch .env", Response.ALLOW, "nothing was there"),
    ("touch .env; chmod 600 .env; echo A=1 >> .env; rm .env", Response.ALLOW, "what this text made"),
    ("cp .env.example .env && echo A=1 >> .env && cat .env", Response.ALLOW, "and is shown"),
    ("cat .env", Response.ALLOW, "nothing is there, and what comes will be the session's"),
    ("mv README.md .env; cat .env", Response.DENY, "what was moved there was there before"),
    ("cp made.db copy.db && rm made.db && mv copy.db made.db", Response.ALLOW, "the session's own, there and back"),
    ("mv made.db copy.db; mv app.db made.db; rm made.db", Response.ASK, "the person's in its place"),
    ("ln app.db made.db; rm made.db", Response.ASK, "the person's by another name"),
    ("openssl genrsa -out keys/new.pem 2048", Response.ALLOW, "a first key"),
    ("openssl genrsa -out keys/old.pem 2048", Response.DENY, "a key that was there"),
    ("git add -f .env", Response.DENY, "a secret is a secret, whoever made it"),
    ("mv README.md .env; rm .env", Response.DENY, "what was moved there was there before"),
    ("echo 'version = 1' > sentinel.toml", Response.DENY, "the guard's own"),
    ("echo x > .sentinel-secrets.toml", Response.DENY, "the guard's own"),
    ("rm made.db", Response.ALLOW, "the session's database"),
    ("alembic downgrade base", Response.ALLOW, "migrations of the session's database, as their settings say"),
    ("npx prisma migrate reset --force", Response.ALLOW, "the same of a schema"),
    ("bin/rails db:reset", Response.ASK, "migrations of the person's database"),
    ("DATABASE_URL=sqlite:///made.db flask db downgrade base", Response.ALLOW, "as a variable says"),
    ("DATABASE_URL=sqlite:///app.db flask db downgrade base", Response.ASK, "the person's"),
    ("DATABASE_URL=postgres://localhost/x npx prisma migrate reset --force", Response.ASK, "another database"),
    ("flask db downgrade base", Response.ASK, "nobody says which"),
    ("rm app.db", Response.ASK, "the person's database"),
    ("sqlite3 made.db 'DROP TABLE x'", Response.ALLOW, "a table in the session's database"),
    ("sqlite3 app.db 'DROP TABLE x'", Response.ASK, "a table in the person's"),
    ("sqlite3 made.db \"ATTACH 'app.db' AS a; DROP TABLE a.x\"", Response.ASK, "another database by the session's"),
    ("sqlite3 made.db '.open app.db' 'DROP TABLE x'", Response.ASK, "the same"),
    ("sqlite3 made.db '.read drop.sql'", Response.ALLOW, "a script on the session's database"),
    ("sqlite3 app.db '.read drop.sql'", Response.ASK, "on the person's"),
    ("sqlite3 made.db '.read other.sql' 'DROP TABLE x'", Response.ASK, "a script that opens the person's"),
    ("sqlite3 made.db '.read attach.sql'", Response.ASK, "a script that names it"),
    ("sqlite3 made.db < drop.sql; sqlite3 app.db 'select 1'", Response.ALLOW, "the person's is read"),
    ("duckdb new.duckdb < drop.sql", Response.ALLOW, "nothing was there"),
    ("sqlite3 'file:app.db?mode=rwc' 'DROP TABLE x'", Response.ASK, "the person's by a URI"),
    ("sqlite3 'file:made.db?mode=rwc' 'DROP TABLE x'", Response.ALLOW, "the session's by a URI"),
    ("sqlite3 'file:ap%70.db' 'DROP TABLE x'", Response.ASK, "a URI that is not followed"),
    ("sqlite-utils made.db 'DROP TABLE x'", Response.ALLOW, "by another client"),
    ("sqlite-utils app.db 'DROP TABLE x'", Response.ASK, "the person's by it"),
    (python("c = sqlite3.connect('made.db'); c.execute('DROP TABLE x')"), Response.ALLOW, "by a library"),
    (python("c = sqlite3.connect('app.db').cursor(); c.execute('DROP TABLE x')"), Response.ASK, "the person's by it"),
    (python("c = sqlite3.connect(P); c.execute('DROP TABLE x')"), Response.ASK, "a name that is not known"),
    (
        python("c = sqlite3.connect('made.db'); c.execute('ATTACH \"app.db\" AS a'); c.execute('DROP TABLE a.x')"),
        Response.ASK,
        "the person's beside the session's",
    ),
    (
        python("c = sqlite3.connect('made.db'); d = sqlite3.connect('app.db'); d.execute('DROP TABLE x')"),
        Response.ASK,
        "each connection has its file",
    ),
    ("git stash drop", Response.ALLOW, "an entry that the session made"),
    ("git stash drop stash@{0}", Response.ALLOW, "the same by its number"),
    ("git stash drop 1", Response.ASK, "the person's below it"),
    ("git stash drop 7", Response.ASK, "none that is known"),
    ("git stash drop && git stash drop", Response.ASK, "the second one is the person's"),
    ("git stash pop; git stash drop", Response.ASK, "the same"),
    ("git stash clear", Response.ASK, "all of them"),
    ("psql -o made.db -c 'DROP TABLE x'", Response.ASK, "a server's, whatever file it writes"),
    ("echo x > new.db", Response.ALLOW, "onto nothing"),
    ("rm ~/made.txt", Response.ALLOW, "outside, the session's"),
    ("rm ~/nothing", Response.ALLOW, "outside, nothing"),
    ("rm ~/notes.txt", Response.ASK, "outside, the person's"),
    ("mv ~/notes.txt ~/n; rm ~/n", Response.ASK, "the person's by another name"),
    ("mv ~/notes.txt ~/made.txt/n; rm -rf ~/made.txt", Response.ASK, "the person's in a folder of the session's"),
    ("ln ~/notes.txt ~/n; echo > ~/n", Response.ASK, "the person's by another name"),
    ("rm ~/made.txt/$(choose)", Response.ASK, "nobody knows what it will be"),
    # By a name in a file: whoever wrote it, what it names now is what goes, and its age says whose that is.
    (REMOVE.format(".made"), Response.ALLOW, "the session's by a name in a file"),
    (f'W=$(cat .made) && {REMOVE.format(".made")}; rm -rf "$W"', Response.ALLOW, "and by a variable"),
    ('read -r W < .made; git worktree remove -f "$W"', Response.ALLOW, "that read it"),
    (f"git worktree add ../w && echo ../w > .w && {REMOVE.format('.w')}", Response.ALLOW, "in one text"),
    (REMOVE.format(".noted"), Response.ASK, "the person's by a name in a file"),
    (f"echo ../notes.txt > .made; {REMOVE.format('.made')}", Response.ASK, "it names the person's now"),
    (f"choose > .made; {REMOVE.format('.made')}", Response.ASK, "nobody knows what it will name"),
    (f"choose | tee .made; {REMOVE.format('.made')}", Response.ASK, "the same"),
    (f"cp .noted .made; {REMOVE.format('.made')}", Response.ASK, "the person's, by a copy"),
    (REMOVE.format(".none"), Response.ASK, "no such file"),
    ("cp README.md ~/made.txt", Response.ALLOW, "over the session's"),
    ("cp README.md ~/notes.txt", Response.ASK, "over the person's"),
]


STASHES = [
    ("git stash; git stash drop", Response.SNAPSHOT, "its own"),
    ("git stash push -m x && git stash drop", Response.SNAPSHOT, "the same in words"),
    ("git stash list; git stash drop", Response.ASK, "none that is known"),
    ("git stash; git stash pop; git stash drop", Response.ASK, "one that is not"),
]


@pytest.mark.parametrize(("text", "most", "why"), STASHES, ids=[row[0] for row in STASHES])
def test_where_no_stash_is_there_a_text_drops_its_own(text, most, why):
    world = FakeWorld({f"{ROOT}/.git/HEAD": "ref: refs/heads/main\n"})
    action = Action("a", "s", Layer.SHELL, "shell", {"command": text}, ROOT, 0.0, ROOT)
    case = Case(
        action, analyse(action, world), Session("s", ROOT), merge(builtin()), home=HOME,
        new=lambda path: not world.kind(path),
    )  # fmt: skip
    worst = max((f.response for f in rules(case)), default=Response.ALLOW)
    assert worst <= most and (worst is Response.ASK) == (most is Response.ASK), why


@pytest.mark.parametrize(("text", "response", "why"), ROWS, ids=[row[0] for row in ROWS])
def test_what_the_session_made_is_its_own(text, response, why):
    assert judged(text) is response, why


def test_a_check_beforehand_supposes_that_what_is_read_is_there():
    world = FakeWorld(FILES)
    action = Action("a", "s", Layer.CLI, "shell", {"command": "cat .env"}, ROOT, 0.0, ROOT)
    case = Case(action, analyse(action, world), Session("s", ROOT), merge(builtin()), home=HOME, new=lambda _path: True)
    assert [f.response for f in rules(case)] == []
    assert [f.response for f in rules(replace(case, supposed=True))] == [Response.ASK]


def layer(text, source):
    return replace(parse(*_document(text), text), source=source)


def _document(text):
    import tomllib

    return tomllib.loads(f"version = 1\n{text}"), "x.toml"


POLICIES = [
    ('[paths]\ncreate = "ask"', "", Response.ASK, "the user asks"),
    ('[paths]\ncreate = "deny"', "", Response.DENY, "the user closes it"),
    ('[paths]\nrestricted = [".env"]', "", Response.DENY, "what a person restricts is closed to new files, too"),
    ("", '[paths]\nrestricted = [".env"]', Response.DENY, "the same by a project"),
    ("", '[paths]\ncreate = "ask"', Response.ASK, "a project may tighten"),
    ('[paths]\ncreate = "deny"', '[paths]\ncreate = "allow"', Response.DENY, "and not loosen"),
]


@pytest.mark.parametrize(("user", "project", "response", "why"), POLICIES)
def test_a_policy_may_close_it(user, project, response, why):
    policy = merge(builtin(), layer(user, "user"), layer(project, "project"))
    assert judged("touch .env", policy=policy) is response, why


def test_what_a_project_would_loosen_is_said():
    policy = merge(builtin(), layer('[paths]\ncreate = "deny"', "user"), layer('[paths]\ncreate = "allow"', "project"))
    assert '[paths] create = "allow" is not taken' in policy.warnings[0]


def test_the_log_of_a_branch_that_the_session_made_is_its_own():
    files, log = {".git/HEAD": "x", ".git/logs/refs/heads/x": "x"}, f"{ROOT}/.git/logs/refs/heads/x"
    assert said_of_last(("git reflog expire refs/heads/x",), files, new=(log,)) is Response.ALLOW
    assert said_of_last(("git reflog expire refs/heads/x",), files) is not Response.ALLOW
