"""Whether a commit would change no file, read from the git index file: ``--amend`` for a message, ``--allow-empty``.

Rules of this file:
1. A yes is certain: the tree that the index keeps for the next commit is that of HEAD. git takes it for the same.
2. Whatever is not plain (another version, SHA-256, a split or sparse index, a merge, a packed HEAD) is no yes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.host.git import loose_objects
from sentinel_guard.host.git.commit_contents import common_dir, git_dir
from sentinel_guard.host.machine.atomic_files import read_regular

LARGEST = 512 << 10
"""Bytes of an index that is looked through; for a larger one git is quicker."""
_COMMIT = 1 << 20
_ENTRY, _SUM = 62, 20
_EXTENDED, _STAGE, _LENGTH = 0x4000, 0x3000, 0x0FFF
_HEADER, _FLAGS = struct.Struct(">4sII"), struct.Struct(">H")
_EXTENSION = struct.Struct(">4sI")


class Trees(NamedTuple):
    """The names of two trees (40 hex digits), and where objects are."""

    head: str
    staged: str
    """What the next commit will hold."""
    objects: Path


def nothing_staged(work: Path, environ: Mapping[str, str]) -> bool:
    """``work`` and ``environ``: where git ran the hook, and its ``GIT_*`` variables. Raises nothing."""
    found = trees(work, environ)
    return found is not None and found.head == found.staged


def trees(work: Path, environ: Mapping[str, str]) -> Trees | None:
    """What the next commit goes on from, and what it will hold; None for whatever is not plain. Raises nothing."""
    try:
        folder = git_dir(work, environ)
        common = common_dir(work, environ)
        index = work / environ.get("GIT_INDEX_FILE", folder / "index")
        if (folder / "MERGE_HEAD").exists() or index.stat().st_size > LARGEST:
            return None
        tree = tree_of(read_regular(index))
        objects = work / environ.get("GIT_OBJECT_DIRECTORY", common / "objects")
        head = loose_objects.read(objects, _head(folder, common), _COMMIT) if tree else None
    except (OSError, ValueError):
        return None
    if head is None or head.kind != "commit" or not head.data.startswith(b"tree "):
        return None
    return Trees(head.data[5:45].decode("ascii"), tree, objects)


def tree_of(index: bytes) -> str:
    """The tree that an index stands for, as it says itself; empty where it does not, or holds more than plain files.

    Raises ValueError for bytes that are no index.
    """
    try:
        magic, version, count = _HEADER.unpack_from(index)
        if magic != b"DIRC" or version not in (2, 3):
            return ""
        at = _after_entries(index, _HEADER.size, count)
        return _tree(index, at, count) if at else ""
    except struct.error as e:
        raise ValueError("an index that is cut off") from e


def _after_entries(index: bytes, at: int, count: int) -> int:
    for _ in range(count):
        [flags] = _FLAGS.unpack_from(index, at + _ENTRY - 2)
        if flags & (_EXTENDED | _STAGE) or flags & _LENGTH == _LENGTH:
            return 0
        at += (_ENTRY + (flags & _LENGTH) + 8) & ~7
    return at


def _tree(index: bytes, at: int, count: int) -> str:
    """The root of the extension TREE; no other one may change what the entries mean."""
    found, end = "", len(index) - _SUM
    while at + _EXTENSION.size <= end:
        name, size = _EXTENSION.unpack_from(index, at)
        at += _EXTENSION.size
        if name[:1].islower() or at + size > end:
            return ""
        root = b"\0%d " % count
        if name == b"TREE" and index.startswith(root, at):
            line = index.index(b"\n", at) + 1
            found = index[line : line + _SUM].hex()
        at += size
    return found if at == end else ""


def _head(folder: Path, common: Path) -> str:
    """The id that HEAD stands for; raises OSError where it is packed, or there is none yet."""
    said = read_regular(folder / "HEAD").decode("ascii").strip()
    if not said.startswith("ref: "):
        return said
    return read_regular(common / said.removeprefix("ref: ")).decode("ascii").strip()
