"""Which changes of references are to be judged: real transactions of a real git, as its hook is told of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.host.githooks.reference_transaction import changing

# The hook writes down what it is told, and what is left of it.
HOOK = """#!{python}
import sys
sys.path.insert(0, {source!r})
import os
from pathlib import Path
from sentinel_guard.host.githooks.reference_transaction import changing
if sys.argv[1] == "prepared":
    with open({record!r}, "a") as f:
        f.writelines(l.split(" ")[2] + "\\n" for l in changing(sys.stdin.read().splitlines(), Path.cwd(), os.environ))
"""


@pytest.fixture
def git(tmp_path):
    repo, record = tmp_path / "repo", tmp_path / "record"

    def run(*arguments, cwd=repo):
        subprocess.run(["git", *arguments], cwd=cwd, check=True, capture_output=True)

    repo.mkdir()
    run("init", "-q")
    run("commit", "-q", "--allow-empty", "-m", "a")
    run("commit", "-q", "--allow-empty", "-m", "b")
    run("update-ref", "refs/sentinel/rescue/x", "HEAD")
    run("branch", "side")
    run("tag", "v1")

    def judged(*arguments, cwd=repo) -> list[str]:
        record.write_text("")
        run(*arguments, cwd=cwd)
        return sorted(set(record.read_text().split()))

    judged.repo, judged.record = repo, record
    return judged


@pytest.fixture
def hooked(git):
    source = str(Path(__file__).parents[3])
    hook = git.repo / ".git" / "hooks" / "reference-transaction"
    hook.write_text(HOOK.format(python=sys.executable, source=source, record=str(git.record)))
    hook.chmod(0o755)
    return git


COMMANDS = [
    (("commit", "-q", "--allow-empty", "-m", "c"), ["refs/heads/main"], "a commit"),
    (("branch", "new"), ["refs/heads/new"], "a new branch"),
    (("branch", "-D", "side"), [], "an ordinary branch goes"),
    (("update-ref", "-d", "refs/heads/main"), ["refs/heads/main"], "a protected branch goes"),
    (("update-ref", "-d", "refs/sentinel/rescue/x"), ["refs/sentinel/rescue/x"], "a snapshot goes"),
    (("update-ref", "refs/sentinel/rescue/x", "HEAD~1"), ["refs/sentinel/rescue/x"], "a snapshot changes"),
    (("reset", "-q", "--hard", "HEAD~1"), ["refs/heads/main"], "a branch goes back"),
    (("tag", "v2"), [], "a tag"),
    (("pack-refs", "--all"), [], "references are packed"),
    (("gc", "-q"), [], "so does gc"),
    (("checkout", "-q", "side"), [], "HEAD changes"),
    (("update-ref", "refs/heads/side", "refs/heads/side"), [], "what stays"),
]


@pytest.mark.parametrize(("command", "names", "why"), COMMANDS, ids=[row[-1] for row in COMMANDS])
def test_what_is_judged(hooked, command, names, why):
    assert hooked(*command) == names


def test_what_is_packed_and_goes_is_judged(hooked):
    assert hooked("pack-refs", "--all") == []
    assert hooked("update-ref", "-d", "refs/heads/main") == ["refs/heads/main"]
    assert hooked("update-ref", "-d", "refs/sentinel/rescue/x") == ["refs/sentinel/rescue/x"]


def test_a_linked_work_tree_shares_its_references(hooked):
    hooked("worktree", "add", "-q", "../w")
    assert hooked("commit", "-q", "--allow-empty", "-m", "w", cwd=hooked.repo.parent / "w") == ["refs/heads/w"]
    assert hooked("pack-refs", "--all", cwd=hooked.repo.parent / "w") == []


A, B = "a" * 40, "b" * 40
LINES = [
    (f"{A} {B} refs/heads/x", True, "no repository there: judged"),
    (f"{A} {B} refs/heads/../../x", True, "a name that leads out of it"),
    ("what is no change", True, "too many words"),
    ("", True, "none"),
    (f"{A} {B} refs/notes/x", False, "no branch"),
]


@pytest.mark.parametrize(("line", "judged", "why"), LINES, ids=[row[-1] for row in LINES])
def test_what_cannot_be_told_is_judged(tmp_path, line, judged, why):
    assert changing([line], tmp_path, {}) == ([line] if judged else [])
