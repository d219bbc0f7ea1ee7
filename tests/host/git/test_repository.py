"""Where a repository is, its HEAD, and that nothing planted in it runs when we look."""

from __future__ import annotations

import os
import subprocess

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.git import committed_file, repository
from sentinel_guard.host.git.flatten_ignore_rules import flatten
from sentinel_guard.host.git.private_git_dir import PrivateGitDir, layout, work_trees
from sentinel_guard.host.git.run_git import Setting, settings, settings_file
from sentinel_guard.host.machine.started_call import StartedCall
from tests.support.recovery.repository import Repo, template
from tests.support.time_limits import limit


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return template(tmp_path_factory.mktemp("repository") / "repo")


@pytest.fixture
def fresh(tmp_path):
    return template(tmp_path / "repo")


PLACES = {
    "repo": "the top itself",
    "repo/src/deep": "below",
    "link": "a link to the top",
    "side/src": "a linked worktree is its own",
    "apart/below": "the git directory lies elsewhere",
    "repo/empty": "a .git that is no repository is passed over",
    "repo/module/src": "a repository within another",
    "repo/bare.git/hooks": "a bare repository within a work tree has no work tree",
    "bare.git": "a bare repository",
    "repo/.git/hooks": "in a git directory",
    ".": "outside",
    "nowhere": "a folder that is not there",
    "repo/nowhere": "the same, within a work tree",
}


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    repo = template(folder / "repo")
    (folder / "link").symlink_to("repo")
    (repo.root / "empty/.git").mkdir(parents=True)
    for words in (
        ("init", "-q", "--bare", "../bare.git"),
        ("init", "-q", "--bare", "bare.git"),
        ("init", "-q", "module"),
        ("init", "-q", "--separate-git-dir=../git-of-apart", "../apart"),
        ("worktree", "add", "-q", "../side"),
    ):
        repo.git(*words)
    for name in ("repo/module/src", "apart/below"):
        (folder / name).mkdir()
    return folder


@pytest.mark.parametrize("place", PLACES)
def test_top_is_gits_own(laid_out, place):
    git = ["git", "-C", str(laid_out / place), "rev-parse", "--show-toplevel"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    assert repository.top(str(laid_out / place)) == (done.stdout.strip() or None)


def test_a_linked_worktree_shares_its_git_directory(laid_out):
    assert layout(str(laid_out / "side")).common_dir == str(laid_out / "repo/.git")


PIPES = (".git", ".git/commondir", ".git/worktrees/x/gitdir", ".git/packed-refs")


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(fresh, name):
    """These are read on the daemon's own loop, too."""
    place = fresh.root / name
    if name == ".git":
        place.rename(fresh.root / "git")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    root = str(fresh.root)
    looks = (lambda: repository.top(root), lambda: work_trees(root), lambda: committed_file.read(root, "HEAD:no"))
    call = StartedCall(lambda: [look() for look in looks], holds=False)
    assert call.ends_within(limit(3))
    assert call.result() == [None if name == ".git" else root, (root,), None]


def test_a_pipe_holds_no_ignore_rules(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    call = StartedCall(lambda: flatten(str(tmp_path), [".gitignore"], "/none", []), holds=False)
    assert call.ends_within(limit(2)) and call.result() == b""


@pytest.mark.parametrize("key", ["clean", "process"])
def test_no_filter_of_the_machine_is_run_in_what_is_not_trusted(fresh, tmp_path, key):
    (fresh.root / ".gitattributes").write_text("* filter=x\n")
    told = ((f"filter.x.{key}", f"touch {tmp_path}/ran; cat"), ("filter.x.required", "true"))
    shadow = PrivateGitDir(layout(str(fresh.root)), tmp_path / "shadow")
    shadow.make([Setting("system", *setting, "") for setting in told], filters=False)
    (tmp_path / "machine").write_bytes(settings_file(told))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_SYSTEM": str(tmp_path / "machine"), "GIT_DIR": str(shadow.folder)}
    words = ["git", "hash-object", "--path=a.txt", "--stdin"]
    subprocess.run(words, input=b"one\n", env=environ, cwd=fresh.root, capture_output=True, check=True)
    assert not (tmp_path / "ran").exists()


def test_top_of_another_users_repository_which_git_refuses(shared, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own switch for its tests: no root is needed
    git = ["git", "-C", str(shared.root), "rev-parse", "--show-toplevel"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    assert done.returncode == 128
    assert "dubious ownership" in done.stderr
    assert repository.top(str(shared.root)) == str(shared.root)


def test_head_and_branch_born_unborn_detached(fresh, tmp_path):
    root = str(fresh.root)
    assert repository.head(root) == fresh.git("rev-parse", "HEAD")
    assert repository.branch(root) == "refs/heads/main"
    fresh.git("checkout", "-q", "--detach")
    assert repository.branch(root) == ""
    subprocess.run(["git", "init", "-q", "-b", "new", str(tmp_path / "empty")], check=True)
    assert repository.head(str(tmp_path / "empty")) == ""
    assert repository.branch(str(tmp_path / "empty")) == "refs/heads/new"


def test_what_is_no_repository_is_said(tmp_path):
    with pytest.raises(HostError, match="not the top of a git repository"):
        repository.head(str(tmp_path))


def test_a_callers_git_environment_does_not_lead_astray(shared, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    monkeypatch.setenv("GIT_WORK_TREE", "/nowhere")
    assert repository.head(str(shared.root)) == shared.git("rev-parse", "HEAD")
    assert repository.top(str(shared.root)) == str(shared.root)


def test_patch_shows_the_difference_without_running_the_repositorys_programs(fresh, tmp_path):
    fresh.git("config", "diff.external", f"touch {tmp_path}/ran")
    text = repository.patch(str(fresh.root), "HEAD~1", "HEAD")
    assert "+h two" in text
    assert "h.txt |" in text
    assert not (tmp_path / "ran").exists()


def test_settings_survive_being_written_flat(fresh, tmp_path):
    value = 'quote " back\\slash\nnew line\ttab; # no comment '
    fresh.git("config", 'filter.odd "name".clean', value)
    fresh.git("config", "user.name", "Zoë")
    (fresh.root / "more").write_text("[core]\n\tbare\n[alias]\n\tx = status\n")
    fresh.git("config", "include.path", "../more")
    found = [(s.key, s.value) for s in settings(layout(str(fresh.root)).git) if s.scope == "local"]
    assert ("core.bare", None) in found
    assert ("alias.x", "status") in found
    flat = tmp_path / "flat"
    flat.write_bytes(settings_file(found))
    told = Repo(tmp_path).git("config", "--file", str(flat), "--list", "-z")
    assert [tuple(row.split("\n", 1)) for row in told.split("\0") if row] == [
        (k,) if v is None else (k, v) for k, v in found
    ]


IGNORED = [
    ("a.log", True, "a name at any depth"),
    ("sub/deep/x.log", True, "the same below"),
    ("sub/keep.log", False, "taken back by a deeper file"),
    ("sub/deep/keep.log", False, "at any depth below it"),
    ("only/here.txt", True, "bound to the top by a slash"),
    ("sub/only/here.txt", False, "and not elsewhere"),
    ("sub/top.txt", True, "bound to the folder of its file"),
    ("sub/deep/top.txt", False, "and not deeper"),
    ("odd[1]/x.tmp", True, "in a folder with a name full of signs"),
    ("sub/x.tmp", False, "which is that folder's only"),
    ("sub/#hash", True, "an escaped sign"),
]


@pytest.mark.parametrize(("name", "ignored", "why"), IGNORED, ids=[row[2] for row in IGNORED])
def test_flattened_rules_say_what_git_says(shared_rules, name, ignored, why):
    listed, told = shared_rules
    assert (name not in listed) is ignored
    assert (name not in told) is ignored


@pytest.fixture(scope="module")
def shared_rules(tmp_path_factory):
    """Untracked files by the flat list, and by git itself."""
    top = tmp_path_factory.mktemp("ignores")
    repo = Repo(top / "repo")
    repo.root.mkdir()
    repo.git("init", "-q")
    repo.write(".gitignore", "# comment\n*.log\n/only/\n\n")
    repo.write("sub/.gitignore", "!keep.log\n/top.txt\n\\#hash\n")
    repo.write("odd[1]/.gitignore", "*.tmp\n")
    for name, _, _ in IGNORED:
        repo.write(name, "x")
    rules = top / "rules"
    rules.write_bytes(flatten(str(repo.root), ["odd[1]/.gitignore", "sub/.gitignore", ".gitignore"], "/none", []))
    listed = repo.git("ls-files", "-o", "-z", f"--exclude-from={rules}").split("\0")
    told = repo.git("ls-files", "-o", "-z", "--exclude-standard").split("\0")
    return listed, told
