"""install and uninstall: what is put there, and bytes as before."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from sentinel_guard.commands import install as command
from sentinel_guard.commands import uninstall
from sentinel_guard.core.policy.file_schema import parse
from sentinel_guard.errors import HostError, SentinelError
from sentinel_guard.host import shims
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "g"))
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    (tmp_path / "repo/.git/hooks/pre-commit").write_text("#!/bin/sh\nexit 0\n")
    return tmp_path / "repo"


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(p.relative_to(folder)): (p.stat().st_mode, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


def test_install_writes_policy_and_hooks_and_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "sub").mkdir()
    assert command.install(root / "sub") == 0
    said = capsys.readouterr().out
    assert (root / "sentinel.toml").read_text() == command.TEMPLATE
    assert len(install_hooks.installed(root)) == len(install_hooks.NAMES)
    launcher = places().state / "hooks/sentinel-githook"
    assert f"launcher={launcher}" in (root / ".git/hooks/pre-commit").read_text() and launcher.exists()
    for words in ("sentinel.toml", "Commit it", "pre-commit", "pre-push", "run first", "secrets scan", "guard run"):
        assert words in said
    assert len(said.splitlines()) == 5


def test_uninstall_gives_back_every_byte(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = state(root)
    command.install(root)
    command.install(root)
    assert "already installed" in capsys.readouterr().out
    assert uninstall.uninstall(root) == 0
    assert state(root) == before
    uninstall.uninstall(root)
    assert "not installed" in capsys.readouterr().out


def test_an_edited_policy_stays(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.install(root)
    policy = root / "sentinel.toml"
    policy.write_text(policy.read_text() + "[loop]\nrepeats = 2\n")
    mine = policy.read_bytes()
    command.install(root)
    uninstall.uninstall(root)
    assert policy.read_bytes() == mine
    assert "you edited it" in capsys.readouterr().out


def test_a_bare_repository_gets_no_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare.git")], check=True)
    before = state(tmp_path / "bare.git")
    command.install(tmp_path / "bare.git")
    assert "sentinel.toml" not in capsys.readouterr().out
    assert len(install_hooks.installed(tmp_path / "bare.git")) == len(install_hooks.NAMES)
    uninstall.uninstall(tmp_path / "bare.git")
    assert state(tmp_path / "bare.git") == before


def test_a_template_folder_gets_the_hooks_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "template"
    command.install(tmp_path, template)
    assert f"git config --global init.templateDir {template}" in capsys.readouterr().out
    waiting = "reference-transaction.in-sessions"
    assert {p.name for p in (template / "hooks").iterdir()} == {*install_hooks.NAMES, waiting}
    subprocess.run(["git", "init", "-q", f"--template={template}", str(tmp_path / "born")], check=True)
    assert len(install_hooks.installed(tmp_path / "born")) == len(install_hooks.NAMES)
    uninstall.uninstall(tmp_path, template)
    assert not [*(template / "hooks").iterdir()]
    uninstall.uninstall(tmp_path, template)
    assert "No hooks" in capsys.readouterr().out


def test_submodules_are_named_with_what_to_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / ".gitmodules").touch()
    command.install(root)
    assert "git submodule foreach --recursive" in capsys.readouterr().out


def test_without_a_launcher_the_hooks_call_python(root: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(shims, "LAUNCHER", root / "none")
    command.install(root)
    assert "launcher=''" in (root / ".git/hooks/pre-commit").read_text()
    assert "more slowly" in capsys.readouterr().err


def test_outside_of_a_repository_it_says_what_to_do(tmp_path: Path) -> None:
    for work in (command.install, uninstall.uninstall):
        with pytest.raises(HostError, match="not in a git work tree") as caught:
            work(tmp_path)
        assert "git init" in caught.value.hint


LIVE = (
    ("ACTIVE", "repo", "", "is working in", "a session in this repository"),
    ("PAUSED", "repo", "", "is working in", "a paused one"),
    ("ACTIVE", "other", "of-a-test", "From inside", "a session elsewhere, asked from inside of it"),
    ("ACTIVE", "other", "of-another-test", "", "a session elsewhere"),
    ("KILLED", "repo", "", "", "a dead one"),
)


@pytest.mark.parametrize("row", LIVE, ids=[r[4] for r in LIVE])
def test_while_a_session_lives_nothing_is_put_or_taken(root, monkeypatch, row) -> None:
    alive, where, inside, words, _ = row
    monkeypatch.setenv("SENTINEL_SESSION", inside)
    daemon, before = FakeDaemon(places()), state(root)
    daemon.replies["status"] = {
        "sessions": [{"session": "of-a-test", "state": alive, "root": str(root.parent / where)}]
    }
    try:
        for work in (command.install, uninstall.uninstall):
            if not words:
                assert work(root) == 0
                continue
            with pytest.raises(SentinelError, match=words) as caught:
                work(root)
            assert caught.value.hint
    finally:
        daemon.close()
    assert state(root) == before


def test_the_template_is_a_good_policy_and_so_is_each_line_that_it_offers() -> None:
    parse(tomllib.loads(command.TEMPLATE), "template", command.TEMPLATE)
    offered = "\n".join(_uncommented(line) for line in command.TEMPLATE.splitlines())
    layer = parse(tomllib.loads(offered), "template", offered)
    assert layer.rules[0].id == "project.no-migrate"
    assert len(layer.settings) >= 9


def _uncommented(line: str) -> str:
    bare = line.removeprefix("# ")
    return bare if " = " in bare or bare.startswith("[[") else line
