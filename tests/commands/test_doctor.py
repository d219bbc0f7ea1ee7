"""``sentinel-guard doctor``: what protects here, what is missing, what to do. Nothing is changed by looking."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from sentinel_guard import doctor
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.commands.doctor import doctor as command
from sentinel_guard.core.hash_chain import Head
from sentinel_guard.core.model import Entry
from sentinel_guard.core.session import token_ledger
from sentinel_guard.doctor import LIMITS, PROBES, Probe, probe
from sentinel_guard.errors import HostError
from sentinel_guard.host import audit_witness
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine.state_paths import places
from tests.support.agents import stand_ins
from tests.support.fake_daemon import FakeDaemon


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


@pytest.fixture
def repo(tmp_path, monkeypatch):
    root = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.chdir(root)
    return root


def found(where, cwd) -> dict[str, Probe]:
    names = [p.__name__ for p in PROBES]
    return dict(zip(names, probe(where, cwd), strict=True))


def test_a_repository_without_hooks_is_told_to_install(where, repo):
    probes = found(where, repo)
    assert (probes["_hooks"].ok, probes["_hooks"].todo) == (False, "sentinel-guard install")
    install_hooks.install(repo)
    assert found(where, repo)["_hooks"].ok


def test_a_witness_that_was_not_told_is_named(where, repo, tmp_path):
    where.make()
    where.policy.parent.mkdir(parents=True, exist_ok=True)
    where.policy.write_text(f'[audit]\nwitness = ["file:{tmp_path}/heads", "syslog"]\n')
    seen = found(where, repo)["_witnesses"]
    assert not seen.ok and f"file:{tmp_path}/heads cannot be read" in seen.what and "daemon.log" in seen.todo
    audit_witness.tell(f"file:{tmp_path}/heads", Head(1, "a" * 64), 1.0)
    assert found(where, repo)["_witnesses"].ok


BROKEN = (
    (lambda hook: hook.unlink(), "pre-commit is not there", "one was deleted"),
    (lambda hook: hook.chmod(0o644), "is not executable", "one that git passes by"),
    (lambda hook: hook.write_text("#!/bin/sh\ncall_lefthook\n"), "replaced by lefthook (it does so", "a tool's own"),
)


@pytest.mark.parametrize("row", BROKEN, ids=[b[2] for b in BROKEN])
def test_a_hook_that_does_not_check_is_named_with_what_to_do(where, repo, row):
    work, words, _ = row
    install_hooks.install(repo)
    work(repo / ".git/hooks/pre-commit")
    seen = found(where, repo)["_hooks"]
    assert (seen.ok, seen.todo) == (False, "sentinel-guard install")
    assert words in seen.what
    assert "in place: pre-merge-commit, pre-applypatch, commit-msg, pre-push" in seen.what


def test_hooks_that_are_passed_by_are_told(where, repo):
    install_hooks.install(repo)
    subprocess.run(["git", "-C", str(repo), "config", "core.hooksPath", "elsewhere"], check=True)
    seen = found(where, repo)["_hooks"]
    assert not seen.ok and f"core.hooksPath is {repo}/elsewhere" in seen.what


def test_outside_of_a_repository_no_hooks_are_asked_for(where, tmp_path):
    assert found(where, tmp_path)["_hooks"] == Probe(ok=True, what="git hooks: none outside of a repository")


def test_every_probe_that_is_not_well_says_what_to_do(where, tmp_path):
    (tmp_path / "nowhere").mkdir()
    for name, seen in found(where, tmp_path / "nowhere").items():
        assert seen.ok or seen.todo, name


def test_a_broken_policy_is_named(where, repo):
    (repo / "sentinel.toml").write_text("version = 1\n[path]\n")
    seen = found(where, repo)["_policy"]
    assert not seen.ok and "sentinel.toml" in seen.what and "validate" in seen.todo


def test_the_daemon_that_runs_is_named_and_none_is_fine(where, repo):
    assert found(where, repo)["_daemon"].ok
    fake = FakeDaemon(where)
    try:
        assert "runs as process" in found(where, repo)["_daemon"].what
    finally:
        fake.close()


def test_git_that_is_missing(where, repo, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    seen = found(where, repo)
    assert not seen["_git"].ok and "Install git" in seen["_git"].todo


def verdicts(where, *agents: str, at: float = 0.0, wrapper: str = "unknown") -> None:
    where.make()
    store = SqliteStore(where.database)
    for agent in agents:
        data = {"tool": "shell", "agent": agent, **({"wrapper": wrapper} if wrapper else {})}
        store.append(Entry(at or time.time(), "s1", "verdict", data))
    store.close()


def test_a_client_whose_wrapper_is_unknown_is_named(where, repo):
    assert found(where, repo)["_wrappers"].ok, "before anything is on record"
    verdicts(where, "claude", wrapper="")
    verdicts(where, "gemini", at=time.time() - 8 * 86_400)
    assert found(where, repo)["_wrappers"].ok, "known, or long ago"
    verdicts(where, "codex", "claude", "codex")
    seen = found(where, repo)["_wrappers"]
    assert not seen.ok and seen.what.startswith("claude, codex: wrapped commands in a way that this version does not")
    assert "Update sentinel-guard" in seen.todo


def test_only_so_much_of_the_record_is_looked_at(where, repo, monkeypatch):
    monkeypatch.setattr(doctor, "LOOKED_AT", 3)
    verdicts(where, "codex")
    assert not found(where, repo)["_wrappers"].ok
    verdicts(where, "claude", "claude", "claude", wrapper="")
    assert found(where, repo)["_wrappers"].ok


def test_sessions_whose_tokens_are_not_known_are_named(where, repo):
    assert found(where, repo)["_tokens"].ok and "claude" in found(where, repo)["_tokens"].what
    where.make()
    now = time.time()
    with closing(SqliteStore(where.database)) as store:
        for ident, at, why in (("s1", now - 8 * 86_400, "gone"), ("s2", now, "no record"), ("s2", now, "")):
            store.append(token_ledger.unread_entry(ident, at, "claude", why))
    assert found(where, repo)["_tokens"].ok, "long ago, or known again"
    with closing(SqliteStore(where.database)) as store:
        store.append(token_ledger.unread_entry("s3", now, "qwen", "a.jsonl is not understood"))
    seen = found(where, repo)["_tokens"]
    assert not seen.ok and "of s3: a.jsonl is not understood" in seen.what and "sentinel-guard usage" in seen.todo


def test_an_agents_server_that_no_session_guards_is_named(where, repo, monkeypatch):
    monkeypatch.delenv("SENTINEL_SESSION", raising=False)
    inside = {**os.environ, "SENTINEL_SESSION": "of-the-doctor"}
    servers = [stand_ins.server("app-server", "--listen", "unix://", env=env) for env in (None, inside)]
    seen = found(where, repo)["_servers"]
    for server in servers:
        server.kill()
        server.communicate()
    assert seen.ok and "codex" in seen.what
    assert str(servers[0].pid) in seen.what and str(servers[1].pid) not in seen.what


ERRORS = (
    HostError("No room.", "Make room."),
    OSError(5, "broken"),
    subprocess.TimeoutExpired("git", 10),
    ValueError("not a number"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_a_probe_that_fails_is_a_probe_that_is_not_well(where, repo, monkeypatch, error):
    def fails(_places, _cwd):
        """The weather"""
        raise error

    monkeypatch.setattr(doctor, "PROBES", (fails, *PROBES[:1]))
    first, second = probe(where, repo)
    assert not first.ok and first.what.startswith("The weather: ")
    assert second.ok, "the others are looked at all the same"


def test_for_programs(where, repo, capsys):
    install_hooks.install(repo)
    code = command(where, as_json=True, trial=False)
    said = json.loads(capsys.readouterr().out)
    assert said["limits"] == list(LIMITS)
    assert len(said["probes"]) == len(PROBES)
    assert code == (0 if all(p["ok"] for p in said["probes"]) else 1)


def test_for_people(where, repo, capsys):
    assert command(where, as_json=False, trial=False) == 1
    said = capsys.readouterr().out
    assert "LOOK  git hooks not installed here" in said and "      sentinel-guard install" in said
    for limit in LIMITS:
        assert limit in said


def test_looking_changes_nothing_in_the_repository(where, repo):
    before = sorted(Path(repo).rglob("*"))
    probe(where, repo)
    assert sorted(Path(repo).rglob("*")) == before
