"""When a session begins, old snapshots and old sessions' folders go, and what is still needed stays. Real git."""

from __future__ import annotations

import asyncio
import time

import pytest

from sentinel_guard.core.incidents.root_cause_and_sign_off import SIGNED
from sentinel_guard.core.model import Entry
from sentinel_guard.core.policy.policy import Policy, Recovery
from sentinel_guard.core.session.session import Session
from sentinel_guard.daemon import snapshots_and_rollback as module
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.host import incident_files
from sentinel_guard.host.git import run_git
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.rollback import prune_sessions
from sentinel_guard.host.recovery.snapshots.snapshot_store import list_snapshots
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion, take_snapshot
from tests.support.recovery.repository import template


@pytest.fixture
def repo(tmp_path):
    return template(tmp_path / "repo")


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


def take(where, repo, session, *, days=0, also=(), monkeypatch=None):
    folder = where.session(session) / "baseline"
    if monkeypatch:
        monkeypatch.setitem(run_git.ENVIRONMENT, "GIT_COMMITTER_DATE", f"{int(time.time()) - days * 86_400} +0000")
    targets = [str(repo.root / name) for name in also]
    occasion = Occasion(session, "c", "rm -rf build")
    return take_snapshot(
        str(repo.root), folder, session, also=targets, restricts=lambda p: p.endswith(".env"), occasion=occasion
    )


ENDED = frozenset(f"s{n}" for n in range(9))


def live(repo, ident):
    policy = Policy(recovery=Recovery(keep_days=14))
    session = Session(ident).after(Entry(1.0, ident, "session", {"root": str(repo.root)}))
    return Live(session, lambda: policy)


def test_a_beginning_session_collects_old_snapshots_but_those_of_live_sessions(repo, where, monkeypatch):
    for session, days in (("old", 20), ("alive", 20), ("new", 1)):
        take(where, repo, session, days=days, monkeypatch=monkeypatch)
    alive = set()
    recovery = module.Recovery(where, lambda: frozenset(alive))

    async def play():
        await recovery.begin(live(repo, "s9"))
        alive.update({"alive", "s9"})
        await recovery.collected()

    asyncio.run(play())
    assert {s.session for s in list_snapshots(str(repo.root))} >= {"alive", "new"}
    assert "old" not in {s.session for s in list_snapshots(str(repo.root))}


def whole(recovery, repo, ident):
    """A session whose baseline is complete."""

    async def play():
        begun = live(repo, ident)
        await recovery.begin(begun)
        await recovery.collected()

    asyncio.run(play())
    return recovery._folder(live(repo, ident))


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_what_has_no_end_on_record_is_not_pruned_and_that_is_asked_last(repo, where):
    ended = [f"s{n}" for n in range(4)]
    for ident in (*ended, "r1"):
        (where.session(ident) / "shims").mkdir(parents=True)

    def over():
        # One that begins, and ends on record, after the folders were listed.
        (where.session("s") / "shims").mkdir(parents=True)
        return {*ended, "s"}

    prune_sessions.prune(where, over, keep=2)
    assert sorted(p.name for p in (where.state / "sessions").iterdir()) == ["r1", "s", "s2", "s3"]


def test_of_old_sessions_only_what_nobody_else_has_stays(repo, where):
    recovery = module.Recovery(where)
    moved, plain, secret, asked = (whole(recovery, repo, f"s{n}") for n in range(4))
    for path in (moved / "quarantine/worktree/mine.txt", moved.parent / "tampered/.env", secret / "rescued/x.json"):
        path.parent.mkdir(parents=True)
        path.write_text("the only one\n")
    incident_files.write(repo.root / "docs/incidents/INCIDENT-2026-01-01T000000Z-x.md", "| Session | s3 |\n")
    before = names(secret), names(asked)
    whole(recovery, repo, "s8")
    prune_sessions.prune(where, lambda: ENDED, keep=1)
    assert names(moved.parent) == ["baseline/quarantine/worktree/mine.txt", "tampered/.env"]
    assert not plain.parent.exists()
    assert (names(secret), names(asked)) == before
    assert where.session("s8").exists()
    incident_files.write(
        repo.root / "docs/incidents/INCIDENT-2026-01-01T000000Z-x.md", f"| Session | s3 |\n{SIGNED} x\n"
    )
    prune_sessions.prune(where, lambda: ENDED, keep=1)
    assert not asked.parent.exists()


def test_a_baseline_that_is_half_done_is_completed(repo, where):
    recovery = module.Recovery(where)
    folder = whole(recovery, repo, "s1")
    (folder / "completed.json").unlink()

    async def play():
        begun = live(repo, "s1")
        recovery.take_up(begun)
        assert recovery.pending(begun)
        assert await recovery.settled(begun, 20)
        assert not recovery.pending(begun)

    asyncio.run(play())
    assert api.load(folder).rest.complete


def test_who_waits_for_a_baseline_does_not_wait_for_ever(repo, where):
    async def play():
        recovery, begun = module.Recovery(where), live(repo, "s1")
        await recovery.begin(begun)
        assert await recovery.settled(begun, 0) is False
        assert await recovery.settled(begun) is True
        await recovery.collected()

    asyncio.run(play())


def test_the_rest_of_a_baseline_waits_until_the_agent_was_started(repo, where, monkeypatch):
    monkeypatch.setattr(module, "START", 60.0)

    async def play():
        recovery, begun = module.Recovery(where), live(repo, "s1")
        await recovery.begin(begun)
        await asyncio.sleep(0.2)
        assert not (where.session("s1") / "baseline" / "completed.json").exists()
        begun.baseline_due.set()
        await recovery.collected()
        return api.load(where.session("s1") / "baseline").rest.complete

    assert asyncio.run(play())


def test_fewer_ended_sessions_than_are_kept_all_stay(repo, where):
    for ident in (some := [f"s{n}" for n in range(6)]):
        (where.session(ident) / "shims").mkdir(parents=True)
    prune_sessions.prune(where, lambda: {*some})
    assert sorted(p.name for p in (where.state / "sessions").iterdir()) == some
