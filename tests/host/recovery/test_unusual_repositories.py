"""Rollback in repositories that are out of the ordinary: a start, an agent, and all is as it was (recovery.md 1.5)."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from sentinel_guard.host.recovery import api
from tests.support.recovery import agent_scripts as agents
from tests.support.recovery.repository import Repo, state, taken


def nothing(r: Repo) -> None:
    """Nothing."""


def squashes(r: Repo) -> None:
    r.git("checkout", "-q", "-f", "--orphan", "squashed")
    r.git("commit", "-q", "-m", "all in one")
    r.git("branch", "-q", "-D", "main", "other")
    r.git("pack-refs", "--all")
    r.git("reflog", "expire", "--expire=now", "--all")
    r.git("gc", "-q", "--prune=now")


def mixes_line_ends(r: Repo) -> None:
    r.git("config", "core.autocrlf", "true")
    r.write(".gitattributes", "*.txt text=auto\n")
    (r.root / "c.txt").write_bytes(b"one\r\ntwo\nthree\r\n")
    (r.root / "mixed.txt").write_bytes(b"one\r\ntwo\n")
    (r.root / "committed.txt").write_bytes(b"one\r\ntwo\r\n")
    r.git("add", "committed.txt", ".gitattributes")
    r.git("commit", "-q", "-m", "line ends")


def filters(r: Repo) -> None:
    tool = r.root.parent / "tool"
    tool.write_text("#!/bin/sh\nexec tr a-zA-Z n-za-mN-ZA-M\n")
    tool.chmod(0o755)
    for name in ("clean", "smudge"):
        r.git("config", f"filter.rot.{name}", str(tool))
    r.write(".gitattributes", "*.rot filter=rot\n")
    r.write("big.rot", "hello\n")
    r.git("add", ".gitattributes", "big.rot")
    r.git("commit", "-q", "-m", "filtered")
    r.write("changed.rot", "untracked\n")


def edits_filtered(r: Repo) -> None:
    r.write("big.rot", "evil\n")
    r.write("changed.rot", "evil\n")
    (r.root / ".gitattributes").unlink()


def writes_the_stored_form(r: Repo) -> None:
    r.write("changed.rot", "evil\n")
    r.commit()


def odd_names(r: Repo) -> None:
    for name in (b"new\nline", b"-dash", b"caf\xe9", b"'\"\\", b" both ", b"[a]*?", b":(top)x"):
        Path(os.fsdecode(os.fsencode(r.root) + b"/" + name)).write_bytes(b"tracked\n")
    r.commit()
    Path(os.fsdecode(os.fsencode(r.root) + b"/un\xfftracked\n")).write_bytes(b"u\n")


def rewrites_all(r: Repo) -> None:
    for entry in r.root.iterdir():
        if entry.is_file() and not entry.is_symlink():
            entry.write_bytes(b"evil\n")


def rewrites_some(r: Repo) -> None:
    for name in ("c.txt", "mixed.txt", "committed.txt"):
        r.write(name, "evil\n")


def negations(r: Repo) -> None:
    r.write(".gitignore", "*.log\nout/*\n!out/keep/\n")
    r.write("sub/.gitignore", "*.tmp\n!keep.tmp\n")
    r.write("sub/keep.tmp", "k\n")
    r.commit()
    for name in ("x.log", "sub/a.tmp", "out/o", "out/keep/k", "sub/deep/b.tmp"):
        r.write(name, "the person's\n")


def turns_ignoring_round(r: Repo) -> None:
    r.write(".gitignore", "!*.log\n!out/*\nnew*\n")
    r.write("sub/.gitignore", "!*.tmp\nkeep.tmp\n")
    r.write("new.txt", "evil\n")
    r.write("sub/keep.tmp", "evil\n")


def bisects(r: Repo) -> None:
    for text in ("three", "four"):
        r.write("h.txt", text)
        r.commit(text)
    r.git("bisect", "start", "HEAD", "v1")


def ends_the_bisection(r: Repo) -> None:
    r.git("bisect", "reset", ok=False)


def notes(r: Repo) -> None:
    r.git("notes", "add", "-m", "the person's")


def removes_notes(r: Repo) -> None:
    r.git("notes", "remove")
    r.git("reflog", "expire", "--expire=now", "--all")


def includes(r: Repo) -> None:
    r.write("team.cfg", "[alias]\n\tst = status\n")
    r.git("config", "include.path", "../team.cfg")


def poisons_the_included(r: Repo) -> None:
    r.write("team.cfg", f"[core]\n\tfsmonitor = touch {r.root.parent}/ran\n")
    r.git("config", "--unset-all", "include.path")


def husky(r: Repo) -> None:
    r.write(".husky/pre-commit", "#!/bin/sh\nexit 0\n", 0o755)
    r.commit()
    r.git("config", "core.hooksPath", ".husky")


def replaces_hooks(r: Repo) -> None:
    outside = r.root.parent / "hooks"
    outside.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (outside / name).write_text(f"#!/bin/sh\ntouch {r.root.parent}/ran\n")
        (outside / name).chmod(0o755)
        r.write(f".husky/{name}", f"#!/bin/sh\ntouch {r.root.parent}/ran\n", 0o755)
    if (r.root / ".git/hooks").exists():
        r.remove(".git/hooks")
    (r.root / ".git/hooks").symlink_to(outside)
    r.git("config", "core.hooksPath", str(outside))


def hooks_around(r: Repo) -> None:
    """As in a home that is named as the folder of hooks: the baseline lies there, too."""
    (r.root.parent / "neighbour").write_text("the person's\n")
    r.git("config", "core.hooksPath", "..")


def edits_beside_the_person(r: Repo) -> None:
    (r.root.parent / "later").write_text("the person's\n")
    agents.edits_and_commits(r)


def split_index(r: Repo) -> None:
    r.git("update-index", "--split-index")
    r.write("c.txt", "the person's\n")


def sparse_index(r: Repo) -> None:
    r.git("sparse-checkout", "set", "--cone", "--sparse-index", "src")


def ends_sparseness(r: Repo) -> None:
    r.git("sparse-checkout", "disable")
    r.write("src/y.py", "evil\n")


def joins_the_index(r: Repo) -> None:
    r.git("update-index", "--no-split-index")
    r.write("c.txt", "evil\n")


def special_files(r: Repo) -> None:
    os.mkfifo(r.root / "pipe")
    with socket.socket(socket.AF_UNIX) as s:
        here = Path.cwd()
        os.chdir(r.root)
        s.bind("sock")
        os.chdir(here)


def fills_special(r: Repo) -> None:
    r.write("a.txt", "evil\n")
    os.mkfifo(r.root / "b.txt.new")
    (r.root / "b.txt.new").rename(r.root / "b.txt")


def junks_packed_refs(r: Repo) -> None:
    r.write(".git/packed-refs", "garbage\n\x00\n")
    r.write(".git/objects/info/alternates", "/nowhere\n")


def adds_many(r: Repo) -> None:
    (r.root / "many").mkdir()
    for n in range(5000):
        (r.root / f"many/{n}").write_bytes(b"x")


STORIES = [
    (nothing, squashes, "28 orphan squash, pack-refs, gc"),
    (mixes_line_ends, rewrites_some, "36 mixed line ends under autocrlf"),
    (mixes_line_ends, agents.resets_and_cleans, "36 mixed line ends, reset and cleaned"),
    (filters, edits_filtered, "37 a clean and smudge filter"),
    (filters, writes_the_stored_form, "37 filtered files committed"),
    (odd_names, rewrites_all, "38 names with newlines, not UTF-8, dashes, quotes, globs"),
    (nothing, adds_many, "41 5,000 new files"),
    (nothing, junks_packed_refs, "45 packed-refs garbage, alternates planted"),
    (negations, turns_ignoring_round, "51 nested ignore rules with negation"),
    (bisects, ends_the_bisection, "a bisection in progress"),
    (notes, removes_notes, "notes"),
    (includes, poisons_the_included, "an included configuration"),
    (husky, replaces_hooks, "core.hooksPath, the hooks folder a link"),
    (hooks_around, edits_beside_the_person, "core.hooksPath around the repository"),
    (split_index, joins_the_index, "a split index"),
    (split_index, agents.deletes_git, "a split index, .git deleted"),
    (sparse_index, ends_sparseness, "a sparse index"),
    (special_files, fills_special, "pipes and sockets"),
]


@pytest.mark.parametrize(("start", "agent"), [r[:2] for r in STORIES], ids=[r[2] for r in STORIES])
def test_it_is_as_it_was(clean, start, agent):
    start(clean)
    before = state(clean)
    baseline = taken(clean)
    agent(clean)
    report = api.rollback(baseline)
    assert report.problems == ()
    after = state(clean)
    assert {k: after[k] for k in after if after[k] != before.get(k)} == {}
    assert after == before
    assert not (clean.root.parent / "ran").exists(), "a planted program ran"
    assert api.plan(baseline) == []
