"""The user's git configuration: backed up at session start, restored at a rollback, for it affects every repository.

What counts is what git itself reads: its usual files, those that they include (on a condition, too), and the lists and
the folder of hooks that they name; of the repository's own those that lie elsewhere, by a name or by a link.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from sentinel_guard.host.git.private_git_dir import Layout
from sentinel_guard.host.git.run_git import Setting
from sentinel_guard.host.machine import deep_folders
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore, Kept
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

NAMED = ("core.excludesfile", "core.attributesfile")
"""Settings that name a file of the user's."""
HOOKS = "core.hookspath"
"""The setting that names the folder of the hooks."""
INCLUDES = ("include.", "includeif.")
"""What keys begin with that name other files."""
_LINKED = ("hooks", "info")
"""Folders of a git directory that may be links to elsewhere."""
MOST = 1_000
"""Files in such a folder that are kept."""


def keep(vault: ContentAddressedStore, where: Layout, settings: Iterable[Setting]) -> dict[str, Kept]:
    """The user's files, names relative to ``/``: ABSENT for what an agent could put there. Raises OSError.

    ``settings``: those in force.
    """
    tree, kept = SymlinkSafeFolder("/", Path(os.devnull)), dict[str, Kept]()
    sources = dict.fromkeys((*_links(where), *folders(where, settings)))
    inside = (Path(n) for at in sources for n in itertools.islice(_files(at), MOST))
    for path in dict.fromkeys((*_paths(where, settings), *inside)):
        # The link itself and what it leads to: a dotfiles repository is often linked to.
        for name in (_resolved(path.parent) / path.name, path.resolve()):
            found = None if _inside(name, where) else vault.keep(tree, str(name)[1:])
            if found is not None:
                kept[str(name)[1:]] = found
    return kept


def folders(where: Layout, settings: Iterable[Setting]) -> tuple[str, ...]:
    """Absolute folders outside of the repository all of whose files are kept: git takes each of them. A folder of more
    than MOST files is one of other things, too (a home that is named as the folder of hooks). ``settings``: those in
    force.
    """
    named = (_expanded(where.root, s.value) for s in settings if s.key == HOOKS and s.value and s.scope != "system")
    found = dict.fromkeys((*_links(where), *_outside(where, named)))
    return tuple(f for f in found if sum(1 for _ in itertools.islice(_files(f), MOST + 1)) <= MOST)


def added(folders: Iterable[str], kept: Mapping[str, Kept]) -> list[str]:
    """Names (relative to ``/``) of the files in ``folders`` that were not there when ``kept`` was."""
    return [name[1:] for folder in folders for name in _files(folder) if name[1:] not in kept]


def _links(where: Layout) -> list[str]:
    """Folders that the repository's own are links to."""
    tops = dict.fromkeys((where.git_dir, where.common_dir))
    return _outside(where, (path for top in tops for name in _LINKED if (path := Path(top, name)).is_symlink()))


def _outside(where: Layout, paths: Iterable[Path]) -> list[str]:
    real = dict.fromkeys(path.resolve() for path in paths)
    return [str(path) for path in real if path.is_dir() and not _inside(path, where)]


def _files(folder: str) -> Iterator[str]:
    return (f"{at}/{name}" for at, _, names in deep_folders.walk(folder) for name in names)


def _paths(where: Layout, settings: Iterable[Setting]) -> Iterator[Path]:
    home = os.environ.get("HOME", "")
    base = os.environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    yield from (Path(base, "git", name) for name in ("config", "ignore", "attributes") if base)
    yield from (Path(home, name) for name in (".gitconfig",) if home)
    told = [s for s in settings if s.scope != "system"]
    origins = {_expanded(where.root, s.origin) for s in told}
    yield from origins
    yield from (_expanded(where.root, s.value) for s in told if s.key in NAMED and s.value)
    yield from _included(where, told, origins)


def _included(where: Layout, told: Iterable[Setting], known: set[Path]) -> Iterator[Path]:
    """Files that are included on a condition that does not hold now, or that are not there."""
    for scope, key, value, origin in told:
        if not (key.startswith(INCLUDES) and value):
            continue
        path = _expanded(str(Path(where.root, origin).parent), value)
        if path not in known:
            known.add(path)
            yield path
            if path.is_file():
                more = where.git.run("config", "--file", str(path), "--list", "-z", ok=(0, 128))
                rows = (row.partition("\n") for row in os.fsdecode(more).split("\0"))
                yield from _included(where, [Setting(scope, k, v, str(path)) for k, _, v in rows if v], known)


def _expanded(base: str, name: str) -> Path:
    # Not by pathlib: a name that cannot be expanded stays.
    return Path(base, os.path.expanduser(name))  # noqa: PTH111


def _resolved(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def _inside(path: Path, where: Layout) -> bool:
    """True for what is the repository's own, and kept as such."""
    return path.is_relative_to(where.root) or path.is_relative_to(where.common_dir)
