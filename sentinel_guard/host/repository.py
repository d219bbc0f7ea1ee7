"""The git work tree: where it is, where its HEAD is, and a fingerprint of its content."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import tempfile
import threading
import time
import weakref
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.gitcommand import Git, program
from sentinel_guard.host.shadow import Shadow, Tree, capture, layout

DEAR = 0.1
"""Seconds: a fingerprint that took longer is not taken again for a while."""
REST = 100
"""How many times its duration it then rests: at most one percent of the time is spent."""
LARGE = 4 << 20
"""Bytes: of larger changed files the fingerprint holds size and time, not the content."""


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


def branch(root: str) -> str:
    """The branch that HEAD stands on (``refs/heads/main``), born or not; empty where HEAD is detached."""
    return layout(root).git.text("symbolic-ref", "--quiet", "HEAD", ok=(0, 1))


def patch(root: str, old: str, new: str) -> str:
    """The difference of two commits or trees, for reports; no program of the repository's is run. Raises HostError."""
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--stat", "--patch")
    return os.fsdecode(layout(root).git.run("diff", *flags, old, new, "--"))


def fingerprint(root: str) -> str:
    """A digest of the work tree's content: tracked and untracked files, not ignored ones.

    Equal content gives equal digests, whatever git was told meanwhile. Empty where it cannot be had, or was dear
    the last time.
    """
    return _probe(root).take()


@functools.lru_cache(maxsize=64)
def _probe(root: str) -> _Probe:
    return _Probe(root)


class _Probe:
    """Fingerprints one work tree, with an index and an object store of its own that only grow by what changes."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._home = tempfile.mkdtemp(prefix="sentinel-guard-")
        weakref.finalize(self, shutil.rmtree, self._home, ignore_errors=True)
        self._shadow: Shadow | None = None
        self._rests_until = 0.0
        self._lock = threading.Lock()

    def take(self) -> str:
        with self._lock:
            began = time.monotonic()
            if began < self._rests_until:
                return ""
            first = self._shadow is None
            try:
                digest = self._digest()
            except (HostError, OSError):
                self._shadow, digest = None, ""
            spent = time.monotonic() - began
            # The first one stores what the user has not committed; the later ones tell what it costs.
            if spent > DEAR and not (first and digest):
                self._rests_until = began + spent * REST
            return digest

    def _digest(self) -> str:
        self._shadow = self._shadow or self._made()
        tree = capture(self._shadow, limit=LARGE)
        text = "\0".join([tree.hash, *self._signatures(tree)])
        return hashlib.sha256(os.fsencode(text)).hexdigest()

    def _made(self) -> Shadow:
        where = layout(self._root)
        shadow = Shadow(where, Path(tempfile.mkdtemp(dir=self._home)))
        shadow.make(head=commit(where.git, "HEAD"), filters=False)
        shadow.copy_index()
        return shadow

    def _signatures(self, tree: Tree) -> list[str]:
        return [f"{name} {_signature(self._root, name)}" for name in sorted(tree.left_out)]


def _signature(root: str, name: str) -> str:
    try:
        seen = os.lstat(f"{root}/{name}")
    except OSError:
        return "-"
    return f"{seen.st_size} {seen.st_mtime_ns}"
