"""Judging a git hook beside the daemon's own work: for the hook's repository, in time, and no longer."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time
from types import SimpleNamespace

import pytest

from sentinel_guard.core.model import Response
from sentinel_guard.daemon import git_hook_worker
from sentinel_guard.daemon.git_hook_worker import HookJudge
from sentinel_guard.daemon.wire_messages import Request
from sentinel_guard.errors import HostError, PeerError
from sentinel_guard.host.githooks import push_of_other_repository
from sentinel_guard.host.githooks.hook_request import Judged
from sentinel_guard.host.githooks.push_of_other_repository import Push
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.support.time_limits import limit
from tests.support.wait_until import until


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "start")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    (folder / ".env").write_text("MODE=debug\n")
    subprocess.run(["git", "add", "-f", ".env"], cwd=folder, check=True)
    return folder


@pytest.fixture
def judging(tmp_path):
    return HookJudge(StatePaths(tmp_path / "state", tmp_path / "run", tmp_path / "config", str(tmp_path)))


def ask(judging, cwd, *, slow=lambda: None, **environ) -> Judged:
    asked = Request("githook", ("sentinel-githook", "pre-commit"), str(cwd), environ)
    return asyncio.run(judging.judge(asked, os.getpid(), None, slow))


def test_it_is_the_hooks_repository_that_is_looked_at(repo, judging, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/no/such/place")
    [finding] = ask(judging, repo).findings
    assert (finding.response, finding.rule) == (Response.DENY, "paths.restricted")
    empty = tmp_path / "empty-index"
    environ = {"PATH": os.environ["PATH"], "GIT_INDEX_FILE": str(empty)}
    subprocess.run(["git", "read-tree", "HEAD"], cwd=repo, env=environ, check=True)
    assert not ask(judging, repo, GIT_INDEX_FILE=str(empty)).findings, "the private index of `git commit PATH`"


def test_the_policy_is_that_of_the_repository_as_it_is_now(repo, judging):
    subprocess.run(["git", "rm", "-q", "--cached", ".env"], cwd=repo, check=True)
    (repo / "a.txt").write_text("a\n")
    subprocess.run(["git", "add", "a.txt"], cwd=repo, check=True)
    assert not ask(judging, repo).refused
    (repo / "sentinel.toml").write_text('version = 1\n[paths]\nrestricted = ["a.txt"]\n')
    assert ask(judging, repo).refused
    (repo / "sentinel.toml").write_text("version = ")
    assert ask(judging, repo).findings[0].rule == "policy.invalid"


def test_without_a_folder_nothing_is_judged(judging):
    with pytest.raises(PeerError, match="cannot be read"):
        ask(judging, "")


def test_what_takes_a_while_is_said_and_holds_nobody_up(judging, monkeypatch):
    """The daemon goes on meanwhile; after the limit whoever asked is told."""
    freed, told = threading.Event(), []
    monkeypatch.setattr(git_hook_worker, "SOON", 0.02)
    monkeypatch.setattr(git_hook_worker, "LIMIT", 0.1)
    monkeypatch.setattr(HookJudge, "_judge", lambda *_: freed.wait(limit(5)) and Judged())

    async def others() -> float:
        asked = Request("githook", ("sentinel-githook", "pre-commit"), "/w")
        job = asyncio.create_task(judging.judge(asked, 1, None, lambda: told.append("slow")))
        began = time.monotonic()
        await asyncio.sleep(0.01)
        waited = time.monotonic() - began
        with pytest.raises(TimeoutError):
            await job
        freed.set()
        return waited

    assert asyncio.run(others()) < 1
    assert told == ["slow"]


def test_values_of_many_repositories_are_not_kept_for_ever(judging, tmp_path):
    for n in range(100):
        judging._cache(tmp_path / str(n))
    assert len(judging._caches) <= 16


@pytest.mark.parametrize("name", ["index", "HEAD"])
def test_a_pipe_holds_a_thread_no_longer_than_somebody_waits(repo, judging, monkeypatch, name):
    """There are four; the next commit, of any session, waits for one."""
    monkeypatch.setattr(git_hook_worker, "SOON", 0.02)
    monkeypatch.setattr(git_hook_worker, "LIMIT", 0.3)
    subprocess.run(["git", "worktree", "add", "-q", "../tree"], cwd=repo, check=True)
    pipe = repo / ".git/worktrees/tree" / name
    pipe.unlink()
    os.mkfifo(pipe)
    for _ in range(4):
        with pytest.raises((TimeoutError, HostError)):
            ask(judging, repo.parent / "tree")
    monkeypatch.setattr(git_hook_worker, "LIMIT", limit(5))
    assert ask(judging, repo).refused


def test_a_look_that_hangs_holds_up_its_turn_alone(judging, monkeypatch):
    """As on a network file system that does not answer any more."""
    freed, live = threading.Event(), SimpleNamespace(watch=None, begun_in={}, session=SimpleNamespace(started=0.0))
    monkeypatch.setattr(push_of_other_repository, "look", lambda *_: freed.wait(60) and "")
    began = time.monotonic()
    found = [judging.elsewhere(Push("/r", "origin", (), ""), live, {}, 0.05) for _ in range(5)]
    assert found == [None] * 5
    assert time.monotonic() - began < limit(3)
    freed.set()
    assert until(lambda: judging.elsewhere(Push("/r", "origin", (), ""), live, {}, 5.0) == "")


def test_what_a_daemon_that_was_killed_left_of_a_look_goes(tmp_path):
    left = tmp_path / "state/looks/tmp0/objects"
    left.mkdir(parents=True)
    HookJudge(StatePaths(tmp_path / "state", tmp_path / "run", tmp_path / "config", str(tmp_path)))
    assert not left.exists()
