"""What reference-transaction lets a guarded session do, with real git, where no daemon answers: our hooks judge alone.

No route leads round: what commit and push refuse is refused wherever a branch comes to name it.
"""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from sentinel_guard.host.githooks.session_hook import SessionHook
from tests.support.hook_repositories import TOKEN, git, head, put


@pytest.fixture
def guarded(hooked: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SENTINEL_SESSION", "of-a-test")
    SessionHook().begin("of-a-test", str(hooked))
    return hooked


def tree_of(root: Path, name: str, text: str) -> str:
    """A commit of one file, made by plumbing alone."""
    environ = {"GIT_INDEX_FILE": str(root / ".git/private")}
    blob = git(root, "hash-object", "-w", str(put(root.parent, "x", text))).stdout.strip()
    git(root, "read-tree", "HEAD", **environ)
    git(root, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", **environ)
    tree = git(root, "write-tree", **environ).stdout.strip()
    return git(root, "commit-tree", "-p", "HEAD", "-m", "plumbing", tree).stdout.strip()


def no_verify(root: Path) -> subprocess.CompletedProcess[str]:
    put(root, ".env", "A=1\n")
    git(root, "add", "-f", ".env")
    return git(root, "commit", "-q", "--no-verify", "-m", "x", check=False)


def update_ref(root: Path) -> subprocess.CompletedProcess[str]:
    return git(root, "update-ref", "refs/heads/main", tree_of(root, "a.py", f"key = '{TOKEN}'\n"), check=False)


def new_branch(root: Path) -> subprocess.CompletedProcess[str]:
    return git(root, "branch", "new", tree_of(root, ".env", "A=1\n"), check=False)


def fast_import(root: Path) -> subprocess.CompletedProcess[str]:
    stream = "commit refs/heads/fast\ncommitter a <a@b> 1 +0000\ndata 1\nx\nM 100644 inline .env\ndata 4\nA=1\n\n"
    return subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=root, input=stream, capture_output=True, text=True, check=False
    )


def amended_in(root: Path) -> subprocess.CompletedProcess[str]:
    put(root, "a.py", f"key = '{TOKEN}'\n")
    git(root, "add", "a.py")
    return git(root, "commit", "-q", "--amend", "--no-verify", "-m", "x", check=False)


def said_in_a_message(root: Path) -> subprocess.CompletedProcess[str]:
    return git(root, "commit", "-q", "--allow-empty", "--no-verify", "-m", f"use {TOKEN}", check=False)


def deleted(root: Path) -> subprocess.CompletedProcess[str]:
    git(root, "switch", "-q", "-c", "other")
    return git(root, "branch", "-q", "-D", "main", check=False)


def deleted_when_packed(root: Path) -> subprocess.CompletedProcess[str]:
    git(root, "pack-refs", "--all")
    return deleted(root)


def snapshot(root: Path) -> subprocess.CompletedProcess[str]:
    return git(root, "update-ref", "refs/sentinel/rescue/x", "HEAD", check=False)


REFUSED = [
    (no_verify, "adds .env, which is restricted", "git commit --no-verify"),
    (update_ref, "GitHub personal access token in a.py:1:8", "commit-tree and update-ref"),
    (new_branch, "adds .env, which is restricted", "a new branch on a commit that plumbing made"),
    (fast_import, "adds .env, which is restricted", "fast-import"),
    (amended_in, "GitHub personal access token in a.py:1:8", "an amended commit"),
    (said_in_a_message, "the message of", "a message"),
    (deleted, "this deletes refs/heads/main, which is protected", "a protected branch goes"),
    (deleted_when_packed, "this deletes refs/heads/main, which is protected", "the same where it is packed"),
    (snapshot, "this changes refs/sentinel/rescue/x", "a snapshot of the guard"),
]


@pytest.mark.parametrize(("act", "words"), [r[:2] for r in REFUSED], ids=[r[2] for r in REFUSED])
def test_no_route_leads_round(guarded: Path, act, words: str) -> None:
    before = head(guarded)
    done = act(guarded)
    assert done.returncode != 0
    assert words in done.stderr
    assert TOKEN not in done.stderr
    assert head(guarded, "main") == before


def test_ordinary_work_passes(guarded: Path) -> None:
    for name in ("a", "b"):
        put(guarded, name)
        git(guarded, "add", name)
        git(guarded, "commit", "-q", "-m", name)
    git(guarded, "commit", "-q", "--amend", "-m", "other")
    git(guarded, "switch", "-q", "-c", "side", "HEAD~1")
    put(guarded, "c")
    git(guarded, "add", "c")
    git(guarded, "commit", "-q", "-m", "c")
    git(guarded, "rebase", "-q", "main")
    git(guarded, "switch", "-q", "main")
    git(guarded, "merge", "-q", "--no-ff", "-m", "merged", "side")
    git(guarded, "branch", "-q", "-D", "side")
    git(guarded, "reset", "-q", "--hard", "HEAD~1")
    put(guarded, "a", "changed\n")
    git(guarded, "stash", "-q")
    git(guarded, "tag", "v1")
    git(guarded, "pack-refs", "--all", "--prune")
    git(guarded, "gc", "-q")
    assert head(guarded, "main")


def test_what_others_published_is_fetched_and_merged(guarded: Path, tmp_path: Path) -> None:
    environ = {k: v for k, v in os.environ.items() if k != "SENTINEL_SESSION"}
    subprocess.run(["git", "clone", "-q", "remote.git", "other"], cwd=tmp_path, check=True, env=environ)
    put(tmp_path / "other", ".env", "theirs\n")
    git(tmp_path / "other", "add", "-f", ".env")
    git(tmp_path / "other", "commit", "-q", "-m", "theirs")
    git(tmp_path / "other", "push", "-q", "origin", "main")
    git(guarded, "fetch", "-q", "origin")
    git(guarded, "merge", "-q", "origin/main")
    assert (guarded / ".env").read_text() == "theirs\n"


def test_a_push_of_a_secret_is_critical_in_a_session(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sentinel_guard.core.model import Response
    from sentinel_guard.core.policy.policy import Policy
    from sentinel_guard.host.githooks import judge_hook

    commit = tree_of(guarded, "a.py", f"key = '{TOKEN}'\n")
    lines = f"x {commit} refs/heads/x {'0' * 40}\n".encode()
    asked = {"arguments": ("origin",), "stdin": lines}
    inside = judge_hook.judge("pre-push", guarded, Policy(), session=True, **asked)
    outside = judge_hook.judge("pre-push", guarded, Policy(), **asked)
    assert [f.response for f in inside.findings] == [Response.BREAK]
    assert [f.response for f in outside.findings] == [Response.DENY]


def test_a_person_is_asked_about_a_rewrite_in_a_session(guarded: Path) -> None:
    from sentinel_guard.core.model import Ask, Response
    from sentinel_guard.core.policy.policy import Policy
    from sentinel_guard.host.githooks import judge_hook

    lines = f"x {'0' * 40} refs/heads/main {head(guarded)}\n".encode()
    inside = judge_hook.judge("pre-push", guarded, Policy(), ("origin",), lines, session=True)
    assert [(f.response, f.ask) for f in inside.findings] == [(Response.ASK, Ask("FORCE_PUSH", "main"))]


def test_references_that_a_session_may_have_moved_tell_nothing(guarded: Path) -> None:
    from sentinel_guard.core.policy.policy import Policy
    from sentinel_guard.host.githooks import judge_hook
    from sentinel_guard.host.githooks.preexisting_commits import PreexistingObjects

    start, commit, none = head(guarded), tree_of(guarded, "a.py", f"key = '{TOKEN}'\n"), "0" * 40
    git(guarded, "update-ref", "refs/remotes/origin/fake", commit)
    push = {"arguments": ("origin",), "stdin": f"x {commit} refs/heads/x {none}\n".encode()}
    move = {"arguments": ("prepared",), "stdin": f"{none} {commit} refs/heads/x\n".encode()}
    known = PreexistingObjects().plus([("refs/remotes/origin/main", start)])
    fetched = known.plus([("refs/remotes/origin/theirs", commit)])
    for hook, asked in (("pre-push", push), ("reference-transaction", move)):
        judge = partial(judge_hook.judge, hook, guarded, Policy(), session=True, **asked)
        assert not judge(seen=None).refused, "by the references as they are"
        assert judge(seen=known).refused, "by those of the start"
        assert not judge(seen=fetched).refused, "what others have published"
    elsewhere = {**push, "arguments": ("https://example.com/x.git",)}
    assert judge_hook.judge("pre-push", guarded, Policy(), session=True, seen=fetched, **elsewhere).refused


@pytest.mark.parametrize("way", [("tag", "t"), ("checkout", "-q", "--detach")], ids=["a tag", "HEAD"])
def test_another_name_does_not_make_a_commit_one_that_was_there(guarded: Path, way: tuple[str, ...]) -> None:
    commit = tree_of(guarded, "a.py", f"key = '{TOKEN}'\n")
    git(guarded, *way, commit)
    assert "GitHub personal access token" in git(guarded, "branch", "x", commit, check=False).stderr
