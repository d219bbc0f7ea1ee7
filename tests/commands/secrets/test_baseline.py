"""``secrets baseline`` on real repositories, and what a push is let through by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.commands.secrets import audit, baseline
from sentinel_guard.core.secrets.allowlisted_findings import NAME, ReviewStatus
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.secrets import allowlist_file
from tests.support.secrets_commands import LINE, OTHER, TOKEN, git, look, said, take_in


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


def test_what_is_there_already_is_not_asked_about_again(root, capsys):
    (root / "ci.yml").write_text(LINE)
    assert take_in(root) == 0
    said = capsys.readouterr().out
    assert "  ci.yml:1:8  github-pat" in said and "1 row, 1 unreviewed" in said
    assert TOKEN not in said + (root / NAME).read_text()
    assert look(root) == 0
    (root / "ci.yml").write_text(f"{LINE}next: {OTHER}\n")
    assert look(root) == 1


def test_a_person_who_says_no_gets_no_baseline(root, capsys):
    (root / "ci.yml").write_text(LINE)
    asked = []
    assert baseline.baseline(places(), root, lambda question: bool(asked.append(question))) == 1
    assert asked == ["Take this in? Nobody is asked about them again."] and not (root / NAME).exists()


def test_where_nothing_is_found_nothing_is_written(root, capsys):
    (root / "a").write_text("x\n")
    assert take_in(root) == 0
    assert not (root / NAME).exists() and "no baseline is needed" in capsys.readouterr().out


def test_running_it_again_keeps_verdicts_and_says_what_changed(root, capsys):
    (root / "ci.yml").write_text(LINE)
    (root / "old.yml").write_text(f"a: {OTHER}\n")
    take_in(root)
    made = allowlist_file.load(root)
    allowlist_file.save(root, made.with_verdicts(dict.fromkeys(made.rows, ReviewStatus.FALSE)))
    (root / "old.yml").unlink()
    (root / "ci.yml").rename(root / "moved.yml")
    capsys.readouterr()
    take_in(root)
    said = capsys.readouterr().out
    assert "1 row moved, with their verdicts.\n1 row gone." in said
    assert [(r.path, r.said) for r in allowlist_file.load(root).rows] == [("moved.yml", ReviewStatus.FALSE)]
    take_in(root)
    assert f"{NAME} is up to date: 1 row." in capsys.readouterr().out


def test_a_value_of_ones_own_is_not_taken_in(root, capsys):
    (root / ".env").write_text("DB_PASSWORD=mauve-otter-Klippe\n")
    (root / ".gitignore").write_text(".env\n")
    (root / "notes.md").write_text("log in with mauve-otter-Klippe\n")
    assert take_in(root) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 value of your own stays refused; no baseline lets one be:\n")
    assert said.endswith("Nothing else was found: no baseline is needed.\n") and look(root) == 1


def test_a_copy_of_env_under_another_name_is_refused_and_stays_so(root, capsys):
    (root / ".env").write_text("DB_PASSWORD=mauve-otter-Klippe\nOTHER_TOKEN=walnut-Harfe-sieben\n")
    (root / ".gitignore").write_text(".env\n")
    (root / "env.production").write_bytes((root / ".env").read_bytes())
    assert look(root) == 1
    assert capsys.readouterr().out.count("env.production:") == 2
    take_in(root)
    assert capsys.readouterr().out.startswith("2 values of your own stay refused;")


@pytest.fixture
def pushing(root, tmp_path):
    """A clone whose hook is ours, with a token in a commit that is not its newest."""
    git(root, "init", "-q", "--bare", str(tmp_path / "hub"))
    git(root, "remote", "add", "origin", str(tmp_path / "hub"))
    hook = root / ".git" / "hooks" / "pre-push"
    hook.write_text(f'#!/bin/sh\nexec {sys.executable} -m sentinel_guard hook pre-push "$@"\n')
    hook.chmod(0o755)
    (root / "t.yml").write_text(LINE)
    commit(root, "use it")
    (root / "t.yml").unlink()
    commit(root, "take it out")
    return root


def pushed(root: Path) -> bool:
    command = ["git", "-C", str(root), "push", "-q", "origin", "HEAD:refs/heads/x"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert TOKEN.encode() not in done.stdout + done.stderr
    return done.returncode == 0


def test_a_push_whose_older_commit_holds_a_find_is_let_through_by_history(pushing, capsys):
    assert not pushed(pushing)
    take_in(pushing)
    assert "Commits that no remote has yet: --history" in capsys.readouterr().out and not pushed(pushing)
    take_in(pushing, history=True)
    said = capsys.readouterr().out
    assert " t.yml:1:8  github-pat" in said and TOKEN not in said
    take_in(pushing)
    assert "is up to date: 1 row." in capsys.readouterr().out, "a row stays while a commit may still be pushed"
    assert pushed(pushing)
    take_in(pushing)
    assert "1 row gone." in capsys.readouterr().out


def test_a_find_in_a_message_is_taken_in_by_history(pushing):
    take_in(pushing, history=True)
    git(pushing, "commit", "-q", "--allow-empty", "-m", f"log in with {OTHER}")
    assert not pushed(pushing)
    take_in(pushing, history=True)
    assert ("", "gitlab-pat") in {(r.path, r.rule) for r in allowlist_file.load(pushing).rows}
    assert pushed(pushing)


def test_a_file_that_moves_after_a_commit_is_let_be_in_both_places(pushing):
    (pushing / "a.yml").write_text(f"a: {OTHER}\n")
    commit(pushing, "another")
    take_in(pushing, history=True)
    git(pushing, "mv", "a.yml", "b.yml")
    commit(pushing, "move it")
    take_in(pushing)
    assert {r.path for r in allowlist_file.load(pushing).rows} == {"t.yml", "a.yml", "b.yml"} and pushed(pushing)


def test_what_only_a_commit_holds_is_gone_through_with_a_person(pushing, capsys):
    take_in(pushing, history=True)
    capsys.readouterr()
    audit.audit(places(), pushing, iter("n").__next__)
    shown = capsys.readouterr().out
    assert "[1 of 1]  t.yml:1\n" in shown and "only in commit" in shown and "no longer found" not in shown
    assert "  >     1  token: <ghp_… 40 characters>\n" in shown and said(pushing) == ["false"]
