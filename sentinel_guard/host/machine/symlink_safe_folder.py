"""Reads and writes files below one folder; no symbolic link leads out of it.

Rules of this file:
1. No symbolic link is followed: every parent is opened by descriptor with ``O_NOFOLLOW``.
2. Nothing is deleted: what must go is renamed into the attic.
3. A file appears whole, by rename; who held the old one open goes on writing into an orphan.

Names are relative to the folder, ``/``-separated, ``surrogateescape`` text.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import deep_folders

# With O_PATH (Linux) a folder needs to be passed through only, not to be read: /home often may not.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
ASIDE = ".sentinel-"
"""What names of files begin with that are not whole yet."""
_TAKEN = (errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG)
_LONGEST = 4000
"""Bytes of a path that every system call takes."""
NONE: Mapping[str, str] = MappingProxyType({})
OWN = "user."
"""What names of a user's own extended attributes begin with."""
ACL = "system.posix_acl_access"
"""The attribute that holds a file's access control list (acl(5))."""
_PIECE = 1 << 20
HOLE = 64 << 10
"""Bytes of zeros that are not written."""
_counter = itertools.count()


class SymlinkSafeFolder:
    """Reads, puts and moves away files below ``root``; ``attic`` (outside of it) takes what is moved away."""

    def __init__(self, root: str, attic: Path) -> None:
        self.root = root
        self.attic = attic

    def lstat(self, name: str) -> os.stat_result | None:
        """None where nothing is, or where a parent is no real folder."""
        with self._parent(name) as at:
            return None if at is None else _lstat(_leaf(name), at)

    def look(self, name: str, real: dict[str, bool]) -> os.stat_result | None:
        """As ``lstat``, three times as fast, for who goes through many names while nobody is at work in the folder.

        ``real``: folders that were found to be real ones, or not; filled here.
        """
        parent = name.rpartition("/")[0]
        if parent and not real.get(parent) and not self.leads_through_folders(name, real):
            return None
        try:
            return os.lstat(f"{self.root}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            raise
        except OSError:  # a path that is too long for one call
            return self.lstat(name)

    def leads_through_folders(self, name: str, real: dict[str, bool]) -> bool:
        """Whether all parents are real folders. ``real``: see ``look``."""
        parent, below = name.rpartition("/")[0], list[str]()
        while parent and parent not in real:
            below.append(parent)
            parent = parent.rpartition("/")[0]
        known = real.get(parent, True)
        for folder in reversed(below):
            real[folder] = known = known and _is_folder(self.look(folder, real))
        return known

    def readlink(self, name: str) -> str:
        with self._parent(name) as at:
            return os.readlink(_leaf(name), dir_fd=at) if at is not None else ""

    def read(self, name: str) -> tuple[bytes, os.stat_result]:
        """A regular file's bytes, and its lstat from before the reading. Raises OSError."""
        return self.read_whole(name)[:2]

    def read_whole(
        self, name: str, real: Mapping[str, bool] | None = None
    ) -> tuple[bytes, os.stat_result, Mapping[str, str]]:
        """As ``read``, with the extended attributes that its owner may set. ``real``: see ``look``."""
        if real is not None and real.get(name.rpartition("/")[0], "/" not in name):
            return _whole(os.open(f"{self.root}/{name}", _FILE), name)
        with self._parent(name) as at:
            if at is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
            return _whole(os.open(_leaf(name), _FILE, dir_fd=at), name)

    def write(
        self, name: str, data: bytes, mode: int, mtime_ns: int, attributes: Mapping[str, str] | None = None
    ) -> str:
        """Put a file in place, by rename. Returns the path in the attic of what stood there; empty for nothing."""
        with self._made(name) as at:
            aside = f"{ASIDE}{os.getpid()}-{next(_counter)}"
            fd = os.open(aside, _NEW, 0o600, dir_fd=at)
            try:
                with open(fd, "wb") as f:  # noqa: PTH123 - a descriptor
                    _write_with_holes(f, data)
                    f.flush()
                    _set_attributes(fd, attributes or {})
                    os.fchmod(fd, mode)
                    os.utime(fd, ns=(mtime_ns, mtime_ns))
                return self._move_in(name, aside, at)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(aside, dir_fd=at)
                raise

    def link(self, name: str, target: str) -> str:
        """Put a symbolic link in place; as ``write``."""
        with self._made(name) as at:
            aside = f"{ASIDE}{os.getpid()}-{next(_counter)}"
            os.symlink(target, aside, dir_fd=at)
            return self._move_in(name, aside, at)

    def join(self, name: str, source: str) -> None:
        """Make a file one with another one of the same content: both are names of it then. Raises OSError."""
        with self._parent(name) as at, self._parent(source) as there:
            if at is not None and there is not None:
                aside = f"{ASIDE}{os.getpid()}-{next(_counter)}"
                os.link(_leaf(source), aside, src_dir_fd=there, dst_dir_fd=at, follow_symlinks=False)
                os.rename(aside, _leaf(name), src_dir_fd=at, dst_dir_fd=at)

    def chmod(self, name: str, mode: int) -> None:
        """Set a regular file's mode."""
        with self._parent(name) as at:
            if at is None:
                return
            fd = os.open(_leaf(name), _FILE, dir_fd=at)
            try:
                os.fchmod(fd, mode)
            finally:
                os.close(fd)

    def chmod_folder(self, name: str, mode: int) -> None:
        """Set a real folder's mode; nothing where there is none."""
        with self._parent(name) as at:
            if at is None:
                return
            # Not by descriptor: a folder that nobody may read cannot be opened.
            seen = _lstat(_leaf(name), at)
            if seen is not None and stat.S_ISDIR(seen.st_mode):
                os.chmod(_leaf(name), mode, dir_fd=at)

    def folder(self, name: str) -> None:
        """Make a folder, its parents too; what stands in the way goes to the attic."""
        with self._made(f"{name}/x"):
            pass

    def make_way(self, name: str) -> None:
        """Make the parents real folders and leave nothing where the name stands."""
        with self._made(name):
            pass
        self.away(name)

    def away(self, name: str) -> str:
        """Move what stands there into the attic. Returns its new path; empty where nothing was."""
        with self._parent(name) as at:
            seen = None if at is None else _lstat(_leaf(name), at)
            if at is None or seen is None:
                return ""
            to = _unused(self.attic, name)
            if not stat.S_ISDIR(seen.st_mode) and _linked(_leaf(name), at, to):
                # Not by rename: watchdog would wait half a second for where it went, and hold every event behind it.
                os.unlink(_leaf(name), dir_fd=at)
                return str(to)
            try:
                os.rename(_leaf(name), to, src_dir_fd=at)
            except OSError as e:
                if e.errno != errno.EXDEV:
                    raise
                _carry(Path(self.root, name), to)
            return str(to)

    def prune(self, name: str, keep: frozenset[str]) -> None:
        """Remove the parents of a name as far as they are empty and not to be kept."""
        parent = name.rpartition("/")[0]
        while parent and parent not in keep:
            with self._parent(parent) as at:
                if at is None:
                    return
                try:
                    os.rmdir(_leaf(parent), dir_fd=at)
                except OSError:
                    return
            parent = parent.rpartition("/")[0]

    def _move_in(self, name: str, aside: str, at: int) -> str:
        kept = self._spare(name, at)
        os.rename(aside, _leaf(name), src_dir_fd=at, dst_dir_fd=at)
        return kept

    def _spare(self, name: str, at: int) -> str:
        """Give what stands there a second name in the attic, so that there is no moment without a file."""
        seen = _lstat(_leaf(name), at)
        if seen is None:
            return ""
        if stat.S_ISDIR(seen.st_mode):
            return self.away(name)
        to = _unused(self.attic, name)
        return str(to) if _linked(_leaf(name), at, to) else self.away(name)

    @contextlib.contextmanager
    def _parent(self, name: str) -> Iterator[int | None]:
        """The descriptor of the folder that holds the name; None where that is no real folder."""
        at = self._open(_parts(name)[:-1], make=False)
        try:
            yield at
        finally:
            if at is not None:
                os.close(at)

    @contextlib.contextmanager
    def _made(self, name: str) -> Iterator[int]:
        at = self._open(_parts(name)[:-1], make=True)
        if at is None:
            raise HostError(f"{self.root} is not there any more.")
        try:
            yield at
        finally:
            os.close(at)

    def _open(self, parts: list[str], *, make: bool) -> int | None:
        try:
            at = os.open(self.root, _FOLDER)
        except OSError as e:
            if e.errno not in _NO_FOLDER:
                raise
            return None
        for depth, part in enumerate(parts, 1):
            try:
                below = self._enter(at, "/".join(parts[:depth]), part, make=make)
            finally:
                os.close(at)
            if below is None:
                return None
            at = below
        return at

    def _enter(self, at: int, name: str, part: str, *, make: bool) -> int | None:
        try:
            return os.open(part, _FOLDER, dir_fd=at)
        except OSError as e:
            if e.errno not in _NO_FOLDER:
                raise
            if not make:
                return None
        self.away(name)
        os.mkdir(part, 0o755, dir_fd=at)
        return os.open(part, _FOLDER, dir_fd=at)


def _whole(fd: int, name: str) -> tuple[bytes, os.stat_result, Mapping[str, str]]:
    """Closes the descriptor. Raises OSError."""
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        data = os.read(fd, seen.st_size + 1)
        if len(data) != seen.st_size:  # else its end was seen: a byte more was asked for
            pieces = [data]
            while pieces[-1]:
                pieces.append(os.read(fd, _PIECE))
            data = b"".join(pieces)
        return data, seen, _attributes(fd)
    finally:
        os.close(fd)


def _attributes(fd: int) -> Mapping[str, str]:
    """Those of the user's namespace (xattr(7)) and the ACL, in hexadecimal digits; none where the system has none."""
    try:
        names = os.listxattr(fd)
        return {name: os.getxattr(fd, name).hex() for name in names if name.startswith((OWN, ACL))} if names else NONE
    except (OSError, AttributeError):
        return NONE


def _set_attributes(fd: int, wanted: Mapping[str, str]) -> None:
    """What cannot be set is found by who looks at the file again."""
    # A folder's default ACL has made one.
    if ACL not in wanted:
        with contextlib.suppress(OSError, AttributeError):
            os.removexattr(fd, ACL)
    for name, value in wanted.items():
        with contextlib.suppress(OSError):
            os.setxattr(fd, name, bytes.fromhex(value))


def _write_with_holes(file: BinaryIO, data: bytes) -> None:
    """Long runs of zeros take no room: a sparse file stays one."""
    if len(data) <= HOLE:
        file.write(data)
        return
    view, zeros = memoryview(data), bytes(HOLE)
    for at in range(0, len(data), HOLE):
        piece = view[at : at + HOLE]
        if piece == zeros:
            file.seek(HOLE, os.SEEK_CUR)
        else:
            file.write(piece)
    file.truncate(len(data))


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    if not all(parts) or ".." in parts or "." in parts:
        raise HostError(f"{name!r} does not name something inside a folder.")
    return parts


def _is_folder(seen: os.stat_result | None) -> bool:
    return seen is not None and stat.S_ISDIR(seen.st_mode)


def _leaf(name: str) -> str:
    return name.rpartition("/")[2]


def _lstat(leaf: str, at: int) -> os.stat_result | None:
    try:
        return os.stat(leaf, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _linked(leaf: str, at: int, to: Path) -> bool:
    """Give a file a second name; False where the file system or the file's owner does not allow it."""
    try:
        os.link(leaf, to, src_dir_fd=at, follow_symlinks=False)
    except OSError:
        return False
    return True


def _unused(attic: Path, name: str) -> Path:
    """A free path in the attic, with its folder made, private."""
    free = attic / name
    try:
        # A folder that became a link lies there as the link: nothing may be put away through it.
        if not (attic.is_symlink() or _leads_through_link(str(attic), name)):
            deep_folders.make(free.parent, 0o700)
            if not os.path.lexists(free):
                return free
    except OSError as e:
        if e.errno not in _TAKEN:
            raise
    again = attic / f".again-{time.time_ns()}-{next(_counter)}"
    free = again / name
    free = again / _leaf(name) if len(os.fsencode(free)) > _LONGEST else free
    deep_folders.make(free.parent, 0o700)
    return free


def _leads_through_link(top: str, name: str) -> bool:
    parent = name.rpartition("/")[0]
    while parent and not os.path.islink(f"{top}/{parent}"):  # noqa: PTH114 - three times as fast
        parent = parent.rpartition("/")[0]
    return bool(parent)


def _carry(source: Path, to: Path) -> None:
    """Move across file systems: copy whole, then remove the source."""
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, to, symlinks=True)
        shutil.rmtree(source)
    else:
        shutil.copy2(source, to, follow_symlinks=False)
        source.unlink()
