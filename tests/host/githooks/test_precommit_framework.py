"""judge: the hooks of the pre-commit framework, the message and the policy file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sentinel_guard.errors import SentinelError
from tests.support.hook_judgement import SECRET, judge, places, stage
from tests.support.hook_repositories import TOKEN, committed, git, head, put, token


def test_the_hooks_of_the_framework_each_do_their_part(root: Path) -> None:
    stage(root, ".env", SECRET)
    assert places(judge(root, "restricted-paths")) == [("paths.restricted", "L2", "")]
    assert places(judge(root, "secrets")) == [("leak.secret", "L2", ".env:1:8")]


def test_named_files(root: Path) -> None:
    put(root, "old.py", SECRET)
    put(root, "k.pem")
    put(root, "bulk.pem")
    committed(root)
    stage(root, "new.py", SECRET)
    assert places(judge(root, "secrets", "new.py")) == [("leak.secret", "L2", "new.py:1:8")]
    assert places(judge(root, "secrets", "README.md")) == []
    everything = judge(root, "secrets", "README.md", "new.py", "old.py", "k.pem")
    assert [f[2] for f in places(everything)] == ["new.py:1:8", "old.py:1:8"]
    assert judge(root, "restricted-paths", "new.py").findings == ()
    found = judge(root, "restricted-paths", "new.py", "k.pem", "README.md").findings
    assert [f.what for f in found] == ["the repository holds k.pem, which is restricted (pattern *.pem)"]


def test_a_range_as_in_ci(root: Path) -> None:
    start = head(root)
    put(root, "a.py", SECRET)
    put(root, "k.pem")
    added = committed(root)[:12]
    put(root, "a.py", "")
    (root / "k.pem").unlink()
    gone = committed(root, f"without {token(2)}")[:12]
    ends = {"PRE_COMMIT_FROM_REF": start, "PRE_COMMIT_TO_REF": "HEAD"}
    assert [f.what.split(",")[0] for f in judge(root, "restricted-paths", **ends).findings] == [
        f"commit {gone} deletes k.pem",
        f"commit {added} adds k.pem",
    ]
    found = [f.what.split(" in ")[0] for f in judge(root, "secrets", **ends).findings]
    assert found == [
        f"commit {added} adds a GitHub personal access token",
        f"the message of {gone} holds a GitHub personal access token",
    ]
    git(root, "update-ref", "refs/remotes/origin/x", "HEAD")
    assert len(judge(root, "secrets", **ends).findings) == 2, "what is asked about is on a remote already"
    with pytest.raises(SentinelError, match="fetch-depth: 0"):
        judge(root, "secrets", PRE_COMMIT_FROM_REF="0" * 39 + "1", PRE_COMMIT_TO_REF="HEAD")


def test_what_pre_commit_excludes_is_left_out(root: Path) -> None:
    start = head(root)
    for name in ("a.py", "b.py", "gone.py"):
        put(root, name, SECRET)
    committed(root)
    (root / "gone.py").unlink()
    committed(root)
    ends = {"PRE_COMMIT": "1", "PRE_COMMIT_FROM_REF": start, "PRE_COMMIT_TO_REF": "HEAD"}
    assert [f[2] for f in places(judge(root, "secrets", "b.py", **ends))] == ["b.py:1:8", "gone.py:1:8"]
    stage(root, "c.py", SECRET)
    assert judge(root, "secrets", PRE_COMMIT="1").findings == ()
    assert len(judge(root, "secrets", "c.py", PRE_COMMIT="1").findings) == 1
    assert len(judge(root, "secrets").findings) == 1


def test_a_message(root: Path) -> None:
    put(root, ".git/COMMIT_EDITMSG", f"a\n# {TOKEN}\n")
    for editor in ("vi", ":"):
        judged = judge(root, "commit-msg", ".git/COMMIT_EDITMSG", GIT_EDITOR=editor)
        assert places(judged) == [("leak.secret", "L2", "line 2, column 3")]
        assert "baseline" not in judged.findings[0].instead, "it looks at files"
    for arguments, words in (((), "needs the message's file"), (("none",), "Cannot read the message")):
        with pytest.raises(SentinelError, match=words):
            judge(root, "message", *arguments)


POLICIES = [
    (None, None, "", "no policy at all"),
    (None, "version = 1\n", "", "a good one that is not staged"),
    (None, "[pats]\n", "did you mean paths?", "a bad one that is not staged"),
    ("version = 1\n", "[pats]\n", "", "staged and good; what is on disk does not count"),
    ("[pats]\n", "version = 1\n", "did you mean paths?", "staged and bad"),
    (b"\xff", None, "not UTF-8", "no text"),
    ("[[rule]\n", None, "not TOML", "no TOML"),
]


@pytest.mark.parametrize(("held", "disk", "words"), [p[:3] for p in POLICIES], ids=[p[3] for p in POLICIES])
def test_the_policy_file(root: Path, held, disk, words: str) -> None:
    if held:
        stage(root, "sentinel.toml", held)
    if disk:
        put(root, "sentinel.toml", disk)
    found = judge(root, "policy").findings
    assert bool(found) == bool(words)
    assert all(words in f.what and f.rule == "policy.invalid" for f in found)
