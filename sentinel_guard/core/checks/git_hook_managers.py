"""Programs that install a repository's own git hooks: a person is asked about what they write, and it is no strike."""

from __future__ import annotations

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.finding_texts import evidence, shown
from sentinel_guard.core.model import Ask, Effect, Finding, Layer, Response

MANAGERS = frozenset(("pre-commit", "pre_commit", "prek", "husky", "lefthook", "overcommit", "simple-git-hooks"))
WHY = "git runs it at each commit from then on, the user's own and outside of any session, too"
INSTEAD = "let the user install the hooks, in a terminal of their own"


def asked(case: Case, effect: Effect, check: str) -> Finding | None:
    """What a person is asked where such a program writes a git hook; None where it is another one, or another file.

    Seen by the kernel layer: the command itself names no file (``pre-commit install``).
    """
    words = str(case.action.arguments.get("program", "")).split()
    if case.action.layer is not Layer.KERNEL or MANAGERS.isdisjoint(map(paths.base, words)):
        return None
    if "hooks" not in effect.target.split("/")[:-1]:
        return None
    ask, what = Ask("CHANGE_HOOKS", effect.target), f"`{shown(case, effect)}`"
    return Finding(check, Response.ASK, what, WHY, INSTEAD, "paths.restricted", evidence(effect), ask)
