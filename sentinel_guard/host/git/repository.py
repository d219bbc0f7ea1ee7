"""The git work tree of a folder: its top, HEAD and branch, and the diff of two commits."""

from __future__ import annotations

import os
from collections.abc import Iterable

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.git.run_git import Git, program


def top(cwd: str) -> str | None:
    """The top of the work tree that holds ``cwd``, resolved; None outside of one and in a bare repository.

    Raises HostError where git is not installed.
    """
    program()
    import git as gitpython  # noqa: PLC0415 - takes 150 ms to import, and only this function needs it

    try:
        found = gitpython.Repo(cwd, search_parent_directories=True, expand_vars=False).working_tree_dir
    except (gitpython.InvalidGitRepositoryError, gitpython.NoSuchPathError, OSError, ValueError):
        return None
    return os.path.realpath(os.fspath(found)) if found else None


def head(root: str) -> str:
    """The hash of HEAD; empty on an unborn branch. Raises HostError."""
    return commit(layout(root).git, "HEAD")


def commit(git: Git, name: str) -> str:
    """The commit that a name stands for; empty for none."""
    return git.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", ok=(0, 1))


def tracked(root: str, paths: Iterable[str]) -> frozenset[str]:
    """Which of these absolute paths are in the index; none where git cannot say."""
    names = [path.removeprefix(f"{root}/") for path in paths]
    try:
        held = layout(root).git.names("--literal-pathspecs", "ls-files", "-z", "--", *names)
    except HostError:
        return frozenset()
    return frozenset(f"{root}/{name}" for name in held)


def committed(root: str, commit: str, paths: Iterable[str]) -> frozenset[str]:
    """Which of these absolute paths a commit holds; none where git cannot say, or where there is no commit."""
    names = [path.removeprefix(f"{root}/") for path in paths]
    try:
        held = (
            layout(root).git.names("ls-tree", "-z", "--name-only", "--full-tree", commit, "--", *names)
            if commit
            else ()
        )
    except HostError:
        return frozenset()
    return frozenset(f"{root}/{name}" for name in held)


def branch(root: str) -> str:
    """The branch that HEAD stands on (``refs/heads/main``), born or not; empty where HEAD is detached."""
    return layout(root).git.text("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))


def patch(root: str, old: str, new: str) -> str:
    """The difference of two commits or trees, for reports; no program of the repository's is run. Raises HostError."""
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--stat", "--patch")
    return os.fsdecode(layout(root).git.run("diff", *flags, old, new, "--"))
