"""What a person is shown of an action that they are asked about, and that a yes holds for what was shown alone."""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from dataclasses import replace

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Action, Ask, Layer, Question, Response
from sentinel_guard.core.session.session import Session
from sentinel_guard.daemon.question_preview import NO_REWRITE, UNKNOWN, Look, look_up
from sentinel_guard.daemon.session_secrets import SessionSecrets
from sentinel_guard.host.world import HostWorld
from tests.support.guard_in_memory import POLICY
from tests.support.hook_repositories import committed, git, made, put


@pytest.fixture
def repo(tmp_path):
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(tmp_path / "there.git"))
    here = made(tmp_path / "here")
    git(here, "branch", "-M", "main")
    git(here, "remote", "add", "origin", str(tmp_path / "there.git"))
    git(here, "push", "-q", "--no-verify", "origin", "main")
    put(here, "x.log", "ignored")
    put(here, ".gitignore", "*.log\n")
    committed(here, "ignores")
    git(here, "rm", "-q", "--cached", "x.log")
    committed(here, "two")
    put(here, "y.log", "ignored")
    return here


def judged(repo, command):
    action = Action("a", "s", Layer.SHELL, "shell", {"command": command}, str(repo), time.time(), str(repo))
    effects = analyse(action, HostWorld(dict(os.environ)))
    verdict = judge(Case(action, effects, replace(Session("s"), root=str(repo)), POLICY, None, "op"), CHECKS)
    assert verdict.response is Response.ASK
    return verdict, [finding for finding in verdict.findings if finding.ask == verdict.decisive.ask]


def preview(repo, command):
    return look_up(*judged(repo, command), time.time())


@pytest.mark.parametrize("action", ["FORCE_PUSH", "PUSH"])
@pytest.mark.parametrize("commits", [0, 1])
def test_what_was_seen_to_rewrite_nothing_is_not_called_a_rewrite(repo, action, commits):
    if commits:
        git(repo, "push", "-q", "--no-verify", "origin", "main")
        git(repo, "reset", "-q", "--soft", "HEAD~1")
    verdict, asked = judged(repo, "git push --force origin main")
    look = Look(verdict, asked, time.time(), lambda _: None)
    asyncio.run(look.up())
    question = Question("q", "s", Ask(action, "origin", "HIGH"), "git push", "it rewrites", 0.0, 0.0)
    why = look.onto(question, SessionSecrets(), (), again=False).why
    assert why == (NO_REWRITE if action == "FORCE_PUSH" and not commits else "it rewrites")


ROWS = [
    ("git push --force origin main", ["to ", "loses nothing"], "a push"),
    ("deploy production --now", ["target as written: production"], "a gate by name: the target as it was written"),
    ("psql -d shop -c 'DROP TABLE users; DROP TABLE orders'",
     ["statement: DROP TABLE users", "statement: DROP TABLE orders", "database: shop (psql)"], "every statement"),
    ("git clean -fdx", ["ignored: 1", "  y.log"], "ignored files"),
    ("cd /tmp && git push -f", ["another repository than the session's"], "no other repository is taken for this one"),
    ("git --git-dir=/tmp/x.git push -f", ["another repository than the session's"], "nor where it is named"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "seen"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_what_is_shown(repo, command, seen):
    lines = preview(repo, command).lines
    for words in seen:
        assert any(words in line for line in lines), (words, lines)


def test_a_branch_and_the_commits_that_only_it_holds(repo):
    lines = "\n".join(preview(repo, "git branch -D main").lines)
    assert "every commit of it is held by another reference" in lines, "HEAD stands on it"
    git(repo, "checkout", "-q", "--detach", "HEAD~2")
    assert "branch main: LOST commits: 2" in "\n".join(preview(repo, "git branch -D main").lines)


def test_files_outside_and_their_sizes(repo, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "big").write_bytes(b"1" * 2_000_000)
    action = f"rm -rf {shlex.quote(str(tmp_path / 'out'))}"
    assert any("1 file, 2.0 MB" in line for line in preview(repo, action).lines)


def test_what_cannot_be_looked_into_is_said(repo):
    put(repo, ".git/refs/heads/main", "broken\n")
    lines = preview(repo, "git push -f origin main").lines
    assert any("not" in line and ("looked into" in line or "no commit here" in line) for line in lines), lines
    assert UNKNOWN.format("x").startswith("what it would change")


def test_a_yes_is_bound_to_the_commits_that_were_shown(repo):
    before = preview(repo, "git push -f origin main").bound
    assert before == preview(repo, "git push -f origin main").bound, "the same while nothing moves"
    put(repo, "b.txt")
    committed(repo, "three")
    assert before != preview(repo, "git push -f origin main").bound
