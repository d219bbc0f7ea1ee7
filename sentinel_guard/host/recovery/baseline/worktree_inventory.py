"""Lists what a work tree holds besides its clean tracked files, which is what a baseline must keep.

Rules of this file:
1. While the agent waits, git does the looking: it goes through a tree ten times as fast as we do.
2. What only a look at every file tells (odd modes, empty folders, files changed a moment ago) is told later, and
   nothing that was changed since the start is believed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import dataclass, field

from sentinel_guard.core.policy.policy import literals
from sentinel_guard.host.git.private_git_dir import PrivateGitDir
from sentinel_guard.host.machine import birth_time, deep_folders
from sentinel_guard.host.machine.content_addressed_store import SETTLED_NS
from sentinel_guard.host.machine.deep_folders import HEAVY
from sentinel_guard.host.machine.started_call import together

RECENT = 2.0
"""Seconds in which a file's stat data may stay the same though its content changes (git compares whole seconds)."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NS = 1_000_000_000
"""Nanoseconds in a second."""
EVERYTHING = ("*",)
NAMED = 20
"""Files that are named to git at once: it compares each of its own with all of them."""
MANY = 2_000
"""So many files are looked into because they had been changed shortly before the start; of more, git looks into all."""
FOLDERS = 2000
"""Ignored folders that are named to git; of more, all that is untracked is gone through."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What git tells of a work tree; names relative to the root."""

    tracked: tuple[str, ...]
    """Staged, changed, deleted or in conflict."""
    staged: tuple[str, ...]
    """Those of them that are in the work tree as they are in the index."""
    untracked: tuple[str, ...]
    embedded: tuple[str, ...]
    """Untracked repositories, without their closing slash."""
    ignored: tuple[str, ...]
    """What is ignored as a whole: files, and folders with a closing slash."""
    flagged: tuple[str, ...]
    """Where git was told not to look (assume-unchanged, skip-worktree)."""
    submodules: tuple[str, ...]
    """Tracked repositories of their own (gitlinks)."""
    ignores: tuple[str, ...]
    """``.gitignore`` files."""
    restricted: tuple[str, ...]


def inventory(
    shadow: PrivateGitDir, restricts: Callable[[str], bool], patterns: Iterable[str] = EVERYTHING
) -> Inventory:
    """Look with the shadow's settings and index. Raises HostError.

    ``restricts`` is asked with absolute paths, about what one of ``patterns`` takes in (gitignore syntax, from the
    root of this work tree; without any ``!``).
    """
    narrowed = shadow.folder / "restricted"
    narrowed.write_bytes(os.fsencode("".join(f"{p}\n" for p in patterns)))
    chosen = f"--exclude-from={narrowed}"
    status, index = together(
        lambda: shadow.git.run("status", *_STATUS),
        lambda: shadow.git.run("ls-files", "-v", "-z"),
    )
    rows, listed = [row for row in os.fsdecode(status).split("\0") if row], _telling(index)
    others = [row[2:] for row in rows if row[0] == "?"]
    ignored = tuple(row[2:] for row in rows if row[0] == "!")
    untracked = tuple(n for n in others if n[-1] != "/")
    candidates = [row[2:] for row in _holding(index, _texts(tuple(patterns)))]
    candidates += _narrowed([*untracked, *(n for n in ignored if n[-1] != "/")], tuple(patterns))
    if folders := [n for n in ignored if n[-1] == "/" and HEAVY.isdisjoint(n.split("/"))]:
        named = folders if len(folders) <= FOLDERS else []
        candidates += shadow.git.names("ls-files", "-o", "-i", "-z", chosen, "--", *(f":(literal){n}" for n in named))
    seen = [*untracked, *ignored, *(row[2:] for row in listed)]
    return Inventory(
        tracked=tuple(row.split(" ", _FIELDS[row[0]])[-1] for row in rows if row[0] in _FIELDS),
        staged=tuple(row.split(" ", _FIELDS["1"])[-1] for row in rows if row[0] == "1" and row[3] == "."),
        untracked=untracked,
        embedded=tuple(n.rstrip("/") for n in others if n[-1] == "/"),
        ignored=ignored,
        flagged=tuple(row[2:] for row in listed if row[0] in "Ss" or row[0].islower()),
        submodules=_submodules(shadow),
        ignores=tuple(n for n in seen if n == ".gitignore" or n.endswith("/.gitignore")),
        restricted=tuple(sorted({n for n in candidates if restricts(f"{shadow.where.root}/{n}")})),
    )


def _narrowed(names: list[str], patterns: tuple[str, ...]) -> list[str]:
    """Those that one of the patterns may take in; of tens of thousands most often none."""
    whole = "\0".join(names)
    there = [text for text in _texts(patterns) if text in whole]
    return [name for name in names if any(text in name for text in there)] if there else []


def _telling(listed: bytes) -> list[str]:
    """Of all rows of ``ls-files -v`` those that say something; a hundred thousand others cost a moment."""
    if (b"\0" + listed).count(b"\0H ") != listed.count(b"\0"):
        return [row for row in os.fsdecode(listed).split("\0") if row]
    return _holding(listed, (".gitignore",))


def _submodules(shadow: PrivateGitDir) -> tuple[str, ...]:
    """Their modes git lists with all hashes, which is dear: only where the bytes of that mode are in the index."""
    if not any(_GITLINK in path.read_bytes() for path in shadow.index.parent.glob("*index*")):
        return ()
    rows = shadow.git.names("ls-files", "-s", "-z")
    return tuple(row.partition("\t")[2] for row in rows if row.startswith("160000"))


def _texts(patterns: tuple[str, ...]) -> list[str]:
    """What a name must hold one of that a pattern takes in."""
    texts = literals(patterns)
    return [text for text in texts if not any(other in text for other in texts if other != text)]


def _holding(listed: bytes, texts: Iterable[str]) -> list[str]:
    """The rows that hold one of the texts, in their order."""
    found = dict[int, int]()
    for text in map(os.fsencode, texts):
        at = listed.find(text)
        while 0 <= at < len(listed):  # an empty text is in every row, and behind the last
            found[listed.rfind(b"\0", 0, at) + 1] = end = listed.find(b"\0", at)
            at = listed.find(text, end + 1)
    return [os.fsdecode(listed[begin:end]) for begin, end in sorted(found.items())]


_STATUS = (
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignored=matching",
    "--ignore-submodules=all",
    "--no-renames",
)
_FIELDS = {"1": 8, "u": 10}
"""Kind of row in porcelain v2 -> words before the name."""
_GITLINK = 0o160000.to_bytes(4, "big")
"""A submodule's mode as an index holds it (gitformat-index(5))."""


def entries(shadow: PrivateGitDir, names: Collection[str]) -> dict[str, tuple[str, str]]:
    """What the index says of files: mode (octal), hash; empty words where there are too MANY. Raises HostError."""
    if not 0 < len(names) <= MANY:
        return dict.fromkeys(names, ("", ""))
    few, wanted = names if len(names) <= NAMED else (), frozenset(names)
    found = shadow.git.names("--literal-pathspecs", "ls-files", "-s", "-z", "--", *few)
    rows = (row.partition("\t") for row in found)
    words = {name: head.split(" ") for head, _, name in rows if name in wanted}
    return {name: (mode, digest) for name, (mode, digest, _) in words.items()}


def tracked(shadow: PrivateGitDir) -> dict[str, bool]:
    """Tracked files; True for what git has as executable. Raises HostError."""
    rows = shadow.git.names("ls-files", "-s", "-z")
    return {row.partition("\t")[2]: row.startswith("100755") for row in rows}


@dataclass(slots=True)
class Walk:
    """What a walk over all names finds, ignored ones too; names relative to the root."""

    began: float
    """Seconds of the epoch: what was changed after it is not the start's."""
    empty: list[str] = field(default_factory=list)
    """Empty folders."""
    modes: dict[str, int] = field(default_factory=dict)
    """Modes of regular files that are tracked and clean."""
    folders: dict[str, int] = field(default_factory=dict)
    """Modes of folders."""
    stamps: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Inode and change time (ns) of folders, the root (empty name) too; (0, 0) where they say too little."""
    recent: list[str] = field(default_factory=list)
    """Those of ``modes`` that were changed in the RECENT seconds before it, or since."""
    special: list[str] = field(default_factory=list)
    """Named pipes, sockets and devices."""
    pipes: list[str] = field(default_factory=list)
    """Those of them that are no sockets."""
    shut: dict[str, int] = field(default_factory=dict)
    """Folders that cannot be read, or hold some whose paths are too long, and their change time (ns)."""
    git_files: list[str] = field(default_factory=list)
    """Files that are called ``.git``: git shows none of them."""
    git_folders: list[str] = field(default_factory=list)
    """Folders that are called so where git shows no repository: among tracked files, or because they are none."""
    early: list[str] = field(default_factory=list)
    """Folders, and clean tracked files, that were changed since: nobody knows what was in them, or their modes."""
    linked: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    """Names of clean tracked files that have several, by device and inode."""


def walk(root: str, began: float, tracked: Container[str], kept: Container[str], covered: Container[str]) -> Walk:
    """Look at every name below the root, as it was when the session began; at the files themselves only where they are
    tracked and not ``kept``. ``covered``: folders into which git does not look.
    """
    walking = Walking(root, tracked, kept, covered, Walk(began))
    walking.run()
    return walking.found


@dataclass(slots=True)
class Walking:
    """A walk that is under way."""

    root: str
    tracked: Container[str]
    kept: Container[str]
    covered: Container[str]
    found: Walk
    device: int = 0
    """The root's."""
    todo: list[tuple[str, bool]] = field(default_factory=lambda: [("", False)])
    """Folders, and whether they lie in a covered one."""

    def run(self) -> None:
        with contextlib.suppress(OSError):
            self.device = os.lstat(self.root).st_dev
        while self.todo:
            folder, inside = self.todo.pop()
            try:
                self.look(folder, inside)
            except OSError as e:
                if e.errno == errno.ENAMETOOLONG:
                    self._note_shut(folder.rpartition("/")[0])

    def _note_shut(self, folder: str) -> None:
        self.found.stamps[folder] = (0, 0)
        with contextlib.suppress(OSError):
            self.found.shut[folder] = os.lstat(f"{self.root}/{folder}").st_ctime_ns

    def look(self, folder: str, inside: bool) -> None:
        """One folder: what is in it is noted, folders below it are to be looked at next. Raises OSError."""
        path = f"{self.root}/{folder}" if folder else self.root
        seen = os.lstat(path)
        if not stat.S_ISDIR(seen.st_mode):
            raise NotADirectoryError
        self.note_mode(folder, path, seen)
        self.found.stamps[folder] = (0, 0)
        # By descriptor: then the kernel does not go down the whole path for each file.
        at = os.open(path, _FOLDER)
        try:
            entries = [*os.scandir(at)]
            self.note_folder(folder, seen, empty=not entries)
            self._sort(entries, folder, inside)
        finally:
            os.close(at)

    def note_mode(self, folder: str, path: str, seen: os.stat_result) -> None:
        if bool(folder) and not birth_time.is_since(seen.st_ctime, self.found.began):
            self.found.folders[folder] = stat.S_IMODE(seen.st_mode)
            if not os.access(path, os.R_OK | os.X_OK):
                self.found.shut[folder] = seen.st_ctime_ns

    def note_folder(self, folder: str, seen: os.stat_result, *, empty: bool) -> None:
        """``seen``: from before its names were read."""
        found = self.found
        if birth_time.is_since(seen.st_ctime, found.began):
            found.early.append(f"{folder or '.'}/")
        settled = seen.st_ctime_ns < found.began * NS - SETTLED_NS and seen.st_dev == self.device
        found.stamps[folder] = (seen.st_ino, seen.st_ctime_ns) if settled else (0, 0)
        if empty and folder in found.folders:
            found.empty.append(folder)

    def _sort(self, entries: Iterable[os.DirEntry[str]], folder: str, inside: bool) -> None:
        """What a folder holds, by kind. The names of a large work tree pass here."""
        prefix, tracked, kept = f"{folder}/" if folder else "", self.tracked, self.kept
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                apart = inside or name in self.covered
                if entry.name == ".git":
                    if not apart and folder:
                        # What git shows of it, git alone can tell: the folder is looked at again in any case.
                        self.found.stamps[folder] = (0, 0)
                        self.found.git_folders.append(name)
                elif not (apart and entry.name in HEAVY):
                    self.todo.append((name, apart))
            elif entry.is_file(follow_symlinks=False):
                if name in tracked:
                    if name not in kept:
                        with contextlib.suppress(OSError):
                            self.note_file(name, entry.stat(follow_symlinks=False))
                elif entry.name == ".git" and folder:
                    self._note_other(entry, folder, name, self.found.git_files)
            elif not entry.is_symlink():
                self._note_other(entry, folder, name, self.found.special)

    def note_file(self, name: str, seen: os.stat_result) -> None:
        found, changed = self.found, seen.st_ctime
        if changed < found.began or not birth_time.is_since(changed, found.began):
            found.modes[name] = seen.st_mode & 0o7777
            if seen.st_nlink > 1:
                found.linked.setdefault((seen.st_dev, seen.st_ino), []).append(name)
            if changed <= found.began - RECENT:
                return
        else:
            found.early.append(name)
        found.recent.append(name)

    def _note_other(self, entry: os.DirEntry[str], folder: str, name: str, names: list[str]) -> None:
        """What was there when the session began; of what was not, or cannot be told, the folder says nothing later."""
        with contextlib.suppress(OSError):
            seen = entry.stat(follow_symlinks=False)
            if not birth_time.is_since(seen.st_ctime, self.found.began):
                names.append(name)
                if not (stat.S_ISREG(seen.st_mode) or stat.S_ISSOCK(seen.st_mode)):
                    self.found.pipes.append(name)
                return
        self.found.stamps[folder] = (0, 0)


def restricted(root: str, restricts: Callable[[str], bool]) -> list[str]:
    """The restricted files below a root, ignored ones too, without git; ``restricts`` is asked with absolute paths."""
    found = []
    for folder, below, files in deep_folders.walk(root):
        below[:] = [b for b in below if b not in HEAVY]
        found += [path for name in files if restricts(path := f"{folder}/{name}")]
    return [path[len(root) + 1 :] for path in found]
