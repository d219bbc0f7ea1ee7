"""The watchdog observer: what nobody announced is put back, what git itself does is not (SPEC section 5)."""

from __future__ import annotations

import sys
from pathlib import Path

# A name that no analysis can know before it runs.
CODE = "import os, time, zlib; name = next(n for n in os.listdir() if zlib.crc32(n.encode()) == 1840094458)"
WRITE = f"""{sys.executable} -c "{CODE}; open(name, 'w').write('EVIL'); time.sleep(2)\""""


def test_a_program_that_writes_a_restricted_file_changes_nothing(stage):
    stage.commit()
    stage.agent(WRITE)
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"
    [seen] = stage.log(kind="watch")
    assert seen["level"] == "L2" and seen["data"]["kind"] == "changed"
    assert Path(seen["data"]["kept"]).read_text() == "EVIL", "the tampered version is kept"


def test_branches_that_differ_in_restricted_files_can_be_switched_merged_and_stashed(stage):
    stage.commit(a__txt="a\n")
    stage.git("checkout", "-q", "-b", "new")
    stage.write("tests/server.pem", "one\n")
    stage.write("extra.pem", "only here\n")
    stage.git("add", "-f", "tests/server.pem", "extra.pem")
    stage.git("commit", "-qm", "keys")
    stage.git("checkout", "-q", "main")
    stage.write("tests/server.pem", "zero\n")
    stage.git("add", "-f", "tests/server.pem")
    stage.git("commit", "-qm", "another key")
    settle = "sleep 1.5; git status --porcelain"
    _, seen = stage.agent(
        "git checkout -q new", settle, "cat tests/server.pem extra.pem", "git checkout -q main", settle,
        "cat tests/server.pem; ls", "echo b > a.txt; git stash -q; git stash pop -q", settle,
    )  # fmt: skip
    told = [(s["code"], s["out"]) for s in seen]
    assert told == [
        (0, ""),
        (0, ""),
        (0, "one\nonly here\n"),
        (0, ""),
        (0, ""),
        (0, "zero\na.txt\ntests\n"),
        (0, ""),
        (0, " M a.txt\n"),
    ], seen
    assert not stage.log(kind="watch")


def test_git_is_no_cover_for_others(stage):
    stage.commit(a__txt="a\n")
    stage.git("branch", "other")
    stage.agent("git checkout -q other", WRITE)
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"
    assert stage.log(kind="watch")
