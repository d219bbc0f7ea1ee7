"""Going away: ``uninstall`` in one repository and in all, and hooks whose program is gone. Real git."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.commands import install as command
from sentinel_guard.commands import uninstall
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine.state_paths import places
from tests.support.installed_hooks import git, state


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "g"))
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)


def made(folder: Path, name: str) -> Path:
    git(folder, "init", "-q", name)
    return folder / name


COMMITTED = (
    ((), "Took", False, "nobody has touched it"),
    (("add",), "under version control", True, "it is staged"),
    (("add", "commit"), "under version control", True, "it is committed: others may go by it"),
)


@pytest.mark.parametrize("row", COMMITTED, ids=[c[3] for c in COMMITTED])
def test_a_committed_policy_stays(tmp_path, capsys, row) -> None:
    steps, words, stays, why = row
    root = made(tmp_path, "repo")
    command.install(root)
    for step in steps:
        git(root, *{"add": ("add", "sentinel.toml"), "commit": ("commit", "-qnm", "policy")}[step])
    uninstall.uninstall(root)
    assert words in capsys.readouterr().out
    assert (root / "sentinel.toml").exists() is stays, why


def test_all_repositories_are_remembered(tmp_path, capsys) -> None:
    roots = [made(tmp_path, name) for name in ("one", "two", "gone")]
    before = [state(root) for root in roots]
    template = tmp_path / "template"
    for root in roots:
        command.install(root)
        command.install(root)
    command.install(tmp_path, template)
    roots[2].rename(tmp_path / "elsewhere")
    capsys.readouterr()
    assert uninstall.uninstall_all() == 0
    said = capsys.readouterr().out
    assert [state(root) for root in roots[:2]] == before[:2]
    assert not [*(template / "hooks").iterdir()]
    for words in (f"{roots[0]}:", "It is gone.", "pipx uninstall", str(places().state)):
        assert words in said
    assert uninstall.uninstall_all() == 0
    assert "No repository is remembered" in capsys.readouterr().out


def test_what_cannot_be_done_is_named_and_tried_again(tmp_path, capsys) -> None:
    one, two = made(tmp_path, "one"), made(tmp_path, "two")
    for root in (one, two):
        command.install(root)
    (one / ".git").rename(one / "hidden")
    assert uninstall.uninstall_all() == 1
    assert "not done: " in capsys.readouterr().out
    assert not install_hooks.installed(two), "the others are done"
    (one / "hidden").rename(one / ".git")
    assert uninstall.uninstall_all() == 0
    assert not install_hooks.installed(one)


def test_inside_of_a_session_nothing_is_taken(tmp_path, monkeypatch) -> None:
    root = made(tmp_path, "repo")
    command.install(root)
    monkeypatch.setenv("SENTINEL_SESSION", "of-a-test")
    with pytest.raises(SentinelError, match="From inside"):
        uninstall.uninstall_all()
    assert install_hooks.installed(root)


# The program is gone.


def gone(folder: Path, absent: str = "refuse", name: str = "repo", *config: str) -> Path:
    """A repository whose hooks were installed by a program that has been uninstalled since."""
    root = made(folder, name)
    (root / ".git/hooks/pre-commit").write_text("#!/bin/sh\necho theirs >> ran\n")
    (root / ".git/hooks/pre-commit").chmod(0o755)
    git(folder, "init", "-q", "--bare", "remote.git")
    git(root, "remote", "add", "origin", str(folder / "remote.git"))
    if config:
        git(root, "config", *config)
    launcher = folder / "launcher"  # it stays when the package goes
    launcher.write_text("#!/bin/sh\necho No module named sentinel_guard >&2\nexit 1\n")
    launcher.chmod(0o755)
    program = str(folder / "bin" / "sentinel-guard")
    install_hooks.install(root, sys.executable, launcher=str(launcher), program=program, absent=absent)
    (root / "a").write_text("a\n")
    git(root, "add", "a")
    return root


@pytest.mark.parametrize("config", [(), ("core.hooksPath", "theirs")], ids=["usual hooks", "a folder of theirs"])
def test_a_commit_without_the_program_names_both_ways_out_and_each_works(tmp_path, config) -> None:
    root = gone(tmp_path, "refuse", "my repo", *config)
    refused = git(root, "commit", "-qm", "a", check=False)
    assert refused.returncode == 1
    assert refused.stderr.startswith("403 SENTINEL BLOCKED: sentinel-guard is not installed any more")
    back, out = refused.stderr.splitlines()[1:]
    assert back.endswith("pip install sentinel-guard, then in this repository: sentinel-guard install")
    subprocess.run(out.partition(":")[2], shell=True, cwd=root, check=True, capture_output=True)
    assert git(root, "commit", "-qm", "a").stderr == ""
    assert git(root, "push", "-q", "origin", "main", check=False).stderr == ""
    assert not (root / ".git/sentinel-guard").exists()
    assert not install_hooks.installed(root)
    assert (root / "ran").exists() is not bool(config), "theirs are back"


def test_the_other_way_is_to_put_it_back(tmp_path) -> None:
    root = gone(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sentinel-guard").touch()
    (tmp_path / "launcher").write_text("#!/bin/sh\nexit 0\n")
    assert git(root, "commit", "-qm", "a").stderr == ""


def test_where_policy_says_so_a_commit_passes_with_a_warning(tmp_path) -> None:
    root = gone(tmp_path, "warn")
    done = git(root, "commit", "-qm", "a")
    assert done.stderr.startswith("SENTINEL WARNING: sentinel-guard is not installed any more")
    pushed = git(root, "push", "-q", "origin", "main")
    assert "nothing checks this push" in pushed.stderr


def test_inside_of_a_session_there_is_one_way(tmp_path) -> None:
    root = gone(tmp_path, "warn")
    (tmp_path / "launcher").unlink()
    install_hooks.install(root, "/gone/python", launcher=str(tmp_path / "launcher"), absent="warn")
    done = git(root, "commit", "-qm", "a", check=False, SENTINEL_SESSION="of-a-test")
    assert done.returncode == 1 and "Ask the user" in done.stderr and "take-out" not in done.stderr
    script = root / ".git/sentinel-guard/take-out"
    taken = subprocess.run(
        ["sh", str(script)],
        env={**os.environ, "SENTINEL_SESSION": "of-a-test"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert taken.returncode == 1 and "403" in taken.stderr and install_hooks.installed(root)


def test_a_repository_born_from_a_template_names_its_files(tmp_path) -> None:
    template = tmp_path / "template"
    install_hooks.install_template(template, "/gone/python")
    git(tmp_path, "init", "-q", f"--template={template}", "born")
    (tmp_path / "born/a").write_text("a\n")
    git(tmp_path / "born", "add", "a")
    refused = git(tmp_path / "born", "commit", "-qm", "a", check=False)
    assert refused.returncode == 1 and "delete the files in .git/hooks that contain" in refused.stderr


def test_the_policy_decides_at_install(tmp_path) -> None:
    root = made(tmp_path, "repo")
    policy = places().policy
    policy.parent.mkdir(parents=True)
    policy.write_text('[git_hooks]\nwithout_guard = "warn"\n')
    command.install(root)
    assert "SENTINEL WARNING" in (root / ".git/hooks/pre-commit").read_text()
    policy.unlink()
    command.install(root)
    assert "SENTINEL WARNING" not in (root / ".git/hooks/pre-commit").read_text()
