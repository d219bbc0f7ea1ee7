"""Finds clean tracked files of which the work tree holds other bytes than git would write: line ends, filters, large
files (git-lfs), encodings. A checkout would bring back what git makes of them today.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from pathlib import Path

from sentinel_guard.host.git.private_git_dir import PrivateGitDir
from sentinel_guard.host.git.run_git import lines
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_diff import index_sizes

MAX_ALL = 200 << 20
"""Bytes of such files that are kept, the smallest first; the others are git's to write."""
SAME_SIZE = ("filter", "ident", "working-tree-encoding")
"""Attributes with which git may write other bytes of the same number (gitattributes(5))."""
_SETTINGS = (b"autocrlf", b"\teol", b"attributesfile")
_UNSET = frozenset({"unspecified", "unset"})


def find(baseline: Baseline) -> list[str]:
    """Their names. Raises HostError."""
    shadow = baseline.shadow
    if not _any(baseline):
        return []
    rows = (row.partition("\t") for row in shadow.git.names("ls-files", "-s", "-z"))
    hashes = {n: head.split(" ")[1] for head, _, n in rows if head.startswith("100") and n not in baseline.files}
    known, stored = index_sizes(shadow), _stored(shadow, hashes.values())
    found = {n for n, h in hashes.items() if h in stored and known.get(n) != stored[h]}
    found |= _named(shadow, hashes)
    room, chosen = MAX_ALL, list[str]()
    for name in sorted(found, key=lambda n: known.get(n, 0)):
        room -= known.get(name, 0)
        chosen += [name] if room >= 0 else []
    return chosen


def _any(baseline: Baseline) -> bool:
    """Whether anything tells git to convert; most repositories need not be looked into."""
    shadow = baseline.shadow
    settings = b"".join(_read(shadow.folder / name) for name in ("config", "global"))
    if any(word in settings for word in _SETTINGS) or _read(shadow.folder / "info/attributes"):
        return True
    if any(name.endswith("/attributes") and kept.content for name, kept in baseline.user.items()):
        return True
    return any(n.rpartition("/")[2] == ".gitattributes" for n in baseline.files) or bool(
        shadow.git.names("ls-files", "-z", "--", ".gitattributes", ":(glob)**/.gitattributes")
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _stored(shadow: PrivateGitDir, hashes: Iterable[str]) -> dict[str, int]:
    """Bytes of objects as git holds them."""
    wanted = "".join(f"{h}\n" for h in dict.fromkeys(hashes))
    told = shadow.git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=wanted.encode())
    rows = (row.split(" ") for row in told.decode().splitlines())
    return {row[0]: int(row[1]) for row in rows if row[1].isdigit()}


def _named(shadow: PrivateGitDir, names: Iterable[str]) -> set[str]:
    """Those for which a conversion is named that need not change the size."""
    told = os.fsdecode(shadow.git.run("check-attr", "--stdin", "-z", *SAME_SIZE, stdin=lines(names))).split("\0")
    rows = zip(itertools.islice(told, 0, None, 3), itertools.islice(told, 2, None, 3), strict=False)
    return {name for name, value in rows if value not in _UNSET}
