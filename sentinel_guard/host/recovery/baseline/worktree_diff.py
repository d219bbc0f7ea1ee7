"""Compares the work tree with the index of the session's start, by the settings and ignore rules of that time.

Rules of this file:
1. git tells what was touched; whether it is changed is told by its content, hashed. ``git diff`` would believe a
   damaged object, and the times of files can be forged.
2. What cannot be told is changed: putting the same content back does no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import PrivateGitDir
from sentinel_guard.host.machine.started_call import StartedCall
from sentinel_guard.host.recovery.baseline.folder_survey import Survey
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_inventory import MANY, NAMED

NS = 1_000_000_000
"""Nanoseconds in a second; as a file's time it is older than any."""
FEW = 200
"""So many files are named to git at once."""
_LINK = "120000"
_DEBUG = re.compile(rb"([^\0]+)\0  ctime: .*\n  mtime: .*\n  dev: .*\n  uid: .*\n  size: (\d+)\tflags: .*\n")
"""A row of ``git ls-files --debug -z``."""
MAX_READ = 16 << 20
"""Bytes of a file that is read here; a larger one is git's to hash."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What git tells of the work tree."""

    touched: Mapping[str, tuple[str, str]]
    """Tracked files whose stat data is not the index's or says too little, and what the index says: mode (octal),
    hash.
    """
    changed: list[str]
    """Those of them whose content or kind differs; a mode is looked at apart."""
    stale: list[str]
    """Those of them that are as the index says, under other stat data."""
    others: list[str]
    """Files that are neither tracked nor kept raw (some that are, may be among them); repositories of their own end in
    ``/``.
    """
    tracked: frozenset[str] = frozenset()
    """Of the files that may be new, those that the start's index holds."""


def start_index(baseline: Baseline, shadow: PrivateGitDir | None = None, like: Path | None = None) -> None:
    """The start's index becomes the shadow's, with its stat data: what was touched since is looked at again.

    ``like``: a file that may have its bytes, which is read sooner.
    """
    shadow, kept = shadow or baseline.shadow, baseline.own.get("index")
    with contextlib.suppress(FileNotFoundError):
        shadow.index.unlink()
    if kept is None:
        return
    try:
        data = like.read_bytes() if like else b""
        same = hashlib.sha256(data).hexdigest() == kept.content
        shadow.index.write_bytes(data if same else baseline.vault.data(kept.content))
    except HostError:
        # Its copy is damaged. What differed from HEAD was kept raw, so HEAD's index tells the rest.
        shadow.git.run("read-tree", baseline.head or "--empty")
        return
    # git looks into every file that is not older than its index: where we know too little, that is all of them.
    known = baseline.rest.complete and len(baseline.rest.recent) <= MANY
    at = kept.mtime_ns if known else NS
    os.utime(shadow.index, ns=(at, at))


def scan(baseline: Baseline, names: Survey) -> Scan:
    """Leaves the start's index in the shadow. ``names``: those that are there now. Raises HostError."""
    start_index(baseline)
    with StartedCall(lambda: _others(baseline, names)) as others:
        touched = _touched(baseline.shadow)
    recent = baseline.rest.recent
    doubtful = {**(recent if len(recent) <= MANY else {}), **touched}
    changed = _differing(baseline.shadow, doubtful)
    return Scan(doubtful, changed, sorted(touched.keys() - {*changed}), *others.result())


def go_on(baseline: Baseline, before: Scan, names: Survey) -> Scan:
    """As ``scan``, a moment after ``before``: what was touched is looked into, and what is new. Raises HostError."""
    changed = _differing(baseline.shadow, before.touched)
    stale = sorted({*before.stale, *before.changed}.difference(changed))
    return Scan(before.touched, changed, stale, *_others(baseline, names, before.tracked))


def scan_again(baseline: Baseline, before: Scan, names: Survey, old: frozenset[str]) -> Scan:
    """As ``scan``, after git has put all tracked files right: only what was touched before is looked into anew.

    ``old``: names that were there at the start. Raises HostError.
    """
    changed = _differing(baseline.shadow, before.touched)
    return Scan(before.touched, changed, [], *_others(baseline, names, before.tracked | old))


def refresh(shadow: PrivateGitDir, names: list[str]) -> None:
    """Give these files, which are as the index says, their stat data in it. Raises HostError."""
    if len(names) > FEW:
        shadow.git.run("update-index", "-q", "--refresh", ok=(0, 1))
    elif names:
        shadow.git.run("--literal-pathspecs", "add", "--refresh", "--", *names, ok=(0, 1))


def _others(
    baseline: Baseline, names: Survey, tracked: frozenset[str] = frozenset()
) -> tuple[list[str], frozenset[str]]:
    """``Scan.others`` and ``Scan.tracked``, by the rules of the start. git goes through all of the tree: it is asked
    only where something may be new. ``tracked``: what of it is known already.
    """
    shadow, known = baseline.shadow, {*baseline.raw, *baseline.ignored, *tracked}
    new = {n for n in names.shown if n not in known}
    if not names.partial and len(new) <= MANY:
        few = new if len(new) <= NAMED else ()
        tracked |= new.intersection(_listed(shadow, few)) if new else frozenset()
        if new <= tracked:
            return [], tracked
    return shadow.others(f"--exclude-from={shadow.frozen}"), tracked


def _listed(shadow: PrivateGitDir, names: Iterable[str]) -> list[str]:
    """Of these names, or of all, those that the index holds."""
    return shadow.git.names("--literal-pathspecs", "ls-files", "-z", "--", *names)


def _touched(shadow: PrivateGitDir) -> dict[str, tuple[str, str]]:
    words = shadow.git.names("diff-files", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=all")
    rows = ((head.split(" "), name) for head, name in zip(words[::2], words[1::2], strict=True))
    return {name: (head[0][1:], head[2]) for head, name in rows}


def _differing(shadow: PrivateGitDir, touched: Mapping[str, tuple[str, str]]) -> list[str]:
    root, linkless = shadow.where.root, shadow.writes_links_as_files()
    doubtful = [n for n, row in touched.items() if not is_stored(f"{root}/{n}", *row, linkless=linkless)]
    # What is no file, or should be none, no filter has made.
    plain = [n for n in doubtful if _plain(f"{shadow.where.root}/{n}", touched[n][0])]
    hashes = {n: h for at in range(0, len(plain), FEW) for n, h in _hashes(shadow, plain[at : at + FEW])}
    # A filter folds what is not the same: line ends, for one. Then the size tells, as it does for git itself.
    sizes = _sizes(shadow, [n for n, digest in hashes.items() if digest == touched[n][1]])
    return [n for n in doubtful if sizes.get(n, -1) != _size(f"{shadow.where.root}/{n}")]


def _sizes(shadow: PrivateGitDir, names: list[str]) -> dict[str, int]:
    """What the index says of files: bytes in the work tree; 0 where it does not know."""
    chunks = (names[at : at + FEW] for at in range(0, len(names), FEW))
    return {name: size for some in chunks for name, size in index_sizes(shadow, some).items()}


def index_sizes(shadow: PrivateGitDir, names: Iterable[str] = ()) -> dict[str, int]:
    """Bytes in the work tree, as the index says, of these files or of all. Raises HostError."""
    told = shadow.git.run("--literal-pathspecs", "ls-files", "--debug", "-z", "--", *names)
    return {os.fsdecode(name): int(size) for name, size in _DEBUG.findall(told)}


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return -2


def _hashes(shadow: PrivateGitDir, names: list[str]) -> Iterable[tuple[str, str]]:
    """Of files as filters make them. One that cannot be read spoils all."""
    try:
        return zip(names, shadow.git.text("hash-object", "--", *names).split(), strict=True)
    except HostError:
        return ()


def is_stored(path: str, mode: str, digest: str, *, linkless: bool = False) -> bool:
    """True where a file is, byte by byte, what the index says.

    ``linkless``: links are files that hold their targets.
    """
    try:
        seen = os.lstat(path)
        if stat.S_ISLNK(seen.st_mode):
            return mode == _LINK and not linkless and _hash(os.fsencode(Path(path).readlink()), digest) == digest
        as_file = mode[:3] == "100" or (linkless and mode == _LINK)
        if not (stat.S_ISREG(seen.st_mode) and as_file) or seen.st_size > MAX_READ:
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
