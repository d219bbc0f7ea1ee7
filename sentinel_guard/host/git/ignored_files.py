"""Chooses which git-ignored files are worth keeping: git holds no copy of them, and many were generated."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sentinel_guard.host.git.private_git_dir import PrivateGitDir
from sentinel_guard.host.machine import deep_folders
from sentinel_guard.host.machine.content_addressed_store import MAX_FILE
from sentinel_guard.host.machine.deep_folders import HEAVY

MAX_ALL = 200 << 20
"""Bytes of ignored files that one snapshot takes in, the smallest first."""
MAX_NAMES = 5000
"""So many files below one ignored folder are looked at: where there are more, they were generated."""


CACHE = "CACHEDIR.TAG"
"""A file that says of its folder that all in it can be made again (bford.info/cachedir)."""
BUILT = (".o", ".obj", ".lo", ".a", ".la", ".lib", ".so", ".dylib", ".dll", ".pyc", ".class", ".rlib", ".rmeta", ".pch")
"""What only compilers write."""
COMPILED = (".o", ".obj", ".lo", ".la", ".pyc", ".class", ".rlib", ".rmeta", ".pch")
"""What of it is no library, which somebody may have brought."""


@dataclass(slots=True)
class EndangeredFiles:
    """Names relative to the root."""

    names: list[str] = field(default_factory=list)
    too_large: list[str] = field(default_factory=list)
    """Files over what one of them or all may hold."""
    too_many: list[str] = field(default_factory=list)
    """Folders of too many files; a name ends in ``/``."""
    generated: list[str] = field(default_factory=list)
    """A folder (ends in ``/``), or a pattern of what compilers write."""
    empty: list[str] = field(default_factory=list)
    """Folders without anything in them."""

    @property
    def left_out(self) -> list[str]:
        return [*self.generated, *self.too_many, *self.too_large]


def find_endangered_files(shadow: PrivateGitDir, targets: Iterable[str]) -> EndangeredFiles:
    """The ignored files among and below the targets, which are absolute paths. Raises HostError."""
    wanted = _below(shadow.where.root, targets)
    names, within = list[str](), list[str]()
    for path in (path for name in _ignored(shadow, wanted) for path in _meant(name, wanted)):
        (names if HEAVY.isdisjoint(path.split("/")[:-1]) else within).append(path)
    found = choose(shadow.where.root, names, HEAVY)
    found.generated += [f"{name}/" for name in within]
    return found


def choose(
    root: str, names: Iterable[str], heavy: frozenset[str], compiled: tuple[str, ...] = BUILT
) -> EndangeredFiles:
    """The files among and below ``names`` (relative to the root), the smallest first, as far as they may be kept.

    ``heavy``: names of folders of generated files, among ``names`` and below them; ``compiled``: endings of files that
    are.
    """
    found, sizes = EndangeredFiles(), dict[str, int]()
    for name in names:
        sizes |= _sizes(root, name, found, heavy, compiled)
    room = MAX_ALL
    for name, size in sorted(sizes.items(), key=lambda row: row[1]):
        room -= size
        (found.names if room >= 0 and size <= MAX_FILE else found.too_large).append(name)
    return found


def _below(root: str, targets: Iterable[str]) -> list[str]:
    """The targets in the work tree, relative to its top; ``.`` for all of it."""
    relative = {os.path.relpath(t, root) for t in targets}
    return ["."] if "." in relative else sorted(r for r in relative if r.split("/")[0] not in ("..", ".git"))


def _ignored(shadow: PrivateGitDir, wanted: list[str]) -> list[str]:
    """Ignored files and, as ``name/``, folders of which git ignores all."""
    if not wanted:
        return []
    # Of a single folder within an ignored one git says "internal error"; with a second path it does not.
    flags = ("--others", "--ignored", "--exclude-standard", "--directory", "-z", "--", *wanted, ".git")
    return shadow.git.names("--literal-pathspecs", "ls-files", *flags)


def _meant(name: str, wanted: list[str]) -> Iterator[str]:
    """What of an ignored name is meant: itself, or the targets that lie below it."""
    path = name.rstrip("/")
    if "." in wanted or any(path == w or path.startswith(f"{w}/") for w in wanted):
        yield path
    elif name.endswith("/"):
        yield from (w for w in wanted if w.startswith(name))


def _sizes(
    root: str, path: str, found: EndangeredFiles, heavy: frozenset[str], compiled: tuple[str, ...]
) -> dict[str, int]:
    """Files at and below a path, with their sizes; folders of generated files are left out."""
    if path.rpartition("/")[2] in heavy:
        found.generated.append(f"{path}/")
        return {}
    sizes, built = _size(root, path), dict[str, None]()
    for folder, below, files in deep_folders.walk(f"{root}/{path}"):
        base = folder[len(root) + 1 :]
        if CACHE in files:
            found.generated.append(f"{base}/")
            below.clear()
            continue
        found.empty += [] if below or files else [base]
        found.generated += [f"{base}/{b}/" for b in below if b in heavy]
        below[:] = [b for b in below if b not in heavy]
        for name in files:
            # A name has one last ending: this is called for each of a hundred thousand.
            if (end := name[name.rfind(".") :]) in compiled:
                built[f"{path}/**/*{end}"] = None
            else:
                sizes |= _size(root, f"{base}/{name}")
        if len(sizes) > MAX_NAMES:
            found.too_many.append(f"{path}/")
            return {}
    found.generated += built
    return sizes


def _size(root: str, name: str) -> dict[str, int]:
    try:
        seen = os.lstat(f"{root}/{name}")
    except OSError:
        return {}
    return {name: seen.st_size} if stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode) else {}
