"""Snapshots found again, brought back, dropped and collected. Real git."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentinel_guard.core.policy.policy import Recovery
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.recovery.snapshots.restore_from_snapshot import SnapshotRestore
from sentinel_guard.host.recovery.snapshots.snapshot_store import (
    drop,
    find_snapshot,
    garbage_collect,
    list_snapshots,
    moved_refs,
    stat,
)
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion, manifest, take_snapshot
from tests.support.recovery.repository import Repo, copied, dirty, files, template

OCCASION = Occasion("s1", "c1", "git clean -fd")


def restricts(path):
    return path.rpartition("/")[2] == ".env"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    repo = template(tmp_path_factory.mktemp("shelf") / "repo")
    dirty(repo)
    return repo


@pytest.fixture
def mine(shared, tmp_path):
    return copied(shared, tmp_path / "repo")


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


def take(where, repo, *also, session="s1", label="x"):
    folder = where.session(session) / "baseline"
    targets = [str(repo.root / name) for name in also]
    occasion = Occasion(session, "c1", OCCASION.command)
    take_snapshot(str(repo.root), folder, label, also=targets, restricts=restricts, occasion=occasion)
    return next(s for s in list_snapshots(str(repo.root)) if s.ref == f"refs/sentinel/rescue/{label}")


def bringing(where, repo, snapshot) -> SnapshotRestore:
    return SnapshotRestore(where, str(repo.root), snapshot)


def test_a_snapshot_tells_what_it_was_taken_for(mine, where):
    made = take(where, mine, ".env")
    assert (made.words, made.session, made.call, made.private) == ("git clean -fd", "s1", "c1", (".env",))
    assert made.tips["refs/heads/other"] == mine.git("rev-parse", "other")
    assert made.tips["refs/tags/v1"] == mine.git("rev-parse", "v1")
    assert abs(made.taken - time.time()) < 60
    assert "notes.txt" in stat(str(mine.root), made)


def test_the_newest_comes_first_and_ids_tell_them_apart(mine, where, monkeypatch):
    for number in range(3):
        monkeypatch.setitem(snapshots_environment(), "GIT_COMMITTER_DATE", f"{1_700_000_000 + number} +0000")
        take(where, mine, label=f"n{number}")
    found = list_snapshots(str(mine.root))
    assert [s.ref[-2:] for s in found] == ["n2", "n1", "n0"]
    assert len({s.id for s in found}) == 3
    assert find_snapshot(found, "1") is found[0]
    assert find_snapshot(found, found[1].id.upper()) is found[1]
    assert find_snapshot(found, found[2].ref) is found[2]
    assert find_snapshot(found, found[2].commit) is found[2]


def test_two_of_the_same_second_have_an_order(mine, where):
    for label in "cabd":
        take(where, mine, label=label)
    assert [s.ref[-1] for s in list_snapshots(str(mine.root))] == ["d", "b", "a", "c"]


def snapshots_environment():
    from sentinel_guard.host.git import run_git

    return run_git.ENVIRONMENT


@pytest.mark.parametrize("ident", ["", "0", "9", "zzzz", "abc", "-1", "refs/heads/main", "--all"])
def test_what_names_no_snapshot_is_said(mine, where, ident):
    take(where, mine)
    with pytest.raises(ConfigError, match="No snapshot begins with"):
        find_snapshot(list_snapshots(str(mine.root)), ident)


def test_an_id_that_names_several_is_said(mine, where):
    found = [take(where, mine), take(where, mine, label="y")]
    both = [found[0], type(found[0])("abcd", "refs/sentinel/rescue/z", found[0].commit[:6] + "0" * 34, 0.0, "")]
    with pytest.raises(ConfigError, match="2 snapshots begin"):
        find_snapshot(both, found[0].commit[:5])


def test_commits_that_a_rollback_kept_are_listed_too(mine):
    mine.git("update-ref", "refs/sentinel/s9/1", "other")
    (kept,) = list_snapshots(str(mine.root))
    assert (kept.words, kept.session, kept.count) == ("kept of the session: one", "s9", None)


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


def test_a_dropped_snapshot_is_gone_with_its_list_of_restricted_files(mine, where):
    made = take(where, mine, ".env")
    drop(where, str(mine.root), [made])
    assert list_snapshots(str(mine.root)) == []
    assert not manifest(where.session("s1") / "baseline", made.commit).parent.exists()


def test_a_ref_that_was_moved_meanwhile_is_not_dropped(mine, where):
    made = take(where, mine)
    mine.git("update-ref", made.ref, "HEAD")
    with pytest.raises(HostError):
        drop(where, str(mine.root), [made])
    assert len(list_snapshots(str(mine.root))) == 1


# Collecting.


@pytest.fixture
def aged(mine, where, monkeypatch):
    """Snapshots of 1, 10 and 20 days, of three sessions."""
    for days in (20, 10, 1):
        at = f"{int(time.time()) - days * 86_400} +0000"
        monkeypatch.setitem(snapshots_environment(), "GIT_COMMITTER_DATE", at)
        mine.write(f"only-{days}.bin", os.urandom(300_000).hex()[:500_000])
        take(where, mine, session=f"s{days}", label=f"d{days}")
        mine.remove(f"only-{days}.bin")
    return mine


def report(text):
    return lambda repo: repo.write("docs/incidents/INCIDENT-2026-11-01T101010Z-ab.md", text)


COLLECTED = [
    (Recovery(keep_days=14), (), None, ["d20"], "too old"),
    (Recovery(keep_days=30), (), None, [], "none too old, none too large"),
    (Recovery(keep_days=0), (), None, ["d20", "d10", "d1"], "no day is kept"),
    (Recovery(keep_days=14), ("s20",), None, [], "of a live session"),
    (Recovery(keep_days=14), (), report("rescue: `refs/sentinel/rescue/d20`\n"), [], "named by an open report"),
    (
        Recovery(keep_days=14),
        (),
        report("refs/sentinel/rescue/d20\n\nSigned off by the user on Friday\n"),
        ["d20"],
        "named by a report that is signed off",
    ),
    (Recovery(keep_days=30, keep_megabytes=0), (), None, ["d20", "d10", "d1"], "no room at all"),
    (Recovery(keep_days=30, keep_megabytes=0), ("s10",), None, ["d20", "d1"], "no room, but one is of a live session"),
]


@pytest.mark.parametrize(("limits", "live", "act", "gone", "why"), COLLECTED, ids=[row[-1] for row in COLLECTED])
def test_the_oldest_are_collected(aged, where, *, limits, live, act, gone, why):
    if act:
        act(aged)
    dropped = garbage_collect(where, str(aged.root), limits, lambda: live)
    assert [s.ref.rpartition("/")[2] for s in dropped] == gone
    assert {s.ref.rpartition("/")[2] for s in list_snapshots(str(aged.root))} == {"d20", "d10", "d1"} - set(gone)


def test_as_many_go_as_must_for_the_rest_to_fit(aged, where, monkeypatch):
    from sentinel_guard.host.recovery.snapshots import snapshot_store as module

    sizes = {n: module._megabytes(str(aged.root), list_snapshots(str(aged.root))[:n]) for n in (1, 2, 3)}
    assert 0.2 < sizes[1] < sizes[2] < sizes[3], "each holds a file of its own"
    monkeypatch.setattr(module, "_megabytes", lambda _, held: float(len(held)))
    gone = garbage_collect(where, str(aged.root), Recovery(keep_days=30, keep_megabytes=1), tuple)
    assert [s.ref.rpartition("/")[2] for s in gone] == ["d20", "d10"]


def test_collecting_where_there_is_nothing(mine, where):
    assert garbage_collect(where, str(mine.root), Recovery(), tuple) == []


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


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=STEPS, after=STEPS)
def test_whatever_was_destroyed_comes_back(shared, tmp_path_factory, before, after):
    folder = tmp_path_factory.mktemp("any")
    repo, where = copied(shared, folder / "repo"), places({"SENTINEL_HOME": str(folder / "g")})
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
