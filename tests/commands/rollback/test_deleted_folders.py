"""``sentinel-guard rollback`` by hand where ``.git``, or the whole folder, is gone."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from sentinel_guard.cli.working_folder import working_folder
from sentinel_guard.commands.rollback import rollback
from sentinel_guard.errors import ConfigError
from tests.support.recovery.rollback_by_hand import begin, contents, do, repository

GONE = (
    (".git", "repo", "", "the git directory, from inside"),
    (".git", ".", "", "the git directory, from above"),
    (".", ".", "", "all of it, from above"),
    (".", ".", "s1", "all of it, by the session"),
    (".", "repo", "", "all of it, by the name that the shell knows"),
    ("inner", "repo", "", "a repository in it"),
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
