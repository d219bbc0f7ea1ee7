"""Loose objects and the index, read without git: certain, or no answer. Real repositories, git as the oracle."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from pathlib import Path

import pytest

from sentinel_guard.host.git import loose_objects
from sentinel_guard.host.githooks import empty_commits


def git(folder: Path, *arguments: str, **environ: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **environ}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path):
    git(tmp_path, "init", "-q")
    for name in ("a.txt", "sub/b.txt", "sub/deep/c.txt", "ü", "x" * 200):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name}\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "start")
    return tmp_path


def staged(folder: Path) -> bool:
    return bool(git(folder, "diff", "--cached", "--name-only"))


STATES = [
    ((), True, "a fresh commit"),
    (("commit", "-q", "--amend", "-m", "better"), True, "amended"),
    (("commit", "-q", "--allow-empty", "-m", "empty"), True, "an empty commit"),
    (("rm", "-q", "a.txt"), False, "a deletion"),
    (("mv", "a.txt", "z.txt"), False, "a rename"),
    (("update-index", "--chmod=+x", "a.txt"), False, "a mode"),
    (("reset", "-q", "--soft", "HEAD~1"), False, "a HEAD that moved away"),
    (("checkout", "-q", "--detach"), True, "a detached HEAD"),
    (("pack-refs", "--all"), False, "a packed branch: git is asked"),
    (("gc", "-q"), False, "packed objects: git is asked"),
    (("update-index", "--split-index"), False, "a split index: git is asked"),
    (("update-index", "--index-version", "4"), False, "another version: git is asked"),
    (("read-tree", "HEAD"), True, "an index made anew"),
    (("merge", "--no-commit", "-s", "ours", "other"), False, "a merge is a commit of its own"),
]


@pytest.mark.parametrize(("command", "nothing", "why"), STATES, ids=[row[-1] for row in STATES])
def test_nothing_is_staged(repo, command, nothing, why):
    git(repo, "commit", "-q", "--allow-empty", "-m", "second")
    git(repo, "branch", "other", git(repo, "commit-tree", "-m", "o", "HEAD^{tree}"))
    (repo / "d.txt").write_text("d\n")
    git(repo, "add", "d.txt")
    git(repo, "commit", "-qm", "third")
    if "merge" in command:
        command = (*command, "--allow-unrelated-histories")
    if command:
        git(repo, *command)
    assert empty_commits.nothing_staged(repo, {}) is nothing
    if nothing:
        assert not staged(repo), "a yes is certain"


ADDS = [(("add", "n.txt"), "a new file"), (("add", "-N", "n.txt"), "a file that is only meant to be added")]


@pytest.mark.parametrize(("command", "why"), ADDS, ids=[row[-1] for row in ADDS])
def test_a_new_file_is_staged(repo, command, why):
    (repo / "n.txt").write_text("n\n")
    git(repo, *command)
    assert not empty_commits.nothing_staged(repo, {})


def test_the_indexes_of_a_hook(repo, tmp_path_factory):
    """A private index (commit -a), a linked work tree, a repository named by the environment."""
    private = repo / ".git" / "next-index"
    (repo / "a.txt").write_text("changed\n")
    private.write_bytes((repo / ".git" / "index").read_bytes())
    git(repo, "add", "a.txt", GIT_INDEX_FILE=str(private))
    assert empty_commits.nothing_staged(repo, {"GIT_INDEX_FILE": ".git/index"})
    assert not empty_commits.nothing_staged(repo, {"GIT_INDEX_FILE": ".git/next-index"})
    linked = tmp_path_factory.mktemp("linked") / "w"
    git(repo, "worktree", "add", "-q", str(linked))
    assert empty_commits.nothing_staged(linked, {})
    (linked / "a.txt").write_text("changed\n")
    git(linked, "add", "a.txt")
    assert not empty_commits.nothing_staged(linked, {})
    assert empty_commits.nothing_staged(linked, {"GIT_DIR": str(repo / ".git")})


def test_where_there_is_nothing_to_read_git_is_asked(tmp_path):
    assert not empty_commits.nothing_staged(tmp_path, {})
    git(tmp_path, "init", "-q")
    assert not empty_commits.nothing_staged(tmp_path, {}), "no commit yet"


def test_a_sha256_repository_is_gits(tmp_path):
    git(tmp_path, "init", "-q", "--object-format=sha256")
    (tmp_path / "a").write_text("a\n")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "a")
    assert not empty_commits.nothing_staged(tmp_path, {})


def test_what_only_looks_like_the_tree_of_an_index_is_none(repo):
    """A file's name and another extension may hold the bytes of a TREE."""
    index = (repo / ".git" / "index").read_bytes()
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    assert empty_commits.tree_of(index) == tree
    at = index.rindex(b"TREE")
    fake = b"TREE" + (25).to_bytes(4, "big") + b"\x005 0\n" + b"\x11" * 20
    other = b"ZZZZ" + len(fake).to_bytes(4, "big") + fake
    assert empty_commits.tree_of(index[:-20] + other + index[-20:]) == tree
    assert empty_commits.tree_of(index[:at] + index[-20:]) == "", "an index without one"
    assert empty_commits.tree_of(index[:at] + b"link" + index[at + 4 :]) == "", "what must be understood, and is not"


@pytest.mark.parametrize("cut", [0, 3, 12, 50, 80, 200])
def test_bytes_that_are_no_index(repo, cut):
    index = (repo / ".git" / "index").read_bytes()
    try:
        assert empty_commits.tree_of(index[:cut]) == ""
    except ValueError as e:
        assert "cut off" in str(e)
    (repo / ".git" / "index").write_bytes(index[:cut])
    assert not empty_commits.nothing_staged(repo, {})


# Loose objects


def test_a_loose_object_is_what_git_says(repo):
    blob = git(repo, "rev-parse", "HEAD:a.txt")
    assert loose_objects.read(repo / ".git" / "objects", blob, 100) == ("blob", b"a.txt\n")
    commit = git(repo, "rev-parse", "HEAD")
    found = loose_objects.read(repo / ".git" / "objects", commit, 1000)
    assert found and found.kind == "commit" and found.data.decode() == git(repo, "cat-file", "commit", "HEAD") + "\n"


def put(objects: Path, raw: bytes, name: str = "") -> str:
    name = name or hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    (objects / name[:2]).mkdir(exist_ok=True)
    (objects / name[:2] / name[2:]).write_bytes(zlib.compress(raw))
    return name


WRONG = [
    (b"blob 3\0abc", "1" * 40, 100, "another name"),
    (b"blob 4\0abc", "", 100, "another size"),
    (b"abc", "", 100, "no head"),
    (b"blob 3\0abc", "", 0, "no room"),
    (b"blob 200\0" + b"a" * 200, "", 100, "too large"),
]


@pytest.mark.parametrize(("raw", "name", "most", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_is_not_sound_is_gits_to_tell(tmp_path, raw, name, most, why):
    assert loose_objects.read(tmp_path, put(tmp_path, raw, name), most) is None


@pytest.mark.parametrize("name", ["", "a" * 39, "a" * 64, "../" * 13 + "a", "A" * 40, "f" * 40])
def test_no_name_no_object(tmp_path, name):
    assert loose_objects.read(tmp_path, name, 100) is None


def test_bytes_that_are_not_packed(tmp_path):
    name = put(tmp_path, b"blob 3\0abc")
    (tmp_path / name[:2] / name[2:]).write_bytes(b"nonsense")
    assert loose_objects.read(tmp_path, name, 100) is None
