"""A private content-addressed store of file copies, and restoring files from it (DESIGN section 8).

What is kept of a file is its bytes as they lie on the disk, never as a filter would show them.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeGuard

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import content_packs
from sentinel_guard.host.machine.content_packs import ContentPacks
from sentinel_guard.host.machine.symlink_safe_folder import NONE, SymlinkSafeFolder

MAX_FILE = 50 << 20
"""Bytes of the largest file that is kept; of a larger or unreadable one only size and time are remembered."""
SETTLED_NS = 50_000_000
"""A change time younger than this may still belong to two contents (the kernel's clock ticks in milliseconds)."""

Linked = dict[tuple[int, int], list[str]]
"""Names of files that have several, by device and inode."""
NO_PACKS: Mapping[str, Sequence[int]] = MappingProxyType({})
FILE, LINK, ABSENT, UNKEPT = "file", "link", "absent", "unkept"


class Kept(NamedTuple):
    """One path as it was: a named tuple, for a baseline has tens of thousands of them."""

    kind: str
    """``file``, ``link``, ``absent`` or ``unkept`` (a file over MAX_FILE or one that cannot be read)."""
    mode: int = 0
    mtime_ns: int = 0
    size: int = 0
    content: str = ""
    """SHA-256 of a file; target of a link."""
    inode: int = 0
    ctime_ns: int = 0
    """With the inode: a file that has both still, is untouched. 0 where that could not be relied upon."""
    attributes: Mapping[str, str] = NONE
    """Extended attributes of a file, the user's own (``user.*``): name -> value, in hexadecimal digits."""

    def row(self) -> tuple[object, ...]:
        """For JSON."""
        return (*self[:7], dict(self.attributes)) if self.attributes else self[:7]


class ContentAddressedStore:
    """A private folder of file contents, each known by its SHA-256.

    ``earlier``: a store that holds files of ``known`` (names and how they were); what was not touched since is shared
    with it, and not read again. ``packed``: small contents lie together in packs; none of them is forgotten alone.
    ``states``: those of the earlier store's packs (``ContentPacks.states``) when they held all small contents of
    ``known``.
    """

    def __init__(
        self,
        folder: Path,
        earlier: ContentAddressedStore | None = None,
        known: Mapping[str, Kept] | None = None,
        *,
        packed: bool = False,
        states: Mapping[str, Sequence[int]] = NO_PACKS,
    ) -> None:
        self.folder, self._earlier, self._known, self._packed = folder, earlier, known or {}, packed
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.packs, self._states = ContentPacks(folder), states

    def keep(
        self,
        tree: SymlinkSafeFolder,
        name: str,
        limit: int | None = None,
        real: dict[str, bool] | None = None,
        linked: Linked | None = None,
    ) -> Kept | None:
        """Keep what stands there; ABSENT for nothing, None for a folder, device, pipe or socket.

        ``limit``: bytes of the largest file; without it MAX_FILE. ``real``: see ``SymlinkSafeFolder.look``. ``linked``
        is filled.
        """
        try:
            seen = tree.lstat(name) if real is None else tree.look(name, real)
        except PermissionError:  # a folder that lists its names and lets nobody at them
            return Kept(UNKEPT)
        if seen is None:
            return Kept(ABSENT)
        if stat.S_ISLNK(seen.st_mode):
            return Kept(LINK, content=tree.readlink(name))
        if not stat.S_ISREG(seen.st_mode):
            return None
        if linked is not None and seen.st_nlink > 1:
            linked.setdefault((seen.st_dev, seen.st_ino), []).append(name)
        if seen.st_size > (MAX_FILE if limit is None else limit):
            return _signed(UNKEPT, seen, "")
        if self._shares(kept := self._known.get(name), seen):
            return kept
        try:
            data, seen, attributes = tree.read_whole(name, real)
        except OSError:
            return _signed(UNKEPT, seen, "")
        return _signed(FILE, seen, self.add(data), attributes)

    def keep_known(self, tree: SymlinkSafeFolder, names: Iterable[str], real: dict[str, bool]) -> dict[str, Kept]:
        """Those of the names that are files of ``known``, untouched, with no other name, and that the earlier store
        holds in its packs: as ``keep`` each, in a third of its time. ``real``: see ``SymlinkSafeFolder.look``.
        """
        found, root = dict[str, Kept](), tree.root
        if self._earlier is None:
            return found
        known, packs, whole = self._known, self._earlier.packs, content_packs.SMALL if self._holds_all else -1
        for name in names:
            kept, parent = known.get(name), name.rpartition("/")[0]
            if kept is None or kept.kind != FILE or not (real.get(parent) or tree.leads_through_folders(name, real)):
                continue
            try:
                seen = os.lstat(f"{root}/{name}")
            except OSError:
                continue
            same = untouched(kept, seen) and stat.S_ISREG(seen.st_mode) and seen.st_nlink == 1
            if same and (kept.size <= whole or self.packs.share(packs, kept.content, kept.size)):
                found[name] = kept
        return found

    @functools.cached_property
    def _holds_all(self) -> bool:
        """Whether all packs of the earlier store are this one's, too."""
        return self._earlier is not None and self.packs.share_all(self._earlier.packs, self._states)

    def flush(self) -> None:
        """What was added is on the disk. Raises OSError."""
        self.packs.flush()

    def _shares(self, kept: Kept | None, seen: os.stat_result) -> TypeGuard[Kept]:
        """Whether the earlier store holds the file as it is; its copy is this one's then, too."""
        if self._earlier is None or kept is None or kept.kind != FILE or not untouched(kept, seen):
            return False
        if self._holds_all and kept.size <= content_packs.SMALL:
            return True
        try:
            if self.packs.share(self._earlier.packs, kept.content, kept.size):
                return True
            source, to = self._earlier.path(kept.content), self.path(kept.content)
            if source.stat().st_size != kept.size:
                return False
            to.parent.mkdir(mode=0o700, exist_ok=True)
            to.hardlink_to(source)
        except FileExistsError:
            return True
        except OSError:
            return False
        return True

    def add(self, data: bytes) -> str:
        """Store bytes; returns their SHA-256. In a store that is ``packed`` they are on the disk with ``flush``."""
        digest = hashlib.sha256(data).hexdigest()
        if self._packed and len(data) <= content_packs.SMALL:
            self.packs.add(digest, data)
            return digest
        path = self.path(digest)
        if not path.exists():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            aside = path.with_suffix(f".{os.getpid()}")
            fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                with open(fd, "wb") as f:  # noqa: PTH123 - a descriptor
                    f.write(data)
                aside.rename(path)
            except BaseException:
                aside.unlink(missing_ok=True)
                raise
        return digest

    def data(self, digest: str) -> bytes:
        """The bytes of that digest. Raises HostError where they are gone or altered."""
        try:
            data = self.packs.find(digest)
            data = self.path(digest).read_bytes() if data is None else data
        except OSError as e:
            raise HostError(f"The copy {digest[:12]} is missing from the vault {self.folder}: {e.strerror}.") from e
        if hashlib.sha256(data).hexdigest() != digest:
            raise HostError(f"The copy {digest[:12]} in the vault {self.folder} is damaged.")
        return data

    def forget(self, digest: str) -> None:
        """Remove the bytes of that digest; whoever kept them twice still needs them."""
        self.path(digest).unlink(missing_ok=True)

    def put_back(self, tree: SymlinkSafeFolder, name: str, kept: Kept) -> str:
        """Make the path what it was: content, mode, time. Returns where in the tree's attic the present version is now.

        Raises HostError for a file that was not kept, and OSError.
        """
        if kept.kind == ABSENT:
            return tree.away(name)
        if kept.kind == LINK:
            return tree.link(name, kept.content)
        if kept.kind == FILE:
            return tree.write(name, self.data(kept.content), kept.mode, kept.mtime_ns, kept.attributes)
        raise HostError(f"{tree.root}/{name} was not kept: too large ({kept.size} bytes) or not readable.")

    def path(self, digest: str) -> Path:
        """Where the bytes of that digest lie."""
        return self.folder / digest[:2] / digest[2:]


def difference(tree: SymlinkSafeFolder, name: str, kept: Kept, real: dict[str, bool] | None = None) -> str:
    """How a path differs from what it was; empty for not at all. ``real``: see ``SymlinkSafeFolder.look``.

    One of: ``deleted``, ``created``, ``changed``, ``mode``, ``replaced by link``, ``replaced by folder``.
    A new modification time alone is no difference, a new inode neither.
    """
    try:
        seen = tree.lstat(name) if real is None else tree.look(name, real)
    except PermissionError:
        if kept.kind == UNKEPT:
            return ""
        raise
    if seen is None:
        return "" if kept.kind == ABSENT else "deleted"
    if kept.kind == ABSENT:
        return "created"
    if stat.S_ISLNK(seen.st_mode):
        if kept.kind != LINK:
            return "replaced by link"
        return "" if tree.readlink(name) == kept.content else "changed"
    if not stat.S_ISREG(seen.st_mode):
        return "replaced by folder" if stat.S_ISDIR(seen.st_mode) else "changed"
    return _file_difference(tree, name, kept, seen)


def untouched(kept: Kept, seen: os.stat_result) -> bool:
    """True where inode, change time, size and mode prove that nothing was done to the file."""
    # One by one: this is asked tens of thousands of times, and most often the change time decides.
    return (
        kept.ctime_ns == seen.st_ctime_ns != 0
        and kept.inode == seen.st_ino
        and kept.size == seen.st_size
        and kept.mode == seen.st_mode & 0o7777
    )


def settled(seen: os.stat_result) -> bool:
    """True where the change time is old enough to tell this content from a later one."""
    return time.time_ns() - seen.st_ctime_ns > SETTLED_NS


def _file_difference(tree: SymlinkSafeFolder, name: str, kept: Kept, seen: os.stat_result) -> str:
    if untouched(kept, seen):
        return ""
    if kept.kind == LINK or seen.st_size != kept.size:
        return "changed"
    if kept.kind == UNKEPT:
        # Anybody can set a modification time; a change time only the kernel sets.
        return "" if (seen.st_mtime_ns, seen.st_ctime_ns) == (kept.mtime_ns, kept.ctime_ns) else "changed"
    try:
        data, seen, attributes = tree.read_whole(name)
    except OSError:
        return "changed"
    if hashlib.sha256(data).hexdigest() != kept.content:
        return "changed"
    return "" if (stat.S_IMODE(seen.st_mode), attributes) == (kept.mode, kept.attributes) else "mode"


def signature(seen: os.stat_result) -> Kept:
    """What is remembered of a file whose content is not kept."""
    mode, times = stat.S_IMODE(seen.st_mode), (seen.st_mtime_ns, seen.st_ctime_ns)
    return Kept(UNKEPT, mode, times[0], seen.st_size, "", seen.st_ino, times[1])


def _signed(kind: str, seen: os.stat_result, digest: str, attributes: Mapping[str, str] = NONE) -> Kept:
    if kind == UNKEPT:
        return signature(seen)
    inode, ctime = (seen.st_ino, seen.st_ctime_ns) if settled(seen) else (0, 0)
    mode = stat.S_IMODE(seen.st_mode)
    return Kept(kind, mode, seen.st_mtime_ns, seen.st_size, digest, inode, ctime, attributes)
