"""Which git commands publish or change a repository."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.programs.git.changes_repository import changes_repository

ROOT = "/home/dev/repo"
ROWS = (
    ("git commit -m x", "", ROOT, True, "a commit"),
    ("git push", "", ROOT, True, "a push"),
    ("git --git-dir /x/snap push", "", ROOT, True, "a push from anywhere"),
    ("git branch -D old", "", ROOT, True, "a branch is deleted"),
    ("git branch new", "", ROOT, True, "a branch is made"),
    ("git branch -v -a", "", ROOT, False, "branches are listed"),
    ("git branch", "", ROOT, False, "branches are listed"),
    ("git branch --show-current", "", ROOT, False, "which branch"),
    ("git stash", "", ROOT, True, "work is put away"),
    ("git stash push -u", "", ROOT, True, "work is put away"),
    ("git stash create note", "", ROOT, False, "an object, no entry"),
    ("git stash list", "", ROOT, False, "entries are listed"),
    ("git worktree list --porcelain", "", ROOT, False, "work trees are listed"),
    ("git worktree add ../x", "", ROOT, True, "a work tree is made"),
    ("git tag v1", "", ROOT, True, "a tag is made"),
    ("git tag -l", "", ROOT, False, "tags are listed"),
    ("git rev-parse HEAD", "", ROOT, False, "a question"),
    ("git init", "", ROOT, False, "no history is touched"),
    ("git fetch origin", "", ROOT, False, "only what others have published"),
    ("git --git-dir /x/snap --work-tree /home/dev/repo commit -m x", "", ROOT, False, "another repository"),
    ("git --git-dir=/x/snap gc", "", ROOT, False, "another repository"),
    ("git gc", "/x/snap", ROOT, False, "another repository, by GIT_DIR"),
    ("git --git-dir .git gc", "", ROOT, True, "this one, by its name"),
    ("git -C /x/other commit -m x", "", ROOT, False, "another folder"),
    ("git -C sub commit -m x", "", ROOT, True, "a folder below"),
    ("git -C /home/dev/repo2 commit -m x", "", ROOT, False, "a folder whose name begins alike"),
    ("git commit -m x", "", "/elsewhere", False, "another current folder"),
    ("git --version", "", ROOT, False, "no subcommand"),
)


@pytest.mark.parametrize(
    ("text", "git_dir", "cwd", "changes"), [r[:4] for r in ROWS], ids=[r[0] + ": " + r[4] for r in ROWS]
)
def test_what_changes_the_repository(text, git_dir, cwd, changes):
    argv = tuple(text.split())
    names = {"commit", "push", "branch", "stash", "worktree", "tag", "rev-parse", "init", "fetch", "gc"}
    at = next((i for i, word in enumerate(argv) if word in names), 0)
    assert changes_repository(argv, at, cwd, git_dir, ROOT) is changes
