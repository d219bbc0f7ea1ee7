"""What an agent does in the moments before the whole baseline of its session is kept."""

from __future__ import annotations

import pytest

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.rollback import restore_objects
from tests.support.recovery.repository import IDLE, files, settle, shell

EARLY = (
    ("true", "mkfifo src/pipe", False, "a pipe, and the baseline is never complete"),
    ("true", "mkfifo src/pipe", True, "a pipe, before it was"),
    (IDLE, "echo evil > sub/own", True, "a file of an idle submodule"),
    (IDLE, "rm -r sub", False, "such a file is gone, and the baseline never complete"),
)


@pytest.mark.parametrize(("person", "agent", "whole"), [r[:3] for r in EARLY], ids=[r[3] for r in EARLY])
def test_an_agent_may_be_quick(repo, person, agent, whole):
    shell(repo, person)
    start = files(repo.root)
    baseline = api.begin(str(repo.root), repo.root.parent / "session", lambda _: False, "s1")
    settle()
    shell(repo, agent)
    baseline = api.complete(baseline) if whole else baseline
    report = api.rollback(api.load(baseline.folder))
    assert report.ok, report.problems
    assert files(repo.root) == start


def test_a_new_folder_goes_with_its_files_though_the_baseline_was_never_complete(repo):
    baseline = api.begin(str(repo.root), repo.root.parent / "session", lambda _: False, "s1")
    settle()
    shell(repo, "mkdir -p fresh/deep; echo evil > fresh/deep/x")
    report = api.rollback(api.load(baseline.folder))
    assert report.ok, report.problems
    assert not (repo.root / "fresh").exists()


def test_objects_that_are_pruned_before_they_were_kept_come_back_or_are_named(repo):
    """One session begins and is complete, one begins only."""
    shell(repo, "git stash push -q; git repack -adq; git branch gone $(git commit-tree -m x HEAD^{tree})")
    stashed, gone = repo.git("rev-parse", "stash"), repo.git("rev-parse", "gone")
    sessions = [repo.root.parent / "sessions" / name / "baseline" for name in "12"]
    begun = [api.begin(str(repo.root), folder, lambda _: False, "s") for folder in sessions]
    shell(repo, "git stash clear; git branch -qD gone; git reflog expire --expire=now --all; git gc -q --prune=now")
    api.complete(begun[0])
    for folder in sessions:
        report = api.rollback(api.load(folder))
        assert restore_objects.PRUNED.format(1, gone) in report.problems
        assert repo.git("stash", "list", "--format=%H") == stashed
        assert repo.git("cat-file", "-t", stashed) == "commit"
