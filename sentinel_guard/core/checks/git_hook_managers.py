"""Programs that install a repository's own git hooks: a person is asked about what they write, and it is no strike."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.finding_texts import evidence, shown
from sentinel_guard.core.model import Ask, Effect, Finding, Layer, Response

MANAGERS = frozenset(("pre-commit", "pre_commit", "prek", "husky", "lefthook", "overcommit", "simple-git-hooks"))
WHY = "git runs it at each commit from then on, the user's own and outside of any session, too"
INSTEAD = "let the user install the hooks, in a terminal of their own"
_INTERPRETERS = re.compile(r"(?:python|pypy|ruby|perl)[\d.]*|node|nodejs|bun|deno|(?:ba|da|z)?sh")
_SWITCH = re.compile(r"-[bBEIOPqRsSuv]+|--[\w-]+=\S*")
"""An interpreter's option that takes no word behind it: what comes next is the script."""


def asked(case: Case, effect: Effect, check: str) -> Finding | None:
    """What a person is asked where such a program writes a git hook; None where it is another one, or another file.

    Seen by the kernel layer: the command itself names no file (``pre-commit install``).
    """
    words = str(case.action.arguments.get("program", "")).split()
    if case.action.layer is not Layer.KERNEL or not _is_manager(words) or not _is_git_hook(case, effect.target):
        return None
    ask, what = Ask("CHANGE_HOOKS", effect.target), f"`{shown(case, effect)}`"
    return Finding(check, Response.ASK, what, WHY, INSTEAD, "paths.restricted", evidence(effect), ask)


def _is_manager(words: Sequence[str]) -> bool:
    """Whether a manager runs: by its own name, or as an interpreter's script or module; no argument makes one."""
    if not words or not _INTERPRETERS.fullmatch(paths.base(words[0])):
        return bool(words) and paths.base(words[0]) in MANAGERS
    at = next((n for n, word in enumerate(words[1:], 1) if not _SWITCH.fullmatch(word)), len(words))
    script = words[at + 1 : at + 2] if words[at : at + 1] == ["-m"] else words[at : at + 1]
    return any(paths.base(word) in MANAGERS for word in script)


def _is_git_hook(case: Case, target: str) -> bool:
    """Whether a file lies in a folder of git's hooks; an agent has hooks of its own (``~/.claude/hooks``)."""
    folder, found, _ = target.rpartition("/hooks/")
    return bool(found) and f"{folder}/hooks" in case.guarded.settings and _GIT_FOLDER.fullmatch(folder) is not None


_GIT_FOLDER = re.compile(r".*\.git(?:/(?:worktrees|modules)/.+)?")
