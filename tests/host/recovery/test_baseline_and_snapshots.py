"""Baseline and rescue snapshots on real git."""

from __future__ import annotations

import stat

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import content_addressed_store as vault_module
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline.session_baseline import MANIFEST
from tests.support.recovery.repository import Repo, state


def restricts(path):
    return path.rpartition("/")[2] == ".env"


# The baseline.


def test_a_baseline_says_what_was_there(mine, tmp_path):
    baseline = api.take(str(mine.root), tmp_path / "b", restricts, "s1")
    assert baseline.head == mine.git("rev-parse", "HEAD")
    assert (baseline.branch, baseline.clean, baseline.session) == ("refs/heads/main", False, "s1")
    assert baseline.restricted == (".env",)
    kinds = {name: kept.kind for name, kept in baseline.files.items()}
    assert kinds["a.txt"] == "file"
    assert kinds["d.txt"] == kinds["e.txt"] == "absent"
    assert kinds["untracked/link"] == "link"
    assert kinds["untracked/dir/odd 'n\"me\n-é"] == "file"
    assert baseline.files[".env"].mode == 0o600
    assert "g.txt" not in kinds, "clean tracked files are in the index"
    assert "g.txt" in baseline.rest.recent, "as its stat data proves nothing yet"
    assert "build/out.bin" not in kinds, "ignored and not restricted"
    assert baseline.refs["refs/tags/v1"] == mine.git("rev-parse", "v1")


def test_taking_one_changes_nothing_and_is_private(mine, tmp_path):
    before = state(mine)
    stamps = {p: p.lstat().st_mtime_ns for p in mine.root.rglob("*")}
    api.take(str(mine.root), tmp_path / "b", restricts)
    assert {p: p.lstat().st_mtime_ns for p in mine.root.rglob("*")} == stamps
    assert state(mine) == before
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "b" / MANIFEST).stat().st_mode) == 0o600


def test_a_loaded_baseline_is_the_one_that_was_taken(mine, tmp_path):
    taken = api.take(str(mine.root), tmp_path / "b", restricts)
    assert api.load(tmp_path / "b") == taken


@pytest.mark.parametrize(("text", "words"), [(None, "no baseline"), ("{", "cannot be read"), ("{}", "cannot be read")])
def test_no_baseline_or_a_broken_one_is_said(tmp_path, text, words):
    if text is not None:
        (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(HostError, match=words):
        api.load(tmp_path)


def test_what_is_not_kept_is_named(mine, tmp_path, monkeypatch):
    inner = Repo(mine.root / "inner")
    inner.root.mkdir()
    inner.git("init", "-q")
    mine.write("huge.bin", "x" * 5000)
    monkeypatch.setattr(vault_module, "MAX_FILE", 4096)
    baseline = api.take(str(mine.root), tmp_path / "b", restricts)
    assert baseline.embedded == ("inner",)
    assert any("huge.bin was not kept" in note for note in baseline.notes)
    assert baseline.nested == ("inner",)
    mine.write("huge.bin", "y" * 4999)
    report = api.rollback(baseline)
    assert any("huge.bin" in problem for problem in report.problems)


def test_a_folder_that_cannot_be_made_is_said(mine, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match="Cannot make the folder"):
        api.take(str(mine.root), tmp_path / "file/b", restricts)


# Rescue snapshots.


def content(repo, ref):
    return set(filter(None, repo.git("ls-tree", "-r", "-z", "--name-only", ref).split("\0")))


def test_a_rescue_holds_the_work_tree_and_leaves_all_else_alone(mine, tmp_path):
    before = state(mine)
    made = api.take_snapshot(str(mine.root), tmp_path / "b", "before: rm")
    assert state(mine) == before
    assert made.ref == "refs/sentinel/rescue/before-rm"
    assert mine.git("rev-parse", made.ref) == made.commit
    assert mine.git("rev-parse", f"{made.commit}^") == mine.git("rev-parse", "HEAD")
    assert mine.git("show", f"{made.ref}:b.txt") == "b staged, then changed"
    names = content(mine, made.ref)
    assert {"notes.txt", "untracked/link", "new.txt", "untracked/dir/odd 'n\"me\n-é"} <= names
    assert not {"d.txt", "e.txt", ".env", "build/out.bin"} & names
    assert made.count == len(
        {"b.txt", "c.txt", "d.txt", "f.txt", "notes.txt"} | {n for n in names if "/link" in n or "odd" in n}
    )


def test_a_branch_that_is_deleted_next_stays_reachable(mine, tmp_path):
    tip = mine.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "work").strip()
    mine.git("branch", "feature", tip)
    made = api.take_snapshot(str(mine.root), tmp_path / "b", "before: branch -D")
    mine.git("branch", "-D", "feature")
    mine.git("reflog", "expire", "--expire=now", "--all")
    mine.git("gc", "-q", "--prune=now")
    assert mine.git("cat-file", "-t", tip).strip() == "commit"
    assert f"{tip} refs/heads/feature" in mine.git("show", "-s", "--format=%B", made.commit)


def test_a_branch_that_names_no_commit_costs_no_snapshot(mine, tmp_path):
    (mine.root / ".git/refs/heads/broken").write_text("1" * 40 + "\n")
    assert api.take_snapshot(str(mine.root), tmp_path / "b", "x").commit


def test_a_second_rescue_of_a_label_gets_its_own_ref(mine, tmp_path):
    first = api.take_snapshot(str(mine.root), tmp_path / "b", "x")
    second = api.take_snapshot(str(mine.root), tmp_path / "b", "x")
    assert (first.ref, second.ref) == ("refs/sentinel/rescue/x", "refs/sentinel/rescue/x-2")


def unborn(repo):
    repo.remove(".git")
    repo.git("init", "-q", "-b", "main")


def conflict(repo):
    repo.git("reset", "-q", "--hard")
    repo.git("checkout", "-q", "-b", "theirs", "HEAD~1")
    repo.write("h.txt", "theirs\n")
    repo.git("commit", "-q", "-am", "theirs")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "theirs", ok=False)


def embedded(repo):
    for name in ("inner", "born"):
        inner = Repo(repo.root / name)
        inner.root.mkdir()
        inner.git("init", "-q")
    inner.write("x", "x")
    inner.commit()


def swapped(repo):
    repo.remove("g.txt")
    repo.write("g.txt/inside", "i")
    repo.remove("src")
    repo.write("src", "a file")


def locked(repo):
    repo.write(".git/index.lock", "")


def ignored(repo):
    repo.write(".git/info/exclude", "nothing\n")


ODD = [
    (unborn, {"a.txt", "notes.txt", "src/y.py"}, "a branch without a commit"),
    (conflict, {"h.txt", "notes.txt"}, "a conflict"),
    (embedded, {"notes.txt", "c.txt"}, "repositories in the repository"),
    (swapped, {"g.txt/inside", "src"}, "file and folder swapped"),
    (locked, {"notes.txt"}, "the index locked"),
    (ignored, {"notes.txt"}, "other exclude rules"),
]


@pytest.mark.parametrize(("act", "names", "why"), ODD, ids=[row[2] for row in ODD])
def test_a_rescue_is_made_in_any_state(mine, tmp_path, act, names, why):
    act(mine)
    made = api.take_snapshot(str(mine.root), tmp_path / "b", "x")
    assert names <= content(mine, made.ref)


def test_a_rescue_in_a_session_runs_nothing_that_was_planted(mine, tmp_path):
    baseline = api.take(str(mine.root), tmp_path / "b", restricts)
    mark = f"touch {tmp_path}/ran; cat"
    mine.write(".gitattributes", "* filter=z\n")
    mine.write("c.txt", "changed again\n")
    for key in ("filter.z.clean", "core.fsmonitor"):
        mine.git("config", key, mark)
    mine.write(".git/hooks/reference-transaction", f"#!/bin/sh\n{mark}\n", 0o755)
    made = api.take_snapshot(str(mine.root), baseline.folder, "x")
    assert not (tmp_path / "ran").exists()
    assert mine.git("cat-file", "blob", f"{made.ref}:c.txt") == "changed again"
