"""Finds the settings files of coding agents that matter to a session: its project's, the home's, the environment's.

Rules of this file:
1. Files are named by their real paths; each link on the way to one is named, too, and must stay what it leads to.
2. What is not there yet is known by its path, and so is each folder above it: a link in its place leads elsewhere.
3. Where nothing can be read, nothing is found: no agent of this person reads it either.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sentinel_guard.core.policy.agent_settings import HOME, PROJECT, SettingsFile, rows
from sentinel_guard.core.policy.compare_settings import Key, are_answers, changed_keys
from sentinel_guard.core.policy.match_agent_settings import located, translated

FAR = 64
"""Folders above a file that are told apart."""
LINKS = 40
"""Links on the way to one file, as many as the kernel follows."""


@dataclass(frozen=True, slots=True)
class LocatedFile:
    """A row of the table, at its place on this machine."""

    path: str
    """Absolute and real; ``*`` in it stands for any part of one name."""
    agent: str
    """For a person."""
    folder: str
    """As the table names it."""
    file: SettingsFile
    depth: int
    """How many of the folders above it are agents' own: neither the project nor the home."""


class _Paths:
    """A set of paths, of which some hold ``*``."""

    def __init__(self, paths: Iterable[str]) -> None:
        found = frozenset(paths)
        self._literal = frozenset(path for path in found if "*" not in path)
        self._expression = translated(found - self._literal)

    def __contains__(self, path: str) -> bool:
        return path in self._literal or self._expression.fullmatch(path) is not None


class AgentSettingsFiles:
    """Which paths are settings files, for one session. Safe to call from several threads."""

    def __init__(self, located_files: Iterable[LocatedFile], links: Iterable[str] = ()) -> None:
        self.files = tuple(located_files)
        self.links = tuple(links)
        """Symbolic links on the way to them, as they are when the session begins."""
        self._exact = {f.path: f for f in self.files if "*" not in f.path}
        self._patterns = _Paths(f.path for f in self.files if "*" in f.path)
        self._own_folders = {folder for f in self.files for folder in _above(f.path, f.depth)}
        self._around = {_parent(path) for path in (*self._exact, *self.links, *self._own_folders)}
        self._above = _Paths(self._own_folders)
        holding = {_parent(f.path) for f in self.files}
        self._far_above = _Paths(holding.union(*map(_above, holding)))

    def row(self, path: str) -> LocatedFile | None:
        """The row that an absolute path belongs to."""
        if path in self._exact:
            return self._exact[path]
        if path not in self._patterns:
            return None
        return next((f for f in self.files if "*" in f.path and path in _Paths([f.path])), None)

    def may_hold(self, path: str) -> bool:
        """Whether it is a settings file, a link on the way to one, or an agents' own folder above one."""
        return path in self.links or self.row(path) is not None or path in self._above

    def concerns(self, path: str) -> bool:
        """Whether a change there is one of settings: of a file, of a link to one, or a link in a folder's place."""
        if path in self.links or self.row(path) is not None:
            return True
        return path in self._above and os.path.islink(path)  # noqa: PTH114 - text with surrogates

    def leads_to(self, folder: str) -> bool:
        """Whether a settings file may lie in a folder, or below it."""
        return folder in self._far_above

    def present(self) -> Iterator[str]:
        """Those that are there, and the links."""
        yield from self.links
        there = _There()
        for file in self.files:
            yield from there.matching(file.path)

    def folders(self) -> set[str]:
        """The folders that are there in which they lie, or will, and in which those folders will."""
        there = _There()
        found = {path for folder in self._own_folders | self._around for path in there.matching(folder, folders=True)}
        return found | {there.nearest(folder) for folder in self._around - found if "*" not in folder}

    def changed(self, path: str, before: bytes | None, after: bytes | None) -> tuple[Key, ...]:
        """``compare_settings.changed_keys``, for the row of a path."""
        row = self.row(path)
        return changed_keys(row.file if row else _WHOLE, path, before, after)

    def are_answers(self, path: str, keys: tuple[Key, ...]) -> bool:
        """``compare_settings.are_answers``, for the row of a path."""
        row = self.row(path)
        return row is not None and are_answers(row.file, keys)


_WHOLE = SettingsFile("")


def find(
    root: str, cwd: str, environ: Mapping[str, str], wanted: Callable[[str], bool] = lambda _: True
) -> AgentSettingsFiles:
    """The files for a session in the repository ``root`` that is begun in ``cwd``, with this environment.

    ``wanted`` is asked about each path, as ``LocatedFile`` has it.
    """
    home = environ.get("HOME", "").rstrip("/")
    projects, real = [*_upwards(os.path.realpath(cwd), root)], _RealPaths()
    files = dict[str, LocatedFile]()
    for agent, folder, file in rows():
        outside = located(folder, home, environ) if folder.folder != PROJECT else ""
        depth = file.path.count("/") + (folder.folder not in (PROJECT, HOME))
        for base in projects if folder.folder == PROJECT else [outside] if outside else []:
            path = real.path(f"{base}/{file.path}")
            if path not in files and wanted(path):
                files[path] = LocatedFile(path, agent.agent, folder.folder, file, depth)
    return AgentSettingsFiles(files.values(), real.links)


def _upwards(folder: str, root: str) -> Iterator[str]:
    """A folder and those above it, up to the root."""
    while folder != root and folder.startswith(f"{root}/"):
        yield folder
        folder = _parent(folder)
    yield root


class _RealPaths:
    """Follows every link on the way to a path, and remembers the links; what is not there stays as it is."""

    def __init__(self) -> None:
        self.links = dict[str, None]()
        self._known = {"": ""}

    def path(self, path: str, links: int = LINKS) -> str:
        """The real path of an absolute one."""
        path = path.rstrip("/")
        if path not in self._known:
            self._known[path] = self._follow(self.path(path.rpartition("/")[0], links), path.rpartition("/")[2], links)
        return self._known[path]

    def _follow(self, folder: str, name: str, links: int) -> str:
        if name in ("", "."):
            return folder
        if name == "..":
            return folder.rpartition("/")[0]
        here = f"{folder}/{name}"
        try:
            target = os.readlink(here) if links and "*" not in name else ""  # noqa: PTH115 - text with surrogates
        except OSError:
            target = ""
        if not target:
            return here
        self.links[here] = None
        return self.path(target if target.startswith("/") else f"{folder}/{target}", links - 1)


def _above(path: str, depth: int = FAR) -> Iterator[str]:
    """The folders above a file, innermost first, at most so many."""
    while depth and (path := _parent(path)) != "/":
        yield path
        depth -= 1


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "/"


class _There:
    """What is there at one look. Most of the agents are not: below a folder that is missing nothing is asked for."""

    def __init__(self) -> None:
        self._folders = {"/": True}

    def matching(self, pattern: str, *, folders: bool = False) -> Iterator[str]:
        """The paths that are there; a folder is no file, and no link is followed."""
        head, star, _ = pattern.partition("*")
        base = head.rpartition("/")[0]
        if not self._has(base or "/"):
            return
        if star:
            yield from _below(base, pattern[len(base) + 1 :].split("/"), folders=folders)
        elif self._has(pattern) and not os.path.islink(pattern) if folders else os.path.lexists(pattern):  # noqa: PTH114 - text
            yield pattern

    def nearest(self, folder: str) -> str:
        """The first folder above one that is there."""
        return next(filter(self._has, _above(folder)), "/")

    def _has(self, folder: str) -> bool:
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = self._has(_parent(folder)) and os.path.isdir(folder)  # noqa: PTH112 - text
        return known


def _below(folder: str, parts: list[str], *, folders: bool) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            inner = entry.is_dir(follow_symlinks=False)
            if not fnmatchcase(entry.name, parts[0]):
                continue
            if len(parts) > 1:
                if inner:
                    yield from _below(entry.path, parts[1:], folders=folders)
            elif inner is folders:
                yield entry.path
