"""What of a repository a session need not answer for: its start, what was judged, what nobody has touched since."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.githooks import preexisting_commits
from sentinel_guard.host.githooks.preexisting_commits import Memory, PreexistingObjects
from sentinel_guard.host.recovery import api
from tests.support.hook_repositories import committed, git, head, made, put

A, B = "a" * 40, "b" * 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path / "repo")


def common(root: Path, **environ: str) -> str:
    return preexisting_commits.common(root, environ)


def test_what_a_remote_has_is_told_by_its_own_references():
    found = PreexistingObjects().plus(
        [("refs/remotes/origin/x", A), ("refs/remotes/origin2/x", B), ("refs/heads/x", B)]
    )
    assert found.out("origin") == [A] and found.out("https://example.com/x.git") == []
    assert found.there == {A, B}


def test_the_start_tells_and_not_the_present(root, tmp_path):
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(root, "config", "remote.origin.url", "../remote.git")
    folder, first = tmp_path / "baseline", head(root)
    api.begin(str(root), folder, lambda _: False, "s")
    second = committed(root)
    git(root, "update-ref", "refs/remotes/origin/fake", second)
    memory = Memory()
    found = memory.of("s", common(root), folder, time.time())
    assert (found.there, found.out("origin")) == ({first}, [first])
    assert ("remote.origin.url", "../remote.git") in found.settings
    memory.add("s", common(root), [("refs/heads/main", second)])
    assert second in memory.of("s", common(root), folder, 0.0).there


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_of_another_repository_only_what_is_older_than_the_session_counts(root, tmp_path, packed):
    if packed:
        git(root, "pack-refs", "--all")
    time.sleep(0.02)  # the kernel's clock ticks
    began, first = time.time(), head(root)
    git(root, "switch", "-q", "-c", "later")
    git(root, "update-ref", "refs/remotes/origin/fake", committed(root))
    assert Memory().of("s", common(root), tmp_path / "none", began).there == {first}
    git(tmp_path, "clone", "-q", str(root), "copy")
    assert not Memory().of("s", common(tmp_path / "copy"), tmp_path / "none", began).there, "a copy is new"


def test_a_commit_goes_on_from_what_is_known(root, tmp_path):
    first = head(root)
    memory, place = Memory(), common(root)
    objects = Path(place, "objects")
    second = committed(root, "second")
    assert not memory.goes_on("s", place, first, second, objects), "nobody has asked yet"
    memory.of("s", place, tmp_path / "none", 0.0)
    assert not memory.goes_on("s", place, first, second, objects), "nothing is known"
    memory.add("s", place, [("refs/heads/main", first)])
    assert memory.goes_on("s", place, first, second, objects)
    third = committed(root, "third")
    assert not memory.goes_on("s", place, second, third, objects), "what is between is not known"
    amended = committed(root, "amended", "--amend")
    assert not memory.goes_on("s", place, third, amended, objects)
    memory.add("s", place, [("refs/heads/main", third)])
    assert memory.goes_on("s", place, third, amended, objects), "in place of a known one"
    merged = git(root, "commit-tree", "-p", third, "-p", amended, "-m", "m", "HEAD^{tree}").stdout.strip()
    assert not memory.goes_on("s", place, third, merged, objects), "a side that nobody has judged"
    assert not memory.goes_on("s", place, third, B, objects), "no commit"


def test_work_trees_of_a_repository_are_one(root):
    git(root, "worktree", "add", "-q", "../w")
    assert common(root.parent / "w") == common(root) == common(root, GIT_DIR=str(root / ".git"))
    assert common(root, GIT_COMMON_DIR="/elsewhere") == "/elsewhere"
    put(root.parent, "bad/.git/commondir", b"\0")
    with pytest.raises(HostError, match="cannot be read"):
        preexisting_commits.common(root.parent / "bad", {})
