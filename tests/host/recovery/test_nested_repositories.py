"""Repositories in the repository: each has its baseline, and comes back with the whole."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import take_baseline
from sentinel_guard.host.recovery.baseline.worktree_inventory import RECENT
from tests.support.recovery import agent_scripts as agents
from tests.support.recovery.repository import Repo, files, state, template

LOCAL = ("-c", "protocol.file.allow=always")


def submodule(repo: Repo) -> None:
    source = template(repo.root.parent / "source")
    repo.git(*LOCAL, "submodule", "add", "-q", str(source.root), "libs/sub")
    repo.git("commit", "-q", "-m", "with a submodule")
    sub = Repo(repo.root / "libs/sub")
    sub.write("c.txt", "the person's\n")
    sub.write("loose.txt", "untracked\n")
    sub.write(".env", "KEY=inner\n", 0o600)


def embedded(repo: Repo) -> None:
    inner = Repo(repo.root / "inner")
    inner.root.mkdir()
    inner.git("init", "-q", "-b", "main")
    inner.write("x", "x\n")
    inner.write(".gitignore", "ignored/\n")
    inner.commit()
    inner.write("x", "the person's\n")
    inner.write("new", "untracked\n")
    inner.write("ignored/y", "y\n")


def unborn(repo: Repo) -> None:
    inner = Repo(repo.root / "unborn")
    inner.root.mkdir()
    inner.git("init", "-q", "-b", "main")
    inner.write("x", "never committed\n")


def worktree(repo: Repo) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", ".worktrees/side")
    Repo(repo.root / ".worktrees/side").write("a.txt", "the person's\n")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """One repository with everything in it, left alone until its files are no longer recent."""
    repo = template(tmp_path_factory.mktemp("nested") / "repo")
    for make in (submodule, embedded, unborn, worktree):
        make(repo)
    time.sleep(RECENT + 0.1)
    return repo


INSIDE = ("libs/sub", "inner", "unborn", ".worktrees/side")


@pytest.fixture
def mine(whole, tmp_path):
    """At the same place as ever, for submodules and worktrees know absolute paths."""
    kept = tmp_path / "kept"
    shutil.copytree(whole.root, kept, symlinks=True)
    yield whole
    shutil.rmtree(whole.root)
    shutil.copytree(kept, whole.root, symlinks=True)


def states(repo: Repo) -> dict[str, object]:
    return {name: told(Repo(repo.root / name)) for name in (".", *INSIDE)}


def told(repo: Repo) -> dict[str, object]:
    if (repo.root / ".git").is_dir():
        return state(repo)
    args = (
        ("status", "--porcelain=v2", "--branch", "-uall"),
        ("ls-files", "-s"),
        ("for-each-ref", "refs/heads", "refs/tags"),
        ("diff",),
    )
    return {
        "files": files(repo.root),
        "HEAD": repo.git("rev-parse", "HEAD"),
        **{a[0]: repo.git("--no-optional-locks", *a) for a in args},
    }


def taken(repo: Repo, folder: Path) -> api.Baseline:
    return api.take(str(repo.root), folder / "session", lambda p: p.endswith("/.env"), "s1")


def moves_gitlink(r: Repo) -> None:
    sub = Repo(r.root / "libs/sub")
    agents.edits_and_commits(sub)
    r.git("add", "libs/sub")
    r.git("commit", "-q", "-m", "moved")


def works_inside(r: Repo) -> None:
    for name in INSIDE:
        inner = Repo(r.root / name)
        inner.write("x", "evil\n")
        inner.write("brand new", "evil\n")
        inner.commit()


def removes_insides(r: Repo) -> None:
    """All but what git is told to ignore, which nobody keeps."""
    for name in INSIDE:
        for entry in (r.root / name).iterdir():
            if entry.name != "ignored":
                r.remove(str(entry.relative_to(r.root)))


def strips_insides(r: Repo) -> None:
    """Takes the metadata of the inner repositories away, so that they look like plain folders."""
    for name in ("inner", "unborn"):
        shutil.rmtree(r.root / name / ".git")
    (r.root / "libs/sub/.git").unlink()


def deletes_all_metadata(r: Repo) -> None:
    shutil.rmtree(r.root / ".git")
    strips_insides(r)


def deinits(r: Repo) -> None:
    r.git("submodule", "deinit", "-q", "-f", "--all")
    r.git("rm", "-q", "-f", "libs/sub")


def links_outside(r: Repo) -> None:
    outside = r.root.parent / "outside"
    outside.mkdir(exist_ok=True)
    for name in ("libs", ".worktrees"):
        shutil.rmtree(r.root / name)
        (r.root / name).symlink_to(outside)


def adds_a_worktree(r: Repo) -> None:
    r.git("worktree", "add", "-q", "--detach", "theirs")
    Repo(r.root / "theirs").write("a.txt", "evil\n")


def drops_the_worktree(r: Repo) -> None:
    r.git("worktree", "remove", "--force", ".worktrees/side")
    r.git("branch", "-q", "-D", "side")


AGENTS = [
    (moves_gitlink, "43 a commit in a submodule, its gitlink moved"),
    (works_inside, "35 edits and commits in all of them"),
    (removes_insides, "35 all of them deleted"),
    (strips_insides, "35 their .git deleted"),
    (deletes_all_metadata, "23 all metadata deleted"),
    (deinits, "43 the submodule deinitialised and removed"),
    (links_outside, "32 their folders become links to outside"),
    (adds_a_worktree, "a worktree added"),
    (drops_the_worktree, "39 the person's other worktree removed"),
    (agents.embeds, "35 nothing in the person's, one of the agent's own"),
]


@pytest.mark.parametrize("agent", [a for a, _ in AGENTS], ids=[why for _, why in AGENTS])
def test_repositories_in_the_repository_come_back(mine, tmp_path, agent):
    if agent is agents.embeds:
        shutil.rmtree(mine.root / "inner")
    names = [n for n in INSIDE if (mine.root / n).exists()]
    before = {name: told(Repo(mine.root / name)) for name in (".", *names)}
    baseline = taken(mine, tmp_path)
    assert {*baseline.nested} == {*names}
    agent(mine)
    report = api.rollback(baseline)
    assert report.problems == ()
    assert api.plan(baseline) == [], "before git is asked, which refreshes a submodule's index"
    assert {name: told(Repo(mine.root / name)) for name in (".", *names)} == before
    assert not any((mine.root.parent / "outside").glob("*"))
    assert not (mine.root / ".git/worktrees/theirs").exists()


def test_plan_and_report_name_what_lies_inside(mine, tmp_path):
    baseline = taken(mine, tmp_path)
    works_inside(mine)
    assert "libs/sub/brand new" in {c.path for c in api.plan(baseline)}
    report = api.rollback(baseline)
    names = dict(report.versions)
    assert Path(names["inner/brand new"]).read_text() == "evil\n"
    assert "inner/x" in report.restored


def test_one_that_cannot_be_put_back_is_never_called_ok_and_costs_no_other(mine, tmp_path):
    baseline = taken(mine, tmp_path)
    works_inside(mine)
    (dict(baseline.below())["inner"].folder / "rollback.json").mkdir()
    report = api.rollback(baseline)
    assert not report.ok
    assert any("inner could not be put back" in problem for problem in report.problems)
    assert [name for name in INSIDE if (mine.root / name / "brand new").exists()] == ["inner"]


def test_one_whose_objects_are_lost_is_never_called_ok(mine, tmp_path):
    baseline = taken(mine, tmp_path)
    kept = dict(baseline.below())["inner"]
    for folder in (kept.farm, kept.deep, mine.root / "inner/.git/objects"):
        shutil.rmtree(folder, ignore_errors=True)
    report = api.rollback(baseline)
    assert not report.ok
    assert all(problem.startswith("In inner: ") for problem in report.problems), report.problems


def test_a_restricted_file_in_an_inner_repository_is_one(mine, tmp_path):
    baseline = taken(mine, tmp_path)
    assert "libs/sub/.env" in baseline.restricted
    (mine.root / "libs/sub/.env").write_text("stolen\n")
    assert api.rollback(baseline).ok
    assert (mine.root / "libs/sub/.env").read_text() == "KEY=inner\n"


@pytest.mark.parametrize(("cap", "value"), [("DEPTH", 0), ("COUNT", 1)])
def test_what_is_too_deep_or_one_too_many_is_named(mine, tmp_path, monkeypatch, cap, value):
    monkeypatch.setattr(take_baseline, cap, value)
    baseline = taken(mine, tmp_path)
    assert len(baseline.nested) == value
    assert sum("too deep or one too many" in note for note in baseline.notes) == len(INSIDE) - value
