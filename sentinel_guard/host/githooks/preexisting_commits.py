"""Commits and other objects that a session did not make: there when it began, or fetched by git since.

Rules of this file:
1. References as they are now tell nothing: the session may have moved them by plumbing. Those of its start count.
2. What is added is told by somebody who has judged it.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sentinel_guard.core.analysis.programs.git.git_config_files import entries
from sentinel_guard.errors import HostError
from sentinel_guard.host.git import commit_contents, loose_objects
from sentinel_guard.host.recovery.baseline import gitdir_backup, session_baseline
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

REMOTES = "refs/remotes/"
_KEPT = 256
"""Repositories of sessions that are remembered."""
_MOST = 1 << 20
"""Bytes of a commit that is looked at."""


@dataclass(frozen=True, slots=True)
class PreexistingObjects:
    """Object ids of a repository."""

    there: frozenset[str] = frozenset()
    """What it held, has fetched, or what was judged."""
    remotes: frozenset[tuple[str, str]] = frozenset()
    """Remote-tracking references and what they led to: that remote has it."""
    settings: frozenset[tuple[str, str]] = frozenset()
    """The settings of the repository and its user at the start, as far as they were kept."""

    def out(self, remote: str) -> list[str]:
        """What a remote has."""
        return [identity for ref, identity in self.remotes if ref.startswith(f"{REMOTES}{remote}/")]

    def plus(self, refs: Iterable[tuple[str, str]]) -> PreexistingObjects:
        """The same with references (name, id) that are no news."""
        more = frozenset(refs)
        fetched = {(ref, i) for ref, i in more if ref.startswith(REMOTES)}
        return replace(self, there=self.there | {i for _, i in more}, remotes=self.remotes | fetched)


class Memory:
    """What each session has seen of each repository. Any thread may ask."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], PreexistingObjects] = {}
        self._lock = threading.Lock()

    def of(self, session: str, common: str, folder: Path, started: float) -> PreexistingObjects:
        """What is known of the repository with this common directory; ``folder`` holds the session's baseline,
        ``started`` is when it began. Reads files the first time.
        """
        with self._lock:
            if (session, common) not in self._seen:
                self._seen[session, common] = _start(common, folder, started)
            if len(self._seen) > _KEPT:
                del self._seen[next(iter(self._seen))]
            return self._seen[session, common]

    def add(self, session: str, common: str, refs: Iterable[tuple[str, str]]) -> None:
        """References that are no news any more; nothing where the repository was never asked about."""
        with self._lock:
            if seen := self._seen.get((session, common)):
                self._seen[session, common] = seen.plus(refs)

    def goes_on(self, session: str, common: str, old: str, new: str, objects: Path) -> bool:
        """Whether all that a new commit builds upon is known: nothing but the commit itself is news. Asks no git."""
        seen, made = self._seen.get((session, common)), loose_objects.read(objects, new, _MOST)
        if seen is None or made is None or made.kind != "commit":
            return False
        before = loose_objects.read(objects, old, _MOST) if old in seen.there else None
        known = seen.there | {*(_parents(before.data) if before else ())}
        return known.issuperset(_parents(made.data))


def common(work: Path, environ: Mapping[str, str]) -> str:
    """What tells one repository from another: its common directory, links resolved. Raises HostError."""
    try:
        return os.path.realpath(commit_contents.common_dir(work, environ))
    except (OSError, ValueError) as e:
        raise HostError(f"The git directory of {work} cannot be read: {e}.") from e


def _parents(commit: bytes) -> Iterator[str]:
    for line in commit.partition(b"\n\n")[0].splitlines():
        if line.startswith(b"parent "):
            yield line.removeprefix(b"parent ").decode("ascii")


def _start(common: str, folder: Path, started: float) -> PreexistingObjects:
    try:
        whole = session_baseline.load(folder)
    except HostError:  # a session outside of any repository
        return PreexistingObjects().plus(_older(common, started).items())
    for one in _all(whole):
        if os.path.realpath(one.where.common_dir) == common:
            return replace(PreexistingObjects(settings=_settings(one)), there=frozenset({one.head} - {""})).plus(
                one.refs.items()
            )
    return PreexistingObjects().plus(_older(common, started).items())


def _all(one: Baseline) -> Iterator[Baseline]:
    yield one
    with contextlib.suppress(HostError):
        for _, below in one.below():
            yield from _all(below)


def _settings(one: Baseline) -> frozenset[tuple[str, str]]:
    files = [kept for name, kept in (*one.own.items(), *one.shared.items()) if name == "config"]
    found: set[tuple[str, str]] = set()
    for kept in (*files, *one.user.values()):
        with contextlib.suppress(HostError):
            found.update(entries(os.fsdecode(one.vault.data(kept.content))))
    return frozenset(found)


def _older(common: str, started: float) -> dict[str, str]:
    """References whose files nobody has touched since: change times cannot be set back, and a copy has new ones."""

    def untouched(path: Path) -> bool:
        try:
            return path.stat().st_ctime < started
        except OSError:
            return False

    packed = untouched(Path(common, "packed-refs"))
    found = gitdir_backup.refs(common)
    return {n: i for n, i in found.items() if (untouched(p) if (p := Path(common, n)).exists() else packed)}
