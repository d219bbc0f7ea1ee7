"""A session in a linked worktree, and the worktrees beside it.

The rollbacks run without root's rights over modes.
"""

from __future__ import annotations

import pytest

from sentinel_guard.host.recovery.rollback.rollback import HOOKS_ELSEWHERE
from tests.support.recovery.repository import Repo, files, shell, state
from tests.support.recovery.without_rights import rolled_back, taken


@pytest.fixture
def linked(repo):
    shell(repo, "git worktree add -q ../wt -b wt; git worktree add -q ../other -b theirs")
    made = Repo(repo.root.parent / "wt")
    made.write("own.txt", "own")
    return made


def test_the_whole_repository_comes_back_where_the_session_ran_in_a_linked_worktree(repo, linked):
    repo.git("stash", "push", "-q", "a.txt")
    start, told, besides = state(repo), linked.git("status", "--porcelain"), files(linked.root)
    baseline = taken(linked)
    shell(repo, "rm -rf .git")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (linked.git("status", "--porcelain"), files(linked.root)) == (told, besides)
    after = state(repo)
    assert {k: v for k, v in after.items() if "mtime" not in k} == {k: v for k, v in start.items() if "mtime" not in k}


def test_the_main_worktree_goes_on_beside_a_session_in_a_linked_one(repo, linked):
    repo.git("update-ref", "MERGE_HEAD", "HEAD~1")
    baseline = taken(linked)
    shell(repo, "git add -A; git commit -qm theirs; git checkout -q -b theirs-too")
    tip, log = repo.git("rev-parse", "HEAD"), repo.git("reflog", "HEAD")
    linked.remove("own.txt")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")) == (tip, "")
    assert repo.git("reflog", "HEAD") == log
    assert ".git/MERGE_HEAD of another worktree is gone: it was at work since, and is left as it is." in report["notes"]


PLANT = "printf '[core]\\nfsmonitor = evil\\n'"


@pytest.mark.parametrize("to", ["{top}", "../../../.."], ids=["an absolute path", "a relative one"])
def test_another_worktree_that_is_gone_is_known_again_and_named(repo, linked, to):
    """And of one that is there, and at rest, what is gone and what would be run. ``to``: how a worktree is named."""
    shell(repo, "git update-ref ORIG_HEAD HEAD~1; git update-ref MERGE_HEAD HEAD~1; git worktree add -q ../third")
    named = {name: f"{to.format(top=linked.root.parent)}/{name}/.git\n" for name in ("third", "other")}
    for name, text in named.items():
        (repo.root / f".git/worktrees/{name}/gitdir").write_text(text)
    start, baseline = state(repo), taken(linked)
    shell(linked, "rm -rf ../other ../repo/.git/worktrees/other")
    shell(
        repo,
        f"cd .git; rm ORIG_HEAD MERGE_HEAD index; for d in . worktrees/third; do {PLANT} > $d/config.worktree; done",
    )
    place = repo.root / ".git/worktrees/third/gitdir"
    place.write_text("/nowhere/.git\n")
    report = rolled_back(baseline)
    assert report["problems"] == [
        f"{linked.root.parent}/other was the folder of another worktree, which is not kept from here, and is gone."
    ]
    assert "theirs" in linked.git("worktree", "list", "--porcelain")
    assert state(repo) == start
    assert [*(repo.root / ".git").rglob("config.worktree")] == []
    assert {name: (repo.root / f".git/worktrees/{name}/gitdir").read_text() for name in named} == named


CONFLICT = """git checkout -q -b side; echo s > g.txt; git commit -qam s
git checkout -q theirs; echo t > g.txt; git commit -qam t; git {} side || true"""
MERGED = "echo m > g.txt; git add g.txt; git commit -qm merged"
TAKEN = "git checkout -q --ours g.txt; git add g.txt"
ENDED = (
    (
        "git config core.logAllRefUpdates false; rm -rf .git/logs .git/worktrees/*/logs",
        "merge",
        MERGED,
        "MERGE_HEAD",
        "a merge, unlogged",
    ),
    ("true", "cherry-pick", f"git cherry-pick --quit; {TAKEN}", "CHERRY_PICK_HEAD", "with a change of the index alone"),
    ("true", "cherry-pick", "git cherry-pick --quit", "CHERRY_PICK_HEAD", "without another change"),
    ("true", "rebase", "git rebase --quit", "rebase-merge/", "a rebase"),
)


@pytest.mark.parametrize("where", ["wt", "repo"], ids=["session in a linked one", "in the main one"])
@pytest.mark.parametrize("row", [row[:4] for row in ENDED], ids=[row[4] for row in ENDED])
def test_what_a_person_ended_in_another_worktree_stays_ended_and_is_named(repo, linked, where, row):
    before, how, end, gone = row
    shell(repo, before)
    other = Repo(linked.root.parent / "other")
    shell(other, CONFLICT.format(how))
    baseline = taken(Repo(linked.root.parent / where))
    shell(other, end)
    told = other.git("status")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert other.git("status") == told
    (linked.root.parent / where / "new.txt").write_text("the agent's")
    words = f".git/worktrees/other/{gone} of another worktree is gone: it was at work since, and is left as it is."
    assert words in rolled_back(baseline)["notes"]
    assert other.git("status") == told


SUBMODULE = """git init -q ../inner; git -C ../inner commit -q --allow-empty -m i
allow='-c protocol.file.allow=always'; git $allow submodule add -q ../inner sub; git commit -qm sub -- sub .gitmodules
git -C ../other merge -q main; git -C ../other $allow submodule update -q --init"""
WORK = """git checkout -q -b work; echo w > a; git add a; git commit -qm work; echo more > a; git add a
cd $(git rev-parse --git-dir); echo own > hooks/pre-push; rm description"""
USED = (
    ("wt", "repo/sub", "modules/sub", "the main worktree's"),
    ("repo", "other/sub", "worktrees/other/modules/sub", "a linked worktree's"),
)


@pytest.mark.parametrize(("where", "place", "kept"), [row[:3] for row in USED], ids=[row[3] for row in USED])
def test_a_submodule_in_another_worktree_goes_on_and_comes_back_where_it_is_gone(repo, linked, where, place, kept):
    shell(repo, SUBMODULE)
    sub, session = Repo(linked.root.parent / place), Repo(linked.root.parent / where)
    first, baseline = sub.git("rev-parse", "HEAD"), taken(session)
    shell(sub, WORK)
    git_dir = repo.root / ".git" / kept
    told, tip = sub.git("status", "--branch", "--short"), sub.git("rev-parse", "work")
    session.write("new.txt", "the agent's")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (sub.git("status", "--branch", "--short"), sub.git("rev-parse", "HEAD")) == (told, tip)
    assert (git_dir / "hooks/pre-push").exists()
    words = f".git/{kept}/description of another worktree is gone: it was at work since, and is left as it is."
    assert words in report["notes"]
    shell(repo, f"rm -rf {git_dir}")
    assert rolled_back(baseline)["ok"]
    assert sub.git("rev-parse", "HEAD") == first


def test_hooks_in_another_worktree_are_left_and_named(repo, linked):
    shell(repo, "mkdir hooks; echo own > hooks/commit-msg; git config core.hooksPath $PWD/hooks")
    baseline = taken(linked)
    shell(repo, "echo later > hooks/commit-msg; echo new > hooks/pre-push")
    hooks = files(repo.root / "hooks")
    linked.remove("own.txt")
    for _ in range(2):  # something to put back, and nothing
        report = rolled_back(baseline)
        assert report["ok"], report["problems"]
        told = [HOOKS_ELSEWHERE.format(f"{repo.root}/hooks/{name}"[1:], what) for name, what in LATER]
        assert [note for note in report["notes"] if "/hooks/" in note] == told
        assert files(repo.root / "hooks") == hooks


LATER = (("commit-msg", "changed"), ("pre-push", "created"))
