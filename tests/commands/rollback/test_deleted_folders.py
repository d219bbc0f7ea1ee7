"""``sentinel-guard rollback`` by hand where ``.git``, or the whole folder, is gone or no git directory any more."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.commands.rollback import rollback
from sentinel_guard.errors import ConfigError
from tests.support.recovery.rollback_by_hand import begin, contents, do, git, repository

GONE = (
    (".git", "repo", "", "the git directory, from inside"),
    (".git", ".", "", "the git directory, from above"),
    (".", ".", "", "all of it, from above"),
    (".", ".", "s1", "all of it, by the session"),
    (".", "repo", "", "all of it, by the name that the shell knows"),
    ("inner", "repo", "", "a repository in it"),
    (".git/objects", "repo", "", "git's objects, from inside"),
    (".git/objects", ".", "", "git's objects, from above"),
    (".git/refs", "repo", "", "the files of all branches"),
)


@pytest.mark.parametrize("row", GONE, ids=[row[3] for row in GONE])
def test_what_was_deleted_whole_comes_back(where, repo, capsys, row):
    gone, stands, session, _ = row
    repository(repo / "inner")
    begin(where, repo, "s1")
    begin(where, repository(repo.parent / "another"), "s2")
    shutil.rmtree(repo / gone)
    assert do(where, repo.parent / stands, session) == 0
    assert "s1" in capsys.readouterr().out
    assert contents(repo) == {"a.txt": "start\n"} and contents(repo / "inner") == {"a.txt": "start\n"}
    done = subprocess.run(["git", "status", "--porcelain"], cwd=repo, capture_output=True, text=True, check=True)
    assert done.stdout == "?? inner/\n"


@pytest.mark.parametrize("stands", ["repo", "."])
def test_an_empty_folder_in_the_place_of_the_git_directory_gives_way(where, repo, stands):
    begin(where, repo, "s1")
    (repo / ".git").rename(repo / "history")
    (repo / ".git").mkdir()
    assert do(where, repo.parent / stands, "") == 0
    assert git(repo, "log", "--format=%s") == "start" and (repo / ".git/objects").is_dir()


def test_a_repository_that_is_whole_is_not_gone(where, repo):
    begin(where, repo, "s1")
    with pytest.raises(ConfigError, match="not in a git work tree"):
        do(where, repo.parent, "")


def test_who_stands_in_the_folder_that_was_deleted_is_told(where, repo, capsys, monkeypatch):
    begin(where, repo, "s1")
    monkeypatch.chdir(repo)
    monkeypatch.setenv("PWD", str(repo))
    shutil.rmtree(repo)
    assert rollback(where, working_folder(), "", dry_run=False, confirm=None) == 0
    assert 'Enter the one that came back: cd "$PWD"' in capsys.readouterr().out
    monkeypatch.delenv("PWD")
    with pytest.raises(ConfigError, match="is gone"):
        working_folder()
