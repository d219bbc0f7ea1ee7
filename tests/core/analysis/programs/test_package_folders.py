"""A command that is run for one package of a project runs in its folder, with its own options. Only parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository, told

WORLD = repository(
    {
        "package.json": '{"name": "root", "scripts": {"clean": "rm -rf src"}}',
        "packages/ui/package.json": '{\n  "name": "@acme/ui",\n  "scripts": {"clean": "rm -rf out"}\n}',
        "packages/b/package.json": '{\n  "name": "@acme/b"\n}',
        "packages/ui/out/a.js": "x",
    }
)
OUT, HERE = "delete packages/ui/out force recursive", "delete out force recursive"
ROWS = [
    ("pnpm --filter @acme/ui exec rm -rf out", OUT, "by its name"),
    ("pnpm --filter ui exec rm -rf out", OUT, "without the scope"),
    ("pnpm -F ./packages/ui exec rm -rf out", OUT, "by its folder"),
    ("pnpm --filter ui clean", OUT, "its own script"),
    ("npm -w packages/ui exec -- rm -rf out", OUT, "npm's option"),
    ("npm -w @acme/ui run clean", OUT, "a script by npm"),
    ("echo 'rm -rf out' > packages/ui/c.sh; pnpm --filter ui exec bash c.sh", OUT, "a script that the text put there"),
    ("yarn workspace @acme/ui clean", OUT, "yarn's way"),
    ("yarn workspace @acme/ui run clean", OUT, "with the verb"),
    ("yarn workspace @acme/ui exec rm -rf out", OUT, "a program by yarn"),
    ("yarn workspace @acme/ui rm -rf out", OUT, "which is no script"),
    ("pnpm --filter ui -w clean", "delete src force recursive", "the package at the top, too"),
    ("pnpm exec rm -rf out", HERE, "none is named"),
    ("pnpm -r exec rm -rf out", HERE, "each of them"),
    ("pnpm --filter '@acme/*' exec rm -rf out", HERE, "a pattern"),
    ("pnpm --filter ui --filter b exec rm -rf out", HERE, "two"),
    ("pnpm --filter $X exec rm -rf out", HERE, "nobody knows which"),
    ("pnpm --filter ui exec rm -rf ../../..", "delete /home/ann force recursive", "the way out of it"),
    ("yarn exec rm -rf /home/ann", "delete /home/ann force recursive", "options behind the program are its own"),
]


@pytest.mark.parametrize(("command", "deleted"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_where_it_runs(command: str, deleted: str) -> None:
    assert [text.removesuffix(" ?") for text in told(effects_of(command, WORLD), Kind.DELETE)] == [deleted]
