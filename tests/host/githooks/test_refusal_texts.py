"""judge: what is told, in which words, and how much of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.host.githooks import judge_hook
from sentinel_guard.host.githooks.hook_request import Judged, findings_as_lines
from tests.support.hook_judgement import CARDS, POLICY, SECRET, judge, stage
from tests.support.hook_repositories import TOKEN, committed, git, head, put

WAYS = [
    (
        "a.py",
        SECRET,
        "end its line with the comment `sentinel: allow`, or run: sentinel-guard secrets baseline",
        "text",
    ),
    ("a.json", f'{{"k": "{TOKEN}"}}\n', "no secret, run: sentinel-guard secrets baseline", "a file without comments"),
    ("a.csv", CARDS, "add the file to [leaks] allow in ", "personal data"),
]


@pytest.mark.parametrize(("name", "text", "words"), [w[:3] for w in WAYS], ids=[w[3] for w in WAYS])
def test_only_ways_out_that_work_are_named(root: Path, name: str, text: str, words: str) -> None:
    stage(root, name, text)
    judged = judge(root, "pre-commit", SENTINEL_HOME="/s")
    assert words in judged.findings[0].instead
    assert judged.anyway == "If you mean it all the same, it is yours to choose: git commit --no-verify"
    inside = judge_hook.judge("pre-commit", root, POLICY, session=True)
    assert (inside.anyway, "--no-verify" in inside.findings[0].instead) == ("", False)
    committed(root)
    line = f"x {head(root)} refs/heads/x {head(root, 'HEAD^')}\n".encode()
    pushed = judge_hook.judge("pre-push", root, POLICY, ("origin",), line)
    assert "secrets baseline --history" in pushed.findings[0].instead
    assert pushed.anyway.endswith("git push --no-verify")


def test_a_policy_that_cannot_be_read_refuses_and_is_told_once(root: Path) -> None:
    stage(root, "sentinel.toml", "[paths]\nrestricted = ['private/']\n[pats]\n")
    policy = Policy(POLICY.paths, warnings=("it is broken",))
    judged = judge(root, "pre-commit", policy=policy)
    assert [f.rule for f in judged.findings] == ["policy.invalid"]
    assert judged.notes == ()
    (root / "sentinel.toml").unlink()
    os.mkfifo(root / "sentinel.toml")
    assert "correct" in judge(root, "pre-commit", policy=policy).findings[0].instead.lower(), "a pipe"
    (root / "sentinel.toml").unlink()
    put(root, "sentinel.toml", "version = 1\n")
    assert judge(root, "pre-commit", policy=policy) == Judged((), ("it is broken",))
    mine = put(root.parent, "s/config/sentinel.toml", "version = ")
    (found,) = judge(root, "pre-commit", policy=policy, SENTINEL_HOME=str(root.parent / "s")).findings
    assert str(mine) in found.instead
    put(root, ".git/COMMIT_EDITMSG", "x\n")
    assert judge(root, "commit-msg", ".git/COMMIT_EDITMSG", policy=policy) == Judged()


def test_what_is_told_is_short() -> None:
    refusals = [Finding("leak", Response.DENY, f"{n} \x1b[2J", instead="the way out") for n in range(25)]
    refusals.insert(3, Finding("rules", Response.DENY, "other", instead="git restore x"))
    refusals.insert(9, Finding("leak", Response.DENY, "x = <masked>", instead="git restore x", evidence="rule"))
    lines = findings_as_lines(
        [Finding("leak", Response.HINT, "perhaps"), *refusals], ["a note"], "git commit --no-verify"
    )
    assert lines[:3] == [
        "SENTINEL WARNING: a note",
        "SENTINEL WARNING: perhaps",
        r"403 SENTINEL BLOCKED: 0 \x1b[2J.",
    ]
    assert lines[-7:] == [
        r"403 SENTINEL BLOCKED: 19 \x1b[2J.",
        "403 SENTINEL BLOCKED: and 5 more like these.",
        "  The way out",
        "403 SENTINEL BLOCKED: other.",
        "403 SENTINEL BLOCKED: x = <masked>",
        "  Run: git restore x",
        "git commit --no-verify",
    ]
    assert findings_as_lines([], ["a note"], "git commit --no-verify") == ["SENTINEL WARNING: a note"]


def test_many_warnings_are_summed_up(root: Path) -> None:
    for n in range(8):
        put(root, f"{n}.txt", CARDS.split("\n", maxsplit=1)[0] + "\n")
    git(root, "add", ".")
    found = judge(root, "pre-commit")
    assert not found.refused
    assert len(found.findings) == 7
    assert found.findings[-2].what == "and 3 more that may be leaks"
    assert found.findings[-1].what.startswith("warnings refuse nothing")
    committed(root)
    line = f"x {head(root)} refs/heads/x {head(root, 'HEAD^')}\n".encode()
    assert judge_hook.judge("pre-push", root, POLICY, ("origin",), line) == Judged(), "they were told at the commit"
