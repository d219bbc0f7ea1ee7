"""What a deletion, or writing over, would take: files and their sizes.

Rules of this file:
1. No symbolic link is followed; what cannot be read is counted as not looked at.
2. It ends in time: a tree that is larger than MOST entries is told as "more than".
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sentinel_guard.core.model import Effect, Kind
from sentinel_guard.host.previews.preview import Preview, age, counted, size

MOST = 20_000
"""Entries that are looked at, of all targets together."""
TARGETS = 5
"""Targets that have a line of their own."""
LISTED = 400
"""Files that the details list, the largest first."""


@dataclass(slots=True)
class _Found:
    """What lies at one target."""

    files: list[tuple[int, str]] = field(default_factory=list)
    """Bytes, path."""
    links: int = 0
    unread: int = 0
    more: bool = False
    """True where it was given up."""

    @property
    def total(self) -> int:
        return sum(bytes_ for bytes_, _ in self.files)


def deletion_preview(effects: Iterable[Effect], root: str, now: float) -> Preview:
    """Of effects that delete, or write over, paths of this machine."""
    targets = {e.target: e for e in effects if e.kind in (Kind.DELETE, Kind.WRITE)}
    left, said, rows = MOST, list[str](), list[tuple[int, str]]()
    for n, effect in enumerate(targets.values()):
        found = _looked_at(effect.target, left)
        left -= len(found.files) + found.links
        rows += found.files
        if n < TARGETS:
            said.append(_line(effect, found, root, now))
    if len(targets) > TARGETS:
        said.append(f"in all {counted(len(targets), 'target')}: {counted(len(rows), 'file')}, {_total(rows)}")
    rows.sort(reverse=True)
    listed = [f"{size(count):>9}  {_near(path, root)}" for count, path in rows[:LISTED]]
    more = [f"… {counted(len(rows) - LISTED, 'more file')}"] if len(rows) > LISTED else []
    return Preview(tuple(said), "\n".join((*listed, *more)) if len(rows) > 1 else "")


def _line(effect: Effect, found: _Found, root: str, now: float) -> str:
    path = _near(effect.target, root)
    what = "deletes" if effect.kind is Kind.DELETE else "writes over"
    try:
        status = os.lstat(effect.target)
    except OSError:
        return f"{what} {path}: nothing is there now"
    changed = f", changed {age(now - status.st_mtime)} ago"
    if stat.S_ISLNK(status.st_mode):
        return f"{what} {path}: a link to {Path(effect.target).readlink()}, which stays"
    if not stat.S_ISDIR(status.st_mode):
        return f"{what} {path}: {size(status.st_size)}{changed}"
    count = f"{'more than ' if found.more else ''}{counted(len(found.files), 'file')}, {_total(found.files)}"
    unread = f"; {counted(found.unread, 'folder')} could not be read" if found.unread else ""
    return f"{what} {path}/: {count}{unread}"


def _total(rows: list[tuple[int, str]]) -> str:
    return size(sum(count for count, _ in rows))


def _looked_at(path: str, left: int) -> _Found:
    found = _Found()
    for entry in _below(path, found):
        if len(found.files) + found.links >= left:
            found.more = True
            break
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            found.links += 1
        else:
            found.files.append((status.st_size, entry.path))
    if not found.files and os.path.isfile(path) and not os.path.islink(path):  # noqa: PTH113, PTH114 - surrogates
        found.files.append((os.lstat(path).st_size, path))
    return found


def _below(path: str, found: _Found) -> Iterator[os.DirEntry[str]]:
    folders = [] if os.path.islink(path) or not os.path.isdir(path) else [path]  # noqa: PTH112, PTH114 - surrogates
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry
        except OSError:
            found.unread += 1


def _near(path: str, root: str) -> str:
    return path[len(root) + 1 :] if root and path.startswith(f"{root}/") else path
