"""Restores restricted files: an unannounced change is judged, and undone unless it was the person's.

Rules of this file:
1. A path that differs from its original and was not announced is put back by rename; nothing of it is lost.
2. A change in an announced window, or one that is judged to be the person's, becomes the new original, and is
   remembered over a restart.
3. A restricted file that appears unannounced is moved away; where the policy lets a session make it, it stays, and is
   the session's until the person changes it.
4. What another session's guardian of the same tree has just put there is no tampering: they do not fight.
5. Of an agent's settings a version that does not differ in what counts is the original from then on, without a word.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from sentinel_guard.core.policy.compare_settings import EVERYTHING, Key
from sentinel_guard.errors import HostError
from sentinel_guard.host.file_integrity.accepted_changes import remember, remembered
from sentinel_guard.host.file_integrity.change_windows import ChangeWindows
from sentinel_guard.host.file_integrity.file_change import GONE, ChangeDecision, Judge, Tampering
from sentinel_guard.host.file_integrity.git_checkouts import GitCheckoutTracker
from sentinel_guard.host.file_integrity.settings_comparison import Changed, SettingsComparison
from sentinel_guard.host.file_integrity.tampered_versions import Quarantine, content
from sentinel_guard.host.machine.content_addressed_store import (
    ABSENT,
    FILE,
    ContentAddressedStore,
    Kept,
    difference,
    settled,
    untouched,
)
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

RETRY = 2.0
"""Seconds after which what could not be put back is tried again."""
BY_CONTENT, SHARE = 5.0, 200
"""Seconds after which a file is read though nothing tells of a change; at most one part in SHARE of the time goes."""
WHOLE = 0.1
"""Seconds without a further change after which a person's own is taken: it was not half written."""
_ASIDE = re.compile(r"\.sentinel-\d+-\d+")
"""Files that a guard which was killed has left half put back (``symlink_safe_folder.py``)."""

_Seen = tuple[int, int] | None
"""Inode and change time (nanoseconds); None for nothing there."""


class RestrictedFileRestorer:
    """Guards the restricted files of one work tree. Safe to call from several threads."""

    def __init__(
        self,
        root: str,
        vault: ContentAddressedStore,
        files: Mapping[str, Kept],
        folder: Path,
        *,
        judge: Judge = lambda _path, _since, _keys: ChangeDecision.PUT_BACK,
        sisters: Callable[[], Iterable[RestrictedFileRestorer]] = tuple,
        changed: Changed | None = None,
        tracks_git: bool = True,
        lets_create: Callable[[str], bool] = lambda _path: False,
    ) -> None:
        """``files``: originals, names relative to ``root``. ``folder``: for tampered versions and what was accepted.

        ``sisters``: the guardians of other sessions in the same tree. ``changed``: the files are settings of agents,
        and the vault holds nothing else. ``tracks_git``: the tree is a repository's. ``lets_create``: asked about paths
        (absolute) at which nothing was. Raises HostError.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._tree = SymlinkSafeFolder(root, folder / "tampered")
        self._vault, self._judge, self._sisters = vault, judge, sisters
        self._memory = folder / "accepted.json"
        self._accepted = remembered(self._memory)
        self._begun, self._originals = dict(files), dict(files) | self._accepted
        self._comparison = SettingsComparison(self._tree, vault, changed) if changed else None
        self._base = root.rstrip("/")
        self._windows = ChangeWindows()
        self._tracks_git, self._lets_create = tracks_git, lets_create
        self._own: dict[str, _Seen] = {}
        """What the session made where nothing was, as it was seen last."""
        self._checkouts = GitCheckoutTracker(self._tree, [*self._originals] if tracks_git else [])
        self._quarantine = Quarantine(folder / "tampered")
        self._good: dict[str, float] = {}
        """When a path was last seen to be its original."""
        self._read: dict[str, tuple[float, float]] = {}
        """When a file was last compared by its content, and when it is again."""
        self._made: dict[str, _Seen] = {}
        """How a path was left when this guardian had put it back, or had accepted it."""
        self._asked: dict[str, _Seen] = {}
        """What is in question, as it was seen then."""
        self._yours: dict[str, tuple[_Seen, float]] = {}
        """What is the person's and waits to be whole, as it was seen then, and when."""
        self._failed: dict[str, tuple[_Seen, float]] = {}
        """What could not be put back, as it was seen then, and when: it is told once."""
        self._lock = threading.RLock()
        self._clear_asides()

    def folders(self) -> list[str]:
        """Absolute: every folder that holds an original, and those above it up to the root."""
        found = {self._tree.root}
        for name in [*self._originals]:
            while (name := name.rpartition("/")[0]) and self._path(name) not in found:
                found.add(self._path(name))
        return sorted(found)

    def knows(self, path: str) -> bool:
        """Whether a path (absolute) has an original."""
        return path.removeprefix(f"{self._base}/") in self._originals

    def holds(self, path: str) -> bool:
        """Whether a path (absolute) is the root or lies below it."""
        return f"{path}/".startswith(f"{self._base}/")

    def check(self, path: str) -> Tampering | None:
        """Compare one restricted path (absolute) with its original and put it back where it differs."""
        name = self._name(path)
        return self._look(name) if name else None

    def check_below(self, folder: str) -> list[Tampering]:
        """The same for every original below a folder that went away."""
        inside = f"{self._name(folder)}/"
        return [t for name in [*self._originals] if name.startswith(inside) and (t := self._look(name))]

    def sweep(self, *, by_content: bool = False) -> list[Tampering]:
        """Check every original; untouched files cost one lstat, and are read now and then: a program that has mapped
        a file into its memory changes it, and neither an event nor the file's times tell (mmap(2)).
        """
        if by_content:
            self._read.clear()
        half_written = self._comparison.waiting if self._comparison else ()
        names = dict.fromkeys((*self._originals, *self._checkouts.waiting, *self._yours, *half_written))
        return [t for name in names if (t := self._look(name))]

    def announce(self, path: str, until: float, since: float = 0.0) -> None:
        """Until then (epoch seconds) a change of this file, or of what lies below this folder, becomes the original."""
        with self._lock:
            self._windows.announce(self._name(path), until, since)

    def let_create(self, path: str) -> None:
        """The session may make this file (absolute), at which nothing is."""
        with self._lock:
            self._own.setdefault(self._name(path), None)

    def close(self, path: str) -> bool:
        """End the windows of this path now; False where none is open."""
        with self._lock:
            return self._windows.close(self._name(path))

    def windows(self) -> dict[str, float]:
        """The open windows: absolute path -> until (epoch seconds)."""
        return {self._path(name) if name else self._tree.root: until for name, until in self._windows.open().items()}

    def expect_git(self, until: float) -> None:
        """Until then (epoch seconds) git may bring restricted files to what its index holds: a checkout, a merge."""
        with self._lock:
            if self._tracks_git:
                self._checkouts.begin(list(self._originals), until)

    @property
    def expects_git(self) -> bool:
        """Whether git may bring restricted files to what its index holds now."""
        return self._checkouts.expected

    def settle(self, path: str, *, yes: bool) -> Tampering | None:
        """A person's word on a change that was in question. What changed again meanwhile is judged anew."""
        name = self._name(path)
        with self._lock:
            if name not in self._asked:
                return None
            asked, original = self._asked.pop(name), self._originals.get(name, GONE)
            kind = difference(self._tree, name, original)
            if not kind:
                return None
            if not yes:
                return self._put_back(name, kind, original)
            if _seen_as(self._tree.lstat(name)) == asked:
                taken = self._take(name, kind, original)
                return replace(taken, agreed=True) if taken else None
            return self._check(name)

    @property
    def in_question(self) -> tuple[str, ...]:
        """Absolute paths whose change waits for a person's word."""
        return tuple(map(self._path, [*self._asked]))

    def versions(self, tampering: Tampering) -> tuple[bytes | None, bytes | None]:
        """The bytes before and after; None for what is no file or cannot be read."""
        before = None
        if tampering.before.kind == FILE:
            with contextlib.suppress(HostError):
                before = self._vault.data(tampering.before.content)
        there = tampering.kept if tampering.word is ChangeDecision.PUT_BACK else tampering.path
        return before, content(Path(there)) if there else None

    def _made_it(self, name: str, seen: _Seen) -> bool:
        """Whether this guardian has left the path as it is seen."""
        return name in self._made and self._made[name] == seen

    def _name(self, path: str) -> str:
        """Relative to the root; empty for the root and for what is not inside."""
        name = os.path.relpath(path, self._tree.root)
        return "" if name in (".", "..") or name.startswith("../") else name

    def _path(self, name: str) -> str:
        return f"{self._base}/{name}"

    def _look(self, name: str) -> Tampering | None:
        # Held for one path at a time: what is told meanwhile does not wait for a whole list.
        with self._lock:
            try:
                return self._check(name)
            except PermissionError:  # a folder above is closed: while it is, nothing in it can be changed
                return None

    def _check(self, name: str) -> Tampering | None:
        at, original = time.time(), self._originals.get(name, GONE)
        seen = self._tree.lstat(name)
        still = bool(seen and untouched(original, seen))
        if still and at < self._read.get(name, (0.0, 0.0))[1]:
            self._good[name] = at
            return None
        # A folder of a restricted name is judged by the files in it.
        if seen and original.kind == ABSENT and stat.S_ISDIR(seen.st_mode):
            return None
        kind = difference(self._tree, name, original._replace(ctime_ns=0))
        if still and kind:
            self._good[name] = self._read.get(name, (0.0, 0.0))[0]
        if not kind:
            took = time.time() - at
            self._read[name] = at, at + max(BY_CONTENT, SHARE * took)
            self._good[name] = at
            self._asked.pop(name, None)
            self._yours.pop(name, None)
            self._remember_stat(name, original)
            return None
        return self._act(name, kind, original, seen)

    def _act(self, name: str, kind: str, original: Kept, seen: os.stat_result | None) -> Tampering | None:
        keys = self._compare(name, original)
        if keys is None:
            return None
        by_git = self._checkouts.explain(name, new=original.kind == ABSENT)
        if by_git or any(s._made_it(name, _seen_as(seen)) for s in self._sisters() if s is not self):  # noqa: SLF001 - its own kind
            taken = self._take(name, kind, original)
            worth_telling = taken and (taken.problem or (by_git and keys))
            return _told(replace(taken, by_git=bool(by_git)), keys) if taken and worth_telling else None
        announced = self._announced(name, seen)
        if announced or self._yours.get(name, ((0, 0), 0.0))[0] == _seen_as(seen):
            return _told(self._take_whole(name, kind, original, announced=announced), keys)
        if by_git is None or self._waits(name, seen) or (name in self._own and self._own[name] == _seen_as(seen)):
            return None
        self._yours.pop(name, None)
        word = self._judge(self._path(name), self._since(name, seen), keys)
        if word is ChangeDecision.TAKE:
            return _told(self._take_whole(name, kind, original), keys)
        if name in self._own or (original == GONE and word is ChangeDecision.PUT_BACK and self._is_free(name)):
            self._own[name] = _seen_as(seen)
            return None
        if word is ChangeDecision.ASK:
            self._asked[name] = _seen_as(seen)
            return Tampering(self._path(name), kind, "", time.time(), word=word, before=original, keys=keys)
        return _told(self._put_back(name, kind, original), keys)

    def _is_free(self, name: str) -> bool:
        """Whether nothing was there when the session began, and it may make it."""
        return name not in self._begun and name not in self._accepted and self._lets_create(self._path(name))

    def _compare(self, name: str, original: Kept) -> tuple[Key, ...] | None:
        """Of an agent's settings the keys that differ; None where none that counts does, or it is half written."""
        if self._comparison is None:
            return ()
        try:
            found = self._comparison.look(name, original)
        except (HostError, OSError):
            return (EVERYTHING,)
        if found is None:
            return None
        if found.keys:
            self._drop(found.kept)
            return found.keys
        if found.kept:
            self._originals[name], self._good[name] = found.kept, time.time()
            for told in (self._asked, self._yours, self._read):
                told.pop(name, None)
            self._drop(original)
        return None

    def _drop(self, kept: Kept | None) -> None:
        """Give up the copy of a version that is nobody's original: an agent may rewrite a file all day."""
        needed = (*self._begun.values(), *self._accepted.values(), *self._originals.values())
        if kept and kept.kind == FILE and all(kept.content != other.content for other in needed):
            self._vault.forget(kept.content)

    def _since(self, name: str, seen: os.stat_result | None) -> float:
        """A moment after which all of the change happened; 0 where none is known."""
        known = self._good.get(name, 0.0)
        return seen.st_ctime if seen and not known and name not in self._originals else known

    def _waits(self, name: str, seen: os.stat_result | None) -> bool:
        """True where it is in question already, or could not be put back a moment ago."""
        if name in self._asked and self._asked[name] == _seen_as(seen):
            return True
        failed, at = self._failed.get(name, ((0, 0), 0.0))
        return failed == _seen_as(seen) and time.time() - at < RETRY

    def _remember_stat(self, name: str, original: Kept) -> None:
        """Remember the stat data of an unchanged file, so that the next look is one lstat."""
        seen = self._tree.lstat(name)
        if seen and original.kind == FILE and seen.st_size == original.size and settled(seen):
            self._originals[name] = original._replace(inode=seen.st_ino, ctime_ns=seen.st_ctime_ns)

    def _announced(self, name: str, seen: os.stat_result | None) -> bool:
        now = time.time()
        return self._windows.cover(name, [now, seen.st_ctime] if seen else [now])

    def _take_whole(self, name: str, kind: str, original: Kept, *, announced: bool = False) -> Tampering | None:
        """Take what has not changed for a moment; who writes a file empties it first."""
        now, seen = time.time(), _seen_as(self._tree.lstat(name))
        first, at = self._yours.setdefault(name, (seen, now))
        if first != seen:
            self._yours[name] = seen, now
            return None
        return self._take(name, kind, original, announced=announced) if now - at >= WHOLE else None

    def _take(self, name: str, kind: str, original: Kept, *, announced: bool = False) -> Tampering | None:
        """The change becomes the original. Nothing to tell where what stands there cannot be one (a folder)."""
        path, take = self._path(name), ChangeDecision.TAKE
        done = Tampering(path, kind, "", time.time(), word=take, before=original, announced=announced)
        try:
            return done if self._accept(name) else None
        except (HostError, OSError) as e:
            return self._fail(name, replace(done, problem=_words(e)))

    def _accept(self, name: str) -> bool:
        at, kept = time.time(), self._vault.keep(self._tree, name)
        if kept is None:
            return False
        self._good[name] = at
        self._own.pop(name, None)
        self._accepted[name] = kept
        remember(self._memory, self._accepted)
        self._originals[name] = kept
        self._asked.pop(name, None)
        self._yours.pop(name, None)
        self._made[name] = _seen_as(self._tree.lstat(name))
        return True

    def _put_back(self, name: str, kind: str, original: Kept) -> Tampering | None:
        path = self._path(name)
        if original.kind == ABSENT and self._tree.lstat(name) is None:
            return None  # another session's guardian was quicker
        try:
            kept = self._vault.put_back(self._tree, name, original)
        except (HostError, OSError) as e:
            return self._fail(name, Tampering(path, kind, "", time.time(), _words(e), before=original))
        self._failed.pop(name, None)
        self._asked.pop(name, None)
        self._yours.pop(name, None)
        self._made[name] = _seen_as(self._tree.lstat(name))
        self._quarantine.add(name, kept)
        dropped = self._quarantine.dropped.get(name, 0)
        return Tampering(path, kind, kept, time.time(), before=original, dropped=dropped)

    def _fail(self, name: str, tampering: Tampering) -> Tampering | None:
        seen, told = _seen_as(self._tree.lstat(name)), self._failed.get(name)
        self._failed[name] = seen, time.time()
        return None if told and told[0] == seen else tampering

    def _clear_asides(self) -> None:
        """Remove copies of originals that a guard left beside them when it was killed."""
        for folder in self.folders():
            with contextlib.suppress(OSError):
                for entry in [*os.scandir(folder)]:
                    if _ASIDE.fullmatch(entry.name) and not entry.is_dir(follow_symlinks=False):
                        os.unlink(entry.path)  # noqa: PTH108 - text with surrogates


def _told(tampering: Tampering | None, keys: tuple[Key, ...]) -> Tampering | None:
    return replace(tampering, keys=keys) if tampering else None


def _seen_as(seen: os.stat_result | None) -> _Seen:
    return (seen.st_ino, seen.st_ctime_ns) if seen else None


def _words(error: Exception) -> str:
    said = (error.strerror if isinstance(error, OSError) else "") or str(error).rstrip(".")
    return f"{said}; it is tried again every few seconds"
