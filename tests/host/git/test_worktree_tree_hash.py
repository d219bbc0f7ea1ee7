"""The work tree's trees on real git: equal for equal content, whatever git was told; nothing planted runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentinel_guard.errors import HostError
from sentinel_guard.host.git import worktree_tree_hash
from sentinel_guard.host.git.worktree_tree_hash import Worktrees
from sentinel_guard.host.recovery import api
from tests.support.recovery.repository import Repo, dirty_template, files, template


@pytest.fixture(autouse=True)
def on_a_busy_machine(monkeypatch):
    """No look is dear, however slow the machine is, but where a test says so."""
    monkeypatch.setattr(worktree_tree_hash, "DEAR", 60.0)


@pytest.fixture
def fresh(tmp_path):
    return template(tmp_path / "repo")


def trees(repo: Repo) -> Worktrees:
    """With a baseline, as in a session."""
    folder = repo.root.parent / "session"
    api.take(str(repo.root), folder, lambda path: path.endswith(".env"))
    return Worktrees(str(repo.root), folder)


def planted_excludes(repo):
    repo.write(".git/info/exclude", "*\n")
    repo.git("config", "core.excludesFile", str(repo.root / ".gitignore"))


def flagged(repo):
    repo.git("update-index", "--assume-unchanged", "b.txt")
    repo.git("update-index", "--skip-worktree", "c.txt")


SAME = [
    (lambda r: None, "nothing"),
    (lambda r: os.utime(r.root / "a.txt"), "a touched file"),
    (lambda r: r.git("add", "-A"), "staging"),
    (lambda r: r.write("build/more.o", "x"), "an ignored file"),
    (lambda r: r.write("node_modules/x/y.js", "x"), "a folder of generated files that nobody ignored"),
    (lambda r: r.git("commit", "-q", "--allow-empty", "-m", "x"), "a commit"),
    (lambda r: r.git("rm", "-q", "--cached", "a.txt"), "a file that is no longer tracked"),
    (planted_excludes, "ignore rules outside of the work tree"),
    (flagged, "index flags"),
    (lambda r: r.git("config", "core.autocrlf", "input"), "a setting"),
    (lambda r: r.git("gc", "-q", "--prune=now"), "gc"),
    (lambda r: r.write(".git/index", "junk"), "a broken index"),
]
OTHER = [
    (lambda r: r.write("a.txt", "other\n"), "a changed file"),
    (lambda r: r.write("b.txt", "b, flagged\n"), "a changed file that is assumed unchanged"),
    (lambda r: r.write("c.txt", "c, flagged\n"), "a changed file that git is not to look at"),
    (lambda r: r.write("brand new", "n"), "an untracked file"),
    (lambda r: r.remove("d.txt"), "a deleted file"),
    (lambda r: (r.root / "e.txt").chmod(0o755), "an executable bit"),
    (lambda r: (r.root / "link").unlink() or (r.root / "link").symlink_to("b.txt"), "a link's target"),
    (lambda r: r.write(".gitignore", "*\n"), "ignore rules in the work tree"),
    (lambda r: r.write("hidden.txt", "h"), "a file that only later rules ignore"),
]


def test_a_tree_is_of_content(fresh):
    fresh.write("a.txt", "mine\n")
    taken = trees(fresh)
    first = taken.take()
    assert len(first) == 40
    flagged(fresh)
    for act, why in SAME:
        act(fresh)
        assert taken.take() == first, why
    seen = {first}
    for act, why in OTHER:
        act(fresh)
        seen.add(now := taken.take())
        assert len(seen) == 2 + OTHER.index((act, why)), why
        assert taken.take() == now
    assert taken.complaint() == ""


def test_a_tree_comes_back_with_the_content_and_after_a_restart(fresh):
    taken = trees(fresh)
    first = taken.take()
    before = (fresh.root / "a.txt").read_bytes()
    fresh.write("a.txt", "other\n")
    second = taken.take()
    again = Worktrees(str(fresh.root), fresh.root.parent / "session")
    assert again.take() == second != first
    (fresh.root / "a.txt").write_bytes(before)
    assert again.take() == first
    assert again.names(first, second) == ["a.txt"]


def test_a_change_of_the_same_size_in_the_same_moment_is_seen(fresh):
    taken = trees(fresh)
    seen = set()
    for n in range(20):
        fresh.write("a.txt", f"{n:04}\n")
        seen.add(taken.take())
    assert len(seen) == 20


def test_flags_of_the_start_hide_nothing(fresh):
    flagged(fresh)
    taken = trees(fresh)
    first = taken.take()
    fresh.write("c.txt", "changed\n")
    assert taken.take() != first


def test_repository_index_and_objects_are_left_alone_and_nothing_runs(fresh, tmp_path):
    taken = trees(fresh)
    mark = f"touch {tmp_path}/ran; cat"
    fresh.git("config", "filter.z.clean", mark)
    fresh.git("config", "core.fsmonitor", mark)
    fresh.write(".git/hooks/post-index-change", f"#!/bin/sh\n{mark}\n", 0o755)
    fresh.write(".gitattributes", "* filter=z\n")
    fresh.write("a.txt", "changed\n")
    before = {p: p.lstat().st_mtime_ns for p in (fresh.root / ".git").rglob("*")}
    first = taken.take()
    fresh.write("a.txt", "changed again\n")
    assert "changed again" in taken.patch(first, taken.take())
    assert {p: p.lstat().st_mtime_ns for p in (fresh.root / ".git").rglob("*")} == before
    assert not (tmp_path / "ran").exists()


def test_the_persons_own_filter_does_not_run_and_a_touch_is_no_change(fresh, tmp_path):
    fresh.git("config", "filter.mine.clean", f"touch {tmp_path}/ran; tr a-z A-Z")
    fresh.write(".gitattributes", "a.txt filter=mine\n")
    fresh.commit()
    taken = trees(fresh)
    (tmp_path / "ran").unlink(missing_ok=True)  # by the baseline, to which the person's filter counts
    first = taken.take()
    os.utime(fresh.root / "a.txt")
    assert taken.take() == first
    assert not (tmp_path / "ran").exists()


def test_large_files_count_by_size_and_time(fresh, monkeypatch):
    monkeypatch.setattr(worktree_tree_hash, "LARGE", 100)
    taken = trees(fresh)
    fresh.write("big.bin", "x" * 200)
    first = taken.take()
    assert first.partition("+")[2]
    assert taken.take() == first
    fresh.write("big.bin", "y" * 201)
    second = taken.take()
    assert second != first
    assert taken.names(first, second) == []
    assert taken.changed(first, second) == ["big.bin"]
    fresh.write("a.txt", "other\n")
    assert taken.changed(first, taken.take()) == ["a.txt", "big.bin"]
    again = Worktrees(str(fresh.root), fresh.root.parent / "session")
    with pytest.raises(HostError):
        again.changed(first, again.take())


def test_what_is_dear_rests_and_says_so_once(fresh, monkeypatch):
    taken = trees(fresh)
    assert taken.take()
    monkeypatch.setattr(worktree_tree_hash, "DEAR", 0.0)
    assert taken.take(), "one may be an accident"
    assert taken.complaint() == ""
    assert taken.take(), "two tell that it is dear"
    assert "looking at the files took" in taken.complaint()
    assert taken.take() == ""
    taken._rests_until = time.monotonic()
    assert taken.take()
    assert taken.complaint() == "", "once"


BROKEN = [
    (lambda r, f: shutil.rmtree(r.root / ".git"), "not the top of a git repository", "no repository"),
    (lambda r, f: r.write("huge", "x" * 5000), "MB of files", "too much to read"),
]


@pytest.mark.parametrize(("act", "words", "why"), BROKEN, ids=[row[-1] for row in BROKEN])
def test_what_cannot_be_measured_is_empty_with_words(fresh, monkeypatch, act, words, why):
    monkeypatch.setattr(worktree_tree_hash, "MUCH", 4096)
    taken = trees(fresh)
    act(fresh, fresh.root.parent / "session")
    assert taken.take() == ""
    assert words in taken.complaint()
    with pytest.raises(HostError, match="not measured"):
        taken.patch("", "HEAD")


def lock_left(repo, folder):
    (folder / "trees/index.lock").write_text("")
    repo.write("b.txt", "b\n")


def objects_lost(repo, folder):
    shutil.rmtree(folder / "trees/objects")
    (folder / "trees/objects/info").mkdir(parents=True)
    shutil.copy(folder / "git/objects/info/alternates", folder / "trees/objects/info/alternates")
    repo.write("b.txt", "b\n")


HEALED = [
    (lock_left, "a daemon was killed at it"),
    (lambda r, f: (f / "trees/index").write_text("junk"), "a broken index"),
    (objects_lost, "lost objects"),
]


@pytest.mark.parametrize(("act", "why"), HEALED, ids=[row[-1] for row in HEALED])
def test_what_is_broken_is_made_anew(fresh, act, why):
    fresh.write("a.txt", "not committed\n")
    taken = trees(fresh)
    first = taken.take()
    act(fresh, fresh.root.parent / "session")
    fresh.git("checkout", "-q", "b.txt")
    assert Worktrees(str(fresh.root), fresh.root.parent / "session").take() == first


def test_a_linked_worktree_and_a_repository_without_a_commit(fresh, tmp_path):
    fresh.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = trees(Repo(tmp_path / "side"))
    first = side.take()
    fresh.write("a.txt", "the main one's\n")
    assert side.take() == first != ""
    (tmp_path / "new").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "new")], check=True)
    born = Worktrees(str(tmp_path / "new"), tmp_path / "other")
    empty = born.take()
    (tmp_path / "new/x").write_text("x")
    assert born.names(empty, born.take()) == ["x"]


def test_the_difference_to_a_commit_and_to_the_starts_tree(fresh):
    fresh.write("a.txt", "mine\n")
    taken = trees(fresh)
    assert "+mine" in taken.patch(fresh.git("rev-parse", "HEAD"), taken.take())
    baseline = api.load(fresh.root.parent / "session")
    fresh.write("b.txt", "the agent's\n")
    assert taken.names(api.start_tree(baseline), taken.take()) == ["b.txt"]


NAMES = st.sampled_from(["a.txt", "b.txt", "src/y.py", "new", "dir/new", "odd 'n\"me\n-é"])
CONTENT = st.sampled_from(["", "1", "2", "12\n"])
STEPS = st.lists(st.tuples(NAMES, CONTENT | st.none()), max_size=12)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    repo = dirty_template(tmp_path_factory.mktemp("played") / "repo")
    return repo, trees(repo), {}


CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=25, deadline=None, suppress_health_check=CHECKS)
@given(steps=STEPS)
def test_equal_trees_are_equal_files_and_the_reverse(played, steps):
    repo, taken, seen = played
    for name, text in steps:
        if text is not None:
            repo.write(name, text)
        elif (repo.root / name).exists():
            repo.remove(name)
    there = {
        n: (k, b"x" in str(m).encode(), c)
        for n, (k, *rest) in files(repo.root).items()
        for m, c in [(rest[0], rest[-1])]
    }
    state = repr(sorted((n, v) for n, v in there.items() if not n.startswith((".env", "build/"))))
    assert seen.setdefault(state, tree := taken.take()) == tree
    assert len(set(seen.values())) == len(seen)
    with tempfile.TemporaryDirectory() as aside:
        assert Worktrees(str(repo.root), Path(aside)).take() == tree, "an index of its own says the same"
