"""What the next commit changes, read from trees: what git says, or git is asked. Real git is the oracle."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.githooks import staged_changes
from tests.support.hook_repositories import committed, git, made, put

TREES = [
    ("f=new", True, "a new file"),
    ("f=new; d/e/f=new; d/g=new", True, "in new folders"),
    ("README.md=other; +x README.md", True, "another text, another mode"),
    ("rm README.md", True, "a deletion"),
    ("a/b/c=x; commit; rm a/b/c; a/b=x", True, "a folder becomes a file"),
    ("a=x; a0=x; a-=x; commit; rm a; a/b=x; rm a0; rm a-", True, "and a file a folder, between others like it"),
    ("link README.md", True, "a link"),
    ("link /etc; commit; rm link; link=x", True, "a link becomes a file"),
    ("a/b/c=x; a/d=x; e/f=x; commit; a/b/c=y", True, "one file among folders"),
    ("sub", True, "a repository within"),
    ("sub; commit; move sub", True, "that goes on"),
    ("\udcff\udc80/\n=x", True, "bytes and a line end in names"),
    ("a/b=x; commit; gc; f=new; a/b=y", False, "HEAD in a pack"),
    ("merge", False, "a merge"),
    ("f=new; keep", False, "an index that names no tree"),
    ("odd; README.md=other", False, "a mode that is no more in use"),
]


def _act(root: Path, word: str) -> None:
    act, _, name = word.partition(" ")
    if "=" in word:
        put(root, *word.split("="))
    elif act == "rm":
        (root / name).unlink()
        (root / name).parent.rmdir() if "/" in name else None
    elif act == "+x":
        (root / name).chmod(0o755)
    elif act == "link":
        (root / "link").symlink_to(name)
    elif act == "commit":
        committed(root)
    elif act == "gc":
        git(root, "gc", "-q")
    elif act == "merge":
        git(root, "checkout", "-qb", "side")
        put(root, "s")
        committed(root)
        git(root, "checkout", "-q", "-")
        git(root, "merge", "-q", "--no-ff", "--no-commit", "side")
    elif act == "odd":
        blob = git(root, "rev-parse", "HEAD:README.md").stdout.strip()
        line = b"100664 README.md\0" + bytes.fromhex(blob)
        (root.parent / "tree").write_bytes(line)
        tree = git(root, "hash-object", "-t", "tree", "-w", "--literally", "../tree").stdout.strip()
        git(root, "reset", "-q", "--hard", git(root, "commit-tree", "-m", "odd", tree).stdout.strip())
    elif act in ("sub", "move"):
        committed(root / "sub") if act == "move" else made(root / "sub")


@pytest.mark.parametrize(("acts", "read"), [t[:2] for t in TREES], ids=[t[2] for t in TREES])
def test_what_is_staged_is_what_git_says(tmp_path: Path, monkeypatch, acts: str, read: bool) -> None:
    root, words = made(tmp_path / "repo"), acts.split("; ")
    for word in words:
        _act(root, word)
    git(root, "add", "-f", "-A", ".")
    if words[-1] != "keep":
        git(root, "write-tree")
    told = commit_contents.staged(root)
    asked: list[object] = []
    monkeypatch.setattr(commit_contents, "staged", lambda *_: asked.append(1) or told)
    assert staged_changes.staged(root, os.environ) == told and bool(told) is ("merge" not in words)
    assert not asked if read else asked


def test_the_other_sides_of_a_merge_are_gits_to_tell(tmp_path: Path, monkeypatch) -> None:
    root = made(tmp_path / "repo")
    put(root, "f")
    git(root, "add", "f")
    git(root, "write-tree")
    monkeypatch.setattr(commit_contents, "staged", lambda *_: ["git"])
    assert staged_changes.staged(root, {f"GITHEAD_{'a' * 40}": "side"}) == ["git"]
