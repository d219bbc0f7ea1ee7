"""What the gate shows of a push, whatever the session has done to what the repository says of its remote."""

from __future__ import annotations

import pexpect
import pytest

from tests.support.wait_until import settled

REWRITE = "git commit -q --amend -m mine"
ROWS = (
    ((), "LOST for others: 1 commit of origin/main as last fetched", "a rewrite"),
    (("git update-ref refs/remotes/origin/main HEAD",), "LOST for others, of what it was and is: 1 commit", "hidden"),
)


@pytest.mark.parametrize("row", ROWS, ids=[row[2] for row in ROWS])
def test_a_rewrite_is_shown_as_one(stage, row):
    before, shown, _ = row
    stage.commit(a__txt="a\n")
    there = stage.folder / "there.git"
    stage.git("init", "-q", "--bare", "-b", "main", str(there))
    stage.git("remote", "add", "origin", str(there))
    stage.git("push", "-q", "origin", "main")
    person = stage.on_terminal(REWRITE, *before, "git push --force origin main")
    person.expect_exact(shown)
    person.expect_exact("Confirm? (Y/N):")
    settled()
    person.send("n")
    person.expect(pexpect.EOF)
    assert stage.seen()[-1]["err"].strip() == "UserDenied: Authorization refused."
