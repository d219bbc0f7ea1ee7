"""policy show and validate."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from sentinel_guard.commands import policy as command


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    return tmp_path / "repo"


def test_show_prints_what_is_in_force_as_toml(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "sentinel.toml").write_text("[loop]\nrepeats = 2\n[paths]\nrestricted = ['*.key']\n")
    assert command.show(root) == 0
    said = capsys.readouterr().out
    shown = tomllib.loads(said)
    assert shown["loop"]["repeats"] == 2
    assert ".env" in shown["paths"]["restricted"]
    assert '"*.key"' in said
    assert f"built in, {root}/sentinel.toml" in said
    assert "git.push-force" in said


def test_show_is_loud_about_a_broken_file(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "sentinel.toml").write_text("[loop]\nwindw = 2\n")
    assert command.show(root) == 1
    assert "WARNING" in capsys.readouterr().out


def test_what_a_terminal_would_obey_is_written_out(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "sentinel.toml").write_text('[paths]\nrestricted = ["\\u001b]0;x\\u0007.key"]\n')
    command.show(root)
    assert "\x1b" not in capsys.readouterr().out


def test_show_works_outside_of_a_repository(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.show(root.parent) == 0
    assert "built in" in capsys.readouterr().out


def test_validate_says_good_or_every_mistake(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.validate(root) == 0
    assert "no policy file" in capsys.readouterr().out
    (root / "sentinel.toml").write_text("version = 1\n")
    assert command.validate(root) == 0
    assert "good" in capsys.readouterr().out
    (root / "sentinel.toml").write_text("[loop]\nwindw = 2\n[cost]\ntokens = 1\n")
    assert command.validate(root) == 1
    said = capsys.readouterr().out
    assert "sentinel.toml:2" in said
    assert "sentinel.toml:4" in said


def test_validate_takes_a_file(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.validate(root, root / "none.toml") == 1
    assert "cannot be read" in capsys.readouterr().out


LOOSER = (
    ("repo/sentinel.toml", "[loop]\nrepeats = 9\n", "is not taken: a project can only tighten", "a project loosens"),
    ("s/config/sentinel.toml", "[rules]\ndisable = ['no.such']\n", "which is no rule", "a user names no rule"),
    ("s/config/sentinel.toml", "[loop]\nrepeats = 9\n", "", "a user may loosen"),
)


@pytest.mark.parametrize(("name", "text", "note"), [r[:3] for r in LOOSER], ids=[r[3] for r in LOOSER])
def test_validate_notes_what_a_good_file_says_in_vain(root: Path, capsys, name: str, text: str, note: str) -> None:
    path = root.parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert command.validate(root) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{path}: good\n")
    assert (f"  note: {path}: " in said and note in said) if note else said == f"{path}: good\n"
