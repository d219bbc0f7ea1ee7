"""The start's work tree as a git tree: what a report's differences begin from."""

from __future__ import annotations

import pytest

from sentinel_guard.host.recovery import api
from tests.support.recovery import agent_scripts as agents
from tests.support.recovery.repository import Repo, state


def taken(repo: Repo) -> api.Baseline:
    return api.take(str(repo.root), repo.root.parent / "session", lambda p: p.endswith("/.env"), "s1")


def rescued(repo: Repo, baseline: api.Baseline) -> str:
    return api.take_snapshot(str(repo.root), baseline.folder, "x").ref


def nothing(repo: Repo) -> None:
    """The dirty repository as it is."""


def filtered(repo: Repo) -> None:
    for key, command in (("clean", "tr a-z A-Z"), ("smudge", "tr A-Z a-z")):
        repo.git("config", f"filter.big.{key}", command)
    repo.write(".gitattributes", "*.big filter=big\n")
    repo.write("x.big", "small\n")
    repo.git("add", ".gitattributes", "x.big")
    repo.write("x.big", "smaller\n")


def line_ends(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    (repo.root / "c.txt").write_bytes(b"one\r\ntwo\n")


STARTS = [
    (nothing, "staged, changed, deleted, untracked, odd names"),
    (agents.skip_worktree, "a flagged file stands as the index has it"),
    (agents.intend_to_add, "an intent-to-add entry"),
    (agents.detach, "a detached HEAD"),
    (filtered, "filters"),
    (line_ends, "line ends"),
]


@pytest.mark.parametrize("start", [s for s, _ in STARTS], ids=[why for _, why in STARTS])
def test_nothing_done_is_no_difference(mine, start):
    if start is agents.detach:
        mine.git("stash", "push", "-q", "-u")
    start(mine)
    baseline = taken(mine)
    assert api.patch(baseline, api.start_tree(baseline), rescued(mine, baseline)) == ""


def test_a_conflict_is_shown_as_its_file_is(mine):
    mine.git("reset", "-q", "--hard")
    agents.conflict(mine)
    baseline = taken(mine)
    assert api.patch(baseline, api.start_tree(baseline), rescued(mine, baseline)) == ""


def test_what_the_agent_did_is_the_difference(mine):
    baseline = taken(mine)
    mine.write("c.txt", "agent's\n")
    mine.write("g.txt", "agent's g\n")
    mine.write("made.txt", "made\n")
    mine.write(".env", "KEY=shown?\n")
    told = api.patch(baseline, api.start_tree(baseline), rescued(mine, baseline))
    assert "-c changed\n+agent's\n" in told
    assert "+agent's g\n" in told
    assert "+made\n" in told
    assert ".env" not in told
    assert "3 files changed" in told


def test_the_repository_gets_nothing_and_a_deleted_one_is_no_hindrance(mine):
    baseline = taken(mine)
    before = state(mine), sorted((mine.root / ".git").rglob("*"))
    tree = api.start_tree(baseline)
    assert (state(mine), sorted((mine.root / ".git").rglob("*"))) == before
    agents.deletes_git(mine)
    assert api.start_tree(baseline) == tree
