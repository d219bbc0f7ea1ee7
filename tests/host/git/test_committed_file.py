"""A file is read as a commit has it, and only where git would print just that."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sentinel_guard.core.analysis.world import MAX_READ
from sentinel_guard.host.git import committed_file

ROWS = [
    ("", "HEAD:a.py", "new", "the newest"),
    ("", "HEAD~1:a.py", "old", "the one before"),
    ("", "v1:a.py", "old", "by a tag"),
    ("sub", "HEAD:a.py", "new", "from the top, wherever one stands"),
    ("sub", "HEAD:./b.py", "b", "from a folder"),
    ("sub", "HEAD:../a.py", "new", "from the folder above"),
    ("", "HEAD:link", "a.py", "of a link its target"),
    ("", "HEAD:none.py", None, "nothing there"),
    ("", "HEAD:sub", None, "a folder"),
    ("", "none:a.py", None, "no such commit"),
    ("", "HEAD:data.bin", None, "no text"),
    ("", "HEAD:large.txt", None, "too long"),
    ("/", "HEAD:a.py", None, "no repository"),
]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("a.py")
    git(tmp_path, "init", "-q")
    files = {"a.py": b"old", "sub/b.py": b"b", "data.bin": b"\0", "large.txt": b"x" * (MAX_READ + 1)}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    commit(tmp_path)
    git(tmp_path, "tag", "v1")
    (tmp_path / "a.py").write_text("new")
    commit(tmp_path)
    (tmp_path / "a.py").write_text("not committed")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(("git", "-c", "user.name=a", "-c", "user.email=a@b", *words), cwd=folder, check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")


@pytest.mark.parametrize(("folder", "name", "text"), [row[:3] for row in ROWS], ids=[row[3] for row in ROWS])
def test_what_a_commit_has(repository: Path, folder: str, name: str, text: str | None) -> None:
    assert committed_file.read(str(repository / folder), name) == text


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_what_git_may_replace_is_not_read(repository: Path, packed: bool) -> None:
    git(repository, "replace", "HEAD", "HEAD~1")
    git(repository, *(("pack-refs", "--all") if packed else ("status", "-s")))
    assert committed_file.read(str(repository), "HEAD:a.py") is None
