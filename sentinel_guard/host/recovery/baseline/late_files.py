"""Keeps what a baseline cannot have from git: ignored files, what lies in submodules that are not checked out, files
and folders called ``.git`` that git shows nobody, and clean tracked files that git would write otherwise.

Rules of this file:
1. It is found while the agent works already: what was changed since the start is not believed, and said.
2. Ignored files are kept up to a budget, the smallest first; generated ones are not. Of what is too large, or of too
   many, size and times are remembered, so that a rollback names it where it was changed.
3. Repositories in ignored folders are files like others, their git directories included; so are those that get no
   baseline of their own, and the git directories of those that begin among tracked files.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sentinel_guard.host.git import ignored_files
from sentinel_guard.host.machine import birth_time, deep_folders
from sentinel_guard.host.machine.content_addressed_store import (
    FILE,
    LINK,
    UNKEPT,
    ContentAddressedStore,
    Kept,
    Linked,
    signature,
)
from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.machine.symlink_safe_folder import OWN
from sentinel_guard.host.recovery.baseline import converted_files
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

MOST = 20_000
"""Ignored files over the budget whose size and times are remembered."""
ATTRIBUTED = 10_000
"""Tracked files up to which clean ones are asked for extended attributes: a system call each."""
CACHES = frozenset(("__pycache__", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache"))
"""Folders that tools fill anew without being asked."""


@dataclass(slots=True)
class LateFiles:
    """What was found; names relative to the root."""

    kept: dict[str, Kept] = field(default_factory=dict)
    unsettled: list[str] = field(default_factory=list)
    """Those of them that were written to since the session had begun."""
    generated: list[str] = field(default_factory=list)
    """Folders that tools have made; their names end in ``/``."""
    empty: list[str] = field(default_factory=list)
    """Empty folders of git directories: git knows none that has no ``refs``."""
    linked: Linked = field(default_factory=dict)
    """Names of ``kept`` that have several."""
    notes: list[str] = field(default_factory=list)
    """What could not be kept, in words."""


def keep(
    baseline: Baseline,
    vault: ContentAddressedStore,
    dots: Iterable[str],
    tracked: Collection[str],
    recent: Iterable[str],
) -> LateFiles:
    """``dots``: files and folders called ``.git``; ``recent``: as ``Completion.recent``. Raises HostError, OSError."""
    found, ignored = LateFiles(), frozenset(n.rstrip("/") for n in baseline.ignored)
    apart = [n for n in baseline.embedded if n not in baseline.nested]
    inside = tuple(f"{n}/" for n in baseline.nested)
    names = [*(n for n in ignored if n not in baseline.files), *apart, *(n for n in dots if not n.startswith(inside))]
    chosen = ignored_files.choose(baseline.root, names, HEAVY - {".git"}, ignored_files.COMPILED)
    for name in dict.fromkeys(chosen.names):
        if seen := _seen(baseline, name):
            if birth_time.is_since(seen.st_ctime, baseline.taken):
                if name not in ignored and not _is_old(baseline, name):
                    continue
                found.unsettled.append(name)
            _keep(baseline, vault, name, found)
    found.empty += [n for n in chosen.empty if "/.git/" in n and _settled(baseline, n)]
    _remember(baseline, [*chosen.too_large, *_of(baseline.root, chosen.too_many)], found)
    converted, too_many = converted_files.find(baseline, recent, found.kept)
    clean = [*converted, *(_attributed(baseline, tracked) if len(tracked) <= ATTRIBUTED else ())]
    found.kept |= {n: k for n, k in _clean(baseline, vault, clean) if n not in found.kept}
    gone = [n for n in converted if n not in found.kept]
    found.notes += [f"{n} was changed before its bytes were kept: it comes back as git writes it." for n in gone]
    if too_many:
        words = f"{too_many[0]} and {len(too_many) - 1} more" if too_many[1:] else too_many[0]
        found.notes.append(f"{words}: the bytes were not kept, there are too many; what git writes comes back.")
    found.generated += [n for n in chosen.generated if n.endswith("/") and CACHES.isdisjoint(n.split("/"))]
    found.notes += [f"{n} is ignored and holds too many files: they were not kept." for n in chosen.too_many]
    found.notes += [f"{n} was written to as the session began: it is kept as it was then." for n in found.unsettled]
    return found


def _keep(baseline: Baseline, vault: ContentAddressedStore, name: str, found: LateFiles) -> None:
    kept = vault.keep(baseline.tree, name, linked=found.linked)
    if kept and kept.kind in (FILE, LINK, UNKEPT):
        found.kept[name] = kept


def _attributed(baseline: Baseline, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        with contextlib.suppress(OSError, AttributeError):
            told = os.listxattr(f"{baseline.root}/{name}", follow_symlinks=False)
            if any(n.startswith(OWN) for n in told):
                yield name


def _clean(baseline: Baseline, vault: ContentAddressedStore, names: Iterable[str]) -> Iterator[tuple[str, Kept]]:
    for name in names:
        seen = _seen(baseline, name)
        if seen and not birth_time.is_since(seen.st_ctime, baseline.taken):
            kept = vault.keep(baseline.tree, name)
            if kept and kept.kind == FILE:
                yield name, kept


def _of(root: str, folders: Iterable[str]) -> Iterator[str]:
    """The files in folders of too many, without generated ones."""
    for name in folders:
        for folder, below, files in deep_folders.walk(f"{root}/{name.rstrip('/')}"):
            below[:] = [b for b in below if b not in HEAVY - {".git"}]
            yield from (f"{folder}/{f}"[len(root) + 1 :] for f in files if not f.endswith(ignored_files.COMPILED))


def _remember(baseline: Baseline, names: Sequence[str], found: LateFiles) -> None:
    left = MOST
    for number, name in enumerate(names):
        if not left:
            found.notes.append(f"Of {len(names) - number} ignored files not even size and time are remembered.")
            return
        seen = _seen(baseline, name)
        if seen and not (birth_time.is_since(seen.st_ctime, baseline.taken) or stat.S_ISDIR(seen.st_mode)):
            found.kept[name] = signature(seen)
            left -= 1


def _seen(baseline: Baseline, name: str) -> os.stat_result | None:
    """What stands there; None for what is kept already, too."""
    return None if name in baseline.files else baseline.tree.lstat(name)


def _settled(baseline: Baseline, name: str) -> bool:
    """Whether nothing was done to it since the session began."""
    seen = baseline.tree.lstat(name)
    return seen is not None and not birth_time.is_since(seen.st_ctime, baseline.taken)


def _is_old(baseline: Baseline, name: str) -> bool:
    """Whether a file was made before the session began; False where that cannot be told."""
    try:
        return 0 < birth_time.born(f"{baseline.root}/{name}") <= baseline.taken
    except OSError:
        return False
