"""What a push would do, told from real repositories; nothing that they name is run."""

from __future__ import annotations

import time

import pytest

from sentinel_guard.core.model import Command
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.previews.push_preview import Start, push_preview
from tests.support.hook_repositories import committed, git, head, made, put


@pytest.fixture
def clone(tmp_path):
    """A clone of a bare repository whose main has three commits."""
    there = tmp_path / "there.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(there))
    here = made(tmp_path / "here")
    git(here, "branch", "-M", "main")
    git(here, "remote", "add", "origin", str(there))
    for name in ("two", "three"):
        put(here, "a.txt", f"{name}\n")
        committed(here, name)
    git(here, "push", "-q", "--no-verify", "origin", "main")
    return here


def push(*operands, flags=("--force",)):
    argv = ("git", "push", *flags, *operands)
    return Command("git", argv, "push", frozenset(flags), operands)


def said(clone, *operands, flags=("--force",)):
    return push_preview(layout(str(clone)).git, push(*operands, flags=flags), time.time())


def rewritten(clone, message="mine"):
    git(clone, "reset", "-q", "--hard", "HEAD~2")
    put(clone, "b.txt", "x\n")
    return committed(clone, message)


def test_commits_that_others_would_lose_and_those_that_come(clone):
    lost = head(clone)
    rewritten(clone)
    found = said(clone, "origin", "main")
    text = "\n".join(found.lines)
    assert found.lines[0] == f"to {clone.parent}/there.git (origin)"
    assert "main: LOST for others: 2 commits of origin/main" in text
    assert f"  {lost[:7]} three (" in text and "adds 1 commit" in text and " mine (" in text
    assert "-three" in found.details and "2 commits LOST from main" in found.details
    assert found.bound[1] == f"refs/heads/main {lost} {head(clone)}"
    assert found.rewrites


def test_a_fast_forward_says_that_it_is_no_rewrite(clone):
    put(clone, "b.txt", "x\n")
    committed(clone, "four")
    found = said(clone)
    text = "\n".join(found.lines)
    assert not found.rewrites
    assert said(clone, flags=("--force", "--tags")).rewrites, "of what is not looked at nothing is called harmless"
    assert "main: loses nothing, a fast-forward of origin/main" in text and "no rewrite. Adds 1 commit" in text
    assert "LOST" not in text


def remote_of(clone):
    return head(clone, "refs/remotes/origin/main")


def begun(clone):
    """The session's start, as the baseline has it; what comes now comes after it."""
    time.sleep(0.05)
    start = Start(time.time(), {"refs/remotes/origin/main": remote_of(clone)})
    time.sleep(0.05)
    return start


def set_by_hand(clone):
    git(clone, "update-ref", "refs/remotes/origin/main", "HEAD")


def write_the_file(clone):
    (clone / ".git" / "refs" / "remotes" / "origin" / "main").write_text(head(clone) + "\n")


def fetched_from_here(clone):
    git(clone, "fetch", "-q", "--force", ".", "HEAD:refs/remotes/origin/main")


def by_name(clone):
    git(clone, "symbolic-ref", "refs/remotes/origin/main", "refs/heads/main")


def to_what_comes_before(clone):
    git(clone, "update-ref", "refs/remotes/origin/main", "HEAD~1")


def taken_away(clone):
    git(clone, "update-ref", "-d", "refs/remotes/origin/main")


def another_name(clone):
    git(clone, "remote", "rename", "origin", "upstream")
    git(clone, "update-ref", "refs/remotes/upstream/main", "HEAD")


DISGUISES = [
    (set_by_hand, "LOST for others, of what it was and is: 2 commits", "the remote seems to have what is pushed"),
    (write_the_file, "LOST for others, of what it was and is: 2 commits", "by the file itself"),
    (fetched_from_here, "LOST for others, of what it was and is: 2 commits", "by a fetch of this very repository"),
    (by_name, "LOST for others, of what it was and is: 2 commits", "by a symbolic reference"),
    (to_what_comes_before, "LOST for others, of what it was and is: 2 commits", "the push seems to add one commit"),
    (taken_away, "LOST for others, of what it was and is: 2 commits", "the remote seems to have nothing"),
    (another_name, "(nothing to ", "under a name that was not there"),
]


@pytest.mark.parametrize(("disguise", "seen"), [r[:2] for r in DISGUISES], ids=[r[2] for r in DISGUISES])
def test_a_branch_that_the_session_moved_makes_no_rewrite_look_harmless(clone, disguise, seen):
    start = begun(clone)
    rewritten(clone)
    disguise(clone)
    remote = "upstream" if disguise is another_name else "origin"
    found = push_preview(layout(str(clone)).git, push(remote, "main"), time.time(), start)
    text = "\n".join(found.lines)
    assert seen in text and "was moved in this session (" in text, text
    for harmless in ("fast-forward", "no rewrite", "nothing changes", "as last fetched"):
        assert harmless not in text, text


def test_what_was_fetched_in_the_session_and_taken_back_is_not_said_to_be_last_fetched(clone, tmp_path):
    start = begun(clone)
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(tmp_path / "there.git"), str(other))
    git(other, "-c", "user.name=Bo", "-c", "user.email=b@example.com", "commit", "-q", "--allow-empty", "-m", "theirs")
    git(other, "push", "-q", "--no-verify", "origin", "main")
    was = remote_of(clone)
    git(clone, "fetch", "-q", "origin")
    git(clone, "update-ref", "refs/remotes/origin/main", was)
    put(clone, "b.txt", "x\n")
    committed(clone, "four")
    text = "\n".join(push_preview(layout(str(clone)).git, push("origin", "main"), time.time(), start).lines)
    assert "a fast-forward of origin/main as when the session began" in text and "last fetched" not in text


OTHERS = [
    (("origin", ":main"), ("--force",), "main: deleted; origin/main", "a branch that is deleted by an empty source"),
    (("origin", "main"), ("--delete",), "main: deleted; origin/main", "a branch that is deleted by an option"),
    (("origin", "HEAD:dev"), ("--force",), "dev: set to ", "a branch that was never fetched"),
    (("origin", "HEAD:dev"), ("--force",), "is not known", "and what it holds is not made up"),
    (("origin", "nothing"), ("--force",), "nothing is no commit here", "a name that stands for nothing"),
    (("origin",), ("--mirror",), "LOST there: each branch and tag that this repository has not", "a mirror"),
    (("origin", "main"), ("--tags", "--force"), "every tag of this repository", "tags"),
    (("origin", "+main"), (), "main: LOST for others: 2 commits", "a plus is a force"),
    (("origin", "refs/heads/main:refs/heads/main"), (), "main: LOST for others", "whole names"),
    (("https://ann:hunter2@example.com/x.git", "main"), (), "to https://ann:<redacted>@example.com", "no password"),
]


@pytest.mark.parametrize(("operands", "flags", "seen"), [r[:3] for r in OTHERS], ids=[r[3] for r in OTHERS])
def test_other_pushes(clone, operands, flags, seen):
    rewritten(clone)
    assert seen in "\n".join(said(clone, *operands, flags=flags).lines)


def test_nothing_that_the_repository_names_is_run(clone, tmp_path):
    """No pager, no diff driver, no program for signatures, no other remote helper."""
    rewritten(clone)
    proof = tmp_path / "ran"
    put(clone, "trap.sh", f"#!/bin/sh\ntouch {proof}\n").chmod(0o755)
    put(clone, ".gitattributes", "* diff=trap\n")
    programs = ("core.pager", "diff.external", "diff.trap.textconv", "gpg.program", "core.sshCommand", "core.fsmonitor")
    for key in programs:
        git(clone, "config", key, str(clone / "trap.sh"))
    git(clone, "config", "log.showSignature", "true")
    assert "LOST" in "\n".join(said(clone).lines)
    assert not proof.exists()


def test_a_diff_that_nobody_reads_is_named_only(clone):
    rewritten(clone)
    put(clone, "big.txt", "x\n" * 6000)
    committed(clone, "big")
    details = said(clone).details
    assert "6,002 lines: git diff " in details or "lines: git diff " in details
    assert len(details) < 2000
