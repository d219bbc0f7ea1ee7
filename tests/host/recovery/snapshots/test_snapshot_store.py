"""Snapshots found again, dropped and collected. Real git."""

from __future__ import annotations

import os
import time

import pytest

from sentinel_guard.core.policy.policy import Recovery
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host.recovery.snapshots.snapshot_store import (
    drop,
    find_snapshot,
    garbage_collect,
    list_snapshots,
    stat,
)
from sentinel_guard.host.recovery.snapshots.take_snapshot import manifest
from tests.support.recovery.taken_snapshots import take


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


def test_no_ordinary_push_or_clone_takes_them_along(mine, where, tmp_path):
    take(where, mine)
    for bare in ("pushed", "mirror"):
        mine.git("init", "-q", "--bare", str(tmp_path / bare))
    mine.git("push", "-q", "--all", str(tmp_path / "pushed"))
    mine.git("push", "-q", "--tags", str(tmp_path / "pushed"))
    mine.git("clone", "-q", str(mine.root), str(tmp_path / "cloned"))
    mine.git("push", "-q", "--mirror", str(tmp_path / "mirror"))
    held = {
        name: "refs/sentinel" in mine.git("-C", str(tmp_path / name), "for-each-ref", "--format=%(refname)")
        for name in ("pushed", "cloned", "mirror")
    }
    assert held == {"pushed": False, "cloned": False, "mirror": True}
    shown = [mine.git("log", *flags, "--all", "--format=%s") for flags in ((), ("--exclude=refs/sentinel/*",))]
    assert [("sentinel-guard:" in log) for log in shown] == [True, False]


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
