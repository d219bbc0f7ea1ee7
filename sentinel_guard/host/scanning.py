"""The work tree against the start's index, by the start's settings and ignore rules.

Rules of this file:
1. git tells what was touched; whether it is changed is told by its content, hashed. ``git diff`` would believe a
   damaged object, and the times of files can be forged.
2. What cannot be told is changed: putting the same content back does no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.baseline import Baseline
from sentinel_guard.host.shadow import Shadow

NS = 1_000_000_000
"""Nanoseconds in a second; as a file's time it is older than any."""
FEW = 200
"""So many files are looked into by name; of more, the whole index is gone through once more."""
_LINK = "120000"
MAX_READ = 16 << 20
"""Bytes of a file that is read here; a larger one is git's to hash."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What git tells of the work tree."""

    touched: Mapping[str, tuple[str, str]]
    """Tracked files whose stat data is not the index's, and what the index says: mode (octal), hash."""
    changed: list[str]
    """Those of them whose content or kind differs; a mode is looked at apart."""
    others: list[str]
    """Files that are not tracked; repositories of their own end in ``/``."""


def start_index(baseline: Baseline, shadow: Shadow | None = None) -> None:
    """The start's index becomes the shadow's, with its stat data: what was touched since is looked at again."""
    shadow, kept = shadow or baseline.shadow, baseline.own.get("index")
    with contextlib.suppress(FileNotFoundError):
        shadow.index.unlink()
    if kept is None:
        return
    try:
        shadow.index.write_bytes(baseline.vault.data(kept.content))
    except HostError:
        # Its copy is damaged. What differed from HEAD was kept raw, so HEAD's index tells the rest.
        shadow.git.run("read-tree", baseline.head or "--empty")
        return
    # git looks into every file that is not older than its index: where we know too little, that is all of them.
    recent, known = baseline.rest.recent, baseline.rest.complete
    doubtful = not known or len(recent) > FEW
    os.utime(shadow.index, ns=(NS, NS) if doubtful else (kept.mtime_ns, kept.mtime_ns))
    if recent and not doubtful:
        rows = shadow.git.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", *recent)
        shadow.git.run("update-index", "-z", "--index-info", stdin=rows)


def scan(baseline: Baseline) -> Scan:
    """Leaves the start's index in the shadow. Raises HostError."""
    start_index(baseline)
    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(_others, baseline)
        touched = _touched(baseline.shadow)
    return Scan(touched, _differing(baseline.shadow, touched), others.result())


def scan_beside(baseline: Baseline, before: Scan, act: Callable[[], bool]) -> Scan | None:
    """As ``scan``, while ``act`` puts all tracked files right: only what was touched before it is looked into anew.

    None where ``act`` says that it did not. Raises HostError.
    """
    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(_others, baseline)
        done = act()
    if not done:
        return None
    return Scan(before.touched, _differing(baseline.shadow, before.touched), others.result())


def refresh(shadow: Shadow, names: list[str]) -> None:
    """Give these files, which are as the index says, their stat data in it. Raises HostError."""
    if len(names) > FEW:
        shadow.git.run("update-index", "-q", "--refresh", ok=(0, 1))
    elif names:
        shadow.git.run("--literal-pathspecs", "add", "--refresh", "--", *names, ok=(0, 1))


def _others(baseline: Baseline) -> list[str]:
    return baseline.shadow.others(f"--exclude-from={baseline.shadow.frozen}")


def _touched(shadow: Shadow) -> dict[str, tuple[str, str]]:
    words = shadow.git.names("diff-files", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=all")
    rows = ((head.split(" "), name) for head, name in zip(words[::2], words[1::2], strict=True))
    return {name: (head[0][1:], head[2]) for head, name in rows}


def _differing(shadow: Shadow, touched: Mapping[str, tuple[str, str]]) -> list[str]:
    doubtful = [n for n, (mode, digest) in touched.items() if not _same(f"{shadow.where.root}/{n}", mode, digest)]
    # What is no file, or should be none, no filter has made.
    plain = [n for n in doubtful if _plain(f"{shadow.where.root}/{n}", touched[n][0])]
    if not plain:
        return doubtful
    if len(plain) > FEW:
        left = {*shadow.differing()}
        return [n for n in doubtful if n in left]
    try:
        hashes = shadow.git.text("hash-object", "--", *plain).split()
    except HostError:  # one that cannot be read spoils all
        return doubtful
    clean = {n for n, digest in zip(plain, hashes, strict=True) if digest == touched[n][1]}
    return [n for n in doubtful if n not in clean]


def _same(path: str, mode: str, digest: str) -> bool:
    """True where a file is, byte by byte, what the index says."""
    try:
        seen = os.lstat(path)
        if stat.S_ISLNK(seen.st_mode):
            return mode == _LINK and _hash(os.fsencode(Path(path).readlink()), digest) == digest
        if not _plain(path, mode) or seen.st_size > MAX_READ:
            return False
        with open(path, "rb") as f:  # noqa: PTH123 - text with surrogates
            return _hash(f.read(), digest) == digest
    except OSError:
        return False


def _plain(path: str, mode: str) -> bool:
    """True for a regular file that the index has as one."""
    try:
        seen = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(seen.st_mode) and mode[:3] == "100"


def _hash(data: bytes, like: str) -> str:
    kind = "sha1" if len(like) == 40 else "sha256"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
