"""Finds named pipes (FIFOs) in place of gitignore and gitattributes files: git would open them and wait for ever.

git asks for ``.gitignore`` and ``.gitattributes`` in every folder that it looks into; no setting keeps it from that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from sentinel_guard.host.machine import deep_folders

RULES = frozenset({".gitattributes", ".gitignore"})


def find_fifos(root: str, names: Iterable[str] | None = None) -> list[str]:
    """Names relative to the root of the rules' files that are neither files, links nor folders.

    ``names``: only in the folders that these files lie in, which is where git looks for what holds for them.
    """
    if names is not None:
        folders = {"", *(f"{'/'.join(n.split('/')[:depth])}/" for n in names for depth in range(1, n.count("/") + 1))}
        return sorted(path for f in folders for rules in RULES if _blocks(f"{root}/{(path := f + rules)}"))
    return [name for name in deep_folders.special_files(root) if name.rpartition("/")[2] in RULES]


def _blocks(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))
