"""Backs up a repository's git objects outside of it (the farm), and verifies them by their content.

Rules of this file:
1. Objects are never removed and never rewritten; missing or altered ones come back from the farm.
2. The farm is hard links, which cost nothing and hide one thing: who writes into an object in place writes into the
   farm too. So small loose objects are copied, the start's commit and trees first, and packs up to a budget, each once
   for all sessions: a later one takes the earlier one's copy over. What was linked is read again where its change time
   says that something was done to it. Nobody but the kernel sets a change time.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import shutil
import stat
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from sentinel_guard.host.machine import deep_folders
from sentinel_guard.host.machine.content_addressed_store import SETTLED_NS
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

COPIED = 256 << 20
"""Bytes of objects that are copied where the file system gives no hard links."""
COPIES, SMALL = 500, 16 << 10
"""So many loose objects of at most so many bytes are copied in any case."""
PACKS = 64 << 20
"""Bytes of packs that are copied in any case, the smallest first."""
PASSING = "tmp_"
"""What names of files begin with that git has not finished."""
ASIDE = f"{PASSING}sentinel-"
"""What names of copies begin with that are not whole yet."""
CHUNK = 1 << 20
LOOKS = 3
LARGEST = 2 << 30
"""Bytes of a loose object unpacked; more is no object that git would have left loose."""
_LOOSE = re.compile(r"([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})")
_SUMMED = re.compile(r"pack/(?:pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap)|multi-pack-index)")
"""Files that end in a hash of all that stands before."""
_CACHE = re.compile(r"multi-pack-index.*|.*\.(bitmap|rev)")
"""What git reads before the packs and their indexes, believes, and does without (gitformat-pack(5))."""
_BESIDE = re.compile(r"(pack-[0-9a-f]+)\.(?!pack$|idx$).+")
"""What else lies beside a pack and says something of it."""
_ENTRY = re.compile(rb"(\d+) [^\0]+\0", re.DOTALL)


def back_up_objects(objects: str, folder: Path, head: str = "", since: int = 0, earlier: Path | None = None) -> int:
    """Keep the objects below ``objects``; ``head`` is the start's commit. Returns how many files the farm has.

    0 where it is not whole: no hard links, and too large to be copied; or something was not sound. What is there
    already is not touched. What was changed after ``since`` (nanoseconds of the epoch; 0: nothing was) is kept only if
    its content is sound. ``earlier``: the farm of an earlier session.
    """
    for name in (*_few(objects, head), *_packs(objects)):
        if not since or _trusted(f"{objects}/{name}", name, since):
            _take_over(f"{objects}/{name}", folder / name, earlier / name if earlier else None)
    room, left = COPIED, False
    # While git packs, a name goes as another comes: then a second look finds what the first missed.
    for _ in range(LOOKS):
        room, missed, left = _farmed(objects, folder, since, room)
        if room < 0:
            return 0
        if not missed:
            break
    return 0 if left else sum(1 for _ in names(str(folder)))


def _packs(objects: str) -> list[str]:
    """Files of packs that are copied."""
    room, chosen = PACKS, list[str]()
    with contextlib.suppress(OSError), os.scandir(f"{objects}/pack") as entries:
        sizes = {e.name: e.stat(follow_symlinks=False).st_size for e in entries if e.is_file(follow_symlinks=False)}
        for name in sorted((n for n in sizes if not n.startswith("tmp_")), key=sizes.__getitem__):
            room -= sizes[name]
            chosen += [f"pack/{name}"] if room >= 0 else []
    return chosen


def _take_over(source: str, to: Path, earlier: Path | None) -> None:
    """An earlier session's copy of the file, where it has one (which is no link of the file itself); else a new one."""
    with contextlib.suppress(OSError):
        if earlier is not None:
            now, kept = os.lstat(source), os.lstat(earlier)
            alike = (now.st_size, now.st_mtime_ns) == (kept.st_size, kept.st_mtime_ns)
            if alike and now.st_ino != kept.st_ino:
                link(str(earlier), to)
                return
    copy(source, to)


def _farmed(objects: str, folder: Path, since: int, room: int) -> tuple[int, bool, bool]:
    """The bytes that may still be copied, whether a file had gone before it was its turn, and whether one was left."""
    missed = left = False
    there = frozenset(names(str(folder)))
    for name in names(objects):
        if name in there:
            continue
        to, source = folder / name, f"{objects}/{name}"
        try:
            if since and not _trusted(source, name, since):
                left = True
                continue
            link(source, to)
        except FileNotFoundError:
            missed = True
        except OSError as e:
            if e.errno == errno.ENOSPC:
                raise
            room -= os.lstat(source).st_size
            if room < 0:
                break
            copy(source, to)
    return room, missed, left


def _trusted(source: str, name: str, since: int) -> bool:
    return not changed(source, since) or is_intact(Path(source), name)


def restore_objects(folder: Path, objects: SymlinkSafeFolder, since: int) -> None:
    """Bring missing or altered objects back from the farm. ``since``: as for ``damaged_objects``."""
    for name in missing_or_changed_objects(folder, objects.root, since):
        source, to = folder / name, Path(objects.root, name)
        objects.make_way(name)
        try:
            link(str(source), to)
        except OSError:
            shutil.copy2(source, to)


def missing_or_changed_objects(folder: Path, objects: str, since: int) -> list[str]:
    """Objects of the farm that are missing from the repository or differ there. ``since``: as for ``damaged``."""
    kept = str(folder)
    return [name for name in names(kept) if not same(f"{kept}/{name}", f"{objects}/{name}", since)]


def damaged_objects(folder: Path, since: int) -> list[str]:
    """Objects of the farm whose content is not what their name or their own checksum says.

    ``since``: nanoseconds of the epoch; what was not changed after, in any way, is not read.
    """
    return examine_objects(folder, since)[0]


def examine_objects(folder: Path, since: int) -> tuple[list[str], int]:
    """``damaged_objects``, and how many objects the farm has."""
    kept, found = str(folder), [*names(str(folder))]
    return [n for n in found if changed(f"{kept}/{n}", since) and not is_intact(folder / n, n)], len(found)


def is_cache(name: str) -> bool:
    """True for what git believes of packs and does without."""
    return bool(_CACHE.fullmatch(name.rpartition("/")[2]))


def is_loose(name: str) -> bool:
    """True for the name of a loose object below an object store."""
    return bool(_LOOSE.fullmatch(name))


def loose(folder: Path) -> set[str]:
    """The hashes of the farm's loose objects."""
    return {name.replace("/", "") for name in names(str(folder)) if _LOOSE.fullmatch(name)}


def same(kept: str, now: str, since: int) -> bool:
    """Whether a file is as it was kept. ``since``: as for ``damaged_objects``."""
    try:
        old, new = os.lstat(kept), os.lstat(now)
        if old.st_ino == new.st_ino or (old.st_size == new.st_size and new.st_ctime_ns < since):
            return True
        old, new = os.stat(kept), os.stat(now)  # noqa: PTH116 - what links lead to
        if not (stat.S_ISREG(old.st_mode) and stat.S_ISREG(new.st_mode)) or old.st_size != new.st_size:
            return False
        settled = max(old.st_ctime_ns, new.st_ctime_ns) < time.time_ns() - SETTLED_NS
        return _once_alike(kept, now, _state(old), _state(new)) if settled else _alike(kept, now)
    except OSError:
        return False


def _state(seen: os.stat_result) -> tuple[int, int, int]:
    """Another where the file is another, or anything was done to it."""
    return seen.st_dev, seen.st_ino, seen.st_ctime_ns


@functools.lru_cache(maxsize=100)
def _once_alike(one: str, other: str, *_states: tuple[int, int, int]) -> bool:
    """Reads them once while nothing is done to either. Raises OSError."""
    return _alike(one, other)


def _alike(one: str, other: str) -> bool:
    """Not by filecmp: it reads 8 KB at once, and believes a time of change that a program can set. Raises OSError."""
    with open(one, "rb", 0) as old, open(other, "rb", 0) as new:  # noqa: PTH123 - text with surrogates
        while (data := old.read(CHUNK)) == new.read(CHUNK):
            if not data:
                return True
    return False


def changed(path: str, since: int) -> bool:
    """Whether anything was done to a file since; its content need not be another."""
    try:
        return os.lstat(path).st_ctime_ns >= since
    except OSError:
        return True


def non_file_entries(objects: str) -> list[str]:
    """What is no file among a repository's objects: git opens a named pipe and waits for ever."""
    found = deep_folders.special_files(objects)
    return [n for n in found if not n.startswith("info/") and not n.rpartition("/")[2].startswith(PASSING)]


def added_caches(objects: str, kept: Sequence[Path], since: int, *, whole: bool) -> list[str]:
    """Files (names below ``objects``) that came since and say something of packs that may be false: all that git does
    without, and of the packs of the start whatever it is.

    ``kept``: folders of second names and copies; ``whole``: whether all of the start has one there. Else it is the
    change time that tells (one that is moved in keeps its time of birth). ``since``: as for ``damaged_objects``.
    """
    found = list[str]()
    with contextlib.suppress(OSError):
        found += sorted(f"pack/{path.name}" for path in Path(objects, "pack").iterdir())
    new = (n for n in found if _says(n, kept) and not any(os.path.lexists(folder / n) for folder in kept))
    return [n for n in new if whole or changed(f"{objects}/{n}", since)]


def _says(name: str, kept: Sequence[Path]) -> bool:
    beside = _BESIDE.fullmatch(name.rpartition("/")[2])
    return is_cache(name) or (beside is not None and any((f / f"pack/{beside[1]}.pack").exists() for f in kept))


def is_intact(path: Path, name: str) -> bool:
    """True where a file of an object store is what its name or its own checksum says."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        if loose := _LOOSE.fullmatch(name):
            return _loose_hash(path, len(loose[2]) + 2) == loose[1] + loose[2]
        return not _SUMMED.fullmatch(name) or any(_sums_up(path, kind) for kind in ("sha1", "sha256"))
    except (OSError, zlib.error):
        return False


def tells(name: str) -> bool:
    """True where a name below an object store, or what it names, says what the content must be."""
    return bool(_LOOSE.fullmatch(name) or _SUMMED.fullmatch(name))


def _loose_hash(path: Path, length: int) -> str:
    found, unpack, total = _hash("sha1" if length == 40 else "sha256"), zlib.decompressobj(), 0
    with path.open("rb") as f:
        while data := unpack.unconsumed_tail or f.read(CHUNK):
            plain = unpack.decompress(data, CHUNK)
            total += len(plain)
            if total > LARGEST or (unpack.eof and (unpack.unused_data or f.read(1))):
                return ""
            found.update(plain)
    return found.hexdigest() if unpack.eof else ""


def _sums_up(path: Path, kind: str) -> bool:
    found = _hash(kind)
    left = path.lstat().st_size - found.digest_size
    with path.open("rb") as f:
        while left > 0 and (data := f.read(min(CHUNK, left))):
            found.update(data)
            left -= len(data)
        return left == 0 and f.read() == found.digest()


def _hash(kind: str) -> hashlib._Hash:
    return hashlib.new(kind, usedforsecurity=False)


def _few(objects: str, head: str) -> list[str]:
    """Loose objects that are worth a copy: the start's commit and trees, then others."""
    chosen = dict.fromkeys(_spine(objects, head))
    for name in names(objects):
        if len(chosen) >= COPIES:
            break
        if _LOOSE.fullmatch(name):
            chosen[name] = None
    return [name for name in chosen if _small(f"{objects}/{name}")]


def _spine(objects: str, head: str) -> Iterator[str]:
    """The names of a commit and its trees as far as they are loose."""
    wanted, count = [head], 0
    while wanted and count < COPIES:
        digest = wanted.pop(0)
        name = f"{digest[:2]}/{digest[2:]}"
        try:
            plain = zlib.decompress(Path(objects, name).read_bytes()) if _small(f"{objects}/{name}") else b""
        except (OSError, zlib.error):
            continue
        count += 1
        yield name
        wanted += _below(plain, len(digest) // 2)


def _below(plain: bytes, size: int) -> list[str]:
    """The trees that a commit or a tree names."""
    head, _, body = plain.partition(b"\0")
    if head.startswith(b"commit "):
        return [body[5 : 5 + 2 * size].decode("ascii", "replace")]
    found, at = [], 0
    while head.startswith(b"tree ") and (entry := _ENTRY.match(body, at)):
        at = entry.end() + size
        if entry[1] == b"40000":
            found.append(body[entry.end() : at].hex())
    return found


def _small(path: str) -> bool:
    try:
        return os.lstat(path).st_size <= SMALL
    except OSError:
        return False


def names(top: str, passing: str = PASSING) -> Iterator[str]:
    """Relative names of the files of an object store, without those that begin with ``passing``."""
    for folder, below, files in deep_folders.walk(top):
        base = folder[len(top) + 1 :]
        if not base:
            # These are edited in place, which a hard link does not survive: they are kept as metadata.
            below[:] = [b for b in below if b != "info"]
        prefix = f"{base}/" if base else ""
        yield from (prefix + name for name in files if not name.startswith(passing))


def link(source: str, to: Path) -> None:
    """A second name, where there is none yet. Raises OSError."""
    try:
        os.link(source, to)
    except FileExistsError:
        return
    except FileNotFoundError:
        to.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        os.link(source, to)


def copy(source: str, to: Path) -> None:
    """By rename, where there is none yet: git reads the farm while it is being made. Raises OSError."""
    if not to.exists():
        to.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        aside = to.with_name(f"{ASIDE}{to.name}")
        _clone(source, aside)
        shutil.copystat(source, aside)
        aside.rename(to)


def _clone(source: str, to: Path) -> None:
    """Copy the bytes; btrfs and XFS share the blocks of what copy_file_range(2) copies."""
    with open(source, "rb") as old, to.open("wb") as new:  # noqa: PTH123 - text with surrogates
        with contextlib.suppress(OSError):
            while os.copy_file_range(old.fileno(), new.fileno(), CHUNK << 6):
                pass
            return
        old.seek(0)
        new.truncate(0)
        shutil.copyfileobj(old, new, CHUNK)
