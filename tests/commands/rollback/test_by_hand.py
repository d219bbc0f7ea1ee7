"""``sentinel-guard rollback`` by hand (R10): shown, asked about, done. Real repositories."""

from __future__ import annotations

import os
import subprocess

import pytest

from sentinel_guard.commands.rollback import SHOWN
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host.machine import content_addressed_store
from sentinel_guard.host.recovery.baseline import worktree_diff
from sentinel_guard.host.recovery.rollback import rollback as by_baseline
from tests.support.fake_daemon import FakeDaemon
from tests.support.recovery.rollback_by_hand import begin, contents, do, repository, spoil


def test_nothing_to_do(where, repo, capsys):
    begin(where, repo, "s1")
    assert do(where, repo) == 0
    assert "Nothing to do" in capsys.readouterr().out


def test_a_dry_run_shows_and_changes_nothing(where, repo, capsys):
    begin(where, repo, "s1")
    spoil(repo)
    assert do(where, repo, dry_run=True) == 0
    said = capsys.readouterr().out
    assert "a.txt" in said and "new.txt" in said
    assert contents(repo) == {"a.txt": "evil\n", "new.txt": "new\n"}


def test_a_no_changes_nothing(where, repo, capsys):
    begin(where, repo, "s1")
    spoil(repo)
    asked: list[str] = []
    assert do(where, repo, confirm=lambda question: bool(asked.append(question))) == 1
    assert asked and "Nothing was changed." in capsys.readouterr().out
    assert contents(repo)["a.txt"] == "evil\n"


@pytest.mark.parametrize("confirm", [None, lambda _: True], ids=["--yes", "a yes"])
def test_a_yes_puts_everything_back_and_loses_nothing(where, repo, capsys, confirm):
    begin(where, repo, "s1")
    spoil(repo)
    report = repo / "docs" / "incidents" / "INCIDENT-1.md"
    report.parent.mkdir(parents=True)
    report.write_text("what happened\n")
    assert do(where, repo, confirm=confirm) == 0
    assert contents(repo) == {"a.txt": "start\n"}
    assert report.read_text() == "what happened\n", "a report outlives the rollback"
    assert do(where, repo) == 0 and "Nothing to do" in capsys.readouterr().out.splitlines()[-1]
    assert list((where.session("s1") / "baseline" / "quarantine").rglob("new.txt")), "nothing is lost"


LOOKS = ((60.0, 1, "answered at once"), (0.0, 2, "read for a while"))
"""Seconds for which a look is believed, and how often git is then asked what was touched."""


@pytest.mark.parametrize(("seconds", "count"), [row[:2] for row in LOOKS], ids=[row[2] for row in LOOKS])
def test_who_answers_at_once_has_the_files_looked_at_once(where, repo, monkeypatch, seconds, count):
    begin(where, repo, "s1")
    spoil(repo)
    looks, touched = list[int](), worktree_diff._touched
    monkeypatch.setattr(by_baseline, "BELIEVED", seconds)
    monkeypatch.setattr(worktree_diff, "_touched", lambda shadow: looks.append(1) or touched(shadow))

    def meanwhile(_):
        (repo / "a.txt").write_text("mine, while I read\n")
        return (repo / "later.txt").write_text("mine\n") > 0

    assert do(where, repo, confirm=meanwhile) == 0
    assert contents(repo) == {"a.txt": "start\n"} and len(looks) == count
    aside = where.session("s1") / "baseline/quarantine/worktree"
    assert (aside / "a.txt").read_text() == "mine, while I read\n" and (aside / "later.txt").exists()


def test_below_the_top_of_the_repository_it_finds_it_too(where, repo):
    (repo / "sub").mkdir()
    begin(where, repo, "s1")
    spoil(repo)
    assert do(where, repo / "sub") == 0
    assert contents(repo) == {"a.txt": "start\n"}


def test_the_newest_session_of_this_repository_is_meant(where, repo, tmp_path):
    other = repository(tmp_path / "other")
    begin(where, repo, "20260101-000000-aaaa")
    (repo / "a.txt").write_text("later\n")
    begin(where, repo, "20260102-000000-aaaa")
    begin(where, other, "20260103-000000-aaaa")
    spoil(repo)
    assert do(where, repo) == 0
    assert contents(repo) == {"a.txt": "later\n"}
    assert do(where, repo, "20260101-000000-aaaa") == 0
    assert contents(repo) == {"a.txt": "start\n"}


def test_a_baseline_that_cannot_be_read_is_passed_over_in_words(where, repo, capsys):
    begin(where, repo, "20260101-000000-aaaa")
    (where.session("20260102-000000-aaaa") / "baseline").mkdir(parents=True)
    broken = where.session("20260103-000000-aaaa") / "baseline"
    broken.mkdir(parents=True)
    (broken / "baseline.json").write_text("{}")
    spoil(repo)
    assert do(where, repo) == 0
    assert contents(repo) == {"a.txt": "start\n"}
    passed = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Passed over: ")]
    assert [word in line for word, line in zip(("0103", "0102"), passed, strict=True)] == [True, True]


def test_an_object_that_was_overwritten_in_place_is_something_to_do(where, repo, capsys):
    (repo / "b.bin").write_bytes(os.urandom(100_000))
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-qm", "b"], cwd=repo, check=True)
    begin(where, repo, "s1")
    told = subprocess.run(["git", "rev-parse", "HEAD:b.bin"], cwd=repo, check=True, capture_output=True, text=True)
    path = repo / ".git/objects" / told.stdout[:2] / told.stdout.strip()[2:]
    path.chmod(0o644)
    path.write_bytes(b"evil")
    assert do(where, repo) == 1
    said = capsys.readouterr().out
    assert "Nothing to do" not in said and "1 objects of the repository were overwritten" in said


def test_what_had_not_been_kept_is_no_part_of_nothing_to_do(where, repo, capsys, monkeypatch):
    (repo / "large.bin").write_text("x" * 100)
    monkeypatch.setattr(content_addressed_store, "MAX_FILE", 50)
    begin(where, repo, "s1")
    assert do(where, repo) == 0
    assert "large.bin was not kept: too large" in capsys.readouterr().out


def test_many_changes_are_shown_in_part(where, repo, capsys):
    begin(where, repo, "s1")
    for n in range(SHOWN + 5):
        (repo / f"f{n}").write_text("")
    do(where, repo, dry_run=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == SHOWN + 3 and "5 more" in lines[-1]


def test_what_becomes_of_each_change_is_foretold(where, repo, capsys, monkeypatch):
    home = repo.parent / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (repo / "large.bin").write_text("x" * 100)
    monkeypatch.setattr(content_addressed_store, "MAX_FILE", 50)
    begin(where, repo, "s1")
    spoil(repo)
    (repo / "large.bin").write_text("y" * 101)
    (repo / ".git/hooks").mkdir(exist_ok=True)
    (repo / ".git/hooks/pre-push").write_text("evil\n")
    (home / ".gitconfig").write_text("[core]\n\tpager = evil\n")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True).stdout
    subprocess.run(["git", "update-ref", "refs/remotes/origin/main", head.strip()], cwd=repo, check=True)
    do(where, repo, dry_run=True)
    said = capsys.readouterr().out
    titles = [line for line in said.splitlines() if not line.startswith(" ")]
    assert titles[0].startswith("Back to the start of session s1: ")
    assert titles[1:] == [
        "Comes back as it was (1):",
        "Is moved away (it stays in quarantine) (1):",
        "Of git: branches, index, settings, hooks, objects (1):",
        "Your own settings of git (1):",
        "Cannot be put back: it had not been kept when the session started (1):",
        "Was pushed or fetched, and stays so (no remote is ever touched) (1):",
    ]


def test_commits_that_leave_a_branch_are_named_and_kept(where, repo, capsys):
    def git(*words):
        return subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True, text=True).stdout

    git("branch", "old")
    begin(where, repo, "s1")
    main = git("symbolic-ref", "--short", "HEAD").strip()
    spoil(repo)
    git("commit", "-qam", "my own work")
    git("branch", "-D", "old")
    git("checkout", "-q", "-b", "feature")
    git("commit", "-q", "--allow-empty", "-m", "a feature")
    git("gc", "-q")
    do(where, repo)
    said = capsys.readouterr().out
    mine, after = git("log", "--format=%h", "-1", "--grep=my own work", "--all").strip(), git("rev-parse", "HEAD")
    assert f"  {main}: {mine} my own work\n" in said and "a feature" in said
    assert "  feature: goes (it was not there)\n" in said and f"  old: comes back at {after[:12]}\n" in said
    assert "git's object store" in said and ".git/objects/" not in said.split("Restored")[0]
    back = [line.strip() for line in said.splitlines() if line.startswith("  git ")]
    assert len(back) == 2 and "git merge refs/sentinel/s1/" in "\n".join(back), back
    for command in back:
        git(*command.split()[1:])
    assert "my own work" in git("log", "--format=%s", main) and "a feature" in git("log", "--format=%s", "feature")
    assert "my own work" in git("log", "--format=%s", "--glob=refs/sentinel/s1")


def test_outside_of_a_repository_it_says_so(where, tmp_path):
    with pytest.raises(ConfigError, match="not in a git work tree"):
        do(where, tmp_path)


def test_the_report_says_how_to_have_things_back(where, repo, capsys):
    begin(where, repo, "s1")
    spoil(repo)
    (repo / "-odd $name").write_text("mine\n")
    (repo / ".gitignore").write_text("")
    do(where, repo)
    said = capsys.readouterr().out
    assert "Restored 4, moved 4 to" in said
    assert "snapshots restore refs/sentinel/rescue/s1 --all" in said


def test_a_version_that_no_snapshot_holds_comes_back_by_a_copy(where, repo, capsys):
    (repo / ".env").write_text("KEY=1\n")
    begin(where, repo, "s1")
    (repo / ".env").write_text("KEY=mine now\n")
    do(where, repo)
    command = next(line for line in capsys.readouterr().out.splitlines() if "cp -a" in line)
    subprocess.run(command, shell=True, check=True)
    assert (repo / ".env").read_text() == "KEY=mine now\n"


UNKNOWN = (
    ("never", "no session 'never'", "one that never was"),
    ("../s1", "no session", "a path out of the folder"),
    (".", "no session", "the folder itself"),
    ("", "No session was recorded", "none in this repository"),
)


@pytest.mark.parametrize(("session", "words"), [u[:2] for u in UNKNOWN], ids=[u[2] for u in UNKNOWN])
def test_a_session_that_is_not_there(where, repo, session, words):
    with pytest.raises(ConfigError, match=words):
        do(where, repo, session)


def test_while_an_agent_works_here_nothing_is_done(where, repo):
    begin(where, repo, "s1")
    spoil(repo)
    daemon = FakeDaemon(where)
    daemon.replies["status"] = {"sessions": [{"session": "s2", "root": str(repo), "state": "ACTIVE"}]}
    try:
        with pytest.raises(SentinelError, match="s2 is working here"):
            do(where, repo, confirm=lambda _: pytest.fail("asked for what is refused"))
        assert do(where, repo, dry_run=True) == 0
        assert contents(repo)["a.txt"] == "evil\n"
        daemon.replies["status"] = {"sessions": [{"session": "s2", "root": str(repo), "state": "KILLED"}]}
        assert do(where, repo) == 0
    finally:
        daemon.close()
