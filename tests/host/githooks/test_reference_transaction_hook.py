"""The hook reference-transaction: git runs it at every change of a ref, so most of them it must not ask about."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentinel_guard.host.githooks import install_hooks
from tests.support.installed_hooks import Hooked, git

OURS = ["ours pre-commit", "ours commit-msg .git/COMMIT_EDITMSG"]
ZEROS, ONES = "0" * 40, "1" * 40
REMOTE = f"{ZEROS} {ONES} refs/remotes/origin/topic"
BRANCH = f"{ZEROS} {ONES} refs/heads/topic"


@pytest.fixture
def repo(tmp_path: Path) -> Hooked:
    return Hooked(tmp_path)


@pytest.fixture(params=["sh", "bash"])
def guarded(repo: Hooked, request: pytest.FixtureRequest) -> Iterator[Hooked]:
    """A launcher that writes down what it is asked, and the socket of a daemon; theirs not there."""
    launcher = repo.put("launcher", f'#!/bin/sh\necho "launcher $*" >>"{repo.log}"\ncat >>"{repo.log}"\n')
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(repo.folder / "sock"))
        install_hooks.install(repo.root, str(repo.python), str(launcher), socket=str(repo.folder / "sock"))
        hook = _hook(repo)
        hook.write_text(hook.read_text().replace("#!/bin/sh", f"#!/bin/{request.param}", 1))
        yield repo


def _hook(repo: Hooked) -> Path:
    return repo.root / ".git/hooks/reference-transaction"


def test_changes_of_refs_pass_outside_of_a_session_whatever_is_missing(repo: Hooked) -> None:
    repo.install()
    repo.commit()
    assert repo.called() == OURS
    repo.commit(SENTINEL_SESSION="of-a-test")
    assert [line.split()[:3] for line in repo.called() if "reference" in line] == [
        ["ours", "reference-transaction", "prepared"]
    ]
    repo.python.unlink()
    git(repo.root, "update-ref", "refs/heads/a", "HEAD")
    for command in (("update-ref", "refs/heads/b", "HEAD"), ("branch", "-D", "a")):
        refused = git(repo.root, *command, check=False, SENTINEL_SESSION="of-a-test")
        assert refused.returncode and "403 SENTINEL BLOCKED" in refused.stderr
        assert "sentinel-guard install" in refused.stderr


def test_a_session_that_hides_is_found_where_a_daemon_is(guarded: Hooked) -> None:
    tree = git(guarded.root, "hash-object", "-wt", "tree", "/dev/null").stdout.strip()
    commit = git(guarded.root, "commit-tree", "-m", "x", tree).stdout.strip()
    git(guarded.root, "update-ref", "refs/heads/a", commit)
    assert guarded.called() == ["launcher reference-transaction prepared", f"{ZEROS} {commit} refs/heads/a"]


ASKED = [
    ("prepared", [BRANCH], True, "a branch"),
    ("prepared", [f"{ONES} {ZEROS} refs/sentinel/s/start"], True, "a snapshot of the guard"),
    ("prepared", [f"{ZEROS} {ONES} HEAD", BRANCH], True, "HEAD and its branch, as a commit does"),
    ("prepared", [*[REMOTE] * 200, BRANCH], True, "a branch behind many others"),
    ("prepared", [BRANCH, *[REMOTE] * 2000], True, "a branch before many others"),
    ("prepared", [rf"{ZEROS} {ONES} refs/heads/$HOME\$(x)`"], True, "a name that a shell could read"),
    ("prepared", [REMOTE], False, "what a fetch brings"),
    ("prepared", [REMOTE] * 2000, False, "all that a fetch brings"),
    ("prepared", [f"{ZEROS} {ONES} HEAD"], False, "HEAD alone: a step of a rebase"),
    ("prepared", [f"{ZEROS} {ONES} refs/tags/heads"], False, "a tag"),
    ("prepared", [], False, "nothing"),
    ("committed", [BRANCH], False, "what cannot be stopped any more"),
    ("aborted", [BRANCH], False, "what does not come"),
]


@pytest.mark.parametrize("row", ASKED, ids=[a[3] for a in ASKED])
@pytest.mark.parametrize("theirs", [False, True], ids=["alone", "after theirs"])
def test_the_guard_is_asked_about_branches_and_its_own_refs(guarded: Hooked, row, theirs: bool) -> None:
    state, lines, asked, _ = row
    if theirs:
        guarded.theirs(".git/hooks/reference-transaction.before-sentinel")
    said = "".join(f"{line}\n" for line in lines)
    subprocess.run([_hook(guarded), state], input=said, text=True, check=True, cwd=guarded.root)
    first = [f"theirs reference-transaction.before-sentinel {state}", *lines] if theirs else []
    assert guarded.called() == first + ([f"launcher reference-transaction {state}", *lines] if asked else [])


@pytest.mark.parametrize("line", [REMOTE, f"{ZEROS} {ONES} refs/tags/v1"], ids=["a remote's branch", "a tag"])
def test_a_session_tells_what_it_fetches(guarded: Hooked, line: str) -> None:
    environ = {**os.environ, "SENTINEL_SESSION": "of-a-test"}
    subprocess.run([_hook(guarded), "prepared"], input=f"{line}\n", text=True, check=True, env=environ)
    assert guarded.called() == ["launcher reference-transaction prepared", line]


SILENT = [
    ("prepared", REMOTE, {}, "what a fetch brings"),
    ("prepared", f"{ZEROS} {ONES} refs/tags/v1", {}, "a tag"),
    ("prepared", f"{ZEROS} {ONES} HEAD", {"SENTINEL_SESSION": "of-a-test"}, "HEAD alone, in a session"),
    ("committed", BRANCH, {"SENTINEL_SESSION": "of-a-test"}, "what cannot be stopped any more, in a session"),
]


@pytest.mark.parametrize("row", SILENT, ids=[s[3] for s in SILENT])
def test_what_does_not_matter_starts_no_process(guarded: Hooked, row) -> None:
    state, line, session, _ = row
    # Whatever the hook could start is looked for where nothing is.
    environ = {"PATH": "/nowhere", **session}
    done = subprocess.run(
        [_hook(guarded), state], input=f"{line}\n", text=True, env=environ, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr, guarded.called()) == (0, "", [])
