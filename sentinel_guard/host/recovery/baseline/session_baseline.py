"""The baseline: the state of a repository at the start of a session, kept outside of it (DESIGN section 8, R10).

Rules of this file:
1. The manifest is written once, after all that it names; what is found later has a file of its own.
2. A baseline that was never completed is one: what is not known is looked into, file by file.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import Layout, PrivateGitDir
from sentinel_guard.host.machine.atomic_files import write_json
from sentinel_guard.host.machine.content_addressed_store import LINK, ContentAddressedStore, Kept
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

MANIFEST, REST, TABLE = "baseline.json", "completed.json", "files.json"
TABLED = 1000
"""Files from which on they have a table of their own, which later baselines share."""
LOOKED = 20
"""Earlier sessions that are looked at for a baseline of the same work tree."""
HEAD = 8192
"""Bytes of a manifest within which its root stands."""
HALF = "The baseline was never completed: modes beyond the executable bit, and empty folders, were not looked at."
USUAL = (0o644, 0o755)
"""Modes of plain and of executable files, where a work tree has none to learn from."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What was found while the agent worked already."""

    complete: bool = False
    """False where it was never found: nothing of it is known then."""
    empty: tuple[str, ...] = ()
    """Empty folders."""
    modes: Mapping[str, int] = field(default_factory=dict)
    """Modes of files that are not the usual ones."""
    folders: Mapping[str, int] = field(default_factory=dict)
    """Modes of folders."""
    stamps: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Inode and change time (ns) of folders whose names were read, from the top down, the root (empty name) too; (0, 0)
    where they prove nothing later. None at all on a file system that is not known to keep them (folder_survey)."""
    usual: tuple[int, int] = USUAL
    """Usual mode of plain and of executable files."""
    recent: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Clean tracked files that had been changed in the seconds before the start, or were since, and what the index says
    of them: mode (octal), hash. git may not see another change of them, so a rollback looks into them."""
    farmed: int = 0
    """Files of the object farm; 0 where it could not be made whole."""
    late: Mapping[str, Kept] = field(default_factory=dict)
    """Ignored files, and clean tracked ones that git would write otherwise, raw."""
    special: tuple[str, ...] = ()
    """Named pipes, sockets and devices: what is none of files, links and folders. git does not see them."""
    pipes: tuple[str, ...] = ()
    """Those of them that no program makes anew by itself: all but sockets."""
    git_files: tuple[str, ...] | None = None
    """Files that are called ``.git``; None where that was not written down."""
    git_folders: tuple[str, ...] | None = None
    """Folders that are called so, and that git does not show as repositories; None where that was not written down."""
    links: tuple[tuple[str, ...], ...] = ()
    """Names that are hard links of each other."""
    shut: Mapping[str, int] = field(default_factory=dict)
    """Folders that could not be read (or hold some of too long paths), and their change time (ns)."""
    unsettled: tuple[str, ...] = ()
    """Of ``late``: those that were written to since the session had begun, and are kept as they were then."""
    generated: tuple[str, ...] = ()
    """Ignored folders (their names end in ``/``) that tools have made and that are not kept."""
    elsewhere: tuple[str, ...] = ()
    """Absolute folders of other worktrees."""
    borrowed: str = ""
    """Of the objects that lie in other repositories (``borrowed_objects.fingerprint``)."""
    lost: tuple[str, ...] = ()
    """Hashes of objects that were there at the start and were gone when all were kept."""
    packs: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The vault's packs when all was in them (``ContentPacks.states``)."""
    notes: tuple[str, ...] = ()
    """What could not be kept, in words."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a rollback brings back. Names of files are relative to ``root``."""

    folder: Path
    """Private; holds manifest, vault, shadow git directory, object farm and quarantine."""
    session: str
    taken: float
    head: str
    """START_HASH; empty on an unborn branch."""
    branch: str
    """``refs/heads/main``; empty where HEAD was detached."""
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
    dirty: tuple[str, ...]
    """Tracked files that were staged, changed, deleted or flagged."""
    ignored: tuple[str, ...]
    """What git ignored as a whole; folders end in ``/``."""
    restricted: tuple[str, ...]
    displaced: tuple[str, ...]
    """Tracked files in whose place a folder stood, or what is no file: not put back."""
    flagged: tuple[str, ...]
    """Where git was told not to look."""
    embedded: tuple[str, ...]
    """Repositories of their own, untracked ones and submodules: not looked into from here."""
    nested: tuple[str, ...]
    """Those of them that have a baseline of their own."""
    doors: Mapping[str, int]
    """Modes of the root and of git's folders, by absolute path."""
    user: Mapping[str, Kept]
    """The user's own settings of git, and what else it takes from outside of the repository; names relative to ``/``.
    """
    notes: tuple[str, ...]
    """What could not be kept, in words."""
    taken_from: tuple[str, ...] = ()
    """Absolute folders outside of the repository all of whose files are in ``user`` (``user_git_config.folders``)."""
    rest: Completion = field(default_factory=Completion)
    before: Baseline | None = field(default=None, compare=False, repr=False)
    """The newest earlier one of the same work tree; not kept."""
    table: Mapping[str, Kept] = field(default_factory=dict, compare=False, repr=False)
    """What of ``files`` stands in TABLE."""
    linked: Mapping[tuple[int, int], list[str]] = field(default_factory=dict, compare=False, repr=False)
    """Names of ``files`` that have several, by device and inode; not kept as such (``Completion.links``)."""
    elsewhere: tuple[str, ...] | None = field(default=None, compare=False, repr=False)
    """As ``Completion.elsewhere``, when the session began; not kept as such."""

    @property
    def root(self) -> str:
        return self.where.root

    @property
    def clean(self) -> bool:
        """True where ``git reset --hard`` alone loses nothing."""
        return not self.dirty

    @property
    def raw(self) -> Mapping[str, Kept]:
        """All files that are kept raw."""
        return {**self.rest.late, **self.files}

    @property
    def unkept(self) -> tuple[str, ...]:
        """What could not be kept, in words."""
        return (*self.notes, *self.rest.notes, *(() if self.rest.complete else (HALF,)))

    @property
    def stores(self) -> Path:
        """What is kept of the git directory besides git's own objects."""
        return self.folder / "stores"

    @property
    def vault(self) -> ContentAddressedStore:
        return ContentAddressedStore(self.folder / "vault")

    @property
    def quarantine(self) -> Path:
        """Where a rollback moves what it removes: ``worktree/``, ``git/``, ``common/``, ``objects/``."""
        return self.folder / "quarantine"

    @property
    def farm(self) -> Path:
        return self.folder / "objects"

    @property
    def sealed(self) -> int:
        """Nanoseconds of the epoch: all objects were kept by then. 0 where that is not known."""
        try:
            return (self.folder / REST).stat().st_mtime_ns
        except OSError:
            return 0

    @property
    def deep(self) -> Path:
        """The folder of the independent pack."""
        return self.folder / "deep"

    @property
    def shallowed(self) -> Path:
        """There where a rollback had to make the repository shallow."""
        return self.folder / "shallowed"

    def below(self) -> Iterator[tuple[str, Baseline]]:
        """The repositories in this one and their baselines. Raises HostError."""
        for number, name in enumerate(self.nested):
            yield name, load(self.folder / "nested" / str(number))

    @property
    def user_tree(self) -> SymlinkSafeFolder:
        return SymlinkSafeFolder("/", self.quarantine / "user")

    @property
    def shadow(self) -> PrivateGitDir:
        return PrivateGitDir(self.where, self.folder / "git")

    @property
    def tree(self) -> SymlinkSafeFolder:
        return SymlinkSafeFolder(self.root, self.quarantine / "worktree")

    @property
    def git_tree(self) -> SymlinkSafeFolder:
        return SymlinkSafeFolder(self.where.git_dir, self.quarantine / "git")

    @property
    def common_tree(self) -> SymlinkSafeFolder:
        return SymlinkSafeFolder(self.where.common_dir, self.quarantine / "common")

    @property
    def object_tree(self) -> SymlinkSafeFolder:
        top, link = self.where.common_dir, self.shared.get("objects") or self.own.get("objects")
        if link is None or link.kind != LINK:
            return SymlinkSafeFolder(f"{top}/objects", self.quarantine / "objects")
        # Where it led at the start: to a larger disk, or to another repository.
        folder, _, name = os.path.normpath(os.path.join(top, link.content)).rpartition("/")  # noqa: PTH118 - a link's text
        return SymlinkSafeFolder(f"{os.path.realpath(folder)}/{name}", self.quarantine / "objects")


_MAPS = ("own", "shared", "user")
_WORDS = ("session", "taken", "head", "branch", "refs", "doors")
_LISTS = ("dirty", "ignored", "restricted", "displaced", "flagged", "embedded", "nested", "notes")
_LATE = (
    "empty",
    "usual",
    "special",
    "pipes",
    "git_files",
    "git_folders",
    "unsettled",
    "generated",
    "elsewhere",
    "lost",
    "notes",
)


def save(baseline: Baseline) -> Baseline:
    """Write the manifest. Raises OSError."""
    baseline, apart = _with_table(baseline)
    data: dict[str, object] = {
        "version": 2,
        "root": baseline.root,
        "git_dir": baseline.where.git_dir,
        "common_dir": baseline.where.common_dir,
    }
    data |= {name: getattr(baseline, name) for name in (*_WORDS, *_LISTS)}
    data |= {name: {n: k.row() for n, k in getattr(baseline, name).items()} for name in _MAPS}
    data["files"] = {n: k.row() for n, k in apart.items()}
    data["taken_from"] = baseline.taken_from
    data["without"] = sorted(baseline.table.keys() - baseline.files.keys())
    data["dot"] = baseline.dot.row() if baseline.dot else None
    write_json(baseline.folder / MANIFEST, data)
    return baseline


def _with_table(baseline: Baseline) -> tuple[Baseline, Mapping[str, Kept]]:
    """Write the table of files, or share the earlier baseline's by a hard link where little has changed; with it what
    the table does not hold.
    """
    files, before = baseline.files, baseline.before
    if len(files) < TABLED:
        return baseline, files
    table = before.table if before else {}
    apart = {n: k for n, k in files.items() if table.get(n) is not k}
    if before and (len(files) - len(apart)) * 8 > 7 * max(len(files), len(table)):
        with contextlib.suppress(OSError):
            (baseline.folder / TABLE).hardlink_to(before.folder / TABLE)
            return replace(baseline, table=table), apart
    write_json(baseline.folder / TABLE, {n: k.row() for n, k in files.items()})
    return replace(baseline, table=files), {}


def save_rest(baseline: Baseline) -> None:
    """Write what was found later. Raises OSError."""
    rest = {name: getattr(baseline.rest, name) for name in Completion.__dataclass_fields__}
    write_json(baseline.folder / REST, rest | {"late": {n: k.row() for n, k in baseline.rest.late.items()}})


def load(folder: Path) -> Baseline:
    """The baseline that was taken in this folder. Raises HostError where there is none, or a broken one."""
    try:
        data = json.loads((folder / MANIFEST).read_bytes())
        fields: dict[str, Any] = {name: data[name] for name in _WORDS}
        fields |= {name: tuple(data[name]) for name in _LISTS}
        fields |= {name: _kept(data[name]) for name in _MAPS}
        table = _kept(json.loads((folder / TABLE).read_bytes())) if (folder / TABLE).exists() else {}
        fields["table"] = table
        fields["files"] = table | _kept(data["files"])
        for name in data.get("without", ()):
            del fields["files"][name]
        fields["taken_from"] = tuple(data.get("taken_from", ()))
        fields["where"] = Layout(data["root"], data["git_dir"], data["common_dir"])
        fields["dot"] = Kept(*data["dot"]) if data["dot"] else None
        fields["rest"] = _rest(folder / REST)
        return Baseline(folder=folder, **fields)
    except OSError as e:
        hint = "Only a session that the guard started can be rolled back."
        raise HostError(f"There is no baseline in {folder}: {e.strerror}.", hint) from e
    except (ValueError, KeyError, TypeError) as e:
        hint = "The files are in the vault beside it, by their SHA-256."
        raise HostError(f"The baseline in {folder} cannot be read: {e}.", hint) from e


def _kept(rows: Mapping[str, list[Any]]) -> dict[str, Kept]:
    """Raises TypeError where a row is none."""
    return {name: Kept(*row) for name, row in rows.items()}


def _rest(path: Path) -> Completion:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Completion()
    lists: dict[str, Any] = {name: tuple(data[name]) for name in _LATE if data.get(name) is not None}
    lists["stamps"] = {name: (inode, changed) for name, (inode, changed) in data.get("stamps", {}).items()}
    lists["recent"] = {name: (mode, digest) for name, (mode, digest) in dict(data["recent"]).items()}
    lists["packs"] = {name: (size, at) for name, (size, at) in dict(data.get("packs", {})).items()}
    lists["links"] = tuple(tuple(names) for names in data.get("links", ()))
    return Completion(**data | lists | {"late": _kept(data.get("late", {}))})


def earlier(folder: Path, root: str) -> Baseline | None:
    """The newest baseline of the same work tree, of a session before the one whose baseline's folder this is."""
    mine = os.fsencode(f'"root": {json.dumps(root)}')
    siblings = (s / folder.name for s in sorted(folder.parents[1].iterdir(), reverse=True) if s != folder.parent)
    for other in itertools.islice(siblings, LOOKED):
        with contextlib.suppress(OSError, HostError):
            with (other / MANIFEST).open("rb") as f:
                if mine not in f.read(HEAD):
                    continue
            return load(other)
    return None
