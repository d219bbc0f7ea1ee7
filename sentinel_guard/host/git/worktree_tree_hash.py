"""Hashes the work tree as a git tree, to tell whether files changed between two calls, and which (R5, R9).

Rules of this file:
1. Equal content gives equal trees, whatever git was told meanwhile: settings and ignore rules are the session's first.
2. No program of the repository's runs: files are hashed as they lie there, without clean filters.
3. Nothing is written to the repository: index and objects lie in the session's folder, and are kept as long as that.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import PrivateGitDir, scan, stage, trusted
from sentinel_guard.host.git.run_git import lines
from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.machine.started_call import together

DEAR = 0.1
"""Seconds: where two trees in a row took longer, none is taken for a while."""
REST = 100
"""How many times its duration it then rests: at most one percent of the time is spent."""
LARGE = 4 << 20
"""Bytes: of larger changed files a value holds size and time, not the content."""
VALUES = 128
MUCH = 256 << 20
"""Bytes of changed files that are too much to be read."""
NOBODYS = tuple(f"--exclude={name}/" for name in sorted(HEAVY))
_FLAGS = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")


class Worktrees:
    """The trees of one session's work tree; made without a look at the disk, one or many for the same folder."""

    def __init__(self, root: str, folder: Path, restricts: Callable[[str], bool] = lambda _: False) -> None:
        """``folder``: the session's baseline folder, whose trusted settings are used. ``restricts`` is asked with
        absolute paths: the content of such a file is not stored, its size and time count.
        """
        self._root, self._session, self._folder, self._restricts = root, folder, folder / "trees", restricts
        self._shadow: PrivateGitDir | None = None
        self._tree = ""
        self._spent = 0.0
        """Seconds that the last one took."""
        self._rests_until = 0.0
        self._reason, self._told = "", False
        self._apart: dict[str, dict[str, str]] = {}
        """Of values with a digest: what it is of, file by file; the last VALUES of them."""
        self._lock = threading.Lock()

    def take(self) -> str:
        """The present work tree, untracked files included, ignored ones not: ``TREE`` or, where files are too large or
        not readable, ``TREE+digest`` of their sizes and times. Empty where it cannot be had, or was dear the last time.
        """
        with self._lock:
            began = time.monotonic()
            if began < self._rests_until:
                return ""
            first = self._shadow is None
            try:
                value = self._value()
            except (HostError, OSError) as e:
                words = e.message if isinstance(e, HostError) else str(e)
                value, self._reason = "", " ".join(words.split())
            spent = time.monotonic() - began
            if min(spent, self._spent) > DEAR:
                self._rests_until = began + spent * REST
                self._reason = self._reason or f"looking at the files took {spent * 1000:.0f} ms"
            # The first one stores what the person has not committed: it does not tell what the later ones cost.
            self._spent = 0.0 if first else spent
            return value

    def complaint(self) -> str:
        """Why a tree could not be had, in words; said once, empty afterwards."""
        with self._lock:
            said = "" if self._told else self._reason
            self._told, self._reason = self._told or bool(said), ""
            return said

    def patch(self, old: str, new: str) -> str:
        """The difference of two values of ``take`` or commits of the repository: stat, blank line, patch.

        No program of the repository's is run. Raises HostError.
        """
        trees = _trees(old, new)
        return os.fsdecode(self._made().git.run("diff", *_FLAGS, "--stat", "--patch", *trees, "--"))

    def names(self, old: str, new: str) -> list[str]:
        """The names of the files that differ in the trees. Raises HostError."""
        trees = _trees(old, new)
        return self._made().git.names("diff", *_FLAGS, "--name-only", "-z", *trees, "--")

    def changed(self, old: str, new: str) -> list[str]:
        """The same with those that are too large, or not readable, for a tree. Raises HostError, also where these are
        known no more.
        """
        if any("+" in value and value not in self._apart for value in (old, new)):
            raise HostError("Which files lay beside that tree is known no more.")
        one, two = (self._apart.get(value, {}) for value in (old, new))
        return [*self.names(old, new), *(n for n in sorted(one.keys() | two.keys()) if one.get(n) != two.get(n))]

    def _value(self) -> str:
        try:
            return self._look()
        except HostError:
            # A lock that a killed daemon left, or objects that the repository has lost: once more from the beginning.
            self._shadow = None
            for name in ("index", "index.lock"):
                (self._folder / name).unlink(missing_ok=True)
            return self._look()

    def _look(self) -> str:
        if self._shadow is None:
            self._shadow, self._tree = self._made(), ""
            if not self._shadow.index.exists():
                self._begin(self._shadow)
        changed = scan(self._shadow, *self._ignores())
        names, left_out = self._sorted_out(changed)
        if names or not self._tree:
            left_out += stage(self._shadow.git, names)
            self._tree = self._shadow.git.text("write-tree")
        signatures = {name: _signature(self._root, name) for name in sorted(left_out)}
        told = "\0".join(f"{name} {signature}" for name, signature in signatures.items())
        value = f"{self._tree}+{hashlib.sha256(os.fsencode(told)).hexdigest()[:16]}" if signatures else self._tree
        if signatures:
            self._apart = dict([*self._apart.items(), (value, signatures)][-VALUES:])
        return value

    def _sorted_out(self, found: list[str]) -> tuple[list[str], list[str]]:
        """Names to be read, and those too large, restricted or repositories of their own. Raises HostError where it is
        too much.
        """
        names: list[str] = []
        left_out: list[str] = []
        total = 0
        for name in dict.fromkeys(found):
            path = f"{self._root}/{name}"
            size = _size(path)
            apart = size > LARGE or name.endswith("/") or (size >= 0 and self._restricts(path))
            (left_out if apart else names).append(name)
            total += 0 if apart else size
        if total > MUCH:
            raise HostError(f"{total >> 20} MB of files that git does not ignore have changed.")
        return names, left_out

    def _ignores(self) -> tuple[str, ...]:
        frozen = self._session / "git" / "ignored"
        return (*NOBODYS, f"--exclude-from={frozen}" if frozen.exists() else "--exclude-standard")

    def _made(self) -> PrivateGitDir:
        """The git directory of the trees. It is a copy of the session's, which is left alone."""
        session = trusted(self._root, self._session)
        made = PrivateGitDir(session.where, self._folder)
        if not (made.folder / "HEAD").exists():
            for name in ("objects/info", "refs", "info"):
                (made.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in ("config", "global", "objects/info/alternates", "info/exclude", "info/attributes"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(session.folder / name, made.folder / name)
            with (made.folder / "objects/info/alternates").open("ab") as stores:
                stores.write(os.fsencode(f"{session.folder}/objects\n"))
            with (made.folder / "info/attributes").open("ab") as attributes:
                attributes.write(b"\n* -filter\n")
            shutil.copyfile(session.folder / "HEAD", made.folder / "HEAD")
        return made

    def _begin(self, shadow: PrivateGitDir) -> None:
        """The first index: the session's first one, without flags that hide files, and with raw files where a filter
        had a say.
        """
        start = self._session / "git" / "index"
        if start.exists():
            shutil.copy2(start, shadow.index)
        else:
            shadow.copy_index()
        git = shadow.git
        believed = replace(trusted(self._root, self._session).git, index=str(shadow.index))
        flagged, filtered = together(
            shadow.flagged,
            lambda: believed.names("ls-files", "-z", "--", ":(top)", ":(exclude,attr:!filter)"),
        )
        shadow.unflag(flagged)
        if filtered:
            git.run("update-index", "--force-remove", "-z", "--stdin", stdin=lines(filtered))
            names, _ = self._sorted_out(filtered)
            stage(git, [n for n in names if os.path.lexists(f"{self._root}/{n}")])
        git.run("update-index", "-q", "--refresh", ok=(0, 1))


def _trees(*values: str) -> list[str]:
    trees = [value.partition("+")[0] for value in values]
    if not all(trees):
        raise HostError("The files were not measured there: there is nothing to compare.")
    return trees


def _size(path: str) -> int:
    """-1 for nothing there."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1


def _signature(root: str, name: str) -> str:
    try:
        seen = os.lstat(f"{root}/{name}")
    except OSError:
        return "-"
    return f"{seen.st_size} {seen.st_mtime_ns}"
