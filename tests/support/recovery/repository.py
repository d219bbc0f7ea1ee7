"""Real git repositories for the recovery tests, and their state as one comparable value."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import stat
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.baseline import gitdir_backup

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "u",
    "GIT_AUTHOR_EMAIL": "u@example.org",
    "GIT_COMMITTER_NAME": "u",
    "GIT_COMMITTER_EMAIL": "u@example.org",
    "GIT_EDITOR": "true",
}


class Repo:
    """A work tree that a person and an agent act on."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *args: str, ok: bool = True) -> str:
        # Where an agent has deleted .git, no repository further up may be meant.
        env = ENV | {"GIT_CEILING_DIRECTORIES": str(self.root.parent)}
        done = subprocess.run(["git", *args], cwd=self.root, env=env, capture_output=True, check=False)
        assert done.returncode == 0 or not ok, done.stderr
        return os.fsdecode(done.stdout).strip()

    def write(self, name: str, text: str, mode: int | None = None) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if mode is not None:
            path.chmod(mode)

    def remove(self, name: str) -> None:
        path = self.root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def commit(self, text: str = "more") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", text)


def template(root: Path) -> Repo:
    """A repository with two commits, a tag, a second branch and ignored files; clean."""
    return copied(_first(_clean), root)


def dirty_template(root: Path) -> Repo:
    """The template, with a person's work in every state that git knows."""
    return copied(_first(_dirty), root)


@functools.cache
def _first(make: Callable[[Repo], None]) -> Repo:
    """Made once: a copy costs a third of what some twelve starts of git do."""
    repo = Repo(Path(tempfile.mkdtemp(prefix="sg-template-"), "repo"))
    atexit.register(shutil.rmtree, repo.root.parent, ignore_errors=True)
    repo.root.mkdir()
    make(repo)
    return repo


def _clean(repo: Repo) -> None:
    repo.git("init", "-q", "-b", "main")
    for name in "abcdefgh":
        repo.write(f"{name}.txt", f"{name} one\n" * 5)
    repo.write("src/deep/x.py", "x = 1\n")
    repo.write("src/y.py", "y = 1\n")
    repo.write("run.sh", "#!/bin/sh\n", 0o755)
    repo.write(".gitignore", ".env\nbuild/\n*.log\n")
    (repo.root / "link").symlink_to("a.txt")
    repo.commit("one")
    repo.git("tag", "v1")
    repo.write("h.txt", "h two\n")
    repo.commit("two")
    repo.git("branch", "other", "HEAD~1")
    repo.write(".env", "KEY=secret\n", 0o600)
    repo.write("build/out.bin", "built")


def _dirty(repo: Repo) -> None:
    _clean(repo)
    repo.write("a.txt", "a staged\n")
    repo.write("b.txt", "b staged\n")
    repo.write("new.txt", "added\n")
    repo.git("add", "a.txt", "b.txt", "new.txt")
    repo.write("b.txt", "b staged, then changed\n")
    repo.write("c.txt", "c changed\n")
    repo.remove("d.txt")
    repo.git("rm", "-q", "e.txt")
    repo.write("notes.txt", "untracked\n", 0o640)
    repo.write("untracked/dir/odd 'n\"me\n-é", "odd\n")
    (repo.root / "untracked/link").symlink_to("/nowhere")
    (repo.root / "f.txt").chmod(0o755)


def copied(source: Repo, root: Path) -> Repo:
    """The same repository elsewhere, with an index that knows its files."""
    shutil.copytree(source.root, root, symlinks=True)
    repo = Repo(root)
    repo.git("update-index", "-q", "--refresh", ok=False)
    return repo


def files(root: Path) -> dict[str, tuple[object, ...]]:
    """Every file below a folder, ``.git`` apart: kind, mode, content."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, below, names in os.walk(root):
        if ".git" in below:
            below.remove(".git")
        links = [b for b in below if Path(folder, b).is_symlink()]
        for name in (*names, *links):
            path = Path(folder, name)
            seen = path.lstat()
            if stat.S_ISLNK(seen.st_mode):
                found[str(path.relative_to(root))] = ("link", path.readlink())
            elif not stat.S_ISREG(seen.st_mode):
                found[str(path.relative_to(root))] = ("special", oct(seen.st_mode))
            else:
                found[str(path.relative_to(root))] = ("file", oct(stat.S_IMODE(seen.st_mode)), path.read_bytes())
    return found


TOLD = (
    ("ls-files", "-s", "-v", "-z"),
    ("status", "--porcelain=v2", "--branch", "-z", "-uall"),
    ("diff", "--binary"),
    ("diff", "--cached", "--binary"),
    ("stash", "list"),
    ("config", "--list", "--local"),
)


def state(repo: Repo) -> dict[str, object]:
    """All that a rollback must bring back, as bytes and as git tells it."""
    git_dir = repo.root / ".git"
    raw = {name: (git_dir / name).read_bytes() for name in ("HEAD", "index", "config") if (git_dir / name).exists()}
    raw |= {str(p): p.read_bytes() for sub in ("hooks", "info") for p in sorted((git_dir / sub).glob("*"))}
    told = {
        " ".join(args): repo.git("--no-optional-locks", "-c", "diff.autoRefreshIndex=false", *args) for args in TOLD
    }
    refs = {n: h for n, h in gitdir_backup.refs(str(git_dir)).items() if not n.startswith("refs/sentinel/")}
    special = sorted(p.name for p in git_dir.iterdir() if p.name.isupper() or p.name.startswith("rebase"))
    return {"files": files(repo.root), "refs": refs, "special": special, "index mtime": _mtime(git_dir), **raw, **told}


def _mtime(git_dir: Path) -> int:
    index = git_dir / "index"
    return index.stat().st_mtime_ns if index.exists() else 0


def shell(repo: Repo, script: str) -> None:
    """Run lines of bash in it; raises CalledProcessError where one of them fails."""
    subprocess.run(["bash", "-ec", script], cwd=repo.root, env=ENV, check=True, capture_output=True)


IDLE = """git init -q ../inner; git -C ../inner commit -q --allow-empty -m i
git -c protocol.file.allow=always submodule add -q ../inner sub; git commit -qm sub; git submodule deinit -q -f sub
echo own > sub/own"""
"""Lines of bash: a submodule that is not checked out, and a file of the person's in its folder."""


def settle() -> None:
    """Past the kernel's clock tick, so that a change has a time of its own."""
    time.sleep(0.01)


def taken(repo: Repo, *, deep: bool = False) -> api.Baseline:
    """The baseline of a session that begins now."""
    folder = repo.root.parent / "session"
    return api.take(str(repo.root), folder, lambda p: p.endswith("/.env"), "s1", deep=deep)


EVIL = zlib.compress(b"blob 5\0evil\n")


def overwrite(repo: Repo, what: str, data: bytes) -> None:
    """In place, as ``open(name, 'wb')`` does: every hard link has the new content."""
    found = repo.git("rev-parse", what)
    path = repo.root / ".git/objects" / found[:2] / found[2:]
    path.chmod(0o644)
    path.write_bytes(data)
