"""What git prints of a file as a commit has it: ``git show HEAD:x.py`` is the project's, as its files are.

Read is the history at hand. Behind a command that moves it, or that brings commits from elsewhere, nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis import places
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.programs.git.changes_repository import only_looks

_NAME = re.compile(r"(?!-|FETCH_HEAD)[\w./@{}^~+-]+:[^/\n][^\n]*")
_ASKS_ONLY = frozenset(("-C", "--no-pager", "-P"))
_LOOKS = frozenset((
    "add", "blame", "cat-file", "check-ignore", "config", "describe", "diff", "diff-index", "diff-tree", "for-each-ref",
    "grep", "hash-object", "log", "ls-files", "ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse", "shortlog",
    "show", "show-ref", "status", "var", "version", "write-tree",
))  # fmt: skip
"""They move no branch, and fetch nothing."""
_MOVED = "history of git"
"""Among ``Overlay.forwards``: from here on a name may mean another commit."""
_ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR"),
    *("GIT_REPLACE_REF_BASE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"),
)


def note(call: Call, name: str, words: Sequence[str]) -> None:
    """A subcommand is about to run with these words."""
    if name not in _LOOKS and not only_looks(name, words):
        move(call)


def move(call: Call) -> None:
    """From here on nobody knows which commits there are."""
    call.world.forwards.add(_MOVED)


def output(call: Call) -> str | None:
    """What ``git show COMMIT:PATH`` and ``git cat-file`` print; None where it is not known."""
    asked = _asked(call)
    if not asked or not call.here or _MOVED in call.world.forwards or call.world.connected:
        return None
    if places.is_away(call.command) or places.is_inside(call.command):
        return None
    if not _ASKS_ONLY.issuperset(call.head.flags) or any(call.scope.lookup(name).isset for name in _ELSEWHERE):
        return None
    folder = call.cwd
    for item in call.head.values("-C"):
        folder = call.world.located(item.text, folder)
    return None if any("/.git/" in path for path in call.world.made()) else call.world.committed(folder, asked)


def _asked(call: Call) -> str:
    """``COMMIT:PATH``, where nothing else is asked for."""
    words = [item.text for item in call.operands]
    flags = set(call.parsed.flags)
    if call.command.subcommand == "cat-file":
        words, flags = (words[1:], flags) if words[:1] == ["blob"] else (words, flags ^ {"-p"})
    elif call.command.subcommand != "show":
        return ""
    plain = len(words) == 1 and not flags and all(item.known for item in call.fields)
    return words[0] if plain and _NAME.fullmatch(words[0]) else ""
