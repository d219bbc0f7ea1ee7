"""The world as it will be while the text runs: what it wrote itself, with known words, can be read back."""

from __future__ import annotations

from collections.abc import Mapping

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.world import World

MAX_GLOBS = 200
"""Looks into the file system for one text; the next one is not looked up, and proves nothing."""


class Overlay:
    """A World on top of another one. Lives for one analysis, so it may remember what it asked."""

    def __init__(self, world: World) -> None:
        self.home: str = world.home
        self.root = ""
        """Top of the repository that the session guards; empty outside of one."""
        self.environ: Mapping[str, str] = world.environ
        self.settings: dict[str, str] = {}
        """git settings that the text made: key in lower case -> value."""
        self._world = world
        self._globs = 0
        self._files: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._folders: set[str] = set()
        self._real: dict[str, str] = {"/": "/"}
        """Path -> where it really lies on the world below."""

    def write(self, path: str, text: str) -> None:
        """From here on the file holds this text."""
        self._files[path] = text

    def link(self, path: str, target: str) -> None:
        """From here on ``path`` is a symbolic link to the absolute ``target``."""
        self._links[path] = target

    def folder(self, path: str) -> None:
        """From here on there is a directory."""
        self._folders.add(path)

    def resolve(self, path: str) -> str:
        real = self._real.get(path)
        if real is None:
            real = self._real[path] = self._resolve(path)
        return self._follow(real) if self._links else real

    def _resolve(self, path: str) -> str:
        """The names of one folder, as most of a text are, share the way to it."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", "..") or not path.startswith("/"):
            return self._world.resolve(path)
        above = folder or "/"
        if above not in self._real:
            self._real[above] = self._world.resolve(above)
        real = paths.child(self._real[above], name)
        return self._world.resolve(real) if self._world.kind(real) == "link" else real

    def _follow(self, path: str) -> str:
        for _ in range(40):
            link = next((k for k in self._links if path == k or path.startswith(k + "/")), None)
            if link is None:
                break
            path = self._world.resolve(self._links[link] + path[len(link) :])
        return path

    def kind(self, path: str) -> str:
        if path in self._files:
            return "file"
        if path in self._links:
            return "link"
        return "dir" if path in self._folders else self._world.kind(path)

    @property
    def cut(self) -> bool:
        return self._globs > MAX_GLOBS or self._world.cut

    def glob(self, pattern: str) -> tuple[str, ...]:
        self._globs += 1
        return () if self._globs > MAX_GLOBS else self._world.glob(pattern)

    def read(self, path: str) -> str | None:
        return self._files[path] if path in self._files else self._world.read(path)

    def which(self, name: str) -> str:
        return self._world.which(name)
