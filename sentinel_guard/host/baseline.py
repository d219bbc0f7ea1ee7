"""The state of a repository at the start of a session, kept outside of it (DESIGN section 8, R10)."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sentinel_guard.errors import HostError
from sentinel_guard.host import metadata, objects
from sentinel_guard.host.gitcommand import together
from sentinel_guard.host.ignores import flatten
from sentinel_guard.host.inventory import Status, Walk, status, tracked, walk
from sentinel_guard.host.repository import branch, commit
from sentinel_guard.host.rooted import Rooted
from sentinel_guard.host.shadow import Layout, Shadow, layout
from sentinel_guard.host.vault import UNKEPT, Kept, Vault

MANIFEST = "baseline.json"
NO_FARM = "The repository's objects could not be kept outside of it: no hard links there, and too large to copy."
FEW = 200
"""So many recently changed files are kept raw."""
USUAL = (0o644, 0o755)
"""Modes of plain and of executable files, where a work tree has none to learn from."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a rollback brings back. Names of files are relative to ``root``."""

    folder: Path
    """Private; holds manifest, vault, shadow git directory, object farm and quarantine."""
    session: str
    root: str
    taken: float
    head: str
    """START_HASH; empty on an unborn branch."""
    branch: str
    """``refs/heads/main``; empty where HEAD was detached."""
    clean: bool
    """True where no tracked file was staged, changed, deleted or flagged: ``git reset --hard`` alone loses nothing."""
    where: Layout
    dot: Kept | None
    """``.git`` itself where it is a file or a link; None for a folder."""
    own: Mapping[str, Kept]
    """Metadata of the git directory."""
    shared: Mapping[str, Kept]
    """Settings, hooks and info of the common directory, in a linked worktree."""
    refs: Mapping[str, str]
    """Names (HEAD where detached, ``stash@{..}`` too) and their hashes."""
    files: Mapping[str, Kept]
    """Staged, changed, deleted, untracked, flagged and restricted files, raw."""
    restricted: tuple[str, ...]
    embedded: tuple[str, ...]
    """Untracked repositories of their own: left alone."""
    empty: tuple[str, ...]
    """Empty folders."""
    modes: Mapping[str, int]
    """Modes that are not the usual ones."""
    usual: tuple[int, int]
    """Usual mode of plain and of executable files."""
    recent: tuple[str, ...]
    """Clean tracked files, too many to be kept raw, that had been changed in the seconds before: git may not see
    another change of them, so a rollback looks into every file."""
    notes: tuple[str, ...]
    """What could not be kept, in words."""

    @property
    def vault(self) -> Vault:
        return Vault(self.folder / "vault")

    @property
    def quarantine(self) -> Path:
        """Where a rollback moves what it removes: ``worktree/``, ``git/``, ``common/``, ``objects/``."""
        return self.folder / "quarantine"

    @property
    def farm(self) -> Path:
        return self.folder / "objects"

    @property
    def sealed(self) -> int:
        """Nanoseconds of the epoch: all was kept by then. 0 where that is not known."""
        try:
            return (self.folder / MANIFEST).stat().st_mtime_ns
        except OSError:
            return 0

    @property
    def shadow(self) -> Shadow:
        return Shadow(self.where, self.folder / "git")

    @property
    def tree(self) -> Rooted:
        return Rooted(self.root, self.quarantine / "worktree")

    @property
    def git_tree(self) -> Rooted:
        return Rooted(self.where.git_dir, self.quarantine / "git")

    @property
    def common_tree(self) -> Rooted:
        return Rooted(self.where.common_dir, self.quarantine / "common")

    @property
    def object_tree(self) -> Rooted:
        return Rooted(f"{self.where.common_dir}/objects", self.quarantine / "objects")


def take(root: str, folder: Path, restricts: Callable[[str], bool], session: str = "") -> Baseline:
    """Keep the present state of the repository whose top is ``root`` in ``folder``, which is made, private.

    ``restricts`` is asked with absolute paths. ``session`` names the refs of a later rollback. Raises HostError.
    """
    root = os.path.realpath(root)
    where = layout(root)
    _make(folder, root)
    shadow = Shadow(where, folder / "git")
    head, stands_on = together(lambda: commit(where.git, "HEAD"), lambda: branch(root))
    settings = [(key, value) for _, key, value in shadow.make(head=head, farm=folder / "objects")]
    shadow.copy_index()
    with ThreadPoolExecutor() as pool:
        state, known = pool.submit(status, shadow), pool.submit(tracked, shadow)
        farmed = pool.submit(objects.farm, f"{where.common_dir}/objects", folder / "objects", head)
        names = walk(root, restricts)
    shadow.frozen.write_bytes(flatten(root, names.ignores, where.common_dir, settings))
    session = session or folder.name
    looked = (state.result(), known.result(), names)
    baseline = _described(folder, where, session=session, at=(head, stands_on), looked=looked)
    if not farmed.result():
        baseline = replace(baseline, notes=(*baseline.notes, NO_FARM))
    _save(baseline)
    return baseline


def _described(
    folder: Path, where: Layout, *, session: str, at: tuple[str, str], looked: tuple[Status, dict[str, bool], Walk]
) -> Baseline:
    state, known, names = looked
    flags = [n for n, flag in known.items() if flag]
    vault, tree = Vault(folder / "vault"), Rooted(where.root, folder)
    recent = [n for n in names.recent if n in known]
    raw = [*state.tracked, *state.untracked, *flags, *names.restricted, *(recent if len(recent) <= FEW else ())]
    files = _kept(vault, tree, raw)
    own = metadata.keep(Rooted(where.git_dir, folder), vault)
    usual = _usual(names.modes)
    return Baseline(
        folder=folder,
        session=session,
        root=where.root,
        taken=time.time(),
        head=at[0],
        branch=at[1],
        clean=not (state.tracked or flags),
        where=where,
        dot=vault.keep(tree, ".git"),
        own=own,
        shared=metadata.keep(Rooted(where.common_dir, folder), vault, metadata.SHARED) if where.linked else {},
        refs=metadata.refs(where.common_dir, where.git_dir),
        files=files,
        restricted=tuple(sorted(names.restricted)),
        embedded=state.embedded,
        empty=tuple(names.empty),
        modes={n: m for n, m in names.modes.items() if m not in usual},
        usual=usual,
        recent=tuple(n for n in recent if n not in files),
        notes=(
            *_unkept(files),
            *_unkept(own, ".git/"),
            *(f"{n} is a repository of its own: not kept." for n in state.embedded),
        ),
    )


def _kept(vault: Vault, tree: Rooted, names: list[str]) -> dict[str, Kept]:
    kept = {name: vault.keep(tree, name) for name in dict.fromkeys(names)}
    return {name: k for name, k in kept.items() if k is not None}


def _unkept(kept: Mapping[str, Kept], prefix: str = "") -> list[str]:
    unkept = [(n, k.size) for n, k in kept.items() if k.kind == UNKEPT]
    return [f"{prefix}{n} was not kept: too large ({size} bytes) or not readable." for n, size in unkept]


def _usual(modes: Mapping[str, int]) -> tuple[int, int]:
    plain = Counter(m for m in modes.values() if not m & 0o100).most_common(1)
    executable = Counter(m for m in modes.values() if m & 0o100).most_common(1)
    return (plain[0][0] if plain else USUAL[0], executable[0][0] if executable else USUAL[1])


def _make(folder: Path, root: str) -> None:
    if folder.absolute().is_relative_to(root):
        raise HostError(f"{folder} lies inside {root}.", "Set SENTINEL_HOME to a folder outside of the repository.")
    if (folder / MANIFEST).exists():
        raise HostError(f"{folder} holds a baseline already.", "Take each session's baseline in a folder of its own.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as e:
        hint = "Set SENTINEL_HOME to a folder that you can write."
        raise HostError(f"Cannot make the folder {folder}: {e.strerror}.", hint) from e


_MAPS = ("own", "shared", "files")
_WORDS = ("session", "root", "taken", "head", "branch", "clean", "refs", "modes")
_LISTS = ("restricted", "embedded", "empty", "usual", "recent", "notes")


def _save(baseline: Baseline) -> None:
    data: dict[str, object] = {"version": 1, "git_dir": baseline.where.git_dir, "common_dir": baseline.where.common_dir}
    data |= {name: getattr(baseline, name) for name in (*_WORDS, *_LISTS)}
    data |= {name: {n: k.row() for n, k in getattr(baseline, name).items()} for name in _MAPS}
    data["dot"] = baseline.dot.row() if baseline.dot else None
    write_json(baseline.folder / MANIFEST, data)


def write_json(path: Path, data: object) -> None:
    """Written aside, synced, renamed; private."""
    aside = path.with_suffix(".new")
    with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as f:  # noqa: PTH123 - a mode
        json.dump(data, f)
        f.flush()
        os.fsync(f.fileno())
    aside.rename(path)


def load(folder: Path) -> Baseline:
    """The baseline that was taken in this folder. Raises HostError where there is none, or a broken one."""
    try:
        data = json.loads((folder / MANIFEST).read_bytes())
        fields: dict[str, Any] = {name: data[name] for name in _WORDS}
        fields |= {name: tuple(data[name]) for name in _LISTS}
        fields |= {name: {n: Kept.from_row(row) for n, row in data[name].items()} for name in _MAPS}
        fields["where"] = Layout(data["root"], data["git_dir"], data["common_dir"])
        fields["dot"] = Kept.from_row(data["dot"]) if data["dot"] else None
        return Baseline(folder=folder, **fields)
    except OSError as e:
        hint = "Only a session that the guard started can be rolled back."
        raise HostError(f"There is no baseline in {folder}: {e.strerror}.", hint) from e
    except (ValueError, KeyError, TypeError) as e:
        hint = "The files are in the vault beside it, by their SHA-256."
        raise HostError(f"The baseline in {folder} cannot be read: {e}.", hint) from e
