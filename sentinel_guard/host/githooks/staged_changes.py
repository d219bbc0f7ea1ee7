"""What the next commit changes, without a git process: the tree that the index names, beside that of HEAD.

git writes that tree before it runs a hook, and commits it as it is: so it is a loose object, and a look at the folders
in which both differ is enough.

Rules of this file:
1. What is told is what ``git diff --cached`` tells. What is not plain, packed, or a merge is asked of git.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from sentinel_guard.host.git import commit_contents, loose_objects
from sentinel_guard.host.git.commit_contents import MERGED, SUBMODULE, Change
from sentinel_guard.host.githooks import empty_commits
from sentinel_guard.host.githooks.empty_commits import Trees

LARGEST = 16 << 20
"""Bytes of a tree that is looked at."""
_FOLDER = b"40000"
_ONE = rb"(100644|100755|120000|160000|40000) ([^\0]+)\0(.{20})"
_ENTRY, _WHOLE = re.compile(_ONE, re.DOTALL), re.compile(rb"(?:" + _ONE + rb")*+", re.DOTALL)
_GONE = "000000"

_Entry = tuple[bytes, bytes, bytes]
"""Mode, name, object id."""
_Files = dict[bytes, tuple[str, str]]
"""Path -> mode and object id."""


class _NotPlainError(Exception):
    """A tree that git has to be asked about."""


def staged(root: Path, environ: Mapping[str, str], known: Trees | None = None) -> list[Change]:
    """As ``commit_contents.staged``; ``known``: the trees, where they were read already. Raises HostError."""
    trees = None if any(name.startswith(MERGED) for name in environ) else known or empty_commits.trees(root, environ)
    try:
        found = list(_changes(*_differing(trees))) if trees else None
    except _NotPlainError:
        found = None
    return commit_contents.staged(root, environ) if found is None else commit_contents.linked(root, found, environ)


def _differing(trees: Trees) -> tuple[_Files, _Files]:
    """The files of HEAD that are not so in the index, and those of the index that are not so in HEAD."""
    files: tuple[_Files, _Files] = ({}, {})
    left = [(b"", trees.head, trees.staged)]
    while left:
        above, *both = left.pop()
        old, new = (_entries(trees.objects, tree) for tree in both)
        folders: dict[bytes, list[str]] = {}
        for side, entries in enumerate((old - new, new - old)):
            for mode, name, identity in entries:
                if mode == _FOLDER:
                    folders.setdefault(name, ["", ""])[side] = identity.hex()
                else:
                    files[side][above + name] = mode.decode("ascii"), identity.hex()
        left += [(above + name + b"/", gone, come) for name, (gone, come) in folders.items()]
    return files


def _entries(objects: Path, tree: str) -> set[_Entry]:
    if not tree:
        return set()
    read = loose_objects.read(objects, tree, LARGEST)
    if read is None or read.kind != "tree" or not _WHOLE.fullmatch(read.data):
        raise _NotPlainError
    return set(_ENTRY.findall(read.data))


def _changes(before: _Files, after: _Files) -> Iterator[Change]:
    for path in sorted(before.keys() | after.keys()):
        old, (mode, blob) = before.get(path), after.get(path, (_GONE, ""))
        if old is None:
            status = "A"
        elif path not in after:
            status = "D"
        else:
            status = "M" if old[0][:2] == mode[:2] else "T"
        held = (old[1],) if old and old[0] != SUBMODULE else ()
        yield Change(os.fsdecode(path), status, mode, "" if mode == SUBMODULE else blob, held)
