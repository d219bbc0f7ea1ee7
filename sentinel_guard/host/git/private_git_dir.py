"""A private git directory beside the repository's, with settings copied at a trusted moment.

git reads its settings, filters, ignore rules and index from here and its objects from both, so that what an agent does
to ``.git`` is neither believed nor run while the work tree is looked at.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git, Setting, lines, settings, settings_file
from sentinel_guard.host.machine.atomic_files import read_regular
from sentinel_guard.host.machine.started_call import together

_UNSHADOWED = ("core.worktree", "core.hookspath", "core.fsmonitor", "core.bare", "extensions.refstorage")
"""Local settings that the shadow does without."""
_NO_FILTER = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
_INCLUDES = ("include.", "includeif.")
"""What keys begin with that name other files; what is in those is among the settings."""

_SYMLINKS = re.compile(rb'\tsymlinks = "(.*)"\n')
_NO = frozenset({b"false", b"no", b"off", b"0", b""})
_FLAGGED = re.compile(rb"\0[a-zS] ([^\0]+)")
"""Rows of ``git ls-files -v -z``. What begins with a fixed byte is found twenty times as fast as what may."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a work tree's git metadata lies."""

    root: str
    git_dir: str
    common_dir: str
    """Differs from ``git_dir`` in a linked worktree."""

    @property
    def linked(self) -> bool:
        return self.git_dir != self.common_dir

    @property
    def git(self) -> Git:
        """Git on the repository itself."""
        return Git(self.git_dir, self.root)


def layout(root: str) -> Layout:
    """Read from ``.git`` by hand: git itself may be misled. Raises HostError where there is none."""
    dot = Path(root, ".git")
    try:
        text = "" if dot.is_dir() else os.fsdecode(read_regular(dot))
    except OSError as e:
        raise HostError(f"{root} is not the top of a git repository.", "Run this inside a git work tree.") from e
    git_dir = os.path.realpath(Path(root, text.removeprefix("gitdir:").strip()) if text else dot)
    try:
        common = os.fsdecode(read_regular(Path(git_dir, "commondir"))).strip()
    except OSError:
        common = ""
    return Layout(root, git_dir, os.path.realpath(Path(git_dir, common)))


def common_dir(root: str) -> str:
    """What all worktrees of a repository share; where it cannot be told, ``ROOT/.git``."""
    try:
        return layout(root).common_dir
    except HostError:
        return f"{root}/.git"


def work_trees(root: str) -> tuple[str, ...]:
    """The folders of a repository's work trees, this one first, as far as they can be read."""
    common = Path(common_dir(root))
    main = (str(common.parent),) if common.name == ".git" else ()
    return tuple(dict.fromkeys((root, *main, *_linked(common))))


def _linked(common: Path) -> Iterator[str]:
    for link in common.glob("worktrees/*/gitdir"):
        with contextlib.suppress(OSError):
            yield os.fsdecode(read_regular(link)).strip().removesuffix("/.git")


@dataclass(frozen=True, slots=True)
class PrivateGitDir:
    """The git directory of our own, in ``folder``."""

    where: Layout
    folder: Path
    private: Path | None = None
    """An index of one's own; None for the shadow's."""

    @property
    def index(self) -> Path:
        return self.private or self.folder / "index"

    @property
    def frozen(self) -> Path:
        """All ignore rules that were in force at the start, as one list from the top of the work tree."""
        return self.folder / "ignored"

    @property
    def git(self) -> Git:
        """Git on the work tree with the shadow's settings and index; it writes objects here."""
        return Git(str(self.folder), self.where.root, str(self.index), settings=str(self.folder / "global"))

    def make(
        self,
        found: Iterable[Setting] | None = None,
        *,
        head: str = "",
        farm: Path | None = None,
        filters: bool = True,
    ) -> None:
        """Make it from the repository as it is now. Raises HostError.

        ``found``: the settings in force, where they are known. ``filters=False`` leaves clean and smudge filters out,
        for looking at a work tree that is not trusted.
        """
        found = [*(settings(self.where.git) if found is None else found)]
        for name in ("objects/info", "refs", "info"):
            (self.folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        left_out = _INCLUDES if filters else (*_INCLUDES, "filter.")
        shown = [s for s in found if not s.key.startswith(left_out)]
        local = [(s.key, s.value) for s in shown if s.scope in ("local", "worktree") and s.key not in _UNSHADOWED]
        if not filters:  # the machine's own settings are read by git itself
            drivers = {s.key.rpartition(".")[0] for s in found if s.scope == "system" and s.key.startswith("filter.")}
            local += [(f"{driver}.{key}", value) for driver in sorted(drivers) for key, value in _NO_FILTER]
        (self.folder / "config").write_bytes(settings_file(local))
        (self.folder / "global").write_bytes(settings_file((s.key, s.value) for s in shown if s.scope == "global"))
        (self.folder / "HEAD").write_bytes(f"{head or 'ref: refs/heads/unborn'}\n".encode())
        stores = [*([str(farm)] if farm else []), f"{self.where.common_dir}/objects"]
        (self.folder / "objects/info/alternates").write_bytes(os.fsencode("".join(f"{s}\n" for s in stores)))
        for name in ("exclude", "attributes"):
            with contextlib.suppress(OSError):
                shutil.copyfile(Path(self.where.common_dir, "info", name), self.folder / "info" / name)

    def writes_links_as_files(self) -> bool:
        """Whether the settings say so (``core.symlinks``): a work tree that Windows shares has no links."""
        given = b"".join(path.read_bytes() for name in ("global", "config") if (path := self.folder / name).exists())
        told = _SYMLINKS.findall(given)
        return bool(told) and told[-1].lower() in _NO

    def copy_index(self) -> None:
        """The repository's present index becomes the private one.

        The file's own time goes with it: git trusts an entry only if it is older than the index (recovery.md 1.2).
        """
        with contextlib.suppress(FileNotFoundError):
            self.index.unlink()
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(Path(self.where.git_dir, "index"), self.index)
        for shared in Path(self.where.git_dir).glob("sharedindex.*"):
            shutil.copy2(shared, self.folder / shared.name)

    def changed(self) -> list[str]:
        """Tracked files whose stat data differs from the private index; gone ones too."""
        return self.git.names("diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all")

    def differing(self) -> list[str]:
        """Those of the changed whose content or executable bit differs.

        Files are hashed and compared with the index: ``git diff`` would believe the content of a damaged object.
        """
        self.git.run("update-index", "-q", "--refresh", ok=(0, 1))
        return list(dict.fromkeys(self.changed()))

    def flagged(self) -> list[str]:
        """Files at which git was told not to look: assume-unchanged, skip-worktree."""
        return [os.fsdecode(name) for name in _FLAGGED.findall(b"\0" + self.git.run("ls-files", "-v", "-z"))]

    def unflag(self, names: Iterable[str]) -> None:
        """Let git look at them, in the private index."""
        if given := lines(names):
            for flag in ("--no-assume-unchanged", "--no-skip-worktree"):
                self.git.run("update-index", flag, "-z", "--stdin", stdin=given)

    def others(self, *excludes: str) -> list[str]:
        """Files that the private index does not know; embedded repositories end in ``/``."""
        return self.git.names("ls-files", "--others", "-z", *excludes)


def trusted(root: str, folder: Path) -> PrivateGitDir:
    """The shadow in a session's baseline folder; where it holds none, made from the repository as it is now.

    Raises HostError.
    """
    shadow = PrivateGitDir(layout(root), folder / "git")
    if not (shadow.folder / "HEAD").exists():
        shadow.make(farm=folder / "objects")
    return shadow


def scan(shadow: PrivateGitDir, *excludes: str) -> list[str]:
    """Names whose files differ from the private index, and those that it does not know."""
    return list(itertools.chain(*together(shadow.changed, lambda: shadow.others(*excludes))))


def stage(git: Git, names: list[str]) -> list[str]:
    """Put names into the index; returns those that git cannot take (half by half, so one does not spoil all)."""
    if not names:
        return []
    try:
        git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=lines(names))
    except HostError:
        if len(names) == 1:
            return names
        half = len(names) // 2
        return [*stage(git, names[:half]), *stage(git, names[half:])]
    return []
