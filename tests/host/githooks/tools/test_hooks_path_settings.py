"""Our hooks beside theirs where core.hooksPath, a work tree or a move changes, and how the settings come back."""

from __future__ import annotations

import shutil

import pytest

from sentinel_guard.host.githooks import install_hooks
from tests.support.hook_tools import OURS, meta, ran, shared, tracked
from tests.support.installed_hooks import SAYS, Hooked, git


def test_hooks_that_come_to_theirs_later_run(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    repo.theirs(".githooks/post-commit")
    repo.theirs(".githooks/commit-msg")
    assert "theirs post-commit" in ran(repo)
    git(repo.root, "config", "core.hooksPath", ".other")
    repo.theirs(".other/pre-commit", "other")
    assert "other pre-commit" in ran(repo)
    git(repo.root, "config", "--unset", "core.hooksPath")
    repo.theirs(".git/hooks/pre-commit", "usual")
    assert ran(repo) == [*sorted(OURS), "usual pre-commit"]
    repo.install()
    assert ran(repo) == [*sorted(OURS), "usual pre-commit"]
    assert (repo.root / ".git/hooks/pre-commit.before-sentinel").exists(), "nobody owns the hooks any more"
    assert "sentinel" not in (repo.root / ".git/config").read_text()


def test_a_work_tree_with_settings_of_its_own(repo: Hooked) -> None:
    repo.commit()
    git(repo.root, "config", "extensions.worktreeConfig", "true")
    git(repo.root, "worktree", "add", "-q", "../linked")
    linked = repo.folder / "linked"
    git(linked, "config", "--worktree", "core.hooksPath", str(repo.folder / "theirs"))
    hook = repo.folder / "theirs/pre-commit"
    hook.parent.mkdir()
    hook.write_text(SAYS % (repo.log, "theirs"))
    hook.chmod(0o755)
    before = meta(repo)
    repo.install()
    assert "core.hooksPath is" in install_hooks.complaint(install_hooks.find(linked))
    repo.install(linked)
    for tree in (repo.root, linked):
        assert repo.install(tree) == [] and install_hooks.complaint(install_hooks.find(tree)) == ""
    assert ran(repo) == sorted(OURS)
    repo.commit(linked)
    assert [line.split()[0] for line in repo.called()] == ["theirs", "ours", "ours"]
    repo.uninstall(linked)
    repo.uninstall()
    after = meta(repo)
    assert after.keys() - before.keys() <= {"repo/.git/worktrees/linked/COMMIT_EDITMSG"}
    assert all(after[name] == before[name] for name in before if "hooks" in name or "config" in name)


def test_a_repository_that_was_moved_or_copied_runs_theirs_and_is_told_of(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    shutil.copytree(repo.root, repo.folder / "copy", symlinks=True)
    repo.root.rename(repo.folder / "moved")
    for folder in (repo.folder / "copy", repo.folder / "moved"):
        repo.commit(folder)
        assert repo.called() == ["theirs pre-commit "]
        assert "passed by" in install_hooks.complaint(install_hooks.find(folder))
        repo.install(folder)
        repo.commit(folder)
        assert repo.called() == ["theirs pre-commit ", *OURS]


SETTINGS = (
    (b"", "an empty file"),
    (b"[core]\n\tbare = false", "no line end at its end"),
    (b"[include]\n\tpath = other\n[core]\n\tbare = false\n", "an include of theirs"),
    (b"[core]\r\n\tbare = false\r\n", "lines as on Windows"),
)


@pytest.mark.parametrize("row", SETTINGS, ids=[s[1] for s in SETTINGS])
def test_the_settings_come_back_byte_by_byte(repo: Hooked, row: tuple[bytes, str]) -> None:
    shared(repo)
    config = repo.root / ".git/config"
    config.write_bytes(row[0])
    config.chmod(0o640)
    repo.install()
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
    git(repo.root, "config", "user.name", "New")
    git(repo.root, "config", "--unset", "user.name")
    mended = config.read_bytes()
    repo.uninstall()
    assert config.stat().st_mode & 0o777 == 0o640
    assert config.read_bytes() == row[0] or mended.startswith(config.read_bytes())


def test_what_somebody_added_to_our_lines_stays(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    git(repo.root, "config", "--add", "include.path", "mine")
    repo.put(".git/mine", "[user]\n\tname = Mine\n")
    repo.uninstall()
    assert git(repo.root, "config", "user.name").stdout == "Mine\n"
    assert "sentinel" not in (repo.root / ".git/config").read_text()


def test_a_setting_that_came_after_ours_is_told_and_mended(repo: Hooked) -> None:
    tracked(repo)
    repo.install()
    with (repo.root / ".git/config").open("a") as config:
        config.write("[core]\n\thooksPath = /nowhere\n")
    assert "core.hooksPath is /nowhere" in install_hooks.complaint(install_hooks.find(repo.root))
    repo.install()
    assert install_hooks.complaint(install_hooks.find(repo.root)) == ""


def test_hooks_of_an_earlier_version_in_their_folder_move_out(repo: Hooked) -> None:
    tracked(repo)
    theirs = (repo.root / ".githooks/pre-commit").read_bytes()
    (repo.root / ".githooks/pre-commit").rename(repo.root / ".githooks/pre-commit.before-sentinel")
    repo.put(".githooks/pre-commit", f"#!/bin/sh\n# {install_hooks.MARK}\nexit 9\n")
    repo.install()
    assert (repo.root / ".githooks/pre-commit").read_bytes() == theirs
    assert ran(repo) == [*sorted(OURS), "theirs pre-commit"]
