"""What an agent can put in a rollback's way: pipes that are waited for, folders without end, refs in our place."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import content_addressed_store
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import gitdir_backup
from tests.support.recovery.repository import Repo, dirty_template, state, taken, template

DEEP, TOO_DEEP = 1100, 3300
"""Deeper than Python calls itself; than any path of a system call may be long."""


@pytest.fixture(params=[template, dirty_template], ids=["clean", "dirty"])
def repo(request, tmp_path):
    return request.param(tmp_path / "repo")


PIPES = (
    (".gitattributes", "at the top"),
    ("src/.gitattributes", "in a folder"),
    ("made/by/.gitignore", "in a new folder"),
    (".gitignore", "in the place of the person's"),
    (".git/HEAD", "HEAD"),
    (".git/packed-refs", "packed refs"),
    (".git/refs/heads/main", "the branch"),
    (".git/refs/heads/x", "a new branch"),
    (".git/index", "the index"),
    (".git/config", "the settings"),
    (".git/objects/pack/pack-1234.idx", "the index of a pack that is none"),
    (".git/objects/info/alternates", "more objects"),
)


@pytest.mark.parametrize("name", [p[0] for p in PIPES], ids=[p[1] for p in PIPES])
def test_a_named_pipe_is_not_waited_for(repo, name):
    before, baseline = state(repo), taken(repo)
    path = repo.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    if name.endswith(".idx"):
        path.with_suffix(".pack").write_bytes(b"PACK")
    assert api.rollback(baseline).problems == ()
    assert state(repo) == before


FOLDERS = ("objects", "objects/pack", "objects/info", "refs", "logs", "hooks", "info", "worktrees", "lfs", "modules")


@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
@pytest.mark.parametrize("name", FOLDERS)
def test_what_stands_in_the_place_of_a_folder_of_git_goes(repo, name, kind):
    before = state(repo)
    baseline = taken(repo)
    path = repo.root / ".git" / name
    shutil.rmtree(path, ignore_errors=True)
    aside = repo.root.parent / "aside"
    aside.mkdir()
    {"file": path.touch, "link": lambda: path.symlink_to(aside), "pipe": lambda: os.mkfifo(path)}[kind]()
    assert api.rollback(baseline).problems == ()
    assert path.is_dir() or not os.path.lexists(path)
    assert not path.is_symlink()
    assert state(repo) == before
    assert list(aside.iterdir()) == []


def test_the_outlook_names_a_pipe_that_it_would_wait_for(clean):
    baseline = taken(clean)
    os.mkfifo(clean.root / "src/.gitattributes")
    with pytest.raises(HostError, match=r"src/\.gitattributes is a named pipe"):
        api.plan_rollback(baseline)


ENDLESS = (
    ("build", DEEP, "d", True, "ignored: nobody's promise"),
    ("brand new", DEEP, "d", False, "new"),
    ("brand new", DEEP, "longer than any path may be" * 4, True, "new, and out of git's reach"),
    (".git/refs/heads", TOO_DEEP, "d", False, "among the branches"),
    (".git/hooks", TOO_DEEP, "d", False, "among the hooks"),
)


@pytest.mark.parametrize(("top", "deep", "name", "stays"), [e[:4] for e in ENDLESS], ids=[e[4] for e in ENDLESS])
def test_folders_without_end(clean, top, deep, name, stays):
    baseline, was = taken(clean), (clean.root / "a.txt").read_text()
    (clean.root / top).mkdir(exist_ok=True)
    at = os.open(clean.root / top, os.O_RDONLY)
    for _ in range(deep):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=at))
    clean.write("a.txt", "the agent's\n")
    os.close(at)
    cleanrt = api.rollback(baseline)
    there = (clean.root / "a.txt").read_text()
    found = subprocess.run(["find", str(clean.root), "-name", "file"], check=True, capture_output=True)
    # What pytest would do to clean up calls itself, too.
    subprocess.run(["rm", "-rf", str(clean.root.parent)], check=True)
    assert cleanrt.problems == ()
    assert (there, found.stdout != b"") == (was, stays)


REFS = ("refs/sentinel", "refs/sentinel/s1", "refs/sentinel/s1/1", "refs/sentinel/rescue", "refs/sentinel/rescue/s1")


@pytest.mark.parametrize("name", REFS)
def test_a_ref_where_ours_shall_be(clean, name):
    baseline = taken(clean)
    clean.commit("the agent's")
    clean.git("update-ref", name, "HEAD")
    clean.commit("more")
    made = clean.git("rev-list", "HEAD").splitlines()[:2]
    report = api.rollback(baseline)
    assert report.problems == ()
    assert report.rescue_ref
    assert set(made) <= set(clean.git("rev-list", "--all").splitlines())


def test_commits_in_a_linked_worktree_are_kept(clean):
    """The refs are the common directory's: its own branch moves last."""
    clean.git("worktree", "add", "-q", "../wt", "-b", "wt")
    linked = Repo(clean.root.parent / "wt")
    baseline = taken(linked)
    assert api.plan(baseline) == []
    linked.write("made.txt", "made\n")
    linked.commit("in the worktree")
    made = linked.git("rev-parse", "HEAD")
    assert not [c for c in api.plan(baseline) if c.what == "deleted"]
    report = api.rollback(baseline)
    assert report.ok, report.problems
    assert linked.git("rev-parse", "HEAD") == baseline.head
    assert linked.git("for-each-ref", "--format=%(objectname)", "refs/sentinel/s1/") == made
    assert any("refs/heads/wt of the session is kept as refs/sentinel/s1/1" in note for note in report.notes)
    assert not (clean.root / ".git/worktrees/wt/objects").exists()


def test_reports_that_were_there_come_back_and_new_ones_stay(clean):
    folder = clean.root / "docs/incidents"
    clean.write("docs/incidents/old.md", "old\n")
    clean.write("docs/incidents/rewritten.md", "as it was\n")
    baseline = taken(clean)
    (folder / "old.md").unlink()
    (folder / "rewritten.md").write_text("evil\n")
    (folder / "new.md").write_text("new\n")
    assert api.rollback(baseline, lambda n: n.startswith("docs/incidents/")).ok
    assert {p.name: p.read_text() for p in folder.iterdir()} == {
        "old.md": "old\n", "rewritten.md": "as it was\n", "new.md": "new\n",
    }  # fmt: skip


def test_an_index_with_new_times_is_nothing_to_tell(clean):
    baseline = taken(clean)
    index = clean.root / ".git/index"
    os.utime(clean.root / "a.txt", (1, 1))
    clean.git("update-index", "--refresh")
    assert index.stat().st_mtime_ns != baseline.own["index"].mtime_ns
    assert api.plan(baseline) == []
    clean.git("update-index", "--assume-unchanged", "a.txt")
    assert [str(c) for c in api.plan(baseline)] == ["changed  .git/index"]


def test_a_second_rollback_tells_of_its_own(clean):
    baseline = taken(clean)
    clean.write("first.txt", "1\n")
    api.rollback(baseline)
    clean.write("second.txt", "2\n")
    assert [name for name, _ in api.rollback(baseline).versions if name[0] != "."] == ["second.txt"]


def test_an_index_larger_than_any_file_that_is_kept_comes_back(repo, monkeypatch):
    monkeypatch.setattr(content_addressed_store, "MAX_FILE", 100)
    before, baseline = state(repo), taken(repo)
    repo.git("read-tree", "HEAD")
    assert not [note for note in baseline.notes if ".git/index" in note]
    assert api.rollback(baseline).problems == ()
    assert state(repo) == before


@pytest.mark.parametrize("split", [False, True], ids=["one file", "a chain"])
@pytest.mark.parametrize("large", [False, True], ids=["kept", "too large to be kept"])
def test_a_cache_that_lies_about_commits_goes(clean, monkeypatch, split, large):
    clean.git("commit-graph", "write", "--reachable", *(["--split"] if split else []))
    before = state(clean)
    if large:
        monkeypatch.setattr(gitdir_backup, "MAX_FILE", 10)
    baseline = taken(clean)
    top = clean.root / ".git/objects/info"
    (graph,) = top.glob("commit-graphs/*.graph" if split else "commit-graph")
    was = graph.read_bytes()
    graph.chmod(0o644)
    graph.write_bytes(was.replace(bytes.fromhex(clean.git("rev-parse", "HEAD^{tree}")), b"\1" * 20))
    (top / "commit-graphs").mkdir(exist_ok=True)
    (top / "commit-graphs/new.graph").write_bytes(b"new")
    assert api.rollback(baseline).problems == ()
    assert state(clean) == before
    assert not (top / "commit-graphs/new.graph").exists()
    assert (not graph.exists()) if large else graph.read_bytes() == was


def test_what_a_filter_folds_is_kept_and_put_right(repo):
    repo.git("config", "core.autocrlf", "input")
    before, baseline = state(repo), taken(repo)
    repo.write("g.txt", "g one\r\n" * 5)
    report = api.rollback(baseline)
    assert report.problems == () and state(repo) == before
    assert any(name == "g.txt" for name, _ in report.versions)


def test_a_file_where_the_person_had_put_a_folder_goes(clean):
    clean.remove("a.txt")
    clean.write("a.txt/inside.log", "ignored\n")
    before, baseline = clean.git("status", "--porcelain"), taken(clean)
    clean.remove("a.txt")
    clean.git("checkout", "-q", "a.txt")
    assert api.rollback(baseline).ok
    assert clean.git("status", "--porcelain") == before


def submodule(repo: Repo) -> Repo:
    library = template(repo.root.parent / "library")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "src/sub")
    repo.commit("a submodule")
    return Repo(repo.root / "src/sub")


def test_a_submodule_that_goes_at_once_does_not_cost_the_rest(clean):
    submodule(clean)
    baseline = api.begin(str(clean.root), clean.root.parent / "session", lambda _: False, "s1")
    clean.git("rm", "-rqf", "src")
    done = api.complete(baseline)
    assert done.rest.complete and "The rest of src/sub was not kept" in done.rest.notes[0]
    assert api.rollback(done).problems == ()
    assert clean.git("status", "--porcelain") == ""


def test_a_submodule_that_was_moved_or_replaced_leaves_nothing(clean):
    inner = submodule(clean)
    baseline = taken(clean)
    inner.root.rename(clean.root / "moved")
    (clean.root / "src/sub").symlink_to("/nowhere")
    report = api.rollback(baseline)
    assert report.problems == ()
    assert not (clean.root / "moved").exists()
    assert clean.git("status", "--porcelain") == "" and inner.git("status", "--porcelain") == ""
    assert any(name == "src/sub" for name, _ in report.versions)


def test_a_file_that_the_person_had_put_in_a_submodules_place_stays(clean):
    inner = submodule(clean)
    clean.remove("src/sub")
    clean.write("src/sub", "the person's\n")
    baseline = taken(clean)
    assert api.plan(baseline) == []
    clean.write("src/sub", "the agent's\n")
    assert api.rollback(baseline).problems == ()
    assert inner.root.read_text() == "the person's\n"
