"""What a search looks into, and what it says of the rest; with real files and a real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.core.secrets.allowlisted_findings import NAME, NONE, Allowlist
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.secrets import added_lines, allowlist_file, scanned_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True)


def test_what_git_tracks_or_would_track_is_listed_once(root):
    (root / ".gitignore").write_text("ignored\n")
    for name in ("ignored", "tracked", "new", "two words\n", "caf\udce9"):
        (root / name).write_text("x")
    git(root, "add", "tracked")
    assert set(scanned_files.tracked(root)) == {".gitignore", "tracked", "new", "two words\n", "caf\udce9"}


def test_only_what_is_below_a_folder(root):
    for name in ("a/x", "a*/y", "b/z"):
        (root / name).parent.mkdir()
        (root / name).write_text("x")
    assert scanned_files.tracked(root, [root / "a"]) == ["a/x"]
    assert scanned_files.tracked(root, [root / "a", root]) == ["a*/y", "a/x", "b/z"], "the whole, where it is named"


def test_a_folder_outside_of_git_is_walked_without_what_git_keeps(tmp_path):
    for name in ("b/c", "a", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [p.relative_to(tmp_path).as_posix() for p in scanned_files.walked(tmp_path)] == ["a", "b/c"]


def test_text_is_read_with_its_size(tmp_path):
    (tmp_path / "t").write_bytes("ä\r\n".encode())
    piece, size, note = scanned_files.read(tmp_path / "t", "t")
    assert (piece.text, size, note) == ("ä\n", 4, "")


def test_what_is_no_text_can_be_counted(tmp_path):
    (tmp_path / "t").write_bytes(bytes(range(256)) * 4)
    assert scanned_files.read(tmp_path / "t", "t") == (None, 1024, "")


def test_what_is_too_large_is_said(tmp_path):
    with (tmp_path / "t").open("wb") as file:
        file.truncate(added_lines.MAX_FILE + 1)
    assert scanned_files.read(tmp_path / "t", "t") == (None, 0, "t: over 8 MB, not looked into")


def test_a_link_is_followed_only_where_it_is_named(tmp_path):
    (tmp_path / "t").write_text("x")
    (tmp_path / "l").symlink_to("t")
    assert scanned_files.read(tmp_path / "l", "l") == (None, 0, "")
    assert scanned_files.read(tmp_path / "l", "l", follow=True).piece.text == "x"


def test_a_pipe_holds_nothing_up(tmp_path):
    os.mkfifo(tmp_path / "p")
    assert scanned_files.read(tmp_path / "p", "p") == (None, 0, "")


def test_a_history_is_told_from_its_first_commit_on(root):
    for text in ("one\n", "one\ntwo\n"):
        (root / "f").write_text(text)
        git(root, "add", "f")
        git(root, "commit", "-qm", f"says {text.split()[-1]}")
    lines, messages = scanned_files.history(root)
    assert [p.text for p in lines.pieces if p.line] == ["one\n", "one\ntwo\n"]
    assert [sorted(n) for n in lines.new.values() if n != {0}] == [[1], [2]]
    assert [p.text for p in messages.pieces if p.line] == ["says one\n", "says two\n"]


def test_stashes_and_snapshots_are_no_history(root):
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    (root / "f").write_text("x\n")
    git(root, "add", "f")
    git(root, "stash")
    git(root, "update-ref", "refs/sentinel/s1/0", "stash@{0}")
    assert not any(p.path for lines in scanned_files.history(root) for p in lines.pieces)


def test_unpushed_is_what_no_remote_has(root):
    for name in ("one", "two"):
        git(root, "commit", "-q", "--allow-empty", "-m", name)
    told = lambda: [p.text for lines in scanned_files.unpushed(root) for p in lines.pieces if p.line]  # noqa: E731 - asked twice
    assert told() == ["one\n", "two\n"], "without a remote all"
    git(root, "update-ref", "refs/remotes/origin/x", "HEAD~1")
    assert told() == ["two\n"]


def test_a_repository_without_a_commit_has_no_history(root):
    assert not list(scanned_files.unpushed(root))


def test_no_file_is_no_baseline(tmp_path):
    assert allowlist_file.load(tmp_path) is NONE


def test_a_baseline_is_written_for_all_to_read_and_read_back(tmp_path):
    allowlist_file.save(tmp_path, made := allowlist_file.begin())
    assert allowlist_file.load(tmp_path).salt == made.salt and len(made.salt) == 16
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("text", [b"\xff", b"x", b"[baseline]\nversion = 9\n"], ids=["bytes", "no TOML", "a later one"])
def test_a_broken_baseline_is_an_error_and_no_permission(tmp_path, text):
    (tmp_path / NAME).write_bytes(text)
    with pytest.raises(ConfigError, match=NAME):
        allowlist_file.load(tmp_path)


def test_a_link_to_nothing_is_an_error_too(tmp_path):
    (tmp_path / NAME).symlink_to("gone")
    with pytest.raises(ConfigError, match="cannot be read"):
        allowlist_file.load(tmp_path)


def test_a_baseline_that_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_files, "MAX_TOML", 100)
    with pytest.raises(ConfigError, match="too many"):
        allowlist_file.save(tmp_path, Allowlist(bytes(16)))
    assert not (tmp_path / NAME).exists()


def test_a_merge_conflict_is_called_so(tmp_path):
    (tmp_path / NAME).write_text("# ours\n<<<<<<< HEAD\nversion = 1\n=======\nversion = 2\n>>>>>>> other\n")
    with pytest.raises(ConfigError, match="holds a merge conflict") as caught:
        allowlist_file.load(tmp_path)
    assert "secrets baseline" in str(caught.value.hint)


def test_of_a_baseline_only_what_a_person_marked_and_nothing_of_a_broken_one(tmp_path):
    assert allowlist_file.reviewed(tmp_path) is not None and not allowlist_file.reviewed(tmp_path).rows
    (tmp_path / NAME).write_text("no toml =")
    assert allowlist_file.reviewed(tmp_path) is NONE
