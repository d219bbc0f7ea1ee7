"""``secrets scan``, ``baseline`` and ``audit`` on real repositories; the audit on a real terminal once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from sentinel_guard.commands import secrets_audit, secrets_baseline
from sentinel_guard.commands.secrets import Asked, scan
from sentinel_guard.core.leaks.baseline import NAME, Said
from sentinel_guard.errors import ConfigError, HostError, SentinelError
from sentinel_guard.host import baselines
from sentinel_guard.host.places import places
from tests.fake_daemon import FakeDaemon

TOKEN = "ghp" + "_Zx81mQp4Lk2Vn7Rt5Yw3Bc6Df9Gh0Js1A8zX"
OTHER = "glp" + "at-Xk29mPqLw84ZtRv7NcYb"
LINE = f"token: {TOKEN}\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.setenv("SENTINEL_HOME", str(tmp_path / "s"))
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)
    return root


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


def look(root: Path, *paths: Path, cwd: Path | None = None, **asked: bool) -> int:
    return scan(places(), cwd or root, Asked(paths, **asked))


def take_in(root: Path, *, history: bool = False) -> int:
    return secrets_baseline.baseline(places(), root, None, history=history)


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


# --- scan ---


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


# --- baseline ---


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
    assert secrets_baseline.baseline(places(), root, lambda question: bool(asked.append(question))) == 1
    assert asked == ["Take this in? Nobody is asked about them again."] and not (root / NAME).exists()


def test_where_nothing_is_found_nothing_is_written(root, capsys):
    (root / "a").write_text("x\n")
    assert take_in(root) == 0
    assert not (root / NAME).exists() and "no baseline is needed" in capsys.readouterr().out


def test_running_it_again_keeps_verdicts_and_says_what_changed(root, capsys):
    (root / "ci.yml").write_text(LINE)
    (root / "old.yml").write_text(f"a: {OTHER}\n")
    take_in(root)
    made = baselines.load(root)
    baselines.save(root, made.marked(dict.fromkeys(made.rows, Said.FALSE)))
    (root / "old.yml").unlink()
    (root / "ci.yml").rename(root / "moved.yml")
    capsys.readouterr()
    take_in(root)
    said = capsys.readouterr().out
    assert "1 row moved, with their verdicts.\n1 row gone." in said
    assert [(r.path, r.said) for r in baselines.load(root).rows] == [("moved.yml", Said.FALSE)]
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
    assert ("", "gitlab-pat") in {(r.path, r.rule) for r in baselines.load(pushing).rows}
    assert pushed(pushing)


def test_a_file_that_moves_after_a_commit_is_let_be_in_both_places(pushing):
    (pushing / "a.yml").write_text(f"a: {OTHER}\n")
    commit(pushing, "another")
    take_in(pushing, history=True)
    git(pushing, "mv", "a.yml", "b.yml")
    commit(pushing, "move it")
    take_in(pushing)
    assert {r.path for r in baselines.load(pushing).rows} == {"t.yml", "a.yml", "b.yml"} and pushed(pushing)


def test_what_only_a_commit_holds_is_gone_through_with_a_person(pushing, capsys):
    take_in(pushing, history=True)
    capsys.readouterr()
    secrets_audit.audit(places(), pushing, iter("n").__next__)
    shown = capsys.readouterr().out
    assert "[1 of 1]  t.yml:1\n" in shown and "only in commit" in shown and "no longer found" not in shown
    assert "  >     1  token: <ghp_… 40 characters>\n" in shown and said(pushing) == ["false"]


# --- audit ---


@pytest.fixture
def taken(root, capsys):
    for n, value in enumerate((TOKEN, OTHER, TOKEN[:-4] + "Pq7W"), 1):
        (root / f"{n}.yml").write_text(f"above: 1\ntoken: {value}\nbelow: 2\n")
    take_in(root)
    capsys.readouterr()
    return root


def said(root: Path) -> list[str]:
    return [row.said.value for row in baselines.load(root).rows]


@pytest.mark.parametrize(
    ("keys", "verdicts"),
    [
        ("yan", ["real", "accepted", "false"]),
        ("sq", ["unreviewed", "unreviewed", "unreviewed"]),
        ("nsn", ["false", "unreviewed", "false"]),
        ("ynbaq", ["real", "accepted", "unreviewed"]),
        ("bby\x1b", ["real", "unreviewed", "unreviewed"]),
        ("?7yq", ["real", "unreviewed", "unreviewed"]),
        ("Nq", ["false", "unreviewed", "unreviewed"]),
    ],
    ids=["one after the other", "skip and quit", "one left out", "back, and another word", "escape ends it",
         "other keys are nothing", "a large letter"],
)  # fmt: skip
def test_keys_mark_rows(taken, capsys, keys, verdicts):
    pressed = iter(keys)
    assert secrets_audit.audit(places(), taken, lambda: next(pressed)) == 0
    assert said(taken) == verdicts


def test_a_row_is_shown_in_its_place_and_masked(taken, capsys):
    secrets_audit.audit(places(), taken, lambda: "q")
    shown = capsys.readouterr().out
    assert "[1 of 3]  1.yml:2\n" in shown
    assert "        1  above: 1\n  >     2  token: <ghp_… 40 characters>\n        3  below: 2\n" in shown
    assert TOKEN not in shown


def test_a_value_is_asked_about_once_for_all_of_its_places(taken, capsys):
    for n in range(7):
        (taken / f"copy{n}.yml").write_text(f"again: {TOKEN}\n")
    take_in(taken)
    capsys.readouterr()
    secrets_audit.audit(places(), taken, iter("aq").__next__)
    shown = capsys.readouterr().out
    assert "[1 of 3]  1.yml:2\n" in shown
    assert "The same value: copy0.yml:1, copy1.yml:1, copy2.yml:1, copy3.yml:1, copy4.yml:1 and 2 more\n" in shown
    assert "Let be there. Said of all 8 places.\n" in shown and shown.endswith(
        f"8 rows marked, 2 left. Commit {NAME}.\n"
    )
    assert said(taken) == ["accepted"] + ["unreviewed"] * 2 + ["accepted"] * 7


def test_another_key_says_which_keys_there_are_once(taken, capsys):
    secrets_audit.audit(places(), taken, iter("?f\tq").__next__)
    assert capsys.readouterr().out.count("\nKeys: y, a, n, s, b or q. ") == 1


def test_a_line_beside_a_find_is_masked_though_a_comment_lets_it_be(root, capsys):
    (root / "a.py").write_text(f'A = "{TOKEN}"  # sentinel: allow\nB = "{OTHER}"\n')
    take_in(root)
    secrets_audit.audit(places(), root, lambda: "q")
    shown = capsys.readouterr().out
    assert 'A = "<ghp_… 40 characters>"' in shown and TOKEN not in shown


def test_a_real_secret_stays_refused_and_it_says_what_to_do(taken, capsys):
    secrets_audit.audit(places(), taken, iter("yaa").__next__)
    assert "make it void where it was given out" in capsys.readouterr().out
    assert look(taken) == 1


def test_a_find_that_has_gone_is_not_asked_about(taken, capsys):
    (taken / "1.yml").unlink()
    secrets_audit.audit(places(), taken, iter("nn").__next__)
    assert "1 row no longer found." in capsys.readouterr().out
    assert said(taken) == ["unreviewed", "false", "false"]


def test_when_all_are_reviewed_it_says_so(taken, capsys):
    secrets_audit.audit(places(), taken, lambda: "n")
    secrets_audit.audit(places(), taken, lambda: "q")
    assert f"All 3 rows of {NAME} are reviewed." in capsys.readouterr().out


def test_without_a_terminal_nobody_is_asked(taken):
    command = [sys.executable, "-m", "sentinel_guard", "secrets", "audit"]
    done = subprocess.run(command, cwd=taken, input="nnn", capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "in a terminal" in done.stderr and said(taken) == ["unreviewed"] * 3


def test_the_list_shows_every_row(taken, capsys):
    assert secrets_audit.show(taken) == 0
    shown = capsys.readouterr().out
    assert "unreviewed  1.yml:2  github-pat\n" in shown and shown.endswith("3 unreviewed\n")
    secrets_audit.show(taken, as_json=True)
    assert [row["path"] for row in json.loads(capsys.readouterr().out)] == ["1.yml", "2.yml", "3.yml"]


def test_no_baseline_is_said(root):
    with pytest.raises(ConfigError, match="There is no"):
        secrets_audit.show(root)


@pytest.mark.parametrize("command", ["baseline", "audit"])
@pytest.mark.parametrize("inside", [True, False], ids=["inside of it", "while it works here"])
def test_never_while_a_session_lives_here(taken, monkeypatch, command, inside):
    session = {"session": "s1", "state": "ACTIVE", "root": str(taken)}
    if inside:
        monkeypatch.setenv("SENTINEL_SESSION", "s1")
    before = (taken / NAME).read_bytes()
    (taken / "4.yml").write_text(f"token: {OTHER}\n")
    daemon = FakeDaemon(places())
    daemon.replies["status"] = {"sessions": [session]}
    try:
        with pytest.raises(SentinelError) as caught:
            take_in(taken) if command == "baseline" else secrets_audit.audit(places(), taken, lambda: "n")
    finally:
        daemon.close()
    assert ("inside a guarded session" if inside else "is working in") in str(caught.value)
    assert (taken / NAME).read_bytes() == before


def test_a_person_goes_through_it_on_a_terminal(taken):
    command = [sys.executable, "-m", "sentinel_guard", "secrets", "audit"]
    child = pexpect.spawn(command[0], command[1:], cwd=str(taken), env=dict(os.environ), encoding="utf-8", timeout=30)
    for key in "nay":
        child.expect("q quit ")
        child.send(key)
    child.expect("3 rows marked, 0 left.")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and said(taken) == ["false", "accepted", "real"]
