"""What docs/recovery.md says of times, and of what is too much to be remembered."""

from __future__ import annotations

import os

from sentinel_guard.host.git import ignored_files
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import late_files

OLD = 1_000_000_000_123_456_789
"""Nanoseconds of the epoch."""


def restricts(path: str) -> bool:
    return path.endswith("/.env")


def taken(repo):
    return api.take(str(repo.root), repo.root.parent / "s" / "baseline", restricts, "s1")


def test_what_is_kept_raw_comes_back_with_its_time(repo):
    names = ("c.txt", "notes.txt", ".env", "build/out.bin")
    for name in names:
        os.utime(repo.root / name, ns=(OLD, OLD))
    baseline = taken(repo)
    for name in names:
        repo.write(name, "evil\n")
    assert api.rollback(baseline, restricts=restricts).ok
    assert {(repo.root / name).stat().st_mtime_ns for name in names} == {OLD}


def test_a_time_that_alone_was_changed_is_no_difference(repo):
    baseline = taken(repo)
    for name in ("g.txt", "c.txt", "notes.txt", ".env", "build/out.bin"):
        os.utime(repo.root / name, ns=(OLD, OLD))
    assert api.plan(baseline, lambda _: False) == []


def test_where_more_is_ignored_than_is_remembered_that_is_said(repo, monkeypatch):
    monkeypatch.setattr(ignored_files, "MAX_ALL", 0)
    monkeypatch.setattr(late_files, "MOST", 1)
    for name in ("build/1", "build/2"):
        repo.write(name, "x")
    baseline = taken(repo)
    assert baseline.unkept == ("Of 2 ignored files not even size and time are remembered.",)
    assert api.rollback(baseline, restricts=restricts).unkept
