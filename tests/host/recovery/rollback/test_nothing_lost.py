"""What a person had comes back: modes, reflogs, ignored files, stores of large files, what git would write otherwise.

The rollbacks run without root's rights over modes.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.host.recovery import api
from tests.support.recovery.repository import ENV, Repo, dirty, state, template
from tests.support.recovery.without_rights import MISSING, rolled_back, taken

pytestmark = pytest.mark.skipif(MISSING, reason="without setpriv root can do everything")


@pytest.fixture
def repo(tmp_path):
    made = template(tmp_path / "repo")
    dirty(made)
    return made


def shell(repo: Repo, script: str) -> None:
    subprocess.run(["bash", "-ec", script], cwd=repo.root, env=ENV, check=True, capture_output=True)


def folders(repo: Repo) -> dict[str, int]:
    """Modes of all folders but those of objects and of what a rollback keeps."""
    found = {p: stat.S_IMODE(p.stat().st_mode) for p in (repo.root, *repo.root.rglob("*")) if p.is_dir()}
    return {str(p.relative_to(repo.root)): mode for p, mode in found.items() if not _KEPT.search(str(p))}


_KEPT = re.compile(r"\.git/(objects/|(logs/)?refs/sentinel)")
MODES = (
    ("", "chmod 500 .git", "the git directory cannot be written"),
    ("", "rm .git/refs/heads/other; chmod 0 .git/refs", "refs cannot be read"),
    ("", "rm .git/HEAD; chmod 500 .git", "HEAD is gone, and its folder cannot be written"),
    ("", "rm a.txt notes.txt; chmod 555 .", "the root cannot be written"),
    ("", "rm -rf src; chmod 0 .", "the root cannot be read"),
    ("chmod 555 src/deep", "chmod 755 src/deep; rm src/deep/x.py", "the person's own read-only folder, a clean file"),
    (
        "chmod 555 untracked/dir",
        "chmod 755 untracked/dir; rm untracked/dir/*; echo evil > untracked/dir/new; chmod 555 untracked/dir",
        "the same, an untracked file; a new one in it",
    ),
    ("chmod 700 src; chmod 555 .", "chmod 755 . src; rm -rf src", "a folder that only its owner sees, in such a root"),
    ("", "mkdir -p new/shut; echo x > new/shut/x; chmod 0 new/shut new", "a new folder that cannot be read"),
)


@pytest.mark.parametrize(("before", "harm"), [row[:2] for row in MODES], ids=[row[2] for row in MODES])
def test_modes_are_no_obstacle_and_come_back(repo, before, harm):
    shell(repo, before)
    start, modes = state(repo), folders(repo)
    baseline = taken(repo)
    shell(repo, harm)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (state(repo), folders(repo)) == (start, modes)


def test_what_the_person_had_shut_stays_shut_and_is_not_moved_away(repo):
    repo.write("shut/own.txt", "own")
    (repo.root / "shut").chmod(0)
    baseline = taken(repo)
    repo.remove("a.txt")
    assert rolled_back(baseline)["ok"]
    assert stat.S_IMODE((repo.root / "shut").stat().st_mode) == 0
    assert (repo.root / "shut/own.txt").read_text() == "own"


def test_a_repository_whose_place_a_link_took_comes_back_and_the_link_is_kept(repo, tmp_path):
    start, other = state(repo), tmp_path / "other"
    baseline = taken(repo)
    other.mkdir()
    (other / "theirs.txt").write_text("theirs")
    repo.root.rename(tmp_path / "gone")
    repo.root.symlink_to(other)
    assert api.plan(baseline)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert not repo.root.is_symlink() and state(repo)["files"] == start["files"]
    assert sorted(os.listdir(other)) == ["theirs.txt"], "what it led to is left alone"
    assert [Path(path).readlink() for path in report["quarantined"] if Path(path).is_symlink()] == [other]


# Reflogs: the lines of the start, then what came since.

LOGS = ("HEAD", "main", "other", "stash")


def logged(repo: Repo) -> dict[str, list[str]]:
    told = {name: repo.git("reflog", "show", "--format=%H %gs", name, ok=False).splitlines() for name in LOGS}
    return {name: lines[::-1] for name, lines in told.items()}


EXPIRED = (
    ("git reflog expire --expire=now --all", "they are expired"),
    ("git reflog expire --expire=now --all; git gc -q --prune=now", "and what only they held is pruned"),
    ("git reflog delete HEAD@{0}; git reflog delete main@{0}", "one line is deleted"),
    ("rm -rf .git/logs", "their files are deleted"),
    ("rm -rf .git; git init -q -b main; git add -A; git commit -qm new", "the repository is made anew"),
    ("git commit -qm more --allow-empty; git checkout -q other", "nothing but a commit"),
)


@pytest.mark.parametrize("harm", [row[0] for row in EXPIRED], ids=[row[1] for row in EXPIRED])
def test_reflogs_begin_as_they_did(repo, harm):
    repo.git("stash", "push", "-q", "-u")
    repo.git("commit", "-q", "--allow-empty", "-m", "left behind")
    lost = repo.git("rev-parse", "HEAD")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    before = logged(repo)
    baseline = taken(repo)
    shell(repo, harm)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    after = logged(repo)
    assert {name: lines[: len(before[name])] for name, lines in after.items()} == before
    assert after["stash"] == before["stash"]
    assert repo.git("log", "-1", "--format=%s", lost) == "left behind"
    assert api.plan(baseline) == []


# Branches that other worktrees have checked out.


@pytest.mark.parametrize("then", ["", "git pack-refs --all", "rm .git/logs/refs/heads/theirs"])
def test_a_branch_of_another_worktree_stays_where_it_is_and_is_named(repo, then):
    repo.git("worktree", "add", "-q", "../theirs", "-b", "theirs")
    baseline = taken(repo)
    theirs = Repo(repo.root.parent / "theirs")
    theirs.git("commit", "-q", "--allow-empty", "-m", "the person's own, meanwhile")
    tip = theirs.git("rev-parse", "HEAD")
    shell(repo, f"git branch -D other; {then}")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (theirs.git("rev-parse", "HEAD"), theirs.git("status", "--porcelain")) == (tip, "")
    assert "refs/heads/theirs is checked out in another worktree: not undone." in report["notes"]
    assert repo.git("rev-parse", "--verify", "other")
