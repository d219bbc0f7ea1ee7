"""What a refusal names as the way out is one: done word for word, the work goes on."""

from __future__ import annotations

import re

import pytest

WAYS = (
    (".env", "git add .env", r"Instead: (echo .* >> \.gitignore)", "a file that is added by its name"),
    (".env", "git add -A && git commit -qm all", "Take it out: (.*)", "one that git add -A took along"),
    ("my app/.env", "git add -A && git commit -qm all", "Take it out: (.*)", "a name with a space"),
    ("a[1]/.env", "git add -A && git commit -qm all", "Take it out: (.*)", "a name that is a pattern to git"),
)


@pytest.mark.parametrize("row", WAYS, ids=[row[3] for row in WAYS])
def test_a_restricted_file_stays_out_of_git_add_by_the_way_that_the_refusal_names(stage, row):
    name, refused, way, _ = row
    stage.git("init", "-q", "-b", "main")
    stage.write("a.txt", "a\n")
    stage.git("add", "a.txt")
    stage.git("commit", "-qm", "start")
    assert stage.sentinel("install").returncode == 0
    stage.write(name, "MODE=debug\n")
    stage.write("b.txt", "b\n")
    _, [said] = stage.agent(refused)
    assert said["code"] != 0
    found = re.search(way, said["err"])
    assert found, said["err"]
    _, seen = stage.agent(found[1].strip(), "git add -A", "git commit -qm all")
    assert [told["code"] for told in seen] == [0, 0, 0], seen
    assert set(stage.git("ls-files").split()) == {".gitignore", "a.txt", "b.txt", "sentinel.toml"}
