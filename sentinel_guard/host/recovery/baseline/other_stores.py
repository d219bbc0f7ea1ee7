"""Keeps what a git directory holds besides git's own objects: large files (git-lfs, git-annex), what git-svn knows, and
the repositories of submodules that are not checked out, those of linked worktrees too.

Rules of this file:
1. They are kept as objects are: hard links outside of the repository; what is small, or written to in place, is copied.
2. What is missing or altered comes back; what came meanwhile stays, but for hooks and settings of idle submodules, and
   git directories of submodules that are new.
3. A submodule that another worktree has checked out goes on being used: of it objects alone come back, and what else is
   gone is named. Where its git directory is gone, all of it comes back.
4. A hard link shares its content with the repository's file: what was overwritten in place is found by the hash that
   its name tells, else by size and time.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import Layout
from sentinel_guard.host.machine import birth_time, deep_folders
from sentinel_guard.host.machine.atomic_files import write_json
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline import object_backup
from sentinel_guard.host.recovery.baseline.gitdir_backup import NEEDED, REFS, WORKTREES

STORES = ("lfs", "annex", "svn", "modules")
"""Folders of the common directory."""
PASSING = frozenset({"lfs/tmp", "lfs/incomplete", "annex/tmp", "annex/othertmp"})
"""Folders in them that hold nothing that lasts."""
SIGNATURES = "stores.json"
"""Beside the kept files: size and time (ns) of those that are linked and whose names tell no hash."""
IN_USE = "modules-elsewhere.json"
"""Beside the kept files: the git directories of submodules that other worktrees have checked out."""
COPIED = 64 << 20
"""Bytes that are copied at most, of files that could be linked."""
_MAY_RUN = re.compile(r"/(hooks/[^/]+|info/[^/]+|config\.worktree|commondir|objects/info/alternates)$")
_LFS = re.compile(r"lfs/objects/.*/([0-9a-f]{64})")
_ANNEX = re.compile(r"annex/objects/.*/(MD5|SHA1|SHA224|SHA256|SHA384|SHA512)E?-[^/]*--([0-9a-f]{32,})[^/]*")
"""Keys that tell a hash, with or without the file's extension (git-annex, "key-value backends")."""


def keep(where: Layout, folder: Path, apart: Collection[str], since: int) -> list[str]:
    """Returns what is not kept, in words. Raises OSError where the disk is full.

    ``apart``: git directories, absolute, that are kept on their own. ``since``: nanoseconds of the epoch; what was
    changed after is not kept.
    """
    left, signatures, room, common_dir = list[str](), dict[str, tuple[int, int]](), COPIED, where.common_dir
    if theirs := [name for name in _git_dirs(common_dir, apart) if _is_elsewhere(where, name, since)]:
        write_json(folder.parent / IN_USE, theirs)
    for name in _names(common_dir, apart):
        source, to = f"{common_dir}/{name}", folder / name
        try:
            seen = os.lstat(source)
            if not stat.S_ISREG(seen.st_mode) or birth_time.is_since(seen.st_ctime, since / 1e9):
                continue
            told = _tells(name)
            if seen.st_size <= room and (seen.st_size <= object_backup.SMALL or not told):
                object_backup.copy(source, to)
                room -= seen.st_size
            else:
                object_backup.link(source, to)
                signatures |= {} if told else {name: (seen.st_size, seen.st_mtime_ns)}
        except FileNotFoundError:
            continue
        except OSError as e:
            if e.errno == errno.ENOSPC:
                raise
            left.append(f".git/{name} was not kept: {e.strerror}.")
    if signatures:
        write_json(folder.parent / SIGNATURES, signatures)
    return left


def missing_or_changed(folder: Path, common_dir: str, since: int) -> list[str]:
    """Names of what is not in the repository as it was kept. ``since``: nanoseconds of the epoch; see ``keep``."""
    theirs = _in_use(folder, common_dir)
    return [
        n
        for n in object_backup.names(str(folder), object_backup.ASIDE)
        if not object_backup.same(f"{folder}/{n}", f"{common_dir}/{n}", since)
        and (not n.startswith(theirs) or _is_object(n))
    ]


def gone_elsewhere(folder: Path, common_dir: str) -> list[str]:
    """Names of what is gone of submodules that other worktrees have checked out, without objects, refs and logs."""
    found, theirs = list[str](), _in_use(folder, common_dir)
    for name in object_backup.names(str(folder), object_backup.ASIDE) if theirs else ():
        top = max((t for t in theirs if name.startswith(t)), key=len, default="")
        if top and name[len(top) :].partition("/")[0] not in (*REFS, "objects"):
            found += [] if os.path.lexists(f"{common_dir}/{name}") else [name]
    return found


def added_programs(folder: Path, common_dir: str, apart: Collection[str]) -> list[str]:
    """Names of what came into the git directory of an idle submodule that was there at the start and may name programs,
    or be one: hooks, settings, attributes. ``apart``: see ``keep``.
    """
    theirs = _in_use(folder, common_dir)
    names = (name for name in _names(common_dir, apart, ("modules",)) if not name.startswith(theirs))
    found = ((name, _MAY_RUN.search(name)) for name in names)
    known = [n for n, seen in found if seen and os.path.lexists(folder / n[: seen.start()] / "HEAD")]
    return [n for n in known if not os.path.lexists(folder / n)]


def added_modules(folder: Path, common_dir: str, apart: Collection[str]) -> list[str]:
    """Git directories of submodules (names below the common directory) that were not there when all was kept: who
    checks one out later would run what is planted there. ``apart``: see ``keep``.
    """
    tops = (name for name in _git_dirs(common_dir, apart) if name.startswith("modules/"))
    return [n for n in tops if not any(os.path.lexists(folder / n / part) for part in ("HEAD", "config"))]


def restore(folder: Path, common: SymlinkSafeFolder, since: int) -> None:
    """Bring it back; what stands there is moved away. Raises HostError, OSError."""
    for name in missing_or_changed(folder, common.root, since):
        common.make_way(name)
        to = Path(common.root, name)
        if _tells(name):
            object_backup.link(str(folder / name), to)
        else:
            object_backup.copy(str(folder / name), to)


def damaged(folder: Path, since: int) -> list[str]:
    """What was overwritten in place since, in the kept copy too. Raises OSError."""
    names = object_backup.names(str(folder), object_backup.ASIDE)
    signatures = _signatures(folder.parent / SIGNATURES)
    return [
        n
        for n in names
        if object_backup.changed(f"{folder}/{n}", since) and not _is_sound(folder / n, n, signatures.get(n))
    ]


def _git_dirs(common_dir: str, apart: Collection[str]) -> list[str]:
    """Those of submodules, below the common directory; known as git knows them (gitrepository-layout(5))."""
    heads = (n for n in _names(common_dir, apart, ("modules",)) if n.endswith("/HEAD"))
    return [top for n in heads if _is_git_dir(f"{common_dir}/{(top := n.removesuffix('/HEAD'))}")]


def _is_git_dir(folder: str) -> bool:
    return os.path.lexists(f"{folder}/commondir") or all(os.path.isdir(f"{folder}/{part}") for part in NEEDED)  # noqa: PTH112 - text with surrogates


def _is_elsewhere(where: Layout, name: str, since: int) -> bool:
    """Whether a submodule's git directory belongs to a folder outside of the work tree in which it is checked out."""
    top = f"{where.common_dir}/{name}"
    try:
        if birth_time.is_since(os.lstat(f"{top}/config").st_ctime, since / 1e9):
            return False
        told = replace(where.git, git_dir=top).text("config", "--get", "core.worktree", ok=(0, 1, 128))
    except (OSError, HostError):
        return False
    place = os.path.normpath(os.path.join(top, told))  # noqa: PTH118 - a setting's text
    return bool(told) and not f"{place}/".startswith(f"{where.root}/") and os.path.lexists(f"{place}/.git")


def _in_use(folder: Path, common_dir: str) -> tuple[str, ...]:
    """With their slashes, those that other worktrees had checked out at the start and that are there."""
    try:
        told = json.loads((folder.parent / IN_USE).read_bytes())
    except FileNotFoundError:
        return ()
    return tuple(f"{name}/" for name in told if os.path.lexists(f"{common_dir}/{name}/HEAD"))


def _is_object(name: str) -> bool:
    return _tells(name) and not object_backup.is_cache(name)


def _is_sound(path: Path, name: str, signature: Sequence[int] | None) -> bool:
    if hashed := _hash(name):
        with path.open("rb") as f:
            return hashlib.file_digest(f, hashed[0]).hexdigest() == hashed[1]
    seen = path.lstat()
    known = signature is None or [*signature] == [seen.st_size, seen.st_mtime_ns]
    return known and object_backup.is_intact(path, name.rpartition("/objects/")[2])


def _tells(name: str) -> bool:
    """Whether a file's name, or what it names, says what its content must be."""
    return bool(_hash(name)) or ("/objects/" in name and object_backup.tells(name.rpartition("/objects/")[2]))


def _hash(name: str) -> tuple[str, str] | None:
    """The kind of hash that a name tells, and the hash."""
    if lfs := _LFS.fullmatch(name):
        return "sha256", lfs[1]
    annex = _ANNEX.fullmatch(name)
    return (annex[1].lower(), annex[2]) if annex else None


def _signatures(path: Path) -> dict[str, Sequence[int]]:
    try:
        return dict(json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return {}


def _names(common_dir: str, apart: Collection[str], stores: Sequence[str] = STORES) -> Iterator[str]:
    own = (f"{WORKTREES}/{path.parent.name}/modules" for path in Path(common_dir, WORKTREES).glob("*/modules"))
    for store in (*stores, *own):
        for folder, below, files in deep_folders.walk(f"{common_dir}/{store}"):
            base = folder[len(common_dir) + 1 :]
            below[:] = [b for b in below if f"{base}/{b}" not in PASSING and f"{folder}/{b}" not in apart]
            yield from (f"{base}/{name}" for name in files if "/objects/" in base or not name.endswith(".lock"))
