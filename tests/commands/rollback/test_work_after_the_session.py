"""``sentinel-guard rollback`` by hand does not undo in passing what the person did after the session."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time

import pytest

from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import SentinelError
from tests.support.recovery.rollback_by_hand import begin, contents, do, git, spoil


def commit(repo, *words: str) -> None:
    (repo / "a.txt").write_text(" ".join(words))
    git(repo, "commit", "-qam", *words)


def pull(repo) -> None:
    """What others committed long ago arrives."""
    old = {"GIT_COMMITTER_DATE": "1000000000 +0000", "PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    made = subprocess.run(
        ["git", "commit-tree", tree, "-p", "HEAD", "-m", "theirs"], cwd=repo, env=os.environ | old, check=True,
        capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    git(repo, "merge", "-q", "--ff-only", made)


LATER = (
    (lambda r: commit(r, "mine"), "main: [0-9a-f]+ mine", "a commit"),
    (
        lambda r: [commit(r, "mine"), (r / ".git/logs/refs/heads/main").unlink()],
        "main: [0-9a-f]+ mine(?! and)",
        "a commit, and no reflog tells of it",
    ),
    (lambda r: git(r, "commit", "-q", "--amend", "-m", "reworded"), "main: [0-9a-f]+ reworded", "the agent's, amended"),
    (pull, "main: [0-9a-f]+ theirs", "older commits that were pulled"),
    (lambda r: [git(r, "checkout", "-qb", "topic"), commit(r, "new")], "topic: [0-9a-f]+ new", "on a new branch"),
    (lambda r: [(r / "a.txt").write_text("x"), git(r, "stash", "push", "-m", "put by")], "stash: .*put by", "a stash"),
    (lambda r: [git(r, "checkout", "-qb", "one"), commit(r, "1"), commit(r, "2")], "one: .* 2 and 1 more", "two"),
)


@pytest.mark.parametrize(("act", "words"), [r[:2] for r in LATER], ids=[r[2] for r in LATER])
def test_what_was_committed_after_the_session_is_not_undone_in_passing(where, repo, act, words):
    begin(where, repo, "s1")
    commit(repo, "the agent's")
    where.make()
    store = SqliteStore(where.database)
    store.append(Entry(time.time(), "s1", "end", {"code": 0}))
    store.close()
    time.sleep(max(0.0, 1.05 - time.time() % 1))
    act(repo)
    tips = set(git(repo, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/stash").splitlines())
    before = contents(repo), git(repo, "for-each-ref")
    with pytest.raises(SentinelError, match=f"after session s1 ended .*{words}"):
        do(where, repo)
    assert (contents(repo), git(repo, "for-each-ref")) == before
    assert do(where, repo, dry_run=True) == 0
    assert do(where, repo, later_too=True) == 0
    assert tips <= set(git(repo, "rev-list", "--all").splitlines())


@pytest.mark.parametrize("ignored", [True, False], ids=["git ignores it", "git would take it"])
def test_a_restricted_file_of_the_time_after_the_session_is_the_persons(where, repo, capsys, ignored):
    """Nobody else can have made it: what the session started has ended."""
    (repo / ".gitignore").write_text(".env*\n" if ignored else "\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "rules")
    begin(where, repo, "s1")
    (repo / ".env.of-the-session").write_text("A=1\n")
    spoil(repo)
    where.make()
    with contextlib.closing(SqliteStore(where.database)) as store:
        at = time.time()
        store.append(Entry(at - 9, "s1", "session", {}))
        store.append(Entry(at, "s1", "end", {"code": 0}))
    while time.time() < at + 0.05:
        time.sleep(0.01)
    (repo / ".env").write_text("MINE=1\n")
    (repo / "of-mine.txt").write_text("mine\n")
    assert do(where, repo, dry_run=True) == 0
    said = capsys.readouterr().out
    assert "stay as they are" in said and ".env.of-the-session" in said
    assert do(where, repo) == 0
    assert (repo / ".env").read_text() == "MINE=1\n"
    assert (repo / "a.txt").read_text() == "start\n" and not (repo / ".env.of-the-session").exists()
    assert do(where, repo, later_too=True) == 0
    assert not (repo / ".env").exists(), "asked for by name"


def test_what_the_session_itself_committed_is_no_later_work(where, repo):
    begin(where, repo, "s1")
    commit(repo, "the agent's")
    git(repo, "checkout", "-qb", "agent")
    commit(repo, "more of it")
    where.make()
    store = SqliteStore(where.database)
    ended = float(git(repo, "log", "-1", "--format=%ct"))  # the second of its last commit, as git keeps it
    store.append(Entry(ended, "s1", "end", {"code": 0}))
    store.close()
    time.sleep(max(0.0, 1.05 - time.time() % 1))
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "agent")
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    assert do(where, repo) == 0
    assert git(repo, "branch", "--format=%(refname)") == "refs/heads/main"
