"""A package's program is the same whichever version or extras of it are wanted, and whoever starts it. Only parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository, told

WORLD = repository({"sub/a": "x\n"})

DELETING = [
    ("npx rimraf sub", "without a version"),
    ("npx rimraf@5 sub", "npm: a version"),
    ("npx x@npm:rimraf@5 sub", "npm: under another name"),
    ("npx -y rimraf@latest sub", "npm: a tag"),
    ("npx rimraf@^5 sub", "npm: a range"),
    ("npx rimraf@$VERSION sub", "npm: a variable"),
    ('npx "rimraf@${VERSION}" sub', "npm: a variable in quotes"),
    ("npm exec rimraf@5 -- sub", "npm's exec"),
    ("pnpm dlx rimraf@5 sub", "pnpm's"),
    ("yarn dlx rimraf@5 sub", "yarn's"),
    ("bunx rimraf@5 sub", "bun's"),
    ("bun x rimraf@5 sub", "bun's, as a verb"),
]
PUBLISHING = [
    ("pipx run twine==5.* upload dist/x", "pipx: a pattern that no file's name meets"),
    ("pipx run 'twine>=5,<6' upload dist/x", "pipx: in quotes"),
    ("uvx twine@latest upload dist/x", "uvx: a tag"),
    ("uvx twine[keyring]==5.* upload dist/x", "uvx: extras"),
    ("uv tool run twine==5.1 upload dist/x", "uv's own words for uvx"),
    ("uv tool run --from twine==5.* twine upload dist/x", "uv: an option, then the program"),
]
UNKNOWN = [
    ("npx rim$V@5 sub", "npx: the name goes on in a variable"),
    ("npx $TOOL@5 sub", "npx: the name is one"),
    ("pipx run tw*==5 upload x", "pipx: the name is a pattern"),
    ("./tool==4.* --version", "no package: a file's name"),
]
HONEST = [
    ("pipx run gdtoolkit==4.* --version", "a pattern that no file's name meets"),
    ("uvx fastapi[standard] --help", "extras alone"),
    ("uvx ruff@0.4.* check .", "a version of uvx"),
    ("npx prettier@3 --check .", "npm: a version"),
    ("npx @biomejs/biome@1.x check .", "npm: a scope"),
    ("uv tool run ruff==0.4.* check .", "uv's own words"),
]


@pytest.mark.parametrize("command", [pytest.param(command, id=why) for command, why in DELETING])
def test_what_a_version_of_a_package_deletes(command):
    assert told(effects_of(command, WORLD), Kind.DELETE) == ["delete sub force recursive"]


@pytest.mark.parametrize("command", [pytest.param(command, id=why) for command, why in PUBLISHING])
def test_what_a_version_of_a_package_publishes(command):
    assert told(effects_of(command, WORLD), Kind.PUBLISH, Kind.OPAQUE) == ["publish pypi"]


@pytest.mark.parametrize("command", [pytest.param(command, id=why) for command, why in UNKNOWN])
def test_a_name_that_is_not_known_stays_unknown(command):
    assert "name" in {how for e in effects_of(command, WORLD) if e.kind is Kind.OPAQUE for how in e.how}


@pytest.mark.parametrize("command", [pytest.param(command, id=why) for command, why in HONEST])
def test_what_only_looks_asks_nothing(command):
    assert told(effects_of(command, WORLD), Kind.DELETE, Kind.PUBLISH, Kind.OPAQUE, Kind.WRITE) == []
