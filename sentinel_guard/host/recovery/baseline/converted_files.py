"""Finds clean tracked files of which the work tree holds other bytes than git would write: line ends, filters, large
files (git-lfs), encodings. A checkout would bring back what git makes of them today.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from sentinel_guard.host.git.private_git_dir import PrivateGitDir
from sentinel_guard.host.git.run_git import lines
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_diff import index_sizes, is_stored

MAX_ALL = 200 << 20
"""Bytes of such files that are kept, the smallest first; the others are git's to write."""
SAME_SIZE = ("filter", "ident", "working-tree-encoding")
"""Attributes with which git may write other bytes of the same number (gitattributes(5))."""
_SETTINGS = (b"autocrlf", b"\teol", b"attributesfile")
_UNSET = frozenset({"unspecified", "unset"})


def find(baseline: Baseline, recent: Iterable[str], ignored: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """Their names: those to keep, and those for which there is no room. Raises HostError.

    ``recent``: files that a rollback looks into; their bytes may be another rule's, which is gone since. ``ignored``:
    files that git ignores, which it does not do to rules.
    """
    shadow = baseline.shadow
    if not _any(baseline, ignored):
        return [], []
    rows = (row.partition("\t") for row in shadow.git.names("ls-files", "-s", "-z"))
    entries = {n: head.split(" ")[:2] for head, _, n in rows if head.startswith("100") and n not in baseline.files}
    hashes = {n: digest for n, (_, digest) in entries.items()}
    known, stored = index_sizes(shadow), _stored(shadow, hashes.values())
    found = {n for n, h in hashes.items() if h in stored and known.get(n) != stored[h]}
    found |= _named(shadow, hashes)
    found |= {n for n in recent if n in entries and not is_stored(f"{baseline.root}/{n}", *entries[n])}
    room, ordered = MAX_ALL, sorted(found, key=lambda n: known.get(n, 0))
    for number, name in enumerate(ordered):
        room -= known.get(name, 0)
        if room < 0:
            return ordered[:number], ordered[number:]
    return ordered, []


def _any(baseline: Baseline, ignored: Iterable[str]) -> bool:
    """Whether anything tells git to convert; most repositories need not be looked into."""
    shadow = baseline.shadow
    settings = b"".join(_read(shadow.folder / name) for name in ("config", "global"))
    if any(word in settings for word in _SETTINGS) or _read(shadow.folder / "info/attributes"):
        return True
    if any(name.endswith("/attributes") and kept.content for name, kept in baseline.user.items()):
        return True
    return any(n.endswith(".gitattributes") for n in (*baseline.files, *ignored)) or bool(
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
    """Those for which a conversion is named that need not change the size: files whose line ends are LF in both, where
    git would write CRLF, among them.
    """
    asked = (*SAME_SIZE, "eol", "text")
    told = os.fsdecode(shadow.git.run("check-attr", "--stdin", "-z", *asked, stdin=lines(names))).split("\0")
    values = dict[str, dict[str, str]]()
    for name, attribute, value in zip(told[::3], told[1::3], told[2::3], strict=False):
        values.setdefault(name, {})[attribute] = value
    crlf = _writes_crlf(shadow)
    return {
        name
        for name, value in values.items()
        if any(value[a] not in _UNSET for a in SAME_SIZE)
        or (value["text"] != "unset" and (value["eol"] == "crlf" or (crlf and value["eol"] != "lf")))
    }


def _writes_crlf(shadow: PrivateGitDir) -> bool:
    """Whether the settings say so for files whose attributes do not."""
    told = shadow.git.text("config", "--get-regexp", r"^core\.(autocrlf|eol)$", ok=(0, 1)).lower().splitlines()
    return "core.eol crlf" in told or any(row.endswith((" true", " yes", " on", " 1")) for row in told)
