"""A second place for the head of the audit log: real files, a real repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.core.hash_chain import Head
from sentinel_guard.errors import HostError
from sentinel_guard.host import audit_witness
from sentinel_guard.host.audit_witness import Witnessed

ONE, TWO = Head(3, "a" * 64), Head(9, "b" * 64)


def git(repo: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=["file", "git", "bare"])
def witness(request, tmp_path) -> str:
    if request.param == "file":
        return f"file:{tmp_path}/heads"
    git(tmp_path, "init", "-q", *(["--bare"] if request.param == "bare" else []), str(tmp_path / "repo"))
    return f"git:{tmp_path}/repo#refs/sentinel/heads"


def test_what_it_is_told_is_read_back_in_order_and_nothing_goes(witness):
    audit_witness.tell(witness, ONE, 100.5)
    audit_witness.tell(witness, TWO, 101.25)
    assert sorted(audit_witness.told(witness), key=lambda w: w.at) == [Witnessed(100.5, ONE), Witnessed(101.25, TWO)]


def test_a_repository_keeps_its_branch_and_its_files(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main", "repo")
    git(tmp_path / "repo", "commit", "-q", "--allow-empty", "-m", "mine")
    before = git(tmp_path / "repo", "log", "--oneline", "main")
    audit_witness.tell(f"git:{tmp_path}/repo#refs/sentinel/heads", ONE, 1.0)
    assert git(tmp_path / "repo", "log", "--oneline", "main") == before
    assert git(tmp_path / "repo", "status", "--porcelain") == ""


def test_syslog_is_told_and_not_read_back():
    audit_witness.tell("syslog", ONE, 1.0)
    assert audit_witness.told("syslog") is None


NONE = (
    ("file:heads", "is no witness", "a path that depends on where the daemon stands"),
    ("git:/repo", "is no witness", "no ref"),
    ("git:/repo#main", "is no witness", "no full name of a ref"),
    ("https://example.org", "is no witness", "another kind"),
    ("file:/nonexistent/heads", "cannot be", "no such folder"),
    ("git:/nonexistent#refs/x", "nonexistent", "no such repository"),
)


@pytest.mark.parametrize(("witness", "words"), [row[:2] for row in NONE], ids=[row[2] for row in NONE])
def test_what_cannot_be_told_is_said(witness, words):
    for use in (lambda: audit_witness.tell(witness, ONE, 1.0), lambda: audit_witness.told(witness)):
        with pytest.raises(HostError, match=words):
            use()


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "heads")
    with pytest.raises(HostError, match="cannot be written"):
        audit_witness.tell(f"file:{tmp_path}/heads", ONE, 1.0)


def test_each_is_told_once_what_it_was_not_told_yet_and_keeps_no_other_from_it(tmp_path):
    teller, one, later = audit_witness.Teller(), f"file:{tmp_path}/one", f"file:{tmp_path}/later"
    away = f"file:{tmp_path}/away/heads"
    for witnesses in ([away, one], [away, one], [away, one, later]):
        teller.tell(witnesses, ONE)
    (tmp_path / "away").mkdir()
    teller.tell([away, one, later], ONE)
    for witness in (away, one, later):
        assert [line.head for line in audit_witness.told(witness) or []] == [ONE], witness
