"""What a rollback changes in branches, tags and the stash: which of them move, and which commits leave them."""

from __future__ import annotations

from dataclasses import dataclass

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.recovery.baseline import gitdir_backup
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.shared_refs import elsewhere

SHOWN = 20
"""Commits of a branch that are named."""
_PREFIXES = {"refs/heads/": "", "refs/tags/": "tag "}


@dataclass(frozen=True, slots=True)
class Move:
    """One branch or tag that a rollback moves, makes again or takes away."""

    name: str
    """As a person says it: ``main``, ``tag v1``."""
    was: str
    """The commit at the session's start; empty where it was not there."""
    now: str
    """The commit that it stands on; empty where it is gone."""
    commits: tuple[str, ...] = ()
    """What leaves it, the newest first, as ``HASH SUBJECT``; at most SHOWN."""


def moves(baseline: Baseline) -> list[Move]:
    """In the order of their names; stash entries that were made since come last. Nothing is changed."""
    where = baseline.where
    now = gitdir_backup.refs(where.common_dir, where.git_dir)
    names = sorted(n for n in {*now, *baseline.refs} if now.get(n) != baseline.refs.get(n))
    found = [_move(baseline, n, now.get(n, "")) for n in names if n.startswith(tuple(_PREFIXES)) and _ours(baseline, n)]
    stashed = {h for n, h in baseline.refs.items() if n.startswith("stash@")}
    new = [] if where.linked else [h for n, h in now.items() if n.startswith("stash@") and h not in stashed]
    return found + [Move("stash", "", h, _log(where.git, "-1", h)) for h in new]


def later(baseline: Baseline, ended: float) -> list[str]:
    """Commits and stash entries that came after the session, when branches had moved on: ``main: HASH SUBJECT``.

    By the reflogs, which tell of a pull or a rebase too; where there is none, by the commits' own times.
    ``ended``: seconds of the epoch.
    """
    where, found = baseline.where, list[str]()
    for name, now in gitdir_backup.refs(where.common_dir).items():
        if name.startswith("refs/heads/") and _ours(baseline, name) and now != baseline.refs.get(name):
            stood = _stood(where.common_dir, name, ended)
            known = [f"^{h}" for h in (stood, baseline.refs.get(name), baseline.head) if h]
            rows = (row.split(" ", 1) for row in _log(where.git, f"-{SHOWN}", now, *known, told="%ct %h %s"))
            word = name.removeprefix("refs/heads/")
            found += [f"{word}: {commit}" for at, commit in rows if stood or int(at) > ended]
    stashes = [] if where.linked else gitdir_backup.reflog(where.common_dir, gitdir_backup.STASH_LOG)
    return found + [f"stash: {words}" for at, _, _, words in stashes if at > ended]


def _stood(common_dir: str, name: str, ended: float) -> str:
    """Where a branch stood when the session ended; empty where its reflog does not say."""
    moved = gitdir_backup.reflog(common_dir, f"logs/{name}")
    before = [new for at, _, new, _ in moved if at <= ended]
    return before[-1] if before else next((old for _, old, _, _ in moved if old.strip("0")), "")


def _ours(baseline: Baseline, name: str) -> bool:
    """The branches of other worktrees go on being used."""
    return name not in elsewhere(baseline)


def _move(baseline: Baseline, name: str, now: str) -> Move:
    was, start = baseline.refs.get(name, ""), baseline.head
    known = [h for h in (was, start) if h]
    shown = next(word + name.removeprefix(prefix) for prefix, word in _PREFIXES.items() if name.startswith(prefix))
    commits = _log(baseline.where.git, f"-{SHOWN}", now, *(f"^{h}" for h in known)) if now else ()
    return Move(shown, was, now, commits)


def _log(git: Git, *which: str, told: str = "%h %s") -> tuple[str, ...]:
    """Empty where git cannot tell: a commit is damaged, or the start is gone."""
    try:
        return tuple(git.text("log", f"--format={told}", *which, "--").splitlines())
    except HostError:
        return ()
