"""A work tree captured by way of its changed names alone is the one that the whole index gives. Real git."""

from __future__ import annotations

import pytest

from sentinel_guard.host.git import capture_worktree
from sentinel_guard.host.git.capture_worktree import capture
from sentinel_guard.host.git.private_git_dir import PrivateGitDir, layout
from tests.support.recovery.repository import template


def named_oddly(repo):
    for name in ('say "hi"', "back\\slash", "new\nline", "tab\there", " space ", "\udcff", "-dash", "a:b", "*.txt"):
        repo.write(f"odd/{name}", name.encode(errors="surrogateescape").hex())


def named_like_magic(repo):
    for name in (":(glob)x", ":/a.txt", ":!b.txt"):
        repo.write(name, "x\n")


def file_to_folder(repo):
    repo.remove("a.txt")
    repo.write("a.txt/below/deep", "x\n")


def folder_to_file(repo):
    repo.remove("src")
    repo.write("src", "a file now\n")


def folder_to_link(repo):
    repo.remove("src")
    (repo.root / "src").symlink_to("elsewhere")


def line_ends_that_the_index_has(repo):
    repo.write("dos.txt", "one\r\ntwo\r\n")
    repo.commit("with CRLF")
    repo.git("config", "core.autocrlf", "true")
    repo.write("dos.txt", "one\r\ntwo\r\nthree\r\n")
    repo.write("new-dos.txt", "one\r\n")


def modes_that_git_is_not_to_believe(repo):
    (repo.root / "a.txt").chmod(0o755)
    repo.commit("executable")
    repo.git("config", "core.fileMode", "false")
    (repo.root / "a.txt").chmod(0o644)
    repo.write("a.txt", "changed\n")
    repo.write("b.txt", "changed\n", 0o755)


def filtered(repo):
    repo.write(".gitattributes", "*.up filter=up\nsub/*.up -filter\n")
    repo.git("config", "filter.up.clean", "tr a-z A-Z")
    repo.write("x.up", "small\n")
    repo.write("sub/x.up", "small\n")


def rules_taken_away(repo):
    filtered(repo)
    repo.commit("rules")
    repo.remove(".gitattributes")
    repo.write("x.up", "other\n")


def all_deleted(repo):
    for path in repo.root.iterdir():
        if path.name != ".git":
            repo.remove(path.name)


def staged_and_changed(repo):
    repo.write("a.txt", "staged\n")
    repo.write("fresh.txt", "staged\n")
    repo.git("add", "a.txt", "fresh.txt")
    repo.git("rm", "-q", "b.txt")
    repo.write("a.txt", "and changed\n")
    repo.write("fresh.txt", "and changed\n")


def to_be_added(repo):
    repo.write("later.txt", "later\n")
    repo.git("add", "-N", "later.txt")


def another_hash(repo):
    repo.git("commit", "-q", "--allow-empty", "-m", "one more")
    repo.write("src/deep/er/x.txt", "x\n")


ACTS = (
    (lambda _: None, True, "nothing"),
    (named_oddly, True, "odd names"),
    (named_like_magic, True, "names like pathspecs"),
    (file_to_folder, True, "a file that became a folder"),
    (folder_to_file, True, "a folder that became a file"),
    (folder_to_link, True, "a folder that became a link"),
    (lambda r: (r.root / "a.txt").chmod(0o755), True, "an executable bit"),
    (line_ends_that_the_index_has, True, "line ends that the index has"),
    (modes_that_git_is_not_to_believe, True, "modes that git is not to believe"),
    (filtered, True, "a filter"),
    (rules_taken_away, True, "attributes that were taken away"),
    (staged_and_changed, True, "staged, and changed after"),
    (to_be_added, True, "to be added later"),
    (another_hash, True, "a new folder in a new one"),
    (all_deleted, True, "everything deleted"),
)


def conflict(repo):
    repo.git("checkout", "-q", "-b", "theirs")
    repo.write("a.txt", "theirs\n")
    repo.commit("theirs")
    repo.git("checkout", "-q", "main")
    repo.write("a.txt", "ours\n")
    repo.commit("ours")
    repo.git("merge", "-q", "theirs", ok=False)


def captured(repo, tmp_path, name):
    shadow = PrivateGitDir(layout(str(repo.root)), tmp_path / name)
    shadow.make()
    shadow.copy_index()
    return capture(shadow, objects=f"{repo.root}/.git/objects")


@pytest.mark.parametrize(
    ("act", "few", "why"), [*ACTS, (conflict, False, "a conflict")], ids=lambda v: v if isinstance(v, str) else ""
)
def test_the_tree_is_that_of_the_whole_index(tmp_path, monkeypatch, act, few, why):
    repo = template(tmp_path / "repo")
    act(repo)
    ways = []
    whole = capture_worktree._with_all
    monkeypatch.setattr(capture_worktree, "_with_all", lambda *words: ways.append("all") or whole(*words))
    quick = captured(repo, tmp_path, "quick")
    assert ways == ([] if few else ["all"])
    monkeypatch.setattr(capture_worktree, "FEW", -1)
    assert quick == captured(repo, tmp_path, "whole")
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
