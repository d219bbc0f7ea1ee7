"""What brings the commits of a ref back after a rollback, in git's own commands."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sentinel_guard.host.recovery.rollback import keep_refs

REF = "refs/sentinel/s1/1"
START = SimpleNamespace(
    branch="refs/heads/main", refs={"refs/heads/main": "1", "refs/heads/old": "1", "refs/tags/v1": "1"}
)
COMMANDS = (
    ("refs/heads/main", f"git merge {REF}", "the branch of the worktree, which stands where it was"),
    ("refs/heads/new", f"git branch new {REF}", "a branch that was not there before"),
    ("refs/heads/old", f"git branch rescued-old {REF}", "one that is back where it was"),
    ("refs/heads/a b", f"git branch 'a b' {REF}", "a name that a shell would cut"),
    ("refs/tags/v2", f"git tag v2 {REF}", "a tag that was not there before"),
    ("refs/tags/v1", f"git tag rescued-v1 {REF}", "one that is back where it was"),
    ("refs/notes/commits", f"git branch rescued-commits {REF}", "a ref of another kind"),
    ("HEAD", f"git branch rescued {REF}", "no ref of a kind: a detached HEAD"),
    ("stash@{0}", f"git stash store {REF}", "a stash"),
)


@pytest.mark.parametrize(("name", "command", "why"), COMMANDS, ids=[row[-1] for row in COMMANDS])
def test_the_command_gives_back_under_a_name_that_is_free(name, command, why):
    assert keep_refs._command(START, name, REF) == command, why
