"""Reads the user's own secret values from the files that hold them (``.env`` and others), on demand; stores none.

Rules of this file:
1. Nothing is written; a value is in no argument of a program (git gets it by its standard input) and in no log.
2. What is looked through is bounded: folders near the top, files of secrets, ``MAX_BYTES`` of each. A link is followed
   to a file of that size and to nothing else.
3. A second look costs a ``stat`` for each folder and file, as long as nothing changed.
4. What stands in ``base`` is no secret any more; git is asked only about what was found, and not waited for longer than
   ``patience``: until it has answered a value counts as secret.
5. A file that the person lets in is read by everybody: it is no source, and neither is one that nobody restricts and
   git has in its index.
"""

from __future__ import annotations

import functools
import os
import re
import stat
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from sentinel_guard.core.analysis.secret_names import is_secret, may_hold_secret
from sentinel_guard.core.policy.policy import Policy, last_matching_pattern
from sentinel_guard.core.secrets.user_secrets.choose_secret_values import values_in, values_of, weak
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.host.machine.content_addressed_store import settled
from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.secrets.committed_values import PATIENCE, Committed

MAX_BYTES = 1 << 16
"""Of a file; of a larger one nothing is read."""
FILES, FOLDERS, DEPTH = 50, 300, 3
"""Files that are read, folders that are looked into, and how deep below the root."""
ENTRIES = 5000
"""Names of a folder that are looked at; beyond that it holds data."""
GENERATED = HEAVY | {"target", "build", "dist", "vendor", "coverage", ".next", ".terraform", ".cache", ".gradle"}
EXAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
"""Ends of the names of files that show what a file of secrets is to hold."""
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_Stamp = tuple[int, int, int, int]
"""Inode, size, change and modification time (nanoseconds)."""


@dataclass(slots=True)
class _Values:
    words: dict[str, str] = field(repr=False)
    """Value -> where it is from."""
    homes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set), repr=False)
    """Value -> the files that hold it, relative to the root."""


@dataclass(slots=True)
class Cache:
    """What was read last, for a process that asks again and again: one for each work tree."""

    patterns: tuple[str, ...] = ()
    """Of the policy by which the files were chosen."""
    folders: dict[str, tuple[_Stamp, list[str], list[str]]] = field(default_factory=dict)
    """Folder -> as it was, the folders below it, its files that may hold secrets."""
    files: dict[str, tuple[_Stamp, dict[str, str]]] = field(default_factory=dict, repr=False)
    """File -> as it was, its values."""
    made: tuple[_Values, str, str, UserSecrets] | None = field(default=None, repr=False)
    """The values, their root and their base, and what was made of them."""
    lock: threading.Lock = field(default_factory=threading.Lock)


def collect(
    root: Path,
    policy: Policy,
    environ: Mapping[str, str],
    *,
    cached: Cache | None = None,
    restricted: Iterable[str] = (),
    base: str = "HEAD",
    patience: float = PATIENCE,
) -> UserSecrets:
    """The values of restricted and secret files of the work tree, and of variables that are called like secrets.

    ``restricted``: absolute paths of further files (what the watcher of a session knows). ``base``: the commit whose
    content is no news; empty for none. ``patience``: seconds for which a search in what is given back waits for git.
    What cannot be read holds nothing: this raises nothing.
    """
    cache = cached or Cache()
    with cache.lock:
        paths = _chosen([*_search(str(root), policy, cache, base), *restricted])
        values = _in_files(paths, str(root), cache)
        values.words = values_in(environ) | values.words
        if cache.made is None or cache.made[:3] != (values, str(root), base):
            committed = Committed(str(root), base, patience)
            cache.made = (values, str(root), base, UserSecrets(values.words, committed, values.homes))
            committed.foresee(values.words)
        return cache.made[3]


# --- which files ---


def _chosen(paths: Iterable[str]) -> list[str]:
    """Files of secrets first: of those that are only restricted there may be many."""
    return sorted(dict.fromkeys(paths), key=_rank)[:FILES]


@functools.lru_cache(maxsize=1024)
def _rank(path: str) -> tuple[bool, bool, int, str]:
    return not is_secret(path), not may_hold_secret(path), path.count("/"), path


def _search(root: str, policy: Policy, cache: Cache, base: str) -> list[str]:
    suspects = list(_suspected(root, policy, cache))
    restricted = {path for path in suspects if policy.restricts(path, root)}
    let_in = tuple(pattern[1:] for pattern in policy.paths.restricted if pattern.startswith("!"))
    others = [
        p for p in suspects if p not in restricted and may_hold_secret(p) and not last_matching_pattern(let_in, p, root)
    ]
    # In a session what the agent has staged says nothing.
    from sentinel_guard.host.git import repository  # noqa: PLC0415 - a commit waits, and few trees have such files

    tracked = repository.tracked(root, others) if others and base == "HEAD" else frozenset[str]()
    return [*restricted, *(path for path in others if path not in tracked)]


def _suspected(root: str, policy: Policy, cache: Cache) -> Iterator[str]:
    patterns = (*policy.paths.restricted, *policy.project.restricted)
    if cache.patterns != patterns:
        cache.patterns = patterns
        cache.folders.clear()
    may, todo = _suspects(patterns), deque([(root, 0)])
    for _ in range(FOLDERS):
        if not todo:
            return
        folder, depth = todo.popleft()
        below, files = _looked_into(folder, may, cache)
        yield from files
        if depth < DEPTH:
            todo.extend((path, depth + 1) for path in below)


@functools.lru_cache(maxsize=16)
def _suspects(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """A quick test of paths by the last name of each pattern, for to ask the policy takes ten times as long."""
    lasts = {re.sub(r"(?:/\**)+$", "", p.strip()).rpartition("/")[2] for p in patterns if not p.startswith(("!", "#"))}
    names = "|".join(re.sub(r"\[.*|[*?]|\W", _wild, last) for last in sorted(lasts) if last)
    named = re.compile(rf".*/(?:{names or '(?!)'})(?:/.*)?", re.DOTALL)
    return lambda path: may_hold_secret(path) or named.fullmatch(path) is not None


def _wild(sign: re.Match[str]) -> str:
    """A sign of a gitignore pattern; what follows a set of characters may be anything."""
    return {"*": "[^/]*", "?": "[^/]"}.get(sign[0]) or ("[^/]*" if sign[0][0] == "[" else re.escape(sign[0]))


def _looked_into(folder: str, may: Callable[[str], bool], cache: Cache) -> tuple[list[str], list[str]]:
    """The folders and the suspect files of a folder, by its change time. Links to folders are no folders."""
    try:
        stamp = _stamp(os.stat(folder))  # noqa: PTH116 - of hundreds, with each call
        if stamp and folder in cache.folders and cache.folders[folder][0] == stamp:
            return cache.folders[folder][1:]
        with os.scandir(folder) as entries:
            below, files = _sorted_out(islice(entries, ENTRIES), may)
    except OSError:
        return [], []
    if stamp:
        cache.folders[folder] = (stamp, below, files)
    return below, files


def _sorted_out(entries: Iterable[os.DirEntry[str]], may: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    below, files = list[str](), list[str]()
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            files += [entry.path] if may(entry.path) else []
        elif entry.name not in GENERATED:
            below.append(entry.path)
    return sorted(below), sorted(files)


# --- what is in them ---


def _in_files(paths: Iterable[str], root: str, cache: Cache) -> _Values:
    values = _Values({})
    for path in paths:
        if held := _held(path, root, cache):
            shown = _shown(path, root, cache)
            # A real secret that was copied into the example is one still.
            secret = {v: what for v, what in held.items() if not (v in shown and weak(v))}
            values.words |= secret
            for value in secret:
                values.homes[value].add(path.removeprefix(f"{root}/"))
    return values


def _held(path: str, root: str, cache: Cache) -> dict[str, str]:
    """The values of a file; none of what is no small regular file."""
    try:
        # Asked before it is opened: to open a device may do something.
        seen = os.stat(path)  # noqa: PTH116 - as above
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > MAX_BYTES:
            return {}
        stamp = _stamp(seen)
        if stamp and path in cache.files and cache.files[path][0] == stamp:
            return cache.files[path][1]
        values = values_of(path.removeprefix(f"{root}/"), _read(path))
    except (OSError, ValueError):
        return {}
    if stamp:
        cache.files[path] = (stamp, values)
    return values


def _read(path: str) -> bytes:
    """Empty where something else stands there by now. Raises OSError."""
    with open(os.open(path, _OPEN), "rb") as file:  # noqa: PTH123 - a descriptor
        data = file.read(MAX_BYTES + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    return data if len(data) <= MAX_BYTES else b""


def _stamp(seen: os.stat_result) -> _Stamp | None:
    """None for what cannot be told from what it will be in a moment."""
    return (seen.st_ino, seen.st_size, seen.st_ctime_ns, seen.st_mtime_ns) if settled(seen) else None


def _shown(path: str, root: str, cache: Cache) -> set[str]:
    """Values that an example beside a file holds too."""
    folder, _, name = path.rpartition("/")
    beside = {f"{folder}/{stem}{end}" for end in EXAMPLES for stem in (name, name.split(".local")[0], ".env")}
    held = (_held(example, root, cache) for example in sorted(beside) if example != path)
    return {value for found in held for value in found}
