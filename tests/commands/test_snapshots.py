"""``sentinel-guard snapshots``: listed, shown, compared, brought back, dropped. Real repositories, no daemon."""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

from sentinel_guard.cli.main import cli
from sentinel_guard.commands import snapshots as command
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion, take_snapshot
from tests.support.recovery.repository import Repo, dirty_template

BEFORE = "git clean -fd \x1b[31m"


@pytest.fixture
def where(tmp_path, monkeypatch):
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)
    monkeypatch.setattr(command.require_human.processes, "environ", lambda _: {})
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


@pytest.fixture
def repo(tmp_path):
    return dirty_template(tmp_path / "repo")


@pytest.fixture
def taken(where, repo):
    return take(where, repo)


def take(where, repo, *, label="x"):
    folder = where.session("s1") / "baseline"
    also = [str(repo.root / ".env")]
    occasion = Occasion("s1", "c1", BEFORE)
    made = take_snapshot(
        str(repo.root), folder, label, also=also, restricts=lambda p: p.endswith(".env"), occasion=occasion
    )
    return made.commit[:4]


def restore(where, cwd, ident, *paths, everything=False, dry_run=False, confirm=None) -> int:
    return command.restore(where, cwd, ident, paths, everything=everything, dry_run=dry_run, confirm=confirm)


def test_the_list_is_a_line_each_with_nothing_that_a_terminal_obeys(where, repo, taken, capsys):
    assert command.show_all(where, repo.root / "src/deep", as_json=False) == 0
    (line,) = capsys.readouterr().out.splitlines()
    ident, when, session, count, words = line.split("\t")
    assert (ident, session, words) == (taken, "s1", "git clean -fd \\x1b[31m")
    assert int(count) > 5
    assert when[:2] == "20"


def test_the_list_for_programs(where, repo, taken, capsys):
    command.show_all(where, repo.root, as_json=True)
    (data,) = json.loads(capsys.readouterr().out)["snapshots"]
    assert (data["id"], data["session"], data["call"], data["private"]) == (taken, "s1", "c1", [".env"])
    assert data["commit"] == repo.git("rev-parse", data["ref"])


def test_where_there_is_none_a_person_is_told_when_one_is_taken(where, repo, capsys):
    assert command.show_all(where, repo.root, as_json=False) == 0
    assert "There is no snapshot here." in capsys.readouterr().out


def test_show_tells_files_restricted_files_and_branches_that_are_gone(where, repo, taken, capsys):
    repo.git("branch", "-D", "other")
    assert command.show(where, repo.root, "1", as_json=False) == 0
    said = capsys.readouterr().out
    for words in ("notes.txt", "in the session's vault:\n  .env", "other (was at ", f"restore {taken} PATH"):
        assert words in said
    assert "\x1b" not in said


def test_diff_is_from_the_snapshot_to_now_for_the_paths_given(where, repo, taken, capsys):
    repo.write("a.txt", "now \x1b[2J\n")
    repo.write("c.txt", "now\n")
    assert command.diff(where, repo.root / "src", taken, ["../a.txt"]) == 0
    said = capsys.readouterr().out
    assert "-a staged" in said
    assert "+now \\x1b[2J" in said
    assert "c.txt" not in said
    assert command.diff(where, repo.root, taken, ["b.txt"]) == 0
    assert capsys.readouterr().out.startswith("No difference")


def test_restore_shows_asks_and_brings_back(where, repo, taken, capsys):
    repo.remove("notes.txt")
    repo.write("a.txt", "evil\n")
    asked = []
    assert restore(where, repo.root, taken, everything=True, confirm=asked.append) == 1
    assert asked == [f"Bring back 2 files from snapshot {taken}?"]
    said = capsys.readouterr().out
    assert "  overwrite a.txt\n  create    notes.txt\n" in said
    assert said.endswith("Nothing was changed.\n")
    assert not (repo.root / "notes.txt").exists()
    assert restore(where, repo.root, taken, everything=True, confirm=lambda _: True) == 0
    assert (repo.root / "notes.txt").read_text() == "untracked\n"
    assert "Brought back 2 files. What was there before: sentinel-guard snapshots show " in capsys.readouterr().out
    assert restore(where, repo.root, taken, everything=True) == 0
    assert "Nothing to do" in capsys.readouterr().out


def test_a_dry_run_changes_nothing_and_takes_no_snapshot(where, repo, taken):
    repo.remove("notes.txt")
    assert restore(where, repo.root, taken, everything=True, dry_run=True) == 0
    assert not (repo.root / "notes.txt").exists()
    assert len(repo.git("for-each-ref", "refs/sentinel").splitlines()) == 1


def test_paths_are_as_seen_from_where_one_stands(where, repo, taken):
    repo.remove("src")
    (repo.root / "src").mkdir()
    assert restore(where, repo.root / "src", taken, "deep", "../.env") == 0
    assert (repo.root / "src/deep/x.py").read_text() == "x = 1\n"
    assert not (repo.root / "src/y.py").exists()


WRONG = [
    (("9999", "a.txt"), {}, "No snapshot begins with '9999'", "an unknown id"),
    (("1",), {}, "Say which files", "no path"),
    (("1", "a.txt"), {"everything": True}, "Say which files", "paths and all"),
    (("1", "nothing"), {}, "nothing is not in snapshot", "a path that it does not hold"),
    (("1", "../elsewhere"), {}, "is not in the work tree", "a path outside"),
    (("1", ".git/config"), {}, "is not in the work tree", "git's own"),
]


@pytest.mark.parametrize(("words", "more", "said", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_cannot_be_restored_is_said(where, repo, *, taken, words, more, said, why):
    with pytest.raises(ConfigError, match=said):
        restore(where, repo.root, *words, **more)


@pytest.mark.parametrize("below", ["..", ".git", ".git/refs"])
def test_outside_of_a_work_tree_it_is_said(where, repo, below):
    with pytest.raises(ConfigError, match="is not in a git work tree"):
        command.show_all(where, repo.root / below, as_json=False)


def test_in_a_linked_worktree_the_same_snapshots_are_seen(where, repo, taken, tmp_path, capsys):
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    command.show_all(where, side.root, as_json=False)
    assert capsys.readouterr().out.startswith(taken)
    assert restore(where, side.root, taken, "notes.txt") == 0
    assert (side.root / "notes.txt").read_text() == "untracked\n"


def inside(monkeypatch):
    monkeypatch.setenv("SENTINEL_SESSION", "of-a-test")


def ancestor_inside(monkeypatch):
    monkeypatch.setattr(
        command.require_human.processes,
        "environ",
        lambda pid: {"SENTINEL_SESSION": "of-a-test"} if pid != os.getpid() else {},
    )


@pytest.mark.parametrize("stands", [inside, ancestor_inside])
def test_from_inside_a_session_nothing_restricted_is_written_and_nothing_dropped(
    where, repo, taken, monkeypatch, stands
):
    stands(monkeypatch)
    repo.write(".env", "KEY=evil\n")
    repo.write("a.txt", "evil\n")
    with pytest.raises(SentinelError, match=r"403 SENTINEL BLOCKED: \.env is restricted"):
        restore(where, repo.root, taken, everything=True)
    with pytest.raises(SentinelError, match="no snapshot is dropped"):
        command.forget(where, repo.root, [taken], everything=False, confirm=None)
    assert (repo.root / "a.txt").read_text() == "evil\n"
    assert restore(where, repo.root, taken, "a.txt") == 0, "an ordinary write"
    assert (repo.root / "a.txt").read_text() == "a staged\n"


def test_drop_shows_asks_and_drops(where, repo, taken, capsys):
    second = take(where, repo, label="y")
    assert command.forget(where, repo.root, ["1", "2"], everything=False, confirm=lambda _: False) == 1
    said = capsys.readouterr().out
    assert taken in said
    assert second in said
    assert command.forget(where, repo.root, [taken], everything=False, confirm=None) == 0
    assert command.forget(where, repo.root, [], everything=True, confirm=None) == 0
    assert repo.git("for-each-ref", "refs/sentinel") == ""
    assert command.forget(where, repo.root, [], everything=True, confirm=None) == 0
    with pytest.raises(ConfigError, match="Say which snapshots"):
        command.forget(where, repo.root, [], everything=False, confirm=None)


LINES = [
    (["snapshots"], 0, "git clean", "no argument lists"),
    (["snapshots", "list", "--json"], 0, '"files"', "for programs"),
    (["snapshots", "show", "1"], 0, "notes.txt", "show"),
    (["snapshots", "diff", "1"], 0, "+evil", "diff"),
    (["snapshots", "restore", "1", "a.txt", "--dry-run"], 0, "overwrite a.txt", "restore"),
    (["snapshots", "restore", "1", "--branch", "other"], 0, "other is there again", "a branch"),
    (["snapshots", "restore", "1", "--branch", "other", "a.txt"], 2, "of its own", "a branch and a path"),
    (["snapshots", "drop", "1", "--yes"], 0, "Dropped 1 snapshot.", "drop"),
]


@pytest.mark.parametrize(("line", "code", "words", "why"), LINES, ids=[row[-1] for row in LINES])
def test_the_command_line(where, repo, taken, monkeypatch, *, line, code, words, why):
    monkeypatch.setenv("SENTINEL_HOME", where.home)
    monkeypatch.chdir(repo.root)
    repo.git("branch", "-D", "other")
    repo.write("a.txt", "evil\n")
    ran = CliRunner().invoke(cli, line, standalone_mode=False)
    said = ran.output + str(ran.exception or "")
    assert (getattr(ran.exception, "exit_code", ran.return_value), words in said) == (code, True), said
