"""Commits and pushes through the installed hooks, with real git and a real remote."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sentinel_guard.host.githooks import install_hooks
from tests.support.hook_repositories import TOKEN, committed, git, head, put


def commit(root: Path, name: str, text: str = "x\n", *more: str) -> subprocess.CompletedProcess[str]:
    put(root, name, text)
    git(root, "add", "-f", name)
    return git(root, "commit", "-q", "-m", name, *more, check=False)


def test_git_commit_is_stopped_and_goes_on(hooked: Path) -> None:
    done = commit(hooked, ".env")
    assert done.returncode == 1
    assert "403 SENTINEL BLOCKED: this commit adds .env" in done.stderr
    git(hooked, "restore", "--staged", ".env")
    assert commit(hooked, "fine.txt").returncode == 0
    assert git(hooked, "log", "--format=%s").stdout.split() == ["fine.txt", "first"]


def test_a_commit_of_named_files_is_judged_by_its_private_index(hooked: Path) -> None:
    tracked_key = git(hooked, "commit", "-q", "--allow-empty", "-m", "x")
    assert tracked_key.returncode == 0
    commit(hooked, "key.pem", "x\n", "--no-verify")
    put(hooked, "key.pem", "y\n")
    put(hooked, "README.md", "y\n")
    assert git(hooked, "commit", "-q", "-m", "x", "README.md", check=False).returncode == 0
    assert git(hooked, "commit", "-q", "-m", "x", "key.pem", check=False).returncode == 1
    assert git(hooked, "commit", "-q", "-am", "x", check=False).returncode == 1


def test_a_foreign_hook_runs_first_and_decides_first(hooked: Path) -> None:
    install_hooks.uninstall(hooked)
    theirs = hooked / ".git/hooks/pre-commit"
    theirs.write_text("#!/bin/sh\necho theirs ran >&2\ntest ! -e stop\n")
    theirs.chmod(0o755)
    install_hooks.install(hooked, str(hooked.parent / "python"))
    assert "theirs ran" in commit(hooked, "a.txt").stderr
    (hooked / "stop").touch()
    refused = commit(hooked, ".env")
    assert refused.returncode == 1
    assert "403" not in refused.stderr


def test_a_guard_that_is_gone_stops_the_commit_with_words(hooked: Path) -> None:
    (hooked.parent / "python").unlink()
    done = commit(hooked, "a.txt")
    assert done.returncode == 1
    assert "sentinel-guard install" in done.stderr


def push(root: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return git(root, "push", "-q", "origin", *args, check=False)


def test_ordinary_pushes_pass(hooked: Path) -> None:
    commit(hooked, "a.txt")
    assert push(hooked, "main").returncode == 0
    assert push(hooked, "HEAD:new-branch").returncode == 0
    git(hooked, "commit", "-q", "--amend", "-m", "other")
    assert push(hooked, "--force", "HEAD:new-branch").returncode == 0
    assert push(hooked, "--delete", "feature").returncode == 0
    git(hooked, "tag", "v1")
    assert push(hooked, "--tags").returncode == 0


def test_a_protected_branch_is_neither_deleted_nor_rewritten(hooked: Path) -> None:
    done = push(hooked, "--delete", "main")
    assert (done.returncode, "deletes refs/heads/main" in done.stderr) == (1, True)
    git(hooked, "commit", "-q", "--amend", "-m", "rewritten")
    done = push(hooked, "--force", "main")
    assert (done.returncode, "rewrites refs/heads/main" in done.stderr) == (1, True)
    git(hooked, "checkout", "-q", "--orphan", "new")
    git(hooked, "commit", "-q", "-m", "unrelated")
    assert push(hooked, "--force", "new:main").returncode == 1


def test_a_push_over_commits_that_are_not_here_is_a_rewrite(hooked: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "remote.git", "other")
    commit(tmp_path / "other", "b.txt")
    git(tmp_path / "other", "push", "-q", "origin", "main")
    commit(hooked, "a.txt")
    done = push(hooked, "--force", "main")
    assert (done.returncode, "git pull --rebase origin main" in done.stderr) == (1, True)


def test_commits_that_carry_a_restricted_path_are_not_pushed(hooked: Path) -> None:
    commit(hooked, "a.txt")
    commit(hooked, ".env", "x\n", "--no-verify")
    git(hooked, "rm", "-q", ".env")
    git(hooked, "commit", "-q", "-m", "gone again", "--no-verify")
    done = push(hooked, "main")
    assert done.returncode == 1
    assert "adds .env" in done.stderr
    assert "git rebase -i" in done.stderr
    assert done.stderr.count("403") == 1
    git(hooked, "reset", "-q", "--hard", "HEAD~2")
    assert push(hooked, "main").returncode == 0


def test_a_merge_that_smuggles_a_restricted_path_in_is_not_pushed(hooked: Path) -> None:
    git(hooked, "checkout", "-q", "-b", "side")
    commit(hooked, "side.txt")
    git(hooked, "checkout", "-q", "main")
    commit(hooked, "main.txt")
    git(hooked, "merge", "-q", "--no-commit", "side")
    commit(hooked, ".env", "x\n", "--no-verify")
    assert "adds .env" in push(hooked, "main").stderr


# Secrets, on the whole way


def test_a_commit_with_a_secret_is_stopped_with_its_place_and_goes_on_when_it_is_out(hooked: Path) -> None:
    done = commit(hooked, "conf/app.py", f"\nkey = '{TOKEN}'\n")
    assert done.returncode == 1
    assert "this commit adds a GitHub personal access token in conf/app.py:2:8 (rule github-pat)" in done.stderr
    assert TOKEN not in done.stderr
    assert TOKEN[8:20] not in done.stderr
    assert commit(hooked, "conf/app.py", "key = environ['KEY']\n").returncode == 0


def test_the_ways_out_that_a_refusal_names_work(hooked: Path) -> None:
    assert "sentinel: allow" in commit(hooked, "a.py", f"key = '{TOKEN}'\n").stderr
    assert commit(hooked, "a.py", f"key = '{TOKEN}'  # sentinel: allow\n").returncode == 0


def test_a_secret_in_a_message_is_stopped(hooked: Path) -> None:
    put(hooked, "a.txt")
    git(hooked, "add", "a.txt")
    done = git(hooked, "commit", "-q", "-m", f"use {TOKEN}", check=False)
    assert done.returncode == 1
    assert "the message of this commit holds a GitHub personal access token in line 1, column 5" in done.stderr


def test_a_secret_in_the_third_of_five_pushed_commits_is_refused_with_its_commit_and_line(hooked: Path) -> None:
    ids = [committed(hooked, f"{n}") for n in range(2)]
    put(hooked, "deep/conf.ini", f"[a]\nb = 1\ntoken = {TOKEN}\n")
    ids.append(committed(hooked, "third"))
    put(hooked, "deep/conf.ini", "[a]\nb = 1\n")
    ids += [committed(hooked, "taken out again"), committed(hooked, "5")]
    done = push(hooked, "main")
    assert done.returncode == 1
    assert f"commit {ids[2][:12]} adds a GitHub personal access token in deep/conf.ini:3:9" in done.stderr
    assert f"git rebase -i {ids[2][:12]}^" in done.stderr
    assert done.stderr.count("403") == 1
    assert TOKEN not in done.stderr


def test_a_secret_in_a_pushed_message_or_tag_is_refused(hooked: Path) -> None:
    one = committed(hooked, f"subject\n\nbody {TOKEN}")
    done = push(hooked, "main")
    assert f"the message of {one[:12]} holds a GitHub personal access token in line 3, column 6" in done.stderr
    git(hooked, "reset", "-q", "--hard", "HEAD^")
    git(hooked, "tag", "-a", "-m", f"for {TOKEN}", "v1")
    assert f"the message of {head(hooked, 'v1')[:12]} holds" in push(hooked, "v1").stderr


def test_what_no_commit_holds_is_not_pushed(hooked: Path) -> None:
    blob = git(hooked, "hash-object", "-w", "README.md").stdout.strip()
    tree = head(hooked, "HEAD^{tree}")
    git(hooked, "tag", "-a", "-m", "a blob", "v2", blob)
    for source in (blob, tree, "v2"):
        done = push(hooked, f"{source}:refs/tags/x")
        assert (done.returncode, "that no commit holds" in done.stderr) == (1, True), done.stderr


def test_snapshots_of_the_guard_and_mirrors_are_not_pushed(hooked: Path) -> None:
    git(hooked, "update-ref", "refs/sentinel/rescue/x", "HEAD")
    assert "sends refs/sentinel/rescue/x, as --mirror does" in push(hooked, "refs/sentinel/*:refs/sentinel/*").stderr
    done = push(hooked, "--mirror")
    assert (done.returncode, "refs/remotes/origin/main" in done.stderr) == (1, True)


def test_the_first_push_to_an_empty_remote_is_looked_at_whole(hooked: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "empty.git")
    git(hooked, "remote", "add", "second", str(tmp_path / "empty.git"))
    put(hooked, "a.py", f"key = '{TOKEN}'\n")
    secret = committed(hooked, "secret")
    put(hooked, "a.py", "key = ''\n")
    committed(hooked, "gone")
    done = git(hooked, "push", "-q", "second", "HEAD:main", check=False)
    assert (done.returncode, secret[:12] in done.stderr) == (1, True)


def test_what_another_remote_has_already_is_told_and_let_through(hooked: Path, tmp_path: Path) -> None:
    """A fork carries the history of its origin; the hooks do not know that the new remote has it too."""
    put(hooked, "a.py", f"key = '{TOKEN}'\n")
    committed(hooked, "published by others")
    assert push(hooked, "--no-verify", "main").returncode == 0
    git(tmp_path, "init", "-q", "--bare", "fork.git")
    git(hooked, "remote", "add", "fork", str(tmp_path / "fork.git"))
    done = git(hooked, "push", "-q", "fork", "main", check=False)
    assert done.returncode == 0
    assert "SENTINEL WARNING: 1 more in commits that another remote has already" in done.stderr


def test_more_commits_than_are_looked_at_is_said(hooked: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    from sentinel_guard.commands import git_hook
    from sentinel_guard.host.git import commit_contents

    monkeypatch.setattr(commit_contents, "MAX_COMMITS", 2)
    monkeypatch.chdir(hooked)
    for n in range(3):
        committed(hooked, f"{n}")
    line = f"refs/heads/main {head(hooked)} refs/heads/x {'0' * 40}\n".encode()
    assert git_hook.hook("pre-push", ("origin",), lambda: line) == 0
    assert "there are more than 2 new commits: only the newest 2 were looked at" in capfd.readouterr().err
