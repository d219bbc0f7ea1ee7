"""The paths that an action would destroy although git ignores what lies there: a rescue snapshot takes them in."""

from __future__ import annotations

import re

from sentinel_guard.core.model import Effect, Kind, Verdict

_STAYS = frozenset({"append", "mode", "owner"})
"""Ways of writing that leave what is there."""
_RULES = re.compile(r"/\.gitignore$|/\.git/info/exclude$")
_OTHER_FILES = frozenset(
    ("checkout", "switch", "pull", "merge", "rebase", "cherry-pick", "revert", "am", "apply", "stash")
)
"""What brings the files of another commit, and with them its rules."""


def endangered_paths(verdict: Verdict) -> frozenset[str]:
    """What is deleted or written over; all of the work tree, where the action may take away the rules by which git
    ignores, and then cleans.
    """
    lost = {e.target for e in verdict.effects if e.kind in (Kind.DELETE, Kind.WRITE) and not e.how & _STAYS}
    cleans = [
        e for e in verdict.effects if (e.kind, e.target) == (Kind.GIT_REWRITE, "untracked") and _verb(e) == "clean"
    ]
    uncovers = cleans and (any(map(_RULES.search, lost)) or any(map(_changes_rules, verdict.effects)))
    return frozenset(lost | ({verdict.action.root} if uncovers else set()))


def _changes_rules(effect: Effect) -> bool:
    if effect.kind is Kind.GIT_REWRITE:
        return effect.target in ("worktree", "config core.excludesfile")
    return effect.kind is Kind.EXECUTE and effect.target == "git" and _verb(effect) in _OTHER_FILES


def _verb(effect: Effect) -> str:
    return effect.command.subcommand if effect.command else ""
