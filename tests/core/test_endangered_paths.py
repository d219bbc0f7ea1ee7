"""What a rescue snapshot takes in of what git ignores."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.endangered_paths import endangered_paths
from sentinel_guard.core.model import Action, Layer, Verdict
from tests.support.fakes import HOME, FakeWorld

ROOT = f"{HOME}/project"
ROWS = [
    ("git clean -fd", False, "what is ignored stays"),
    ("git checkout --orphan x\ngit rm -rf .\ngit clean -fd", True, ".gitignore goes with all that git knows"),
    ("git rm -q .gitignore && git clean -fd", True, "by its name"),
    ("rm .gitignore && git clean -fd", True, "without git"),
    ("mv .gitignore old && git clean -fdq", True, "put elsewhere"),
    ("sed -i /docs/d web/.gitignore && git clean -fd", True, "one of its rules, below"),
    ("echo x > .git/info/exclude && git clean -f", True, "the rules of this clone"),
    ("git reset --hard && git clean -fd", True, "rules that are not committed go"),
    ("git checkout gh-pages && git clean -fd", True, "another branch has others"),
    ("git stash && git clean -fd", True, "they are put away"),
    ("git pull -q; git clean -fdq", True, "others come"),
    ("git -c core.excludesFile=/dev/null clean -fd", True, "the person's own are left out"),
    ("git fetch && git log -3 && git clean -fd", False, "they stay"),
    ("git reset --hard", False, "nothing is cleaned"),
    ("git checkout main && git clean -n", False, "a look behind another branch"),
    ("echo dist/ >> .gitignore && git clean -fd", False, "one rule more"),
    ("git rm -rf . && git clean -n", False, "a look"),
    ("git rm -rf old && git clean -fd", False, "a folder that git knows"),
    ("git rm -rf .", False, "git leaves what it does not know"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "all_of_it", "why"), ROWS, ids=[row[0] for row in ROWS])
def test_all_of_a_work_tree_whose_rules_go(text, all_of_it, why):
    files = {f"{ROOT}/{name}": "docs/\n" for name in (".gitignore", "web/.gitignore", ".git/info/exclude", "old/x")}
    action = Action("a", "s", Layer.HOOK, "bash", {"command": text}, ROOT, 1.0, ROOT)
    world = FakeWorld(files, folders=(ROOT, f"{ROOT}/old"))
    assert (ROOT in endangered_paths(Verdict(action, analyse(action, world), ()))) is all_of_it, why
