"""Git as the guard runs it, in a repository whose settings name programs: none of them runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.git.run_git import Git
from tests.support.recovery.repository import Repo, template

BY = {
    "Git": lambda root, words: Git(f"{root}/.git", str(root)).run(*words),
    "commit_contents": lambda root, words: commit_contents.git(root, *words),
}
LOG = ("log", "--format=%h %s", "--")
DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--patch", "HEAD~1", "HEAD", "--")
SIGNED = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"


@pytest.fixture
def fresh(tmp_path):
    return template(tmp_path / "repo")


def sign(repo: Repo) -> None:
    """HEAD becomes a commit with a signature, which git is told to check."""
    head = repo.git("cat-file", "commit", "HEAD")
    top, _, words = head.partition("\n\n")
    signed = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=repo.root, input=f"{top}\n{SIGNED}\n{words}", capture_output=True, check=True, text=True,
    ).stdout.strip()  # fmt: skip
    repo.git("update-ref", "HEAD", signed)


def lack(repo: Repo) -> None:
    """A partial clone lacks the content of a file of HEAD."""
    repo.write("lacked.txt", "lacked\n")
    repo.git("add", "lacked.txt")
    repo.git("commit", "-q", "-m", "lacked")
    blob = repo.git("rev-parse", "HEAD:lacked.txt").strip()
    (repo.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    repo.git("init", "-q", "--bare", f"{repo.root}.far")


PARTIAL = {"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true"}
FAR = PARTIAL | {"protocol.file.allow": "always", "protocol.ext.allow": "always", "protocol.ssh.allow": "always"}
ROWS = [
    (sign, LOG, {"log.showSignature": "true", "gpg.program": "PROGRAM"}, "the checker of signatures"),
    (lack, DIFF, FAR | {"remote.origin.url": "FAR", "remote.origin.uploadpack": "PROGRAM"}, "the other end of a fetch"),
    (lack, DIFF, FAR | {"remote.origin.url": "ext::PROGRAM"}, "a transport that is a command"),
    (lack, DIFF, FAR | {"remote.origin.url": "ssh://h/r", "core.sshCommand": "PROGRAM"}, "ssh"),
    (lack, DIFF, FAR | {"remote.origin.url": "PROGRAM", "remote.origin.vcs": "ext"}, "a helper of another system"),
]


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize(("make", "words", "settings"), [row[:3] for row in ROWS], ids=[row[3] for row in ROWS])
def test_no_program_of_the_repository_runs(fresh, make, words, settings, by):
    make(fresh)
    ran, program = fresh.root.parent / "ran", fresh.root.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    program.chmod(0o755)
    for key, value in settings.items():
        fresh.git("config", key, value.replace("PROGRAM", str(program)).replace("FAR", f"{fresh.root}.far"))
    _run_plainly(fresh.root, words)
    assert ran.exists(), "git by itself runs it: the row proves something"
    ran.unlink()
    try:
        BY[by](fresh.root, words)
    except HostError as e:
        assert make is lack, e
    assert not ran.exists()


def _run_plainly(root: Path, words: tuple[str, ...]) -> None:
    subprocess.run(["git", *words], cwd=root, capture_output=True, check=False)
