"""The real pre-commit framework with our own manifest: installed, at every stage, on real repositories.

The hooks come from a repository with our ``.pre-commit-hooks.yaml``, run by this interpreter (``language: system``).
One test builds them as a user gets them (``language: python``, a wheel from a copy of this tree); it is the slow one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.hook_repositories import TOKEN, committed, git, head, made, put

PROJECT = Path(__file__).resolve().parents[2]
IDS = ("sentinel-restricted-paths", "sentinel-secrets", "sentinel-message", "sentinel-policy")
UGLY = "a b\n'\"$x.py"
STAGES = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")


def precommit(root: Path, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).parent / "pre-commit"
    told = {**os.environ, "PRE_COMMIT_COLOR": "never", **environ}
    return subprocess.run(
        [str(tool), *args], cwd=root, check=False, capture_output=True, text=True, errors="replace", env=told
    )


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of hooks: our manifest, with the interpreter of this test in place of a built one."""
    folder = made(tmp_path_factory.mktemp("hooks") / "repo")
    manifest = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    assert tuple(hook["id"] for hook in manifest) == IDS
    runner = put(
        folder.parent,
        "sentinel-guard",
        f'#!/bin/sh\nPYTHONPATH={PROJECT} exec {sys.executable} -m sentinel_guard "$@"\n',
    )
    runner.chmod(0o755)
    for hook in manifest:
        hook |= {"language": "system", "entry": hook["entry"].replace("sentinel-guard", str(runner))}
    put(folder, ".pre-commit-hooks.yaml", yaml.safe_dump(manifest))
    committed(folder)
    return folder


@pytest.fixture
def empty(hooks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without a commit, pre-commit installed in it."""
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(hooks.parent / "cache"))
    root = tmp_path / "repo"
    git(tmp_path, "init", "-q", str(root))
    chosen = [{"id": name} for name in IDS]
    config = {"repos": [{"repo": str(hooks), "rev": head(hooks), "hooks": chosen}]}
    put(root, ".pre-commit-config.yaml", yaml.safe_dump(config))
    done = precommit(root, "install", *(word for stage in STAGES for word in ("--hook-type", stage)))
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def root(empty: Path) -> Path:
    put(empty, "README.md", "hello\n")
    committed(empty, "first")
    return empty


def commit(root: Path, name: str, text: str = "x\n") -> subprocess.CompletedProcess[str]:
    put(root, name, text)
    git(root, "add", "-f", name)
    return git(root, "commit", "-m", "a change", check=False)


def test_the_first_commit_of_a_repository(empty: Path) -> None:
    put(empty, ".env", "A=1\n")
    put(empty, "README.md", "hello\n")
    git(empty, "add", "-f", ".")
    done = git(empty, "commit", "-m", "first", check=False)
    assert done.returncode == 1
    assert "403 SENTINEL BLOCKED: this commit adds .env, which is restricted (pattern .env)" in done.stderr
    assert "Take it out: git rm --cached .env" in done.stderr
    git(empty, "rm", "-q", "--cached", ".env")
    assert git(empty, "commit", "-m", "first", check=False).returncode == 0


def test_each_hook_stops_its_own(root: Path) -> None:
    done = commit(root, UGLY, f"key = '{TOKEN}'\n")
    assert r"GitHub personal access token in $'a b\x0a\x27\"$x.py':1:8" in done.stderr.replace('"', r"\"").replace(
        r'\\"', r"\""
    )
    assert done.stderr.count("403 SENTINEL BLOCKED") == 1
    assert commit(root, UGLY, "key = ''\n").returncode == 0
    git(root, "mv", "README.md", "key.pem")
    assert "this commit adds key.pem" in git(root, "commit", "-m", "x", check=False).stderr
    git(root, "reset", "-q", "--hard")
    assert "did you mean paths?" in commit(root, "sentinel.toml", "[pats]\n").stderr
    git(root, "reset", "-q", "--hard")
    done = git(root, "commit", "--allow-empty", "-m", f"use {TOKEN}", check=False)
    assert (done.returncode, "the message of this commit holds" in done.stderr) == (1, True)
    assert TOKEN not in done.stderr


def test_only_what_is_staged_of_a_file_counts(root: Path) -> None:
    put(root, "a.py", "one = 1\n")
    git(root, "add", "a.py")
    put(root, "a.py", f"one = 1\nkey = '{TOKEN}'\n")
    assert git(root, "commit", "-m", "without", check=False).returncode == 0
    assert TOKEN in (root / "a.py").read_text()
    git(root, "add", "a.py")
    put(root, "a.py", "one = 1\n")
    assert "a.py:2:8" in git(root, "commit", "-m", "with", check=False).stderr


def test_a_merge_brings_what_others_published_and_nothing_else(root: Path) -> None:
    git(root, "switch", "-q", "-c", "theirs")
    put(root, "theirs.py", f"key = '{TOKEN}'\n")
    put(root, "README.md", "theirs\n")
    put(root, ".env", "A=1\n")
    committed(root)
    git(root, "switch", "-q", "main")
    put(root, "mine.txt")
    committed(root)
    assert git(root, "merge", "--no-ff", "-m", "clean", "theirs", check=False).returncode == 0
    git(root, "reset", "-q", "--hard", "HEAD~1")
    put(root, "README.md", "mine\n")
    committed(root)
    git(root, "merge", "theirs", check=False)
    put(root, "README.md", "both\n")
    put(root, "key.pem")
    git(root, "add", "-f", "README.md", "key.pem")
    done = git(root, "commit", "-m", "merged", check=False)
    assert (done.returncode, done.stderr.count("403 SENTINEL BLOCKED")) == (1, 1)
    assert "this commit adds key.pem" in done.stderr
    git(root, "rm", "-q", "-f", "key.pem")
    assert git(root, "commit", "-m", "merged", check=False).returncode == 0


def test_all_files_and_ranges_as_in_ci(root: Path) -> None:
    start = head(root)
    put(root, "old.py", f"\nkey = '{TOKEN}'\n")
    put(root, "old.pem")
    secret = committed(root)
    put(root, "old.py", "\n")
    committed(root)
    done = precommit(root, "run", "--from-ref", start, "--to-ref", "HEAD")
    assert done.returncode == 1
    assert f"commit {secret[:12]} adds a GitHub personal access token in old.py:2:8" in done.stdout
    assert f"commit {secret[:12]} adds old.pem" in done.stdout
    done = precommit(root, "run", "--all-files")
    assert "the repository holds old.pem" in done.stdout
    assert "old.py" not in done.stdout
    put(root, "old.py", f"key = '{TOKEN}'\n")
    git(root, "rm", "-q", "old.pem")
    committed(root)
    done = precommit(root, "run", "--all-files")
    assert "the repository holds a GitHub personal access token in old.py:1:8" in done.stdout


def test_a_push_is_looked_at_commit_by_commit(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    done = git(root, "push", "origin", "main", check=False)
    assert done.returncode == 0, done.stderr
    put(root, "a.py", f"key = '{TOKEN}'\n")
    secret = committed(root)
    (root / "a.py").unlink()
    committed(root)
    done = git(root, "push", "origin", "main", check=False)
    assert (done.returncode, f"commit {secret[:12]} adds" in done.stdout) == (1, True)


def test_a_name_that_is_not_utf8_is_refused_one_way_or_the_other(root: Path) -> None:
    """pre-commit itself cannot read such a name; alone, the hook can (tests/commands/test_git_hook.py)."""
    done = commit(root, os.fsdecode(b"caf\xe9.pem"))
    assert done.returncode != 0


@pytest.mark.timeout(600)
def test_it_is_built_and_tried_as_a_user_does(root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(PROJECT, clone, ignore=ignored)
    git(clone, "init", "-q")
    committed(clone)
    put(root, ".env", "A=1\n")
    put(root, "a.py", f"key = '{TOKEN}'\n")
    git(root, "add", "-f", ".env", "a.py")
    done = precommit(root, "try-repo", str(clone), "--verbose")
    assert "403 SENTINEL BLOCKED: this commit adds .env" in done.stdout, done.stdout + done.stderr
    assert "GitHub personal access token in a.py:1:8" in done.stdout
    assert done.returncode == 1
