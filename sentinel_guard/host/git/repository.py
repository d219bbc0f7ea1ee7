"""The git work tree of a folder: its top, HEAD and branch, and the diff of two commits."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.git.run_git import Git, program

Tracked = Callable[[tuple[str, ...]], frozenset[str]]
"""Absolute paths -> those that git tracks, or that a commit holds."""


def top(cwd: str) -> str | None:
    """The top of the work tree that holds ``cwd``, resolved; None outside of one, in a bare repository and in .git.

    Read by hand: git refuses a repository that is another user's. Raises HostError where git is not installed.
    """
    program()
    folder = os.path.realpath(cwd)
    if not os.path.isdir(folder):  # noqa: PTH112 - pathlib raises where a folder may not be entered
        return None
    for place in (folder, *map(str, Path(folder).parents)):
        with contextlib.suppress(HostError):
            where = layout(place)
            if _is_git_dir(where.git_dir, where.common_dir):
                return place
        if _is_git_dir(place, place):
            return None
    return None


def writable_top(cwd: str) -> str:
    """The top of the work tree in which a session can work. Raises HostError."""
    if not os.path.isdir(cwd):  # noqa: PTH112 - text with surrogates, as it came
        raise HostError(f"The folder {cwd!r} does not exist any more.", "cd into a git repository and start again.")
    root = top(cwd)
    if root is None:
        raise HostError(f"{cwd} is not in a git work tree.", "cd into one, or run 'git init' first.")
    if not os.access(root, os.W_OK):
        raise HostError(f"The repository {root} cannot be written.", "Make it writable, or work in a clone of it.")
    return root


def _is_git_dir(folder: str, common: str) -> bool:
    """As git's own setup.c:is_git_directory looks at it."""
    stores = (f"{common}/objects", f"{common}/refs")
    return os.path.lexists(f"{folder}/HEAD") and all(map(os.path.isdir, stores))


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


def once(look: Tracked) -> Tracked:
    """The same, which asks git once for the same paths; ``functools.cache`` takes longer to make than that saves."""
    seen: dict[tuple[str, ...], frozenset[str]] = {}
    return lambda paths: seen[paths] if paths in seen else seen.setdefault(paths, look(paths))


def branch(root: str) -> str:
    """The branch that HEAD stands on (``refs/heads/main``), born or not; empty where HEAD is detached."""
    return layout(root).git.text("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))


def patch(root: str, old: str, new: str) -> str:
    """The difference of two commits or trees, for reports; no program of the repository's is run. Raises HostError."""
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--stat", "--patch")
    return os.fsdecode(layout(root).git.run("diff", *flags, old, new, "--"))
