"""The user's git configuration: backed up at session start, restored at a rollback, for it affects every repository.

What counts is what git itself reads: its usual files, those that they include (on a condition, too), and the lists and
the folder of hooks that they name; of the repository's own those that lie elsewhere, by a name or by a link.
"""

from __future__ import annotations

import itertools
import os
import stat
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


def keep(vault: ContentAddressedStore, where: Layout, settings: Iterable[Setting], own: Path) -> dict[str, Kept]:
    """The user's files, names relative to ``/``: ABSENT for what an agent could put there. Raises OSError.

    ``settings``: those in force; ``own``: the baseline's folder.
    """
    tree, kept = SymlinkSafeFolder("/", Path(os.devnull)), dict[str, Kept]()
    sources = dict.fromkeys((*_links(where, own), *folders(where, settings, own)))
    inside = (Path(n) for at in sources for n in itertools.islice(_files(at), MOST))
    for path in dict.fromkeys((*_paths(where, settings), *inside)):
        # The link itself and what it leads to: a dotfiles repository is often linked to.
        for name in (_resolved(path.parent) / path.name, _resolved(path)):
            found = None if _inside(name, where) else vault.keep(tree, str(name)[1:])
            if found is not None:
                kept[str(name)[1:]] = found
    return kept


def folders(where: Layout, settings: Iterable[Setting], own: Path) -> tuple[str, ...]:
    """Absolute folders outside of the repository all of whose files are kept: git takes each of them. A folder of more
    than MOST files is one of other things, too (a home that is named as the folder of hooks), and so is one in which
    the repository or the baseline lies. ``settings``, ``own``: see ``keep``.
    """
    named = (_expanded(where.root, s.value) for s in settings if s.key == HOOKS and s.value and s.scope != "system")
    found = dict.fromkeys((*_links(where, own), *_outside(where, own, named)))
    return tuple(f for f in found if sum(1 for _ in itertools.islice(_files(f), MOST + 1)) <= MOST)


def added(where: Layout, own: Path, folders: Iterable[str], kept: Mapping[str, Kept]) -> list[str]:
    """Names (relative to ``/``) of the files and links in ``folders`` that were not there when ``kept`` was; none of a
    folder whose place a link took. ``own``: see ``keep``.
    """
    real = (folder for folder in folders if _outside(where, own, (Path(folder),)) == [folder])
    return [name[1:] for folder in real for name in _files(folder) if name[1:] not in kept and _is_file(name)]


def _links(where: Layout, own: Path) -> list[str]:
    """Folders that the repository's own are links to."""
    tops = dict.fromkeys((where.git_dir, where.common_dir))
    return _outside(where, own, (path for top in tops for name in _LINKED if (path := Path(top, name)).is_symlink()))


def _outside(where: Layout, own: Path, paths: Iterable[Path]) -> list[str]:
    """The folders, links followed, that have nothing in common with the repository and the baseline."""
    real, apart = dict.fromkeys(map(_resolved, paths)), (Path(where.root), Path(where.common_dir), _resolved(own))
    found = (path for path in real if not (_inside(path, where) or any(p.is_relative_to(path) for p in apart)))
    # Not by pathlib, which raises where a folder may not be entered.
    return [str(path) for path in found if os.path.isdir(path)]  # noqa: PTH112


def _is_file(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


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
            if os.path.isfile(path):  # noqa: PTH113 - pathlib raises where a folder may not be entered
                more = where.git.run("config", "--file", str(path), "--list", "-z", ok=(0, 128))
                rows = (row.partition("\n") for row in os.fsdecode(more).split("\0"))
                yield from _included(where, [Setting(scope, k, v, str(path)) for k, _, v in rows if v], known)


def _expanded(base: str, name: str) -> Path:
    # Not by pathlib: a name that cannot be expanded stays.
    return Path(base, os.path.expanduser(name))  # noqa: PTH111


def _resolved(path: Path) -> Path:
    # Not by pathlib, which raises where links lead round and round.
    return Path(os.path.realpath(path))


def _inside(path: Path, where: Layout) -> bool:
    """True for what is the repository's own, and kept as such."""
    return path.is_relative_to(where.root) or path.is_relative_to(where.common_dir)
