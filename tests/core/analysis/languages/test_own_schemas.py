"""Schemas that code makes under a new name and drops again, beside those that somebody may have."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import HOME, FakeWorld

ROOT = f"{HOME}/shop"
TEST = """import config from "../knexfile.js";
const schema = `m_${process.pid}`;
const knex = knexFactory({ ...config, searchPath: [schema] });
beforeAll(() => knex.raw(`create schema ${schema}`));
afterAll(async () => { await knex.raw(`drop schema ${schema} cascade`); });
"""
PYTHON = """import os
import psycopg
name = f"t_{os.getpid()}"
with psycopg.connect() as c:
    c.execute(f"create schema {name}")
    c.execute(f"drop schema {name} cascade")
"""
NEW, KEPT = "process.pid", "process.env.SCHEMA"
ROWS = [
    (TEST, False, "the number of the process"),
    (TEST.replace(NEW, "Date.now()"), False, "the time"),
    (TEST.replace(NEW, "randomUUID().replace(/-/g, '')"), False, "a random value"),
    (TEST.replace("drop schema", "drop schema if exists"), False, "if it is there"),
    (TEST.replace("schema ${schema}", 'database "${schema}"').replace(" cascade", ""), False, "a database"),
    (TEST.replace(NEW, KEPT), True, "what a variable says"),
    (TEST.replace("`m_${process.pid}`", "process.env.SCHEMA || `m_${process.pid}`"), True, "perhaps another"),
    (TEST.replace("const knex", "schema = name;\nconst knex"), True, "bound again"),
    (TEST.replace("afterAll(async () =>", "afterAll(async (schema) =>"), True, "bound by a function"),
    (TEST.replace("afterAll(async () =>", "afterAll(async ({schema}) =>"), True, "taken out of an object"),
    (f"{TEST}knex.raw('dr' + 'op schema ' + live + ' cascade');\n", True, "and one in two pieces"),
    (TEST.replace("`drop schema ${schema} cascade`", "'dr' + 'op schema ' + live + ' cascade'"), True, "that alone"),
    (TEST.replace("drop schema ${schema}", "drop schema ${schema}, public"), True, "another one beside it"),
    (f"{TEST}knex.raw(`drop schema ${{other}} cascade`);\n", True, "and another drop"),
    (f"{TEST}knex.raw('drop schema public cascade');\n", True, "one of a name that is known"),
    (f"{TEST}knex.raw('drop table tickets');\n", True, "a table"),
    (TEST.replace("drop schema ${schema} cascade", "drop schema ${schema}_live cascade"), True, "a longer name"),
]  # fmt: skip
ROWS_OF_PYTHON = [
    (PYTHON, False, "the number of the process"),
    (PYTHON.replace("os.getpid()", "uuid.uuid4().hex"), False, "a random value"),
    (PYTHON.replace("os.getpid()", "os.environ['SCHEMA']"), True, "what a variable says"),
    (PYTHON.replace("with", "name = live()\nwith"), True, "bound again"),
]


@pytest.mark.parametrize(
    ("text", "file", "lost"),
    [
        *(
            pytest.param(f"cat > a.test.js <<'E'\n{text}E\nnode a.test.js", "", lost, id=why)
            for text, lost, why in ROWS
        ),
        *(pytest.param("python a.py", text, lost, id=f"Python: {why}") for text, lost, why in ROWS_OF_PYTHON),
    ],
)
def test_a_schema_of_a_new_name_is_the_codes_own(text: str, file: str, lost: bool) -> None:
    world = FakeWorld({f"{ROOT}/a.py": file} if file else {}, folders=(ROOT,))
    action = Action("1", "s", Layer.SHELL, "shell", {"command": text}, ROOT, 0.0, root=ROOT)
    effects = analyse(action, world)
    assert any(e.kind in (Kind.DATABASE, Kind.DEPLOY) and "delete" in e.how for e in effects) is lost
