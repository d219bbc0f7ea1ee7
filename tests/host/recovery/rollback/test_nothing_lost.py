"""What a person had comes back: modes, reflogs, ignored files, stores of large files, what git would write otherwise.

The rollbacks run without root's rights over modes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

import pytest

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import converted_files
from tests.support.recovery.repository import Repo, shell, state, template
from tests.support.recovery.without_rights import rolled_back, taken


def folders(repo: Repo) -> dict[str, int]:
    """Modes of all folders but those of objects and of what a rollback keeps."""
    found = {p: stat.S_IMODE(p.stat().st_mode) for p in (repo.root, *repo.root.rglob("*")) if p.is_dir()}
    return {str(p.relative_to(repo.root)): mode for p, mode in found.items() if not _KEPT.search(str(p))}


_KEPT = re.compile(r"\.git/(objects/|(logs/)?refs/sentinel)")
MODES = (
    ("", "chmod 500 .git", "the git directory cannot be written"),
    ("", "rm .git/refs/heads/other; chmod 0 .git/refs", "refs cannot be read"),
    ("", "rm .git/HEAD; chmod 500 .git", "HEAD is gone, and its folder cannot be written"),
    ("", "rm a.txt notes.txt; chmod 555 .", "the root cannot be written"),
    ("", "rm -rf src; chmod 0 .", "the root cannot be read"),
    ("chmod 555 src/deep", "chmod 755 src/deep; rm src/deep/x.py", "the person's own read-only folder, a clean file"),
    (
        "chmod 555 untracked/dir",
        "chmod 755 untracked/dir; rm untracked/dir/*; echo evil > untracked/dir/new; chmod 555 untracked/dir",
        "the same, an untracked file; a new one in it",
    ),
    ("chmod 700 src; chmod 555 .", "chmod 755 . src; rm -rf src", "a folder that only its owner sees, in such a root"),
    ("", "mkdir -p new/shut; echo x > new/shut/x; chmod 0 new/shut new", "a new folder that cannot be read"),
    (
        "mkdir -p ../shut/hooks; chmod 0 ../shut; git config core.hooksPath ../shut/hooks",
        "rm a.txt",
        "a folder of hooks elsewhere that nobody may enter",
    ),
    (
        "mkdir ../shut; touch ../shut/x; chmod 0 ../shut; git config includeIf.onbranch:none.path ../../shut/x",
        "rm a.txt",
        "settings in such a folder",
    ),
    ("ln -s round ../round; git config core.hooksPath ../round", "rm a.txt", "hooks behind a link to itself"),
)


@pytest.mark.parametrize(("before", "harm"), [row[:2] for row in MODES], ids=[row[2] for row in MODES])
def test_modes_are_no_obstacle_and_come_back(repo, before, harm):
    shell(repo, before)
    start, modes = state(repo), folders(repo)
    baseline = taken(repo)
    shell(repo, harm)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (state(repo), folders(repo)) == (start, modes)


def test_a_folder_of_hooks_that_was_shut_costs_its_own_files_only(repo):
    shell(repo, "mkdir ../named; echo own > ../named/commit-msg; git config core.hooksPath ../named")
    start, baseline = state(repo), taken(repo)
    shell(repo, "rm a.txt; chmod 0 ../named")
    report = rolled_back(baseline)
    assert {p.split(" ")[0] for p in report["problems"]} == {f"{repo.root.parent}/named/commit-msg"}
    assert state(repo) == start


def test_what_the_person_had_shut_stays_shut_and_is_not_moved_away(repo):
    repo.write("shut/own.txt", "own")
    (repo.root / "shut").chmod(0)
    baseline = taken(repo)
    repo.remove("a.txt")
    assert rolled_back(baseline)["ok"]
    assert stat.S_IMODE((repo.root / "shut").stat().st_mode) == 0
    assert (repo.root / "shut/own.txt").read_text() == "own"


def test_a_repository_whose_place_a_link_took_comes_back_and_the_link_is_kept(repo, tmp_path):
    start, other = state(repo), tmp_path / "other"
    baseline = taken(repo)
    other.mkdir()
    (other / "theirs.txt").write_text("theirs")
    repo.root.rename(tmp_path / "gone")
    repo.root.symlink_to(other)
    assert api.plan(baseline)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert not repo.root.is_symlink() and state(repo)["files"] == start["files"]
    assert [*other.iterdir()] == [other / "theirs.txt"], "what it led to is left alone"
    assert [Path(path).readlink() for path in report["quarantined"] if Path(path).is_symlink()] == [other]


def test_new_folders_that_are_empty_go_and_the_persons_own_stay(repo):
    (repo.root / "own/empty").mkdir(parents=True)
    baseline = taken(repo)
    shell(repo, "mkdir -p new/one/two build/made; touch new/x; mkdir a.d; git clean -xfdq own untracked")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    there = {name: (repo.root / name).is_dir() for name in ("own/empty", "untracked/dir", "new", "a.d", "build/made")}
    assert there == {"own/empty": True, "untracked/dir": True, "new": False, "a.d": False, "build/made": False}


def test_a_sparse_file_keeps_its_holes(repo):
    path = repo.root / "sparse"
    with path.open("wb") as f:
        f.write(b"begin")
        f.truncate(16 << 20)
    before = path.stat().st_blocks
    baseline = taken(repo)
    path.unlink()
    assert rolled_back(baseline)["ok"]
    assert path.stat().st_size == 16 << 20 and path.stat().st_blocks <= before + 256


# Reflogs: the lines of the start, then what came since.

LOGS = ("HEAD", "main", "other", "stash")


def logged(repo: Repo) -> dict[str, list[str]]:
    told = {name: repo.git("reflog", "show", "--format=%H %gs", name, ok=False).splitlines() for name in LOGS}
    return {name: lines[::-1] for name, lines in told.items()}


EXPIRED = (
    ("git reflog expire --expire=now --all", "they are expired"),
    ("git reflog expire --expire=now --all; git gc -q --prune=now", "and what only they held is pruned"),
    ("git reflog delete HEAD@{0}; git reflog delete main@{0}", "one line is deleted"),
    ("rm -rf .git/logs", "their files are deleted"),
    ("rm -rf .git; git init -q -b main; git add -A; git commit -qm new", "the repository is made anew"),
    ("git commit -qm more --allow-empty; git checkout -q other", "nothing but a commit"),
)


@pytest.mark.parametrize("harm", [row[0] for row in EXPIRED], ids=[row[1] for row in EXPIRED])
def test_reflogs_begin_as_they_did(repo, harm):
    repo.git("stash", "push", "-q", "-u")
    repo.git("commit", "-q", "--allow-empty", "-m", "left behind")
    lost = repo.git("rev-parse", "HEAD")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    before = logged(repo)
    baseline = taken(repo)
    shell(repo, harm)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    after = logged(repo)
    assert {name: lines[: len(before[name])] for name, lines in after.items()} == before
    assert after["stash"] == before["stash"]
    assert repo.git("log", "-1", "--format=%s", lost) == "left behind"
    assert api.plan(baseline) == []


# Branches that other worktrees have checked out.


@pytest.mark.parametrize("then", ["", "git pack-refs --all", "rm .git/logs/refs/heads/theirs"])
def test_a_branch_of_another_worktree_stays_where_it_is_and_is_named(repo, then):
    repo.git("worktree", "add", "-q", "../theirs", "-b", "theirs")
    baseline = taken(repo)
    theirs = Repo(repo.root.parent / "theirs")
    theirs.git("commit", "-q", "--allow-empty", "-m", "the person's own, meanwhile")
    tip = theirs.git("rev-parse", "HEAD")
    shell(repo, f"git branch -D other; {then}")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (theirs.git("rev-parse", "HEAD"), theirs.git("status", "--porcelain")) == (tip, "")
    assert "refs/heads/theirs is checked out in another worktree: not undone." in report["notes"]
    assert repo.git("rev-parse", "--verify", "other")


# Ignored files, repositories in ignored folders.

IGNORED = (
    ("rm -rf build", "an ignored folder is deleted"),
    ("git clean -xfdq", "all ignored files are cleaned away"),
    ("echo evil > build/out.bin; echo evil >> own.log", "they are changed"),
    ("rm -rf build/inner", "a repository in an ignored folder is deleted"),
    ("git -C build/inner reset -q --hard HEAD~1; git -C build/inner reflog expire --expire=now --all", "or reset"),
    ("rm -rf build; ln -s /etc build", "a link takes the folder's place"),
    (
        "git add -f build/out.bin own.log; git commit -qm all; git rm -q build/out.bin; git commit -qm none",
        "they become tracked",
    ),
)


@pytest.mark.parametrize("harm", [row[0] for row in IGNORED], ids=[row[1] for row in IGNORED])
def test_ignored_files_come_back(repo, harm):
    repo.write("own.log", "own\n", 0o640)
    inner = Repo(repo.root / "build/inner")
    inner.root.mkdir()
    inner.git("init", "-q")
    for text in ("one", "two"):
        inner.write("x.txt", text)
        inner.commit(text)
    inner.write("x.txt", "three")
    start, inside = state(repo), (inner.git("log", "--format=%H"), inner.git("status", "--porcelain"))
    baseline = taken(repo)
    shell(repo, harm)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert state(repo) == start
    assert (inner.git("log", "--format=%H"), inner.git("status", "--porcelain")) == inside
    assert inner.git("fsck", "--no-dangling") == ""


def test_what_an_agent_builds_stays_and_its_version_of_a_file_is_kept(repo):
    baseline = taken(repo)
    repo.write("build/new.bin", "new")
    repo.write("build/out.bin", "built anew")
    report = rolled_back(baseline)
    assert (repo.root / "build/new.bin").read_text() == "new"
    assert (repo.root / "build/out.bin").read_text() == "built"
    assert [Path(p).read_text() for p in report["quarantined"] if p.endswith("build/out.bin")] == ["built anew"]


def test_what_is_too_large_is_named_where_it_was_changed_and_only_there(repo):
    for name in ("large.log", "other.log"):
        with (repo.root / name).open("wb") as f:
            f.truncate((50 << 20) + 1)
    baseline = taken(repo)
    (repo.root / "large.log").write_text("gone")
    report = rolled_back(baseline)
    assert not report["ok"]
    assert report["problems"] == ["large.log was changed and had not been kept: too large or not readable."]


def test_a_staged_file_that_is_too_large_comes_from_gits_own_object(repo):
    with (repo.root / "large.bin").open("wb") as f:
        f.truncate((50 << 20) + 1)
    repo.git("add", "large.bin")
    start, baseline = state(repo), taken(repo)
    shell(repo, "rm large.bin; git reset -q; git gc -q --prune=now")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert state(repo) == start


# Stores of large files, and submodules that are not checked out.


def test_the_stores_of_large_files_come_back(repo):
    for name, text in (("lfs/objects/ab/cd/x", "large"), ("annex/objects/01/02/K/K", "annexed"), ("lfs/tmp/x", "t")):
        repo.write(f".git/{name}", text)
        (repo.root / ".git" / name).chmod(0o444)
    large = repo.root / ".git/annex/objects/01/02/L"
    large.write_bytes(b"x" * (1 << 20))
    baseline = taken(repo)
    shell(
        repo,
        "chmod -R u+w .git/annex; rm -rf .git/lfs .git/annex/objects/01/02/L; echo evil > .git/annex/objects/01/02/K/K",
    )
    assert ".git/lfs/objects/ab/cd/x" in {c.path for c in api.plan(baseline)}
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (repo.root / ".git/lfs/objects/ab/cd/x").read_text() == "large"
    assert (repo.root / ".git/annex/objects/01/02/K/K").read_text() == "annexed"
    assert large.stat().st_size == 1 << 20
    assert not (repo.root / ".git/lfs/tmp").exists()


def test_a_large_file_that_was_overwritten_in_place_is_named(repo):
    data = b"x" * (1 << 20)
    digest = hashlib.sha256(data).hexdigest()
    path = repo.root / f".git/lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    baseline = taken(repo)
    path.write_bytes(b"evil")
    report = rolled_back(baseline)
    assert not report["ok"]
    assert report["problems"] == [
        f".git/lfs/objects/{digest[:2]}/{digest[2:4]}/{digest} was overwritten in place: no copy of it is left."
    ]


def test_the_repository_of_an_idle_submodule_comes_back_and_a_new_one_goes(repo, tmp_path):
    inner = template(tmp_path / "inner")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    repo.git("commit", "-q", "-m", "sub")
    sub = Repo(repo.root / "sub")
    sub.git("commit", "-q", "--allow-empty", "-m", "unpushed")
    tip = sub.git("rev-parse", "HEAD")
    repo.git("submodule", "deinit", "-q", "-f", "sub")
    idle = Repo(repo.root / ".git/modules/sub")
    shell(repo, "git init -q --bare ../old; echo evil > ../old/hooks/post-checkout")
    start, baseline = state(repo), taken(repo)
    allow = "git -c protocol.file.allow=always submodule"
    shell(repo, f"rm -rf .git/modules; {allow} update -q --init; {allow} add -q {inner.root} more")
    shell(repo, "ls sub/.git; echo evil > .git/modules/more/hooks/post-checkout")
    shell(repo, f"{allow} add -q --name a/refs/b {inner.root} named; mv ../old .git/modules; mv a.txt untracked sub")
    shell(repo, "mv src sub/came")
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert idle.git("--git-dir=.", "rev-parse", "main") == tip
    assert idle.git("--git-dir=.", "fsck", "--no-dangling") == ""
    assert state(repo) == start and list((repo.root / "sub").iterdir()) == [], "what was checked out since goes"
    assert [n for n in ("more", "a/refs/b", "old") if (repo.root / ".git/modules" / n).exists()] == []


# Bytes that git would write otherwise.

OTHERWISE = (
    ("*.txt text eol=lf", "a\r\nb\r\n", "line ends of another system"),
    ("*.txt ident", "$Id$\nx\n", "an ident that was not expanded"),
    ("*.txt filter=missing", "plain\n", "a filter that is not there"),
    ("*.txt text=auto", "a\nb\r\n", "mixed line ends"),
    ("*.txt text eol=crlf", "a\nb\n", "line ends of this system, where git would write others"),
)


@pytest.mark.parametrize("harm", ["rm odd.txt", "echo evil > odd.txt", "git rm -q odd.txt", "git checkout -q other"])
@pytest.mark.parametrize(("rule", "text"), [row[:2] for row in OTHERWISE], ids=[row[2] for row in OTHERWISE])
def test_a_clean_file_comes_back_byte_for_byte(tmp_path, rule, text, harm):
    repo = template(tmp_path / "repo")
    (repo.root / "odd.txt").write_bytes(text.encode())
    repo.write(".gitattributes", f"{rule}\n")
    repo.commit("odd")
    start, baseline = state(repo), taken(repo)
    shell(repo, harm)
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (repo.root / "odd.txt").read_bytes() == text.encode()
    assert state(repo) == start


def test_what_a_rule_that_is_gone_has_made_of_a_file_is_the_persons(tmp_path):
    repo = template(tmp_path / "repo")
    repo.git("config", "filter.up.clean", "tr a-z A-Z")
    repo.write(".gitattributes", "odd.txt filter=up\n")
    (repo.root / "odd.txt").write_bytes(b"a\n")
    os.utime(repo.root / "odd.txt", (10**9, 10**9))  # long before the index: git does not look into it
    repo.commit("odd")
    repo.write(".gitattributes", "odd.txt text\n")
    baseline = taken(repo)
    assert "odd.txt" not in baseline.files
    assert converted_files.find(baseline, ["odd.txt", "a.txt", "gone"]) == (["odd.txt"], [])


@pytest.mark.parametrize("setting", ["core.autocrlf true", "core.autocrlf yes", "core.eol crlf"])
@pytest.mark.parametrize("rule", ["*.txt text", "*.txt text=auto", "*.md text"])
def test_by_settings_too(tmp_path, setting, rule):
    repo = template(tmp_path / "repo")
    (repo.root / "odd.txt").write_bytes(b"a\nb\n")
    repo.write(".gitattributes", f"{rule}\n")
    repo.commit("odd")
    repo.git("config", *setting.split())
    start, baseline = state(repo), taken(repo)
    (repo.root / "odd.txt").unlink()
    report = rolled_back(baseline)
    assert report["ok"], report["problems"]
    assert (repo.root / "odd.txt").read_bytes() == b"a\nb\n"
    assert state(repo) == start
