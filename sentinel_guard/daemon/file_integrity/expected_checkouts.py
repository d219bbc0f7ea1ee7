"""Which git commands may bring restricted files to what the index holds: a checkout, a merge."""

from __future__ import annotations

from sentinel_guard.core.model import Command

CHECKS_OUT = frozenset(
    {"checkout", "switch", "merge", "rebase", "pull", "stash", "cherry-pick", "revert", "am", "bisect", "worktree"}
)
"""Subcommands of git that change tracked files, and refuse to overwrite what is not committed."""
LOOKS_ONLY = frozenset(
    (
        *(("stash", word) for word in ("create", "list", "show", "store", "drop", "clear")),
        *(("worktree", word) for word in ("list", "prune", "lock", "unlock")),
        *(("bisect", word) for word in ("log", "view", "visualize", "terms")),
    )
)
"""Of these the ones that leave the files alone; agents ask them all day for purposes of their own."""
FORCES = frozenset({"-f", "--force", "--discard-changes"})


def checks_out(git: Command) -> bool:
    """Whether a git command changes tracked files, and refuses to overwrite what is not committed."""
    what = (git.subcommand, git.operands[0] if git.operands else "")
    return git.subcommand in CHECKS_OUT and what not in LOOKS_ONLY and not git.flags & FORCES
