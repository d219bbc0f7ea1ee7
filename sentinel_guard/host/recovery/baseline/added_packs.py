"""Verifies git packs added during a session: git reads a pack before any loose object, and believes the names in it.

A blob that was overwritten with something else is packed under its true name by ``git gc``; its sound version, back
from the farm, would not be read. A pack is only moved away where it is proven false, object by object.
"""

from __future__ import annotations

import bisect
import hashlib
import mmap
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.recovery.baseline import object_backup
from sentinel_guard.host.recovery.baseline.backup_pack import existing
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

AT_ONCE = 64 << 20
"""Bytes of objects that are read at once."""
LARGEST = 512 << 20
"""Bytes of the largest pack that is taken apart."""
SMALL = 1_000
"""Objects of a pack up to which each of them is looked for among the start's; of a larger one the start's are in it."""
_MAGIC, _FANOUT = b"\377tOc\0\0\0\2", 8
"""Of an index of version 2; a table of 256 numbers follows, then all hashes in order."""
_SIZES = frozenset({20, 32})
"""Bytes of a hash."""


def find_false_packs(baseline: Baseline) -> list[str]:
    """Packs (names below ``objects``) that hold something else under the name of an object of the start's.

    What is looked at: START's files and folders, and what was loose then; of a small pack, all that was there then.
    Raises HostError.
    """
    found = [n for n in _packs(baseline.object_tree.root) if not (baseline.farm / n).exists()]
    if not found or object_backup.damaged_objects(baseline.farm, baseline.sealed):
        return []
    indexes = {name: Path(baseline.object_tree.root, f"{name[:-5]}.idx") for name in found}
    small = {name: hashes for name, path in indexes.items() if (hashes := _all_of(path)) is not None}
    old = _farmed(baseline, {h for hashes in small.values() for h in hashes})
    held = {name: old & hashes for name, hashes in small.items()}
    if large := [name for name in found if name not in small]:
        start = sorted(_start(baseline) | object_backup.loose(baseline.farm))
        held |= {name: _held(indexes[name], start) for name in large}
    wrong = set(misread(_git(baseline, baseline.object_tree.root), sorted({h for some in held.values() for h in some})))
    return [name for name, some in held.items() if wrong & some]


def take_apart(baseline: Baseline, names: list[str]) -> list[str]:
    """Move false packs to quarantine; what they hold besides the start's objects comes back, each by its true name.

    May be broken off and run again. Returns what could not be had back, in words. Raises HostError, OSError.
    """
    apart, notes = baseline.folder / "unpacked", []
    for name in names:
        pack = Path(baseline.object_tree.root, name)
        if pack.stat().st_size > LARGEST:
            notes.append(f"{baseline.quarantine}/objects/{name} held false objects and is too large to be sorted out.")
            continue
        (apart / "info").mkdir(mode=0o700, parents=True, exist_ok=True)
        (apart / "info/alternates").write_bytes(os.fsencode(f"{baseline.farm}\n"))
        try:
            _git(baseline, apart).run("unpack-objects", "-q", "-r", stdin=pack.read_bytes())
        except HostError as e:
            notes.append(f"{baseline.quarantine}/objects/{name} held false objects and cannot be sorted out: {e}")
    for name in [n for stem in names for n in _beside(baseline.object_tree.root, stem)]:
        if not (baseline.farm / name).exists():
            baseline.object_tree.away(name)
    if apart.is_dir():
        object_backup.restore_objects(apart, baseline.object_tree, 0)
    return notes


def _packs(top: str) -> list[str]:
    return sorted(f"pack/{p.name}" for p in Path(top, "pack").glob("*.pack") if p.with_suffix(".idx").is_file())


def _beside(top: str, name: str) -> list[str]:
    """All files of a pack, and the index over all packs; the one that git looks for first goes first."""
    found = sorted(Path(top, "pack").glob(f"{Path(name).stem}.*"), key=lambda p: p.suffix != ".idx")
    return [f"pack/{p.name}" for p in (*Path(top, "pack").glob("multi-pack-index*"), *found)]


def _git(baseline: Baseline, store: str | Path) -> Git:
    """On one store of objects alone; the repository's own git directory may be broken."""
    return replace(baseline.shadow.git, objects=str(store))


def _start(baseline: Baseline) -> set[str]:
    """START's objects, read from the farm alone; empty where that does not hold them all."""
    if not baseline.head:
        return set()
    try:
        rows = _git(baseline, baseline.farm).run("ls-tree", "-r", "-t", "-z", baseline.head)
    except HostError:
        return set()
    return {os.fsdecode(row.split(b"\t")[0].split(b" ")[2]) for row in rows.split(b"\0") if row}


def _farmed(baseline: Baseline, hashes: Iterable[str]) -> set[str]:
    """Those of the objects that the farm has; none where there is no farm."""
    try:
        return existing(_git(baseline, baseline.farm), hashes)
    except HostError:
        return set()


def _all_of(path: Path) -> set[str] | None:
    """The hashes that a small pack's index has; None for those of a large one, or of another version."""
    try:
        data = path.read_bytes() if path.stat().st_size < SMALL * 64 else b""
        (count,) = struct.unpack_from(">I", data, _FANOUT + 255 * 4)
    except (OSError, struct.error):
        return None
    # A checksum and a place of four bytes each follow a hash, and two hashes all of them.
    top, size = _FANOUT + 256 * 4, (len(data) - _FANOUT - 256 * 4 - 8 * count) // (count + 2)
    if data[:8] != _MAGIC or size not in _SIZES:
        return None
    return {data[at : at + size].hex() for at in range(top, top + count * size, size)}


def _held(path: Path, hashes: list[str]) -> set[str]:
    """Those of the hashes that an index of a pack has."""
    size = len(hashes[0]) // 2 if hashes else 20
    try:
        with path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[:8] != _MAGIC:
                return set()
            (count,) = struct.unpack_from(">I", data, _FANOUT + 255 * 4)
            top = _FANOUT + 256 * 4

            def at(number: int) -> bytes:
                return data[top + number * size : top + (number + 1) * size]

            places = ((h, bisect.bisect_left(range(count), bytes.fromhex(h), key=at)) for h in hashes)
            return {h for h, place in places if place < count and at(place).hex() == h}
    except (OSError, ValueError, struct.error):
        return set()


def misread(git: Git, hashes: list[str]) -> Iterator[str]:
    """Those of the objects that git reads as something else, or not at all. Raises HostError."""
    told = git.run("cat-file", "--batch-check", stdin=_lines(hashes)).decode().splitlines() if hashes else []
    chunk, room = list[str](), AT_ONCE
    for digest, *rest in (line.split(" ") for line in told):
        size = int(rest[-1]) if rest[-1].isdigit() else 0
        if chunk and size > room:
            yield from _misread(git, chunk)
            chunk, room = [], AT_ONCE
        chunk.append(digest)
        room -= size
    yield from _misread(git, chunk)


def _misread(git: Git, hashes: list[str]) -> list[str]:
    if not hashes:
        return []
    try:
        data, at, found = git.run("cat-file", "--batch", stdin=_lines(hashes)), 0, []
    except HostError:  # one that is damaged spoils all
        half = len(hashes) // 2
        return [*_misread(git, hashes[:half]), *_misread(git, hashes[half:])] if half else hashes
    for digest in hashes:
        end = data.index(b"\n", at)
        words = data[at:end].split(b" ")
        size = int(words[2]) if len(words) == 3 else -1
        if _hash(words[1], data[end + 1 : end + 1 + size], digest) != digest:
            found.append(digest)
        at = end + size + 2
    return found


def _hash(kind: bytes, data: bytes, like: str) -> str:
    name = "sha1" if len(like) == 40 else "sha256"
    return hashlib.new(name, b"%s %d\0" % (kind, len(data)) + data, usedforsecurity=False).hexdigest()


def _lines(hashes: Iterable[str]) -> bytes:
    return os.fsencode("".join(f"{h}\n" for h in hashes))
