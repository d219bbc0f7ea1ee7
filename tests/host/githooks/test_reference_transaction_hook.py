"""The hook reference-transaction: git runs it at every change of a ref, so it stands there in sessions alone, and most
changes it must not ask about.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.githooks.session_hook import SessionHook
from tests.support.installed_hooks import Hooked, git, state

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
        assert SessionHook().begin("s", str(repo.root)) == ""
        hook = _hook(repo)
        hook.write_text(hook.read_text().replace("#!/bin/sh", f"#!/bin/{request.param}", 1))
        yield repo


def _hook(repo: Hooked) -> Path:
    return repo.root / ".git/hooks/reference-transaction"


def test_changes_of_refs_pass_outside_of_a_session_whatever_is_missing(repo: Hooked) -> None:
    repo.install()
    SessionHook().begin("s", str(repo.root))
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


def test_in_a_session_a_reference_of_a_remote_that_goes_is_not_asked_about(guarded: Hooked) -> None:
    environ = {**os.environ, "SENTINEL_SESSION": "of-a-test"}
    goes = [f"{ONES} {zeros} refs/{name}" for zeros in (ZEROS, "0" * 64) for name in ("remotes/origin/x", "tags/v1")]
    for line in goes:
        subprocess.run([_hook(guarded), "prepared"], input=f"{line}\n", text=True, check=True, env=environ)
    assert guarded.called() == []
    told = [goes[0], REMOTE]
    subprocess.run([_hook(guarded), "prepared"], input="\n".join([*told, ""]), text=True, check=True, env=environ)
    assert guarded.called() == ["launcher reference-transaction prepared", *told], "one goes, another comes"


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


# --- standing there in sessions alone ---

SETTINGS = [
    ((), ".git/hooks", "no hooks of theirs"),
    ((".git/hooks/reference-transaction",), ".git/hooks", "a hook of theirs in its place"),
    ((".git/hooks/pre-commit", ".git/hooks/reference-transaction"), ".git/hooks", "several of theirs"),
    (("their hooks/reference-transaction",), ".git/sentinel-guard/hooks", "theirs in a folder of their own"),
    (("their hooks/pre-commit",), ".git/sentinel-guard/hooks", "a folder of their own without it"),
]


@pytest.mark.parametrize("row", SETTINGS, ids=[row[2] for row in SETTINGS])
def test_it_stands_there_while_a_session_works_and_theirs_is_back_after_it(repo: Hooked, row) -> None:
    theirs, folder, _ = row
    for name in theirs:
        repo.theirs(name)
        if not name.startswith(".git"):
            git(repo.root, "config", "core.hooksPath", "their hooks")
    before = state(repo.root / ".git/hooks")
    repo.install()
    repo.commit()
    repo.called()
    hook, rest, moves = repo.root / folder / "reference-transaction", state(repo.root / ".git"), SessionHook()
    named = any(name.endswith("transaction") for name in theirs)
    for _ in range(2):
        assert moves.begin("one", str(repo.root)) == "" and moves.begin("two", str(repo.root)) == ""
        git(repo.root, "update-ref", "refs/heads/a", "HEAD", SENTINEL_SESSION="of-a-test")
        who = [line.split()[0] for line in repo.called() if "reference-transaction" in line]
        assert who == (["theirs", "ours", "theirs"] if named else ["ours"])
        moves.end("one", str(repo.root))
        assert "launcher=" in hook.read_text(), "the other one works on"
        moves.end("two", str(repo.root))
        git(repo.root, "update-ref", "-d", "refs/heads/a", SENTINEL_SESSION="of-a-test")
        assert {line.split()[0] for line in repo.called() if "reference" in line} == ({"theirs"} if named else set())
        assert {p: s for p, s in state(repo.root / ".git").items() if "logs/" not in p} == {
            p: s for p, s in rest.items() if "logs/" not in p
        }
    moves.begin("left behind", str(repo.root))
    repo.uninstall()
    assert state(repo.root / ".git/hooks") == before


def test_what_an_earlier_version_put_there_stays_until_it_is_installed_anew(repo: Hooked) -> None:
    repo.install()
    waiting = repo.root / ".git/hooks/reference-transaction.in-sessions"
    waiting.rename(_hook(repo))
    moves = SessionHook()
    moves.begin("s", str(repo.root))
    moves.end("s", str(repo.root))
    assert _hook(repo).exists()
    assert repo.install() == [f"Took git hooks out of {repo.root}/.git/hooks: reference-transaction."]
    assert waiting.exists() and not _hook(repo).exists()


def test_another_homes_daemon_leaves_it_to_who_still_works(repo: Hooked) -> None:
    repo.install()
    one, other = SessionHook(), SessionHook()
    for daemon in (one, other):
        daemon.begin("s", str(repo.root))
    other.end("s", str(repo.root))
    assert _hook(repo).exists()
    one.end("s", str(repo.root))
    assert not _hook(repo).exists()


def test_one_that_a_fallen_daemon_left_goes_with_the_next_session(repo: Hooked) -> None:
    repo.install()
    begins = (
        "import sys; from sentinel_guard.host.githooks import session_hook as s; s.SessionHook().begin(*sys.argv[1:])"
    )
    subprocess.run([sys.executable, "-c", begins, "fallen", repo.root], check=True)
    assert _hook(repo).exists()
    moves = SessionHook()
    moves.begin("next", str(repo.root))
    moves.end("next", str(repo.root))
    assert not _hook(repo).exists()
    repo.theirs(".git/hooks/reference-transaction")
    repo.theirs(".git/hooks/reference-transaction.before-sentinel")
    assert "are there" in SessionHook().begin("s", str(repo.root))
    assert SessionHook().begin("s", "") == "" and SessionHook().begin("s", "/nowhere")
