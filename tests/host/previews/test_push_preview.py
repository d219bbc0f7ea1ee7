"""What a push would do, told from real repositories; nothing that they name is run."""

from __future__ import annotations

import time

import pytest

from sentinel_guard.core.model import Command
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.previews.push_preview import push_preview
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


def test_a_fast_forward_says_that_it_is_no_rewrite(clone):
    put(clone, "b.txt", "x\n")
    committed(clone, "four")
    text = "\n".join(said(clone).lines)
    assert "main: loses nothing, a fast-forward of origin/main" in text and "no rewrite. Adds 1 commit" in text
    assert "LOST" not in text


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
