"""judge: what a push carries, the environment as a value, and a repository without a work tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sentinel_guard.core.model import Response
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.githooks import judge_hook
from sentinel_guard.host.githooks.hook_request import Judged, base_of
from tests.support.hook_judgement import POLICY, judge
from tests.support.hook_repositories import TOKEN, committed, git, head, made, put, token


def test_names_that_a_push_carries(root: Path) -> None:
    start = head(root)
    committed(root, "x", f"--author={TOKEN} <a@b.org>")
    line = f"x {head(root)} refs/heads/b-{token(2)} {start}\n".encode()
    for session, response in ((False, Response.DENY), (True, Response.BREAK)):
        found = judge_hook.judge("pre-push", root, POLICY, ("origin",), line, session=session).findings
        assert [(f.rule, f.response) for f in found] == [("leak.secret", response)] * 2
        assert all(secret not in f.what for f in found for secret in (TOKEN, token(2)))


def test_the_addresses_in_messages_are_there_to_be_read(root: Path) -> None:
    start = head(root)
    for n in range(8):
        put(root, "a.txt", f"{n}\n")
        committed(root, "x\n\n" + "".join(f"Signed-off-by: P <person{n}{m}@company.org>\n" for m in range(8)))
    line = f"x {head(root)} refs/heads/x {start}\n".encode()
    assert judge_hook.judge("pre-push", root, POLICY, ("origin",), line) == Judged()


def test_the_environment_is_a_value(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The daemon judges for a hook that runs elsewhere: nothing of its own environment counts."""
    other = made(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    monkeypatch.chdir(other)
    plain = {k: v for k, v in os.environ.items() if not k.startswith("GIT_DIR") and k != "GIT_INDEX_FILE"}
    index = {"GIT_INDEX_FILE": str(root / ".git/private")}
    (root / ".env").write_text("A=1\n")
    git(root, "add", "-f", ".env", GIT_DIR=str(root / ".git"), **index)
    assert judge_hook.judge("pre-commit", root, POLICY, environ=plain).findings == ()
    assert len(judge_hook.judge("pre-commit", root, POLICY, environ=plain | index).findings) == 1


def test_a_bare_repository_has_pushes_and_no_commits(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(root), "bare.git")
    line = f"x {head(root)} refs/heads/main {'0' * 40}\n".encode()
    assert judge_hook.judge("pre-push", tmp_path / "bare.git", POLICY, ("origin",), line) == Judged()
    with pytest.raises(SentinelError, match="not in a git work tree"):
        judge(tmp_path / "bare.git", "pre-commit")


def test_the_base_of_what_is_known_to_all() -> None:
    assert base_of("pre-commit", b"") == "HEAD"
    assert base_of("pre-push", f"a {'1' * 40} b {'0' * 40}\nc {'1' * 40} d {'2' * 40}\n".encode()) == "2" * 40
    assert base_of("pre-push", f"a {'1' * 40} b {'0' * 40}\n".encode()) == ""
