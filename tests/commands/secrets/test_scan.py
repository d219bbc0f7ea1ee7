"""``secrets scan`` on real repositories."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sentinel_guard.core.secrets.allowlisted_findings import NAME
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine.state_paths import places
from tests.support.secrets_commands import LINE, OTHER, TOKEN, git, look


def test_nothing_is_nothing(root, capsys):
    (root / "a.txt").write_text("hello\n")
    assert look(root) == 0
    assert capsys.readouterr().out.startswith("Nothing found: 1 file, 0.0 MB")


def test_a_find_has_its_place_its_rule_and_no_value(root, capsys):
    (root / "conf").mkdir()
    (root / "conf" / "ci.yml").write_text(f"# first\n  {LINE}")
    assert look(root) == 1
    said = capsys.readouterr().out
    assert "conf/ci.yml:2:10  github-pat  token: <ghp_… 40 characters>\n" in said
    assert "1 find in 1 file: 1 file" in said and "Next: " in said
    assert TOKEN[4:12] not in said


def test_a_path_is_written_as_from_where_one_stands(root, capsys):
    (root / "conf").mkdir()
    (root / "ci.yml").write_text(LINE)
    assert look(root, cwd=root / "conf") == 1
    assert capsys.readouterr().out.startswith("../ci.yml:1:8  ")


def test_only_what_is_named_is_looked_into(root, capsys):
    (root / "sub").mkdir()
    (root / "sub" / "clean").write_text("x\n")
    (root / "ci.yml").write_text(LINE)
    assert look(root, root / "sub") == 0
    assert look(root, root / "sub", root / "ci.yml") == 1
    assert "2 files" in capsys.readouterr().out


def test_an_ignored_file_is_looked_into_where_it_is_named(root):
    (root / ".gitignore").write_text("ci.yml\n")
    (root / "ci.yml").write_text(LINE)
    assert look(root) == 0
    assert look(root, root / "ci.yml") == 1


def test_files_that_are_in_no_repository(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "ci.yml").write_text(LINE)
    assert look(tmp_path, tmp_path / "d") == 1
    assert f"{tmp_path}/d/ci.yml:1:8" in capsys.readouterr().out
    with pytest.raises(HostError, match="not in a git work tree"):
        look(tmp_path)


def test_paths_of_two_repositories_are_refused(root, tmp_path):
    (tmp_path / "a").write_text("x")
    (root / "b").write_text("x")
    with pytest.raises(ConfigError, match="different repositories"):
        look(root, tmp_path / "a", root / "b")


def test_staged_is_what_the_next_commit_adds(root, capsys):
    (root / "ci.yml").write_text(LINE)
    assert look(root, staged=True) == 0
    git(root, "add", "ci.yml")
    (root / "ci.yml").write_text("taken out again\n")
    assert look(root, staged=True) == 1
    assert "ci.yml:1:8" in capsys.readouterr().out


def test_history_names_the_commit_of_what_is_gone_from_the_files(root, capsys):
    (root / "ci.yml").write_text(LINE)
    git(root, "add", "-A")
    git(root, "commit", "-qm", f"use {OTHER} here")
    head = subprocess.check_output(["git", "-C", str(root), "rev-parse", "HEAD"], text=True)
    git(root, "rm", "-q", "ci.yml")
    git(root, "commit", "-qm", "take it out")
    assert look(root) == 0
    assert look(root, history=True) == 1
    said = capsys.readouterr().out
    assert f"{head[:10]} ci.yml:1:8  github-pat" in said and f"{head[:10]} message:1:5  gitlab" in said
    assert TOKEN not in said and OTHER not in said


def test_a_value_of_the_persons_own_needs_no_form(root, capsys):
    (root / ".env").write_text("DB_PASSWORD=mauve-otter-Klippe\n")
    (root / ".gitignore").write_text(".env\n")
    (root / "notes.md").write_text("log in with mauve-otter-Klippe\n")
    assert look(root) == 1
    assert "notes.md:1:13  known-value  log in with <… 18 characters>" in capsys.readouterr().out


def test_comments_and_the_users_policy_let_finds_be(root, capsys):
    (root / "a.py").write_text(f'T = "{TOKEN}"  # sentinel: allow\n')
    (root / "b.py").write_text(LINE)
    places().policy.parent.mkdir(parents=True)
    places().policy.write_text('version = 1\n[leaks]\nallow = ["b.py"]\n')
    assert look(root) == 0
    assert "1 let be by a comment in its line." in capsys.readouterr().out


def test_what_only_warns_refuses_nothing_and_is_shown_on_request(root, capsys):
    (root / "app.py").write_text('password = "vK7tQ2xLw9Zp4R"\n')
    assert look(root) == 0
    assert "1 warning not shown" in capsys.readouterr().out
    assert look(root, warnings=True) == 0
    assert "app.py:1:13  generic-password  (warning)" in capsys.readouterr().out


def test_alike_finds_of_one_file_are_counted(root, capsys):
    (root / "ci.yml").write_text("".join(f"t{n}: {TOKEN[:-1]}{n}\n" for n in range(9)))
    assert look(root) == 1
    said = capsys.readouterr().out
    assert said.count("ci.yml:") == 3 and "... and 6 more of github-pat in ci.yml" in said


def test_a_list_of_personal_data_is_one_line_with_its_number(root, capsys):
    (root / "people.csv").write_text("".join(f"p{n}@nordwind.de\n" for n in range(60)))
    assert look(root) == 1
    assert "people.csv:1:1  pii-email  60 e-mail addresses, the first: <… 14 characters>\n" in capsys.readouterr().out


def test_json_is_one_object(root, capsys):
    (root / "ci.yml").write_text(LINE)
    assert look(root, as_json=True) == 1
    said = json.loads(capsys.readouterr().out)
    [found] = said["findings"]
    assert found["path"] == "ci.yml" and (found["line"], found["column"], found["grade"]) == (1, 8, "block")
    assert (said["files"], said["notes"]) == (1, []) and TOKEN not in json.dumps(said)


def test_what_was_not_looked_into_is_said(root, capsys):
    with (root / "dump").open("wb") as file:
        file.truncate(9 << 20)
    (root / "logo.png").write_bytes(bytes(range(256)))
    assert look(root) == 0
    said = capsys.readouterr().out
    assert "Note: dump: over 8 MB, not looked into\n" in said and "1 that are no text" in said


def test_a_broken_baseline_stops_the_search(root):
    (root / NAME).write_text("x")
    with pytest.raises(ConfigError, match=NAME):
        look(root)


@pytest.mark.parametrize(
    ("words", "code"),
    [(["."], 1), (["--staged"], 0), (["nowhere"], 2), (["--staged", "."], 2), (["--staged", "--history"], 2)],
    ids=["finds", "none", "no such file", "a path and --staged", "two at once"],
)
def test_the_exit_code_says_what_was_found(root, words, code):
    (root / "ci.yml").write_text(LINE)
    command = [sys.executable, "-m", "sentinel_guard", "secrets", "scan", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert TOKEN not in done.stdout + done.stderr and "Traceback" not in done.stderr
