"""A session in a linked worktree: the branches, tags and stashes that it shares come back, others' work stays."""

from __future__ import annotations

import pytest

from sentinel_guard.host.recovery import api
from tests.support.recovery.repository import Repo, shell, template


@pytest.fixture
def main(tmp_path):
    """The main worktree on ``main``, with branches, tags and two stashes."""
    repo = template(tmp_path / "main" / "repo")
    repo.git("branch", "side")
    repo.git("tag", "-a", "-m", "two", "v2")
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/other")
    repo.write(".git/rr-cache/x/preimage", "a conflict")
    for text in ("first", "second"):
        repo.write("stashed.txt", text)
        repo.git("stash", "push", "-q", "-u", "-m", text)
    return repo


@pytest.fixture
def linked(main):
    main.git("worktree", "add", "-q", "../wt", "-b", "wt")
    return Repo(main.root.parent / "wt")


def shared(repo):
    refs = repo.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    kept = [row for row in refs if "refs/sentinel/" not in row]
    besides = [path for name in ("description", "rr-cache/x/preimage") if (path := repo.root / ".git" / name).exists()]
    return kept, repo.git("stash", "list", "--format=%H %gs").splitlines(), besides


WAYS = (
    ("git branch -D side", "a branch is deleted"),
    ("git branch -f side HEAD~1", "a branch is moved"),
    ("git branch -m side renamed", "a branch is renamed"),
    ("git branch made; git tag made", "a branch and a tag are made"),
    ("git tag -d v1 v2; git symbolic-ref -d refs/heads/alias", "tags and a ref to a ref are deleted"),
    ("git tag -f v1 HEAD; git symbolic-ref refs/heads/alias refs/heads/wt", "a tag and a ref to a ref are moved"),
    ("git symbolic-ref refs/heads/other refs/heads/new", "a branch becomes a ref to one that is not there"),
    ("git update-ref -d refs/heads/main; git stash drop -q", "what another worktree has checked out is gone"),
    ("cd $(git rev-parse --git-common-dir); rm -rf rr-cache description", "what is no ref"),
    ("git stash clear", "the stash is cleared"),
    ("git checkout -q -b new && git commit -q --allow-empty -m x && git branch -D wt side", "its own branch, too"),
    ("git for-each-ref --format='delete %(refname)' refs/heads/side refs/tags | git update-ref --stdin", "all at once"),
    ("git pack-refs --all; git branch -D side other", "packed ones"),
)


@pytest.mark.parametrize("script", [row[0] for row in WAYS], ids=[row[1] for row in WAYS])
def test_what_it_shares_comes_back(main, linked, script):
    before = shared(main)
    baseline = api.take(str(linked.root), linked.root.parent / "session", lambda _: False, "s1")
    shell(linked, script)
    assert shared(main) != before
    assert api.plan(baseline), "it is told before"
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert shared(main) == before
    assert api.plan(baseline) == []


def test_a_commit_on_a_branch_that_goes_stays_reachable(linked):
    baseline = api.take(str(linked.root), linked.root.parent / "session", lambda _: False, "s1")
    shell(linked, "git checkout -q -b new && git commit -q --allow-empty -m made && git checkout -q wt")
    made = linked.git("rev-parse", "new").strip()
    report = api.rollback(baseline)
    assert report.ok and any("refs/heads/new of the session is kept as" in note for note in report.notes)
    assert made in linked.git("for-each-ref", "--format=%(objectname)", "refs/sentinel/s1/").split()


def test_what_another_worktree_has_checked_out_is_left_and_named(main, linked):
    baseline = api.take(str(linked.root), linked.root.parent / "session", lambda _: False, "s1")
    main.git("commit", "-q", "--allow-empty", "-m", "the person's own, meanwhile")
    theirs = main.git("rev-parse", "main")
    shell(linked, "git branch -D side")
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert main.git("rev-parse", "main") == theirs
    assert "refs/heads/main is checked out in another worktree: not undone." in report.notes
    shell(linked, "git commit -q --allow-empty -m evil; git checkout -q -b aside")
    main.git("checkout", "-q", "wt")
    assert api.rollback(baseline).ok
    assert linked.git("rev-parse", "wt") == baseline.head, "its own branch is no other's, whoever has it"


def test_the_head_of_a_bare_repository_is_no_worktrees(main, tmp_path):
    bare = Repo(tmp_path / "bare" / ".git")
    main.git("clone", "-q", "--bare", str(main.root), str(bare.root))
    bare.git("worktree", "add", "-q", "../wt", "-b", "wt")
    linked = Repo(tmp_path / "bare" / "wt")
    before = bare.git("for-each-ref", "refs/heads", "refs/tags")
    baseline = api.take(str(linked.root), tmp_path / "session", lambda _: False, "s1")
    shell(linked, "git branch -f main HEAD~1; git branch -D side")
    assert api.rollback(baseline).ok
    assert bare.git("for-each-ref", "refs/heads", "refs/tags") == before


def test_a_stash_that_came_meanwhile_stays_on_top(main, linked):
    baseline = api.take(str(linked.root), linked.root.parent / "session", lambda _: False, "s1")
    shell(linked, "git stash drop -q")
    main.write("own.txt", "own")
    main.git("stash", "push", "-q", "-u", "-m", "own")
    own, first = main.git("stash", "list", "--format=%H").splitlines()
    assert api.rollback(baseline).ok
    stashed = main.git("stash", "list", "--format=%H").splitlines()
    assert len(stashed) == 3 and stashed[0] == own and stashed[2] == first
