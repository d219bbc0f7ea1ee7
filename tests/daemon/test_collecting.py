"""When a session begins, old snapshots and old sessions' folders go, and what is still needed stays. Real git."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from sentinel_guard.core.model import Entry
from sentinel_guard.core.policy import Policy, Recovery
from sentinel_guard.core.session import Session
from sentinel_guard.daemon import recovery as module
from sentinel_guard.daemon.sessions import Live
from sentinel_guard.host import gitcommand
from sentinel_guard.host.places import places
from sentinel_guard.host.rescue import Occasion, rescue
from sentinel_guard.host.shelf import shelf
from tests.host.recovery_repo import template


@pytest.fixture
def repo(tmp_path):
    return template(tmp_path / "repo")


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


def take(where, repo, session, *, days=0, also=(), monkeypatch=None):
    folder = where.session(session) / "baseline"
    if monkeypatch:
        monkeypatch.setitem(gitcommand.ENVIRONMENT, "GIT_COMMITTER_DATE", f"{int(time.time()) - days * 86_400} +0000")
    targets = [str(repo.root / name) for name in also]
    occasion = Occasion(session, "c", "rm -rf build")
    return rescue(
        str(repo.root), folder, session, also=targets, restricts=lambda p: p.endswith(".env"), occasion=occasion
    )


def live(repo, ident):
    policy = Policy(recovery=Recovery(keep_days=14))
    session = Session(ident).after(Entry(1.0, ident, "session", {"root": str(repo.root)}))
    return Live(session, lambda: policy)


def test_a_beginning_session_collects_old_snapshots_but_those_of_live_sessions(repo, where, monkeypatch):
    for session, days in (("old", 20), ("alive", 20), ("new", 1)):
        take(where, repo, session, days=days, monkeypatch=monkeypatch)
    recovery = module.Recovery(where)

    async def play():
        recovery.prune(frozenset({"alive"}))
        begun = live(repo, "s9")
        await recovery.begin(begun)
        await recovery.settled(begun)

    asyncio.run(play())
    assert {s.session for s in shelf(str(repo.root))} >= {"alive", "new"}
    assert "old" not in {s.session for s in shelf(str(repo.root))}


def test_a_folder_that_holds_restricted_files_of_a_snapshot_stays(repo, where, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 1)
    take(where, repo, "a", also=[".env"])
    take(where, repo, "b")
    take(where, repo, "c")
    take(where, repo, "newest")
    module.Recovery(where).prune(frozenset({"c"}))
    assert sorted(os.listdir(where.state / "sessions")) == ["a", "c", "newest"]  # noqa: PTH208 - names
