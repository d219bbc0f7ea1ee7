"""Snapshots brought back: all that was destroyed, and nothing else. Real git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentinel_guard.errors import ConfigError
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.recovery.snapshots.snapshot_store import (
    list_snapshots,
    moved_refs,
)
from tests.support.recovery.repository import Repo, dirty_template, files
from tests.support.recovery.taken_snapshots import bringing, restricts, take


def destroyed(repo):
    for name in ("notes.txt", "untracked", "build", "src", ".env"):
        repo.remove(name)
    repo.write("a.txt", "evil\n")
    repo.write("b.txt/in/the/way", "x")
    (repo.root / "untracked").symlink_to("/tmp")


def ready(repo):
    """``b.txt`` is a file in the fixture: a folder stands in its way only after it is gone."""
    repo.remove("b.txt")
    destroyed(repo)


def test_all_comes_back_as_it_was_and_head_and_index_stay(mine, where):
    before = files(mine.root)
    made = take(where, mine, "build", ".env")
    ready(mine)
    index, head = (mine.root / ".git/index").read_bytes(), (mine.root / ".git/HEAD").read_bytes()
    bring = bringing(where, mine, made)
    done = bring.restore(bring.plan(), restricts)
    assert done.problems == []
    assert (mine.root / ".git/index").read_bytes() == index
    assert (mine.root / ".git/HEAD").read_bytes() == head
    now = files(mine.root)
    assert {n: row for n, row in now.items() if n != "notes.txt"} == {
        n: r for n, r in before.items() if n != "notes.txt"
    }
    assert now["notes.txt"][2] == before["notes.txt"][2], "of a mode git keeps the executable bit only"
    assert bring.plan().changes == []


def test_a_restore_can_be_undone(mine, where):
    made = take(where, mine)
    mine.write("a.txt", "newer\n")
    mine.write("notes.txt", "newer notes\n")
    bring = bringing(where, mine, made)
    done = bring.restore(bring.plan(["a.txt", "notes.txt"]), restricts)
    assert (mine.root / "a.txt").read_text() == "a staged\n"
    (back,) = [s for s in list_snapshots(str(mine.root)) if s.ref == done.before.ref]
    assert (back.session, back.words) == ("by-hand", f"snapshots restore {made.id}")
    undo = bringing(where, mine, back)
    undo.restore(undo.plan(), restricts)
    assert (mine.root / "a.txt").read_text() == "newer\n"
    assert (mine.root / "notes.txt").read_text() == "newer notes\n"


def test_what_stands_in_the_way_is_moved_not_deleted(mine, where):
    made = take(where, mine)
    ready(mine)
    bring = bringing(where, mine, made)
    bring.restore(bring.plan(["b.txt"]), restricts)
    assert (mine.root / "b.txt").read_text() == "b staged, then changed\n"
    (moved,) = (where.state / "by-hand").glob("*/replaced/b.txt/in/the/way")
    assert moved.read_text() == "x"


def test_nothing_is_written_through_a_link(mine, where, tmp_path):
    made = take(where, mine)
    (tmp_path / "outside").mkdir()
    mine.remove("src")
    (mine.root / "src").symlink_to(tmp_path / "outside")
    bring = bringing(where, mine, made)
    assert bring.restore(bring.plan(), restricts).problems == []
    assert list((tmp_path / "outside").iterdir()) == []
    assert (mine.root / "src/y.py").read_text() == "y = 1\n"


PLANS = [
    ((), {"a.txt": "changed", "notes.txt": "deleted", "link": "changed", ".env": "changed"}, "all of it"),
    (("a.txt",), {"a.txt": "changed"}, "one file"),
    ((".env",), {".env": "changed"}, "a restricted file"),
    (("untracked",), {}, "a folder that is as it was"),
    ((".",), {"a.txt": "changed", "notes.txt": "deleted", "link": "changed", ".env": "changed"}, "the top"),
]


@pytest.mark.parametrize(("paths", "changes", "why"), PLANS, ids=[row[-1] for row in PLANS])
def test_a_plan_says_what_would_be_written(mine, where, paths, changes, why):
    made = take(where, mine, ".env")
    mine.write("a.txt", "evil\n")
    mine.remove("notes.txt")
    os.utime(mine.root / "c.txt")
    (mine.root / "link").unlink()
    (mine.root / "link").symlink_to("elsewhere")
    mine.write(".env", "KEY=evil\n")
    mine.write("since.txt", "came later")
    before = files(mine.root)
    assert {c.path: c.what for c in bringing(where, mine, made).plan(paths).changes} == changes
    assert files(mine.root) == before


@pytest.mark.parametrize("path", ["nothing", "a.tx", "*", ":/", "untracked/dir/nothing"])
def test_a_path_that_is_not_in_it_is_said(mine, where, path):
    made = take(where, mine)
    with pytest.raises(ConfigError, match="is not in snapshot"):
        bringing(where, mine, made).plan([path])


def test_flags_planted_in_the_index_hide_nothing(mine, where):
    made = take(where, mine)
    mine.git("update-index", "--skip-worktree", "g.txt")
    mine.write("g.txt", "evil\n")
    assert [c.path for c in bringing(where, mine, made).plan().changes] == ["g.txt"]


def test_without_the_sessions_folder_the_rest_still_comes_back(mine, where):
    made = take(where, mine, ".env")
    where.session("s1").rename(where.state / "gone")
    ready(mine)
    bring = bringing(where, mine, made)
    assert bring.restore(bring.plan(), restricts).problems == []
    assert (mine.root / "notes.txt").read_text() == "untracked\n"
    assert not (mine.root / ".env").exists()
    with pytest.raises(ConfigError, match="is not in snapshot"):
        bring.plan([".env"])


def test_a_restricted_file_whose_copy_is_damaged_is_a_problem(mine, where):
    made = take(where, mine, ".env")
    for path in (where.session("s1") / "baseline/vault").rglob("*"):
        if path.is_file():
            path.write_text("junk")
    mine.remove(".env")
    bring = bringing(where, mine, made)
    done = bring.restore(bring.plan(), restricts)
    assert "damaged" in done.problems[0]


@pytest.mark.parametrize("session", ["../../etc", "", "a/b", "no-such"])
def test_a_forged_message_leads_nowhere(mine, where, session):
    text = f"sentinel-guard: x\n\nSentinel-Session: {session}\nSentinel-Private: /etc/passwd\n"
    mine.git("update-ref", "refs/sentinel/rescue/f", mine.git("commit-tree", "HEAD^{tree}", "-m", text))
    (forged,) = list_snapshots(str(mine.root))
    assert bringing(where, mine, forged).plan(["a.txt"]).private == []


def test_a_difference_runs_no_program_of_the_repository(mine, where, tmp_path):
    made = take(where, mine)
    mark = f"touch {tmp_path}/ran; cat"
    for key in ("diff.external", "core.fsmonitor", "diff.z.textconv", "filter.z.clean"):
        mine.git("config", key, mark)
    mine.write(".git/info/attributes", "* diff=z filter=z\n")
    mine.write("a.txt", "evil\n")
    text = bringing(where, mine, made).diff()
    assert "-a staged" in text
    assert "+evil" in text
    assert "notes.txt" not in text
    assert not (tmp_path / "ran").exists()


def test_a_deleted_branch_comes_back_and_one_that_is_there_is_left_alone(mine, where):
    made = take(where, mine)
    tip = mine.git("rev-parse", "other")
    mine.git("branch", "-D", "other")
    mine.git("tag", "-d", "v1")
    assert set(moved_refs(str(mine.root), made)) == {"refs/heads/other", "refs/tags/v1"}
    bring = bringing(where, mine, made)
    assert bring.branch("other") == tip == mine.git("rev-parse", "other")
    assert bring.branch("v1") == mine.git("rev-parse", "v1")
    mine.git("branch", "-f", "other", "HEAD")
    for name, words in (("main", "stands where it did"), ("other", "is there, at"), ("no", "names no branch")):
        with pytest.raises(ConfigError, match=words):
            bring.branch(name)


# Whatever the state, whatever is destroyed.

NAMES = st.sampled_from(
    ["a.txt", "src/y.py", "new", "dir/new", "dir", "x.log", "build/out.bin", ".env", "odd 'n\"me\n-é"]
)
STEPS = st.lists(st.tuples(NAMES, st.sampled_from(["", "1", "2\n", None, "link", "exec"])), max_size=8)


def play(repo: Repo, steps) -> None:
    for name, what in steps:
        path = repo.root / name
        if any(p.is_file() or p.is_symlink() for p in path.parents if p != repo.root and repo.root in p.parents):
            continue
        if path.is_symlink() or path.exists():
            repo.remove(name)
        if what == "link":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to("/nowhere")
        elif what is not None:
            repo.write(name, what, 0o755 if what == "exec" else None)


CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=15, deadline=None, suppress_health_check=CHECKS)
@given(before=STEPS, after=STEPS)
def test_whatever_was_destroyed_comes_back(tmp_path_factory, before, after):
    folder = tmp_path_factory.mktemp("any")
    repo, where = dirty_template(folder / "repo"), places({"SENTINEL_HOME": str(folder / "g")})
    play(repo, before)
    old = files(repo.root)
    made = take(where, repo, "")
    play(repo, after)
    bring = bringing(where, repo, made)
    assert bring.restore(bring.plan(), restricts).problems == []
    now = files(repo.root)
    assert {n: _seen(now[n]) for n in old} == {n: _seen(row) for n, row in old.items()}


def _seen(row):
    """Of a mode git keeps the executable bit."""
    return row if row[0] == "link" else (row[0], bool(int(row[1], 8) & 0o100), row[2])


def test_the_module_leaves_nothing_in_the_temporary_folder(mine, where, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "aside"))
    Path(tmp_path / "aside").mkdir()
    made = take(where, mine)
    bringing(where, mine, made).diff()
    assert list((tmp_path / "aside").iterdir()) == []
