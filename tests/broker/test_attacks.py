"""Attacks on what is restricted do their harm without the layer, and none with it; each row of attacks.toml is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.broker.conftest import USER
from tests.support.time_limits import limit

FOUND = tomllib.loads((Path(__file__).parent / "attacks.toml").read_text())
ABSENT = 77
ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null"}
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if USER else []


@pytest.fixture
def remote(repo):
    """The folder as a repository with one commit, and a remote that anybody could push to."""
    folder = repo / "remote"
    for words in (
        "init -q -b main",
        "add a.txt",
        "-c user.name=a -c user.email=a@b commit -qm one",
        "init -q --bare remote",
        f"remote add origin {folder}",
    ):
        git(repo, *words.split())
    return repo


def git(repo, *words):
    command = [*AS_USER, "git", *words]
    return subprocess.run(command, cwd=repo, env=ENVIRON, capture_output=True, text=True, check=True).stdout


def harm(repo):
    """What is not as it was."""
    env = repo / ".env"
    changed = env.is_symlink() or not env.exists() or env.read_text() != "GOOD=1\n"
    made = ["state"] if (repo / "state/audit.db").read_text() != "AUDIT\n" else []
    made += [path.name for path in (repo / ".env.new", repo / "broken") if os.path.lexists(path)]
    pushed = "stolen" in git(repo, "--git-dir=remote", "branch")
    return [*(["changed"] if changed else []), *made, *(["pushed"] if pushed else [])]


def command(row):
    if "python" in row:
        return ["python3", "-c", FOUND["prelude"] + row["python"]]
    return ["bash", "-c", row["script"]]


@pytest.mark.parametrize("row", FOUND["attack"], ids=[row["name"] for row in FOUND["attack"]])
def test_nothing_comes_of_it(session, remote, row):
    if not shutil.which(row.get("needs", "bash")):
        pytest.skip(f"{row['needs']} is not here")
    session.run(*command(row), cwd=remote, env=ENVIRON, user=USER)
    assert harm(remote) == []
    if "harmless" not in row:
        bare = [*AS_USER, *command(row)]
        done = subprocess.run(bare, cwd=remote, env=ENVIRON, capture_output=True, check=False, timeout=limit(30))
        if done.returncode == ABSENT:
            pytest.skip("this machine has not what it needs")
        assert harm(remote), "without the layer it does harm: the row tests something"
