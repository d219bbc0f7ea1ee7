"""Whether a path is the session's own work: both witnesses must say so."""

from __future__ import annotations

import subprocess
import time

import pytest

from sentinel_guard.host.git import repository
from sentinel_guard.host.machine import birth_time
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline.start_inventory import StartInventory
from tests.support.recovery.repository import Repo

OLD = ("tracked.db", "untracked.db", "ignored/x.db")


@pytest.fixture
def begun(tmp_path):
    """A repository in which a session begins now, and the question whether a path of it is new."""
    repo = Repo(tmp_path / "repo")
    repo.root.mkdir()
    repo.git("init", "-q", "-b", "main")
    repo.write(".gitignore", "ignored/\n")
    repo.write("tracked.db", "1")
    repo.commit()
    repo.write("untracked.db", "2")
    repo.write("ignored/x.db", "3")
    if not birth_time.born(str(repo.root)):
        pytest.skip("this file system does not tell when files were made")
    time.sleep(0.02)  # the clock of a file system ticks
    began = time.time() - 0.01
    api.take(str(repo.root), tmp_path / "baseline", lambda _path: False, "s")
    inventory = StartInventory(tmp_path / "baseline", began)
    root, start = str(repo.root), repository.head(str(repo.root))
    return repo.root, lambda path: inventory.is_new(str(path), lambda paths: repository.committed(root, start, paths))


def test_what_was_there_is_not_new_and_what_was_made_since_is(begun):
    repo, is_new = begun
    (repo / "made.db").write_text("x")
    assert [is_new(repo / name) for name in (*OLD, "made.db", "none.db")] == [False] * 3 + [True, True]


@pytest.mark.parametrize("name", OLD)
def test_a_file_that_is_written_aside_and_renamed_keeps_its_age(begun, name):
    repo, is_new = begun
    (repo / "aside").write_text("edited")
    (repo / "aside").rename(repo / name)
    assert not is_new(repo / name)


def test_a_folder_that_held_something_is_not_new(begun):
    repo, is_new = begun
    (repo / "ignored").rename(repo.parent / "elsewhere")
    (repo / "ignored").mkdir()
    assert not is_new(repo / "ignored")
    (repo / "other").mkdir()
    assert is_new(repo / "other")


def test_outside_of_the_repository_the_time_of_birth_says_it(begun, tmp_path):
    repo, is_new = begun
    made = tmp_path / "made"
    made.write_text("x")
    assert is_new(made) and not is_new(repo.parent)


def test_without_a_baseline_what_is_there_is_not_new(tmp_path):
    (tmp_path / "x").write_text("x")
    inventory = StartInventory(tmp_path / "none", 1.0)
    assert not inventory.is_new(str(tmp_path / "x"), lambda _paths: frozenset())
    assert inventory.is_new(str(tmp_path / "gone"), lambda _paths: frozenset())


def test_what_the_session_commits_stays_its_own_and_what_it_takes_out_of_git_does_not_become_it(begun):
    repo, is_new = begun
    (repo / "made.db").write_text("x")
    subprocess.run(["git", "add", "made.db"], cwd=repo, check=True)
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example", "commit", "-qm", "x"], cwd=repo, check=True
    )
    subprocess.run(["git", "rm", "-q", "--cached", "tracked.db"], cwd=repo, check=True)
    (repo / "tracked.db").unlink()
    (repo / "tracked.db").write_text("again")
    assert [is_new(repo / name) for name in ("made.db", "tracked.db")] == [True, False]
