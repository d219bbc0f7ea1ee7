"""A repository whose git hooks are really in place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sentinel_guard.host.githooks import install_hooks
from tests.support.hook_repositories import git, made

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def hooked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a bare remote and our hooks, which run this checkout's code."""
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    root = made(tmp_path / "repo")
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(root, "push", "-q", "origin", "main", "main:feature")
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nexec {sys.executable} -I -c \'import sys; sys.path.insert(0, "{PROJECT}")\n'
        "from sentinel_guard.commands.git_hook import hook\n"
        'sys.exit(hook(sys.argv[6], tuple(sys.argv[7:]), sys.stdin.buffer.read))\' "$0" "$@"\n'
    )
    python.chmod(0o755)
    install_hooks.install(root, str(python))
    return root
