"""Finds the folder in which git looks for a repository's hooks, and the setting that names it (core.hooksPath)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.host.git.commit_contents import git, top
from sentinel_guard.host.githooks.hook_templates import OWN


@dataclass(frozen=True, slots=True)
class HookFolders:
    """Paths are resolved; ``surrogateescape`` text inside."""

    common: Path
    """The directory that all work trees of the repository share."""
    hooks: Path
    """Where git looks for hooks now."""

    @property
    def usual(self) -> Path:
        """Where hooks are where nobody says otherwise."""
        return self.common / "hooks"

    @property
    def own(self) -> Path:
        return self.common / OWN

    @property
    def ahead(self) -> Path:
        """The folder of hooks that are ours alone."""
        return self.own / "hooks"


@dataclass(frozen=True, slots=True)
class Repository(HookFolders):
    """What else must be known to put hooks in place."""

    root: Path
    """The top of the work tree; of a bare repository the repository."""
    bare: bool
    theirs: str
    """core.hooksPath as it would be without us; empty where nobody has set it."""
    settings: Path
    """The configuration file in which core.hooksPath has to be set to be heard last."""

    @property
    def asked(self) -> Path:
        """Where git would look without us."""
        return Path(os.path.realpath(self.root / self.theirs)) if self.theirs else self.usual

    def settings_files(self) -> list[Path]:
        """Every configuration file of the repository and of its work trees."""
        linked = sorted((self.common / "worktrees").glob("*/config.worktree"))
        return [f for f in (self.common / "config", self.common / "config.worktree", *linked) if f.is_file()]


def find(folder: str | Path) -> Repository:
    """The repository that a folder lies in. Raises HostError outside of one."""
    ask = _Asking(folder)
    told = ask.told()
    bare = told[0] == "true"
    root = None if bare else Path(os.path.realpath(top(folder)))
    common, own, hooks = (Path(os.path.realpath(Path(folder) / path)) for path in told[1:] or ask.paths())
    root = root or common
    values = [v for v in ask.values() if os.path.realpath(root / v[1]) != str(common / OWN / "hooks")]
    scope, theirs = values[-1] if values else ("", "")
    settings = own / "config.worktree" if scope == "worktree" else common / "config"
    return Repository(common, hooks, root, bare, theirs, settings)


_PLACES = (("--git-common-dir",), ("--git-dir",), ("--git-path", "hooks"))


class _Asking(NamedTuple):
    folder: str | Path

    def said(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        return os.fsdecode(git(self.folder, *args, ok=ok)).removesuffix("\n")

    def told(self) -> list[str]:
        """Whether it is bare, and its places, of one git; only the first where a name of them has a line end."""
        lines = self.said("rev-parse", "--is-bare-repository", *chain(*_PLACES), ok=(0, 128)).split("\n")
        return lines if len(lines) == 1 + len(_PLACES) else lines[:1]

    def paths(self) -> list[str]:
        return [self.said("rev-parse", *question) for question in _PLACES]

    def values(self) -> list[tuple[str, str]]:
        """Every value of core.hooksPath with its scope; the last one counts."""
        words = self.said("config", "--show-scope", "-z", "--type=path", "--get-all", "core.hooksPath", ok=(0, 1))
        parts = words.split("\0")
        return [(scope, value) for scope, value in zip(parts[::2], parts[1::2], strict=False) if scope != "command"]
