"""What an agent does in the moments before the whole baseline of its session is kept."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import object_backup, session_baseline
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


PRUNE = "git stash clear; git reflog expire --expire=now --all; git gc -q --prune=now"


@pytest.fixture
def stashed(repo) -> str:
    """The commit of a stash entry that lies in a pack."""
    shell(repo, "git stash push -q; git repack -adq")
    return repo.git("rev-parse", "stash")


def test_a_pack_that_goes_as_objects_are_copied_comes_back(repo, stashed, monkeypatch):
    baseline = api.begin(str(repo.root), repo.root.parent / "session", lambda _: False, "s1")
    look = object_backup._few

    def pruned(*args: str) -> list[str]:
        shell(repo, PRUNE)
        return look(*args)

    monkeypatch.setattr(object_backup, "_few", pruned)
    baseline = api.complete(baseline)
    kept = object_backup.names(str(baseline.farm))
    assert not [n for n in kept if object_backup.changed(f"{baseline.farm}/{n}", baseline.sealed)], "each is read again"
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert repo.git("cat-file", "-t", repo.git("stash", "list", "--format=%H")) == "commit"


@pytest.fixture
def far():
    """A folder on another file system."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == Path(tempfile.gettempdir()).stat().st_dev:
        pytest.skip("there is no other file system here")
    folder = Path(tempfile.mkdtemp(dir=memory))
    yield folder
    shutil.rmtree(folder)


def test_a_pack_that_goes_and_can_have_no_second_name_is_named(repo, stashed, far):
    baseline = api.begin(str(repo.root), far / "session", lambda _: False, "s1")
    shell(repo, PRUNE)
    baseline = api.complete(baseline)
    assert baseline.rest.farmed == 0
    (problem,) = api.rollback(baseline).problems
    assert problem.startswith(f"1 objects of START, or of its refs, are missing or unreadable, {stashed} for one.")


def test_a_stash_that_the_baseline_never_had_is_not_called_verified(repo, stashed):
    """Whatever else was kept."""
    baseline = api.begin(str(repo.root), repo.root.parent / "session", lambda _: False, "s1")
    shutil.rmtree(baseline.folder / "early")
    shell(repo, PRUNE)
    baseline = api.complete(baseline)
    assert baseline.rest.farmed
    (problem,) = api.rollback(baseline).problems
    assert stashed in problem


def test_a_disk_that_is_full_when_packs_get_a_second_name(repo, stashed, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(object_backup.os, "link", full)
    with pytest.raises(HostError, match="No space left"):
        api.begin(str(repo.root), repo.root.parent / "session", lambda _: False, "s1")


def test_objects_that_are_pruned_before_they_were_kept_come_back_or_are_named(repo):
    """One session begins and is complete, one begins only, and of one the end of the baseline cannot be written."""
    shell(repo, "git stash push -q; git repack -adq; git branch gone $(git commit-tree -m x HEAD^{tree})")
    stashed, gone = repo.git("rev-parse", "stash"), repo.git("rev-parse", "gone")
    sessions = [repo.root.parent / "sessions" / name / "baseline" for name in "123"]
    begun = [api.begin(str(repo.root), folder, lambda _: False, "s") for folder in sessions]
    shell(repo, "git stash clear; git branch -qD gone; git reflog expire --expire=now --all; git gc -q --prune=now")
    api.complete(begun[0])
    obstacle = sessions[2] / session_baseline.REST
    obstacle.mkdir()
    with pytest.raises(HostError, match="cannot be kept"):
        api.complete(begun[2])
    obstacle.rmdir()
    for folder in sessions:
        report = api.rollback(api.load(folder))
        assert restore_objects.PRUNED.format(1, gone) in report.problems
        assert repo.git("stash", "list", "--format=%H") == stashed
        assert repo.git("cat-file", "-t", stashed) == "commit"
