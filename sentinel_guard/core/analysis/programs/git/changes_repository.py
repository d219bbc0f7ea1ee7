"""Which git commands publish or change a repository's history, branches or files; all others look, fetch or note."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

CHANGES = frozenset((
    "am", "apply", "bisect", "branch", "checkout", "checkout-index", "cherry-pick", "clean", "commit", "fast-import",
    "filter-branch", "filter-repo", "gc", "http-push", "merge", "mv", "notes", "p4", "prune", "pull", "push", "rebase",
    "reflog", "replace", "reset", "restore", "revert", "rm", "send-email", "send-pack", "stash", "submodule", "subtree",
    "svn", "switch", "tag", "unpack-objects", "update-ref", "worktree",
))  # fmt: skip
"""Subcommands that publish, or change more of a repository than its index and settings."""

LOOKS: Mapping[str, frozenset[str]] = {
    "bisect": frozenset({"log", "view"}),
    "notes": frozenset({"list", "show"}),
    "reflog": frozenset({"show", "exists", "list"}),
    "stash": frozenset({"create", "list", "show"}),
    "submodule": frozenset({"status", "summary"}),
    "worktree": frozenset({"list"}),
}
"""Of those, the words after the subcommand with which they only look; ``stash create`` makes an object, no entry."""

_LISTS = frozenset({"branch", "tag"})
_LISTING = frozenset((
    "-a", "-r", "-v", "-vv", "-va", "-av", "-l", "-i", "--all", "--remotes", "--verbose", "--list", "--show-current",
    "--no-color", "--no-column", "--ignore-case", "--omit-empty",
))  # fmt: skip
_LISTING_VALUES = (
    "--format=", "--sort=", "--contains=", "--merged", "--no-merged", "--points-at=", "--color", "--column",
)  # fmt: skip
_DIRS = ("--git-dir", "-C")


def changes_repository(argv: Sequence[str], subcommand_at: int, cwd: str, git_dir: str, root: str) -> bool:
    """Whether ``git …`` publishes, or changes the repository whose top is ``root``.

    ``subcommand_at`` is the index of the subcommand in ``argv`` (0: there is none), ``git_dir`` the variable GIT_DIR.
    A command on another repository changes none of ours, but it may publish.
    """
    if not subcommand_at:
        return False
    name, rest = argv[subcommand_at], argv[subcommand_at + 1 :]
    if name not in CHANGES or only_looks(name, rest):
        return False
    if name in ("push", "send-pack", "http-push", "send-email"):
        return True
    return _is_below(_repository(argv[1:subcommand_at], cwd, git_dir), root)


def only_looks(name: str, rest: Sequence[str]) -> bool:
    """Whether a subcommand of ``CHANGES`` with these words behind it changes nothing; False for any other."""
    if name not in CHANGES:
        return False
    if name in _LISTS:
        return all(word in _LISTING or word.startswith(_LISTING_VALUES) for word in rest)
    return rest[0] in LOOKS.get(name, ()) if rest else name in ("notes", "reflog", "submodule")


def _repository(options: Sequence[str], cwd: str, git_dir: str) -> str:
    """The folder that tells which repository is meant: git's own directory where it is named, else where git works."""
    place, named = cwd, git_dir
    words = iter(options)
    for word in words:
        name, _, value = word.partition("=")
        if name in _DIRS:
            value = value or next(words, "")
            place, named = (posixpath.join(place, value), named) if name == "-C" else (place, value)
    return posixpath.normpath(posixpath.join(place, named))


def _is_below(path: str, root: str) -> bool:
    return not root or path == root or path.startswith(f"{root}/")
