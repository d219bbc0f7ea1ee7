"""The user's git configuration: backed up at session start, restored at a rollback, for it affects every repository.

What counts is what git itself reads: its usual files, those that they include, and the lists that they name; of the
repository's own those that lie elsewhere, by a name or by a link.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sentinel_guard.host.git.private_git_dir import Layout
from sentinel_guard.host.git.run_git import Setting
from sentinel_guard.host.machine import deep_folders
from sentinel_guard.host.machine.content_addressed_store import ContentAddressedStore, Kept
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

NAMED = ("core.excludesfile", "core.attributesfile")
"""Settings that name a file of the user's."""
_LINKED = ("hooks", "info")
"""Folders of a git directory that may be links to elsewhere."""
MOST = 1_000
"""Files in such a folder that are kept."""


def keep(vault: ContentAddressedStore, where: Layout, settings: Iterable[Setting]) -> dict[str, Kept]:
    """The user's files, names relative to ``/``: ABSENT for what an agent could put there. Raises OSError.

    ``settings``: those in force.
    """
    tree, kept = SymlinkSafeFolder("/", Path(os.devnull)), dict[str, Kept]()
    for path in dict.fromkeys((*_paths(where, settings), *_elsewhere(where))):
        # The link itself and what it leads to: a dotfiles repository is often linked to.
        for name in (_resolved(path.parent) / path.name, path.resolve()):
            found = None if _inside(name, where) else vault.keep(tree, str(name)[1:])
            if found is not None:
                kept[str(name)[1:]] = found
    return kept


def _paths(where: Layout, settings: Iterable[Setting]) -> Iterator[Path]:
    home = os.environ.get("HOME", "")
    base = os.environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    yield from (Path(base, "git", name) for name in ("config", "ignore", "attributes") if base)
    yield from (Path(home, name) for name in (".gitconfig",) if home)
    for scope, key, value, origin in settings:
        if scope == "system":
            continue
        yield Path(where.root, origin)
        if key in NAMED and value:
            yield Path(where.root, os.path.expanduser(value))  # noqa: PTH111 - a name that cannot be expanded stays


def _elsewhere(where: Layout) -> Iterator[Path]:
    tops = (Path(top, name) for top in dict.fromkeys((where.git_dir, where.common_dir)) for name in _LINKED)
    for top in tops:
        if top.is_symlink():
            walked = deep_folders.walk(top.resolve())
            yield from itertools.islice((Path(folder, name) for folder, _, names in walked for name in names), MOST)


def _resolved(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def _inside(path: Path, where: Layout) -> bool:
    """True for what is the repository's own, and kept as such."""
    return path.is_relative_to(where.root) or path.is_relative_to(where.common_dir)
