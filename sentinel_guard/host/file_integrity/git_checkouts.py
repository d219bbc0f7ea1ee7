"""Recognizes git's own changes of restricted files: a checkout or a merge sets tracked ones to what the index holds.

Rules of this file:
1. Only while an allowed git command runs, and only to exactly the bytes that the index then names.
2. A file that git did not track before can neither vanish nor change by git's doing: an index that names what is
   there now proves nothing, for anybody can write into an index.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

PATIENCE = 1.0
"""Seconds between a file's change and the index that names it: git writes the index last."""


class GitCheckoutTracker:
    """Tells git's changes of restricted files from others. Not safe to call from several threads at once."""

    def __init__(self, tree: SymlinkSafeFolder, names: list[str]) -> None:
        """``names``: the files that there are when the session begins."""
        self._tree = tree
        self._theirs = set(self._index(names))
        """What git tracked then, or has brought since."""
        self._until = 0.0
        self._tracked: dict[str, str] = {}
        self._first_seen: dict[str, float] = {}

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names whose change is not explained yet: look at them again."""
        return tuple(self._first_seen)

    def begin(self, names: list[str], until: float) -> None:
        """Git may change these files, and bring new ones, until then (epoch seconds)."""
        before = self._tracked if time.time() < self._until else {}
        self._tracked = before | self._index(names)
        self._until = until

    @property
    def expected(self) -> bool:
        """Whether an allowed git command may run now."""
        return time.time() < self._until

    def explain(self, name: str, *, new: bool) -> bool | None:
        """True: git did it. None: perhaps, look again soon. False: it was not git. ``new``: there was no such file."""
        now = time.time()
        if now > self._until + PATIENCE or not (new or name in self._theirs):
            self._first_seen.pop(name, None)
            return False
        if self._is_what_the_index_says(name):
            self._first_seen.pop(name, None)
            self._theirs.add(name)
            return True
        if now - self._first_seen.setdefault(name, now) < PATIENCE:
            return None
        del self._first_seen[name]
        return False

    def _is_what_the_index_says(self, name: str) -> bool:
        staged = self._index([name]).get(name, "")
        seen = self._tree.lstat(name)
        if seen is None:
            return not staged and name in self._tracked
        return bool(staged) and staged == self._blob(name, seen, "sha256" if len(staged) == 64 else "sha1")

    def _blob(self, name: str, seen: os.stat_result, algorithm: str) -> str:
        try:
            link = stat.S_ISLNK(seen.st_mode)
            data = os.fsencode(self._tree.readlink(name)) if link else self._tree.read(name)[0]
        except (OSError, HostError):
            return ""
        return hashlib.new(algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    def _index(self, names: list[str]) -> dict[str, str]:
        """Hashes of those of the files that the index holds, by name."""
        if not names:
            return {}
        try:
            git = layout(self._tree.root).git
            rows = git.names("--literal-pathspecs", "ls-files", "-s", "-z", "--", *names)
        except HostError:
            return {}
        entries = (row.partition("\t") for row in rows)
        return {name: fields.split(" ")[1] for fields, _, name in entries if name}
