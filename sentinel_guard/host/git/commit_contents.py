"""Reads from git what a commit or a push contains, as bytes: file modes, names, object ids, contents, link targets.

git is run as it was found in the hook: with the private index and the directories that it names in the environment.

Rules of this file:
1. No setting, attribute or driver of a person or a repository decides what is seen: only raw changes and objects are
   asked for, never a text that git makes of them. Nothing is run or fetched for an answer.
2. Names travel with ``-z``, as bytes outside and as ``surrogateescape`` text inside.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import NO_TRANSPORT, TIMEOUT, left, program
from sentinel_guard.host.machine.atomic_files import read_regular

Environ = Mapping[str, str] | None
"""The whole environment of the hook; this process's own where it is not given."""
MAX_COMMITS = 5_000
"""Commits of one push that are looked at, the newest first."""
LINK = "120000"
SUBMODULE = "160000"

PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
)
"""Variables that say where a repository lies."""
_FLAGS = ("-c", "core.fsmonitor=false", "-c", "core.commitGraph=false", "-c", "log.showSignature=false")
_ENVIRONMENT = {
    **NO_TRANSPORT,
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
}
_RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-relative", "--ignore-submodules=none")
_INDEX = ("diff", "--cached", *_RAW, "--no-color", f"-O{os.devnull}", "--ita-invisible-in-index")
_DEEPER = "A shallow clone lacks it: fetch with depth 0 (GitHub: fetch-depth: 0; GitLab: GIT_DEPTH: 0)."
MERGED = "GITHEAD_"
"""How git names the other sides in the environment of ``pre-merge-commit``, where MERGE_HEAD is not written yet."""
_NOTHING = "0"
"""An object id of nothing but zeros is no object."""


class Change(NamedTuple):
    """One changed path."""

    path: str
    """As git names it: relative to the top, ``surrogateescape`` text."""
    status: str
    """``A`` added, ``M`` changed, ``D`` deleted, ``T`` another type, ``U`` unmerged."""
    mode: str = ""
    """What it is now, as git writes it (``100644``); ``000000`` where it is gone."""
    blob: str = ""
    """The id of what it holds now; empty where it is gone, a submodule, or unmerged."""
    old: tuple[str, ...] = ()
    """The ids of what it held before, one for each parent that had it."""
    commit: str = ""
    """The commit that changes it; empty for what is staged."""
    link: str = ""
    """What it points to, for a symbolic link."""


class Commits(NamedTuple):
    """The commits of a push or a range."""

    ids: tuple[str, ...]
    """The newest first."""
    more: bool = False
    """Whether there are more than MAX_COMMITS, which are not named."""


def git(root: str | Path, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,), environ: Environ = None) -> bytes:
    """What a git command prints in ``root``. Raises HostError with git's own words."""
    given = os.environ if environ is None else environ
    kept = {k: v for k, v in given.items() if k in PLACES or not k.startswith(("GIT_", "LD_"))}
    command = [program(), *_FLAGS, *args]
    import subprocess  # noqa: PLC0415 - most commits start no git, and wait

    try:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            check=False,
            cwd=root,
            env=kept | _ENVIRONMENT,
            timeout=left(TIMEOUT),
        )
    except (OSError, subprocess.SubprocessError) as e:
        raise HostError(f"git {args[0]} cannot run in {root}: {e}") from e
    if done.returncode not in ok:
        raise _failed(root, args[0], os.fsdecode(done.stderr).strip() or f"exit code {done.returncode}")
    return done.stdout


def _failed(root: str | Path, verb: str, words: str) -> HostError:
    if "dubious ownership" in words:
        hint = f"If you trust it: git config --global --add safe.directory {root}"
        return HostError(f"{root} belongs to another user, so git does not look into it.", hint)
    return HostError(f"git {verb} failed in {root}: {words}")


def top(folder: str | Path, environ: Environ = None) -> Path:
    """The top of the work tree that a folder lies in. Raises HostError outside of one."""
    given = os.environ if environ is None else environ
    here = Path(folder)
    if (here / ".git").exists() and not {"GIT_DIR", "GIT_WORK_TREE"} & given.keys():
        return here.resolve()
    try:
        found = os.fsdecode(git(folder, "rev-parse", "--show-toplevel", environ=environ)).removesuffix("\n")
    except HostError as e:
        if e.hint:
            raise
        raise HostError(f"{folder} is not in a git work tree.", "cd into one, or run 'git init' first.") from e
    return Path(found)


def staged(root: Path, environ: Environ = None) -> list[Change]:
    """What the index holds that HEAD does not; everything, where there is no commit yet. Renames are A and D.

    Where a merge is being concluded, only what the merge itself changes: what comes from the other side is on record.
    """
    found = list(_changes(git(root, *_INDEX, environ=environ)))
    for other in merging(root, environ) if found else ():
        theirs = {c.path: c for c in _changes(git(root, *_INDEX, other, environ=environ))}
        found = [c._replace(old=c.old + theirs[c.path].old) for c in found if c.path in theirs]
    return linked(root, found, environ)


def merging(root: Path, environ: Environ = None) -> list[str]:
    """The ids of the other sides of the merge that is being concluded; none for an ordinary commit."""
    given = os.environ if environ is None else environ
    try:
        return read_regular(git_dir(root, given) / "MERGE_HEAD").decode("ascii").split()
    except (OSError, ValueError):
        sides = (key.removeprefix(MERGED) for key in given if key.startswith(MERGED))
        return [side for side in sides if exists(root, side, environ)]


def git_dir(root: Path, environ: Mapping[str, str]) -> Path:
    """The git directory without asking git: it costs a process, and a commit waits."""
    named = root / environ.get("GIT_DIR", ".git")
    if named.is_file():  # a linked work tree or a submodule
        return root / os.fsdecode(named.read_bytes()).removeprefix("gitdir: ").rstrip("\n")
    return named


def common_dir(root: Path, environ: Mapping[str, str]) -> Path:
    """The git directory that all linked work trees share, without asking git. Raises OSError."""
    folder = git_dir(root, environ)
    if named := environ.get("GIT_COMMON_DIR"):
        return root / named
    shared = folder / "commondir"
    return folder / os.fsdecode(read_regular(shared)).rstrip("\n") if shared.exists() else folder


def between(root: Path, new: Iterable[str], known: Iterable[str], remote: str = "", environ: Environ = None) -> Commits:
    """The commits that ``new`` (ids) lead to, and neither ``known`` (ids, if they are here) nor a ``remote`` as seen.

    Raises HostError.
    """
    given = list(dict.fromkeys(new))
    here = kinds(root, (k for k in known if k.strip(_NOTHING)), environ) if given else {}
    ids = [*given, *(f"^{k}" for k, kind in here.items() if kind == "commit")]
    seen = ("--not", f"--remotes={_literal(remote)}/*") if remote else ()
    return _revisions(root, ids if given else [], seen, environ)


def unknown_commits(root: Path, new: Iterable[str], known: Iterable[str], environ: Environ = None) -> Commits:
    """The commits that ``new`` (ids) lead to, and neither ``known`` (ids) nor a branch of the repository or a remote.

    A tag does not count, nor does HEAD: they are set unjudged. Raises HostError.
    """
    given = list(dict.fromkeys(new))
    return _revisions(
        root, [*given, *(f"^{k}" for k in known)] if given else [], ("--not", "--branches", "--remotes"), environ
    )


def since(root: Path, old: str, new: str, environ: Environ = None) -> Commits:
    """The commits that are in ``new`` and not in ``old``, revisions as a person writes them. Raises HostError."""
    try:
        ends = [
            git(root, "rev-parse", "--verify", "--end-of-options", f"{r}^{{commit}}", environ=environ)
            for r in (old, new)
        ]
    except HostError as e:
        raise HostError(f"{old} or {new} is not here, so what is between them cannot be read.", _DEEPER) from e
    first, last = (end.decode("ascii").strip() for end in ends)
    return _revisions(root, [last, f"^{first}"], (), environ)


def unpublished_commits(root: Path, new: Iterable[str], environ: Environ = None) -> Commits:
    """The commits that ``new`` (ids) lead to, and that were seen on no remote at all. Raises HostError."""
    return _revisions(root, new, ("--not", "--remotes"), environ)


def _revisions(root: Path, ids: Iterable[str], but: tuple[str, ...], environ: Environ) -> Commits:
    # By standard input: a push may name more of them than a command line holds.
    asked = "".join(f"{identity}\n" for identity in ids).encode("ascii")
    if not asked:
        return Commits(())
    limit = f"--max-count={MAX_COMMITS + 1}"
    found = git(root, "rev-list", limit, "--stdin", *but, stdin=asked, environ=environ).decode("ascii").split()
    return Commits(tuple(found[:MAX_COMMITS]), len(found) > MAX_COMMITS)


def _literal(remote: str) -> str:
    r"""A remote's name as a pattern that takes only it in: a URL may hold ``*`` and ``[``."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in remote)


def differing_paths(root: Path, old: str, new: str, environ: Environ = None) -> list[str]:
    """The paths that differ between ``new`` and where it left ``old``, as pre-commit asks. Raises HostError."""
    names = ("diff", "--name-only", "-z", "--no-ext-diff", "--no-renames", "--no-relative", f"-O{os.devnull}")
    raw = git(root, *names, "--end-of-options", f"{old}...{new}", "--", environ=environ)
    return [name for name in os.fsdecode(raw).split("\0") if name]


def changed(root: Path, commits: Iterable[str], environ: Environ = None) -> list[Change]:
    """What commits (ids) change; of a merge only what differs from all its parents. Raises HostError."""
    asked = "".join(f"{commit}\n" for commit in commits).encode("ascii")
    if not asked:
        return []
    raw = git(root, "diff-tree", "--stdin", "-r", "--root", "-c", *_RAW, stdin=asked, environ=environ)
    return linked(root, list(_changes(raw)), environ)


def exists(root: Path, commit: str, environ: Environ = None) -> bool:
    """Whether an object id names a commit that is here."""
    return bool(commit.strip(_NOTHING)) and _says_yes(root, environ, "cat-file", "-e", f"{commit}^{{commit}}")


def has_head(root: Path, environ: Environ = None) -> bool:
    """Whether there is a commit yet."""
    return _says_yes(root, environ, "rev-parse", "--verify", "--quiet", "HEAD")


def is_ancestor(root: Path, old: str, new: str, environ: Environ = None) -> bool:
    """Whether ``new`` goes on from ``old``: a push of it loses nothing."""
    return _says_yes(root, environ, "merge-base", "--is-ancestor", old, new)


def _says_yes(root: Path, environ: Environ, *args: str) -> bool:
    try:
        git(root, *args, environ=environ)
    except HostError:
        return False
    return True


def tracked(root: Path, environ: Environ = None) -> list[Change]:
    """All that the index holds, as added. Raises HostError."""
    rows = [row.partition("\t") for row in os.fsdecode(git(root, "ls-files", "-s", "-z", environ=environ)).split("\0")]
    fields = [(name, *words.split(" ")) for words, _, name in rows if name]
    return [Change(n, "A", m, "" if m == SUBMODULE else i) for n, m, i, stage in fields if stage == "0"]


def kinds(root: Path, ids: Iterable[str], environ: Environ = None) -> dict[str, str]:
    """What objects are in the end, tags followed: ``commit``, ``tree``, ``blob``; empty for what is not here."""
    asked = list(dict.fromkeys(ids))
    if not asked:
        return {}
    lines = "".join(f"{identity}^{{}}\n" for identity in asked).encode("ascii")
    said = git(root, "cat-file", "--batch-check=%(objecttype)", stdin=lines, environ=environ).decode("ascii")
    return {i: "" if " " in kind else kind for i, kind in zip(asked, said.splitlines(), strict=True)}


def sizes(root: Path, ids: Iterable[str], environ: Environ = None) -> dict[str, int]:
    """How many bytes objects have; those that are not here (a partial clone) are left out. Raises HostError."""
    asked = "".join(f"{identity}\n" for identity in dict.fromkeys(ids)).encode("ascii")
    lines = git(root, "cat-file", "--batch-check", stdin=asked, environ=environ).decode("ascii").splitlines()
    words = [line.split(" ") for line in lines]
    return {w[0]: int(w[2]) for w in words if len(w) == 3}


def contents(root: Path, ids: Iterable[str], environ: Environ = None) -> dict[str, bytes]:
    """What objects hold; those that are not here are left out. Raises HostError."""
    asked = "".join(f"{identity}\n" for identity in dict.fromkeys(ids)).encode("ascii")
    raw = git(root, "cat-file", "--batch", stdin=asked, environ=environ) if asked else b""
    found, at = {}, 0
    while at < len(raw):
        end = raw.index(b"\n", at)
        words = raw[at:end].decode("ascii").split(" ")
        at = end + 1
        if len(words) == 3:
            found[words[0]] = raw[at : at + int(words[2])]
            at += int(words[2]) + 1
    return found


def linked(root: Path, changes: list[Change], environ: Environ) -> list[Change]:
    """The same changes, with what symbolic links point to. Raises HostError."""
    links = [c.blob for c in changes if c.mode == LINK]
    if not links:
        return changes
    held = contents(root, links, environ)
    return [c._replace(link=os.fsdecode(held.get(c.blob, b""))) if c.mode == LINK else c for c in changes]


def _changes(raw: bytes) -> Iterator[Change]:
    """``:MODES IDS STATUS NUL PATH NUL``, one colon and one old mode for each parent; a bare word is a commit's id."""
    commit = ""
    words = iter(os.fsdecode(raw).split("\0"))
    for word in words:
        if not word.startswith(":"):
            commit = word.strip() or commit
            continue
        parents = len(word) - len(word.lstrip(":"))
        fields = word.lstrip(":").split(" ")
        modes, ids, status = fields[: parents + 1], fields[parents + 1 : -1], fields[-1]
        known = ["" if m == SUBMODULE or not i.strip(_NOTHING) else i for m, i in zip(modes, ids, strict=True)]
        gone = set(status) == {"D"}
        old = tuple(filter(None, known[:-1]))
        yield Change(next(words), "D" if gone else status[:1], modes[-1], known[-1], old, commit)
