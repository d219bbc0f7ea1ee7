"""The paths that an action would destroy although git ignores what lies there: a rescue snapshot takes them in."""

from __future__ import annotations

import re

from sentinel_guard.core.model import Kind, Verdict

_STAYS = frozenset({"append", "mode", "owner"})
"""Ways of writing that leave what is there."""
_RULES = re.compile(r"/\.gitignore$|/\.git/info/exclude$")


def endangered_paths(verdict: Verdict) -> frozenset[str]:
    """What is deleted or written over; all of the work tree, where the action takes away the rules by which git
    ignores, and then cleans.
    """
    lost = {e.target for e in verdict.effects if e.kind in (Kind.DELETE, Kind.WRITE) and not e.how & _STAYS}
    done = {
        (e.target, e.command.subcommand if e.command else "") for e in verdict.effects if e.kind is Kind.GIT_REWRITE
    }
    uncovers = ("worktree", "rm") in done or any(map(_RULES.search, lost))
    return frozenset(lost | ({verdict.action.root} if uncovers and ("untracked", "clean") in done else set()))
