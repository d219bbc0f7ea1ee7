"""``policy test``: what all rules do, together."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sentinel_guard.commands import policy as command
from sentinel_guard.core.model import Response
from sentinel_guard.host import policy_files
from sentinel_guard.host.machine.state_paths import places

RULE = """
[[rule]]
id = "my.frob"
program = "frob"
response = "deny"
why = "no"
instead = "frob-safely"
hit = "frob x"
miss = "echo frob"
"""

OFF = '[rules]\ndisable = ["filesystem.agent-settings"]\n'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    return tmp_path / "repo"


def test_the_packs_hold_and_are_counted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = command.test(root, None, as_json=False)
    said = capsys.readouterr().out
    assert code == 0, said
    assert "pack git" in said and "good" in said and "All hold." in said


def test_the_users_and_the_projects_rules_are_tried_too(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places().make()
    places().policy.write_text(RULE)
    (root / "sentinel.toml").write_text(RULE.replace("my.", "ours."))
    assert command.test(root, None, as_json=False) == 0
    said = "".join(line.split(" ")[0] for line in capsys.readouterr().out.splitlines())
    assert "config/sentinel.toml" in said and "repo/sentinel.toml" in said


FAILS = (
    ("frob x", "grep x", "program is frob, and the command has grep", "a hit that does not match"),
    ("echo frob", "frob y", "its miss 'frob y' matches", "a miss that matches"),
    ("frob-safely", "rm -rf /", "does not pass the guard (system.delete: kill", "a way out that is stopped"),
    ("frob-safely", "frob -n", "does not pass the guard (my.frob: deny", "a way out that its own rule stops"),
    ('response = "deny"', 'response = "dney"', "did you mean deny?", "a file that is written wrong"),
)


@pytest.mark.parametrize("row", FAILS, ids=[f[3] for f in FAILS])
def test_what_does_not_hold_is_said_in_words(root: Path, capsys: pytest.CaptureFixture[str], row) -> None:
    old, new, words, _ = row
    (root / "sentinel.toml").write_text(RULE.replace(old, new))
    assert command.test(root, None, as_json=False) == 1
    assert words in capsys.readouterr().out


def test_one_file_is_tried_by_itself(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = root / "draft.toml"
    draft.write_text(RULE)
    assert command.test(root, draft, as_json=False) == 0
    said = "".join(line.split(" ")[0] for line in capsys.readouterr().out.splitlines())
    assert "packgit" not in said and "draft.toml" in said


def test_a_file_that_is_not_there_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.test(root, root / "none.toml", as_json=False) == 1
    assert "cannot be read" in capsys.readouterr().out


def test_a_rule_that_fails_opens_no_hole(root: Path) -> None:
    """The user's rule of a built-in id would take its place; one whose examples fail takes nothing."""
    places().make()
    places().policy.write_text(RULE.replace("my.frob", "system.delete").replace("frob x", "grep x"))
    policy = policy_files.load(places(), root)
    [kept] = [r for r in policy.rules if r.id == "system.delete"]
    assert (kept.response, kept.source) == (Response.KILL, "pack system")
    assert "system.delete" in policy.warnings[0] and "is not in force" in policy.warnings[0]


@pytest.mark.parametrize(("policy", "shown"), [("", True), (OFF, False)], ids=["in force", "off"])
def test_the_files_of_agents_are_shown_while_a_rule_names_them(
    root: Path, capsys: pytest.CaptureFixture[str], policy: str, *, shown: bool
) -> None:
    places().policy.parent.mkdir(parents=True, exist_ok=True)
    places().policy.write_text(f"version = 1\n{policy}")
    assert command.show(root) == 0
    said = capsys.readouterr().out
    assert ("# Claude Code: ./.claude/settings.json" in said) is shown
    assert ("watched for filesystem.agent-settings" in said) is shown
