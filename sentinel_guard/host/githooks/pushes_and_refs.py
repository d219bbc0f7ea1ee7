"""Checks pushes, ranges of commits and ref updates -> findings: secrets, restricted paths, protected refs (R2, R3).

Rules of this file:
1. A secret that one commit adds and a later one takes away is on record all the same: every new commit is looked at.
2. What a push sends besides commits (trees and files that no commit holds, snapshots of the guard) is refused.
3. Inside a session no reference that the session may have moved tells what is out, or was there.
4. A commit that another remote has already is told, and refuses nothing: a fork carries what its origin published.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.model import Ask, Finding, Response
from sentinel_guard.core.secrets.model import Hit
from sentinel_guard.errors import ConfigError
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.git.commit_contents import Change, Commits
from sentinel_guard.host.githooks import restricted_paths
from sentinel_guard.host.githooks.hook_request import HookCase, Judged
from sentinel_guard.host.githooks.secrets_in_commits import Found, Words, look
from sentinel_guard.host.machine.atomic_files import read_regular
from sentinel_guard.host.secrets import added_lines

PROTECTED = ("refs/heads/main", "refs/heads/master")
"""Branches that are neither deleted nor, on a remote, rewritten."""
GUARDED = "refs/sentinel/"
"""Where the guard keeps its snapshots: no session changes them, no push sends them."""
PRIVATE = (GUARDED, "refs/stash", "refs/remotes/", "refs/original/")
"""Where a repository keeps what is its own business."""


class Update(NamedTuple):
    """One reference that changes."""

    ref: str
    old: str
    """An object id; zeros for none, or for whatever it may be."""
    new: str
    """An object id; zeros: it is deleted."""

    @property
    def deletes(self) -> bool:
        return not self.new.strip("0")

    @property
    def known(self) -> str:
        """The id before, or an empty string."""
        return self.old if self.old.strip("0") else ""


def pushed(case: HookCase) -> Judged:
    """What ``pre-push`` decides. Raises SentinelError."""
    remote = case.arguments[0] if case.arguments else "origin"
    updates = list(_push_lines(case.stdin))
    findings = [f for u in updates for f in _push_of(case, u)]
    sent = [u for u in updates if not u.deletes]
    commits = _news(case, updates, sent, remote)
    held = carried(case, commits, [u.new for u in sent if not u.ref.startswith("refs/heads/")])
    if len(updates) - len(sent) > 1:
        held += Judged((), (f"this push deletes {len(updates) - len(sent)} references of {remote}",))
    return Judged(tuple(findings)) + held


def _news(case: HookCase, updates: Iterable[Update], sent: Iterable[Update], remote: str) -> Commits:
    """The commits of a push that its remote has not: by what it says itself, and by what it was seen to have."""
    new, old = [u.new for u in sent], [u.old for u in updates]
    if case.seen is None:
        return commit_contents.between(case.root, new, old, remote, case.environ)
    return commit_contents.between(case.root, new, [*old, *case.seen.out(remote)], environ=case.environ)


def restricted_since(case: HookCase, old: str, new: str) -> Judged:
    """Restricted paths in commits that are in ``new`` and not in ``old`` (any revision), as CI asks.

    Raises SentinelError.
    """
    commits = commit_contents.since(case.root, old, new, case.environ)
    changes = commit_contents.changed(case.root, commits.ids, case.environ)
    found = restricted_paths.in_commits(case, changes, deletions=True)
    return Judged(tuple(finding for _, finding in found), _limit(commits))


def leaks_since(case: HookCase, old: str, new: str, but: frozenset[str]) -> Judged:
    """Leaks in the same commits, those in files ``but`` left out. Raises SentinelError."""
    commits = commit_contents.since(case.root, old, new, case.environ)
    changes = [c for c in commit_contents.changed(case.root, commits.ids, case.environ) if c.path not in but]
    found, notes = _leaks(case, commits, changes, [])
    return Judged(tuple(f.finding for f in found), notes)


def transaction(case: HookCase) -> Judged:
    """What ``reference-transaction`` decides in a guarded session; outside of one all is the person's own choice."""
    if not case.session or case.arguments[:1] != ("prepared",):
        return Judged()
    updates = list(_transaction_lines(case.stdin))
    findings = [f for u in updates for f in _change_of(case, u)]
    moved = [u.new for u in updates if _is_branch(u.ref) and not u.deletes and u.old != u.new]
    if case.seen is None:
        fetched = [u.new for u in updates if u.ref.startswith("refs/remotes/") and not u.deletes]
        commits = commit_contents.unknown_commits(case.root, moved, fetched, case.environ)
    else:
        commits = commit_contents.between(case.root, moved, case.seen.there, environ=case.environ)
    return Judged(tuple(findings)) + carried(case, commits, [], leaves=False)


def _limit(commits: Commits) -> tuple[str, ...]:
    limit = f"{commit_contents.MAX_COMMITS:,}"
    said = f"there are more than {limit} new commits: only the newest {limit} were looked at"
    return (said,) if commits.more else ()


def _push_lines(stdin: bytes) -> Iterator[Update]:
    for line in filter(None, os.fsdecode(stdin).splitlines()):  # none at all: everything is up to date
        words = line.split(" ")
        if len(words) != 4:
            raise ConfigError(
                f"git sent a line that is no ref to push: {line!r}", "Run the hook by git push, not by hand."
            )
        yield Update(words[2], words[3], words[1])


def _transaction_lines(stdin: bytes) -> Iterator[Update]:
    for line in filter(None, os.fsdecode(stdin).splitlines()):
        words = line.split(" ")
        if len(words) != 3:
            raise ConfigError(f"git sent a line that is no change of a ref: {line!r}", "Let git run the hook.")
        if not words[1].startswith("ref:"):  # a symbolic reference: it moves no commit anywhere
            yield Update(words[2], words[0], words[1])


def _is_branch(ref: str) -> bool:
    return ref == "HEAD" or ref.startswith("refs/heads/")


def _push_of(case: HookCase, update: Update) -> Iterator[Finding]:
    name = update.ref.removeprefix("refs/heads/")
    if update.deletes:
        if update.ref in PROTECTED:
            ways = "delete it at the remote's own site if you must"
            yield _protected(case, f"this push deletes {update.ref}, which is protected", ways, name)
    elif update.ref.startswith(PRIVATE):
        what = f"this push sends {update.ref}, as --mirror does: it is this repository's own business"
        instead = "push the branches and tags that are meant"
        yield Finding("rules", Response.DENY, what, "", instead, "git.mirror")
    elif update.ref in PROTECTED and _rewrites(case, update):
        what = f"this push rewrites {update.ref}, which is protected: commits of others would be lost"
        yield _protected(case, what, f"git pull --rebase origin {name}", name)


def _rewrites(case: HookCase, update: Update) -> bool:
    return bool(update.known) and not commit_contents.is_ancestor(case.root, update.old, update.new, case.environ)


def _protected(case: HookCase, what: str, instead: str, name: str) -> Finding:
    """Outside of a session nobody can be asked: the person runs git with --no-verify."""
    if not case.session:
        return Finding("rules", Response.DENY, what, "", instead, "git.protected")
    return Finding("rules", Response.ASK, what, "", instead, "git.protected", ask=Ask("FORCE_PUSH", name))


def _change_of(case: HookCase, update: Update) -> Iterator[Finding]:
    if update.ref.startswith(GUARDED) and not (update.deletes and _is_packed(case, update)):
        what, instead = f"this changes {update.ref}, a snapshot of the guard", "leave refs/sentinel alone"
        yield Finding("rules", Response.DENY, what, "", instead, "git.guarded")
    elif update.ref in PROTECTED and update.deletes and not _is_packed(case, update):
        what = f"this deletes {update.ref}, which is protected"
        yield Finding("rules", Response.DENY, what, "", "ask the user to delete it", "git.protected")


def _is_packed(case: HookCase, update: Update) -> bool:
    """Whether the reference stays, in ``packed-refs``: git tells of its loose copy as if the reference went.

    Where it really goes, git holds the lock of that file at this moment.
    """
    try:
        packed = commit_contents.common_dir(case.root, case.environ) / "packed-refs"
        line = os.fsencode(f"{update.old} {update.ref}\n")
        return not Path(f"{packed}.lock").exists() and line in read_regular(packed)
    except OSError:
        return False


def carried(case: HookCase, commits: Commits, tags: Iterable[str], *, leaves: bool = True) -> Judged:
    """What is restricted or leaks in commits, and in tags; ``leaves``: they go out of this machine."""
    changes = commit_contents.changed(case.root, commits.ids, case.environ)
    found = [Found(commit, finding) for commit, finding in restricted_paths.in_commits(case, changes)]
    leaks, notes = _leaks(case, commits, changes, tags)
    graded = _graded(case, commits, [*found, *leaks], leaves=leaves)
    return Judged((*_loose(case, tags), *graded), notes)


def _leaks(
    case: HookCase, commits: Commits, changes: Iterable[Change], tags: Iterable[str]
) -> tuple[list[Found], tuple[str, ...]]:
    """Leaks in what commits change and say, and in what tags say; and words on what was not looked at."""

    def words(hit: Hit) -> Words:
        short = hit.commit[:12]
        redo = restricted_paths.redo(case, hit.commit)
        undo = f"Take it out where it came in ({redo}); if it was ever pushed, revoke it"
        return Words(f"commit {short} adds" if hit.path else f"the message of {short} holds", undo)

    new = added_lines.added_lines(case.root, changes, case.environ)
    said = added_lines.messages(case.root, commits.ids, tags, case.environ)
    found, notes = look(case, new.joined(said), words)
    return found, (*_limit(commits), *notes)


def _loose(case: HookCase, ids: Iterable[str]) -> Iterator[Finding]:
    """Objects behind references that are no commits: nothing says what is in them."""
    for identity, kind in commit_contents.kinds(case.root, ids, case.environ).items():
        if kind != "commit":
            what = f"this push sends {identity[:12]}, a {kind or 'thing'} that no commit holds: it cannot be looked at"
            yield Finding("rules", Response.DENY, what, "", "commit it on a branch, and push that", "git.objects")


def _graded(case: HookCase, commits: Commits, found: list[Found], *, leaves: bool) -> Iterator[Finding]:
    """Inside a session what goes out is critical (R3); outside, what another remote has is only told."""
    if not found or not leaves:
        yield from (f.finding for f in found)
    elif case.session:
        for _, finding in found:
            refused = finding.response is Response.DENY
            yield replace(finding, response=Response.BREAK) if refused else finding
    else:
        fresh = {"", *commit_contents.unpublished_commits(case.root, commits.ids, case.environ).ids}
        old = [f for f in found if f.commit not in fresh]
        yield from (f.finding for f in found if f.commit in fresh)
        if old:
            what = f"{len(old)} more in commits that another remote has already; first: {old[0].finding.what}"
            yield Finding("leak", Response.HINT, what, rule="leak.published")
