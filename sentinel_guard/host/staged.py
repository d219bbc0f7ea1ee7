"""What a commit or a push would put on record, read from git as bytes: modes, names, the targets of links.

git is run as it was found in the hook: with the private index and the directories that it names in the environment.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.gitcommand import TIMEOUT, program

_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
_LINK = "120000"
_NOTHING = "0"
"""An object id of nothing but zeros is no object."""


@dataclass(frozen=True, slots=True)
class Change:
    """One changed path."""

    path: str
    """As git names it: relative to the top, ``surrogateescape`` text."""
    status: str
    """``A`` added, ``M`` changed, ``D`` deleted, ``T`` another type, ``U`` unmerged."""
    link: str = ""
    """What it points to, for a symbolic link."""
    commit: str = ""
    """The commit that changes it; empty for what is staged."""


def git(root: str | Path, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
    """What a git command prints in ``root``. Raises HostError with git's own words."""
    kept = {k: v for k, v in os.environ.items() if k in _PLACES or not k.startswith(("GIT_", "LD_"))}
    environ = kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            [program(), *args], input=stdin, capture_output=True, check=False, cwd=root, env=environ, timeout=TIMEOUT
        )
    except (OSError, subprocess.SubprocessError) as e:
        raise HostError(f"git {args[0]} cannot run in {root}: {e}") from e
    if done.returncode not in ok:
        words = os.fsdecode(done.stderr).strip() or f"exit code {done.returncode}"
        raise HostError(f"git {args[0]} failed in {root}: {words}")
    return done.stdout


def top(folder: str | Path) -> Path:
    """The top of the work tree that a folder lies in. Raises HostError outside of one."""
    try:
        found = os.fsdecode(git(folder, "rev-parse", "--show-toplevel")).removesuffix("\n")
    except HostError as e:
        if "dubious ownership" in str(e):
            hint = f"If you trust it: git config --global --add safe.directory {folder}"
            raise HostError(f"{folder} belongs to another user, so git does not look into it.", hint) from e
        raise HostError(f"{folder} is not in a git work tree.", "cd into one, or run 'git init' first.") from e
    return Path(found)


def staged(root: Path) -> list[Change]:
    """What the index holds that HEAD does not; everything, where there is no commit yet. Renames are A and D."""
    raw = git(root, "diff", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-relative")
    return list(_changes(root, raw))


def pushed(root: Path, local: str, remote: str, url: str) -> list[Change]:
    """What the commits change that a push of ``local`` over ``remote`` (an id, or zeros) to ``url`` would send."""
    known = [f"^{remote}"] if exists(root, remote) else []
    commits = git(root, "rev-list", local, *known, "--not", f"--remotes={url}")
    tree = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--root", "-c", "--no-renames", "--no-abbrev", "--no-relative")
    return list(_changes(root, git(root, *tree, stdin=commits)))


def exists(root: Path, commit: str) -> bool:
    """Whether an object id names a commit that is here."""
    return bool(commit.strip(_NOTHING)) and _says_yes(root, "cat-file", "-e", f"{commit}^{{commit}}")


def has_head(root: Path) -> bool:
    """Whether there is a commit yet."""
    return _says_yes(root, "rev-parse", "--verify", "--quiet", "HEAD")


def is_ancestor(root: Path, old: str, new: str) -> bool:
    """Whether ``new`` goes on from ``old``: a push of it loses nothing."""
    return _says_yes(root, "merge-base", "--is-ancestor", old, new)


def _says_yes(root: Path, *args: str) -> bool:
    try:
        git(root, *args)
    except HostError:
        return False
    return True


def _changes(root: Path, raw: bytes) -> Iterator[Change]:
    """``:MODES IDS STATUS NUL PATH NUL``, one colon and one old mode for each parent; a bare word is a commit's id."""
    commit = ""
    words = iter(os.fsdecode(raw).split("\0"))
    for word in words:
        if not word.startswith(":"):
            commit = word.strip() or commit
            continue
        parents = len(word) - len(word.lstrip(":"))
        fields = word.lstrip(":").split(" ")
        mode, identity, status = fields[parents], fields[2 * parents + 1], fields[-1]
        link = os.fsdecode(git(root, "cat-file", "blob", identity)) if mode == _LINK else ""
        yield Change(next(words), "D" if set(status) == {"D"} else status[:1], link, commit)
