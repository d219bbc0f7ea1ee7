"""Keeps refs at a rollback: the agent's commits stay reachable, and refs that record pushes and fetches stay."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.recovery.baseline import gitdir_backup, shared_refs
from sentinel_guard.host.recovery.baseline.backup_pack import existing
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.shared_refs import RECORDS


@dataclass(frozen=True, slots=True)
class KeptRefs:
    """What became of refs, in words, and the commands that bring the commits back that left their branches."""

    notes: tuple[str, ...]
    commands: tuple[str, ...] = ()


def keep_refs(baseline: Baseline, found: Mapping[str, str]) -> KeptRefs:
    """Keep what ``found`` (refs before the rollback) held reachable under ``refs/sentinel/<session>/``, and put records
    back that went with packed-refs; in a linked worktree also the refs that it shares.
    """
    try:
        return _pinned(baseline, found)
    except HostError as e:
        return KeptRefs((f"The session's commits could not be kept reachable: {e}",))


def in_folder(folder: str, command: str) -> str:
    """A command of ``KeptRefs``, for a repository that lies in the folder."""
    return command.replace("git ", f"git -C {shlex.quote(folder)} ", 1)


def _command(baseline: Baseline, name: str, ref: str) -> str:
    """What brings the commits of one ref back, on top of what has come back."""
    kind, _, short = name.removeprefix("refs/").partition("/")
    if name == baseline.branch:
        return f"git merge {ref}"
    if name.startswith("stash"):
        return f"git stash store {ref}"
    taken = name in baseline.refs
    if kind == "tags":
        return f"git tag {shlex.quote(f'rescued-{short}' if taken else short)} {ref}"
    new = short if kind == "heads" and not taken else f"rescued-{short}" if short else "rescued"
    return f"git branch {shlex.quote(new)} {ref}"


def _pinned(baseline: Baseline, found: Mapping[str, str]) -> KeptRefs:
    git = replace(baseline.where.git, settings=baseline.shadow.git.settings)
    now = gitdir_backup.refs(baseline.where.common_dir, baseline.where.git_dir)
    ours = f"refs/sentinel/{baseline.session}"
    if ours in now:  # it would leave no room for what is kept below it
        git.run("update-ref", "-d", ours)
    left = shared_refs.left_alone(baseline, found)
    records = {n: h for n, h in found.items() if (n.startswith(RECORDS) and n != ours) or n in left}
    shared = shared_refs.moved(baseline, now)
    back = {n: h for n, h in shared.items() if h}
    stay = {n: h for n, h in now.items() if n not in shared}
    held = {*baseline.refs.values(), *stay.values()}
    made = {h: n for n, h in found.items() if n not in records and h not in held}
    number = itertools.count(1)
    free = (ref for n in number if (ref := f"refs/sentinel/{baseline.session}/{n}") not in {*now, *found})
    pins = {next(free): h for h in made}
    wanted = pins | {n: h for n, h in records.items() if now.get(n) != h} | back
    there = existing(git, set(wanted.values()))
    there -= {*pins.values()} - _whole(git, [h for h in pins.values() if h in there])
    refused = _updated(git, [(n, h) for n, h in wanted.items() if h in there])
    pinned = {h for n, h in pins.items() if h in there and n not in refused}
    gone = {n: h for n, h in now.items() if shared.get(n) == "" and (h in pinned or h in held)}
    refused |= _updated(git, [(n, "") for n in gone])
    _stash_again(git, baseline, now)
    kept = {h: n for n, h in pins.items() if h in there and n not in refused}
    notes = (
        *(f"{made[h]} of the session is kept as {ref}." for h, ref in kept.items()),
        *(f"{made[h]} of the session ({h}) is not kept: objects of it were destroyed." for h in made if h not in kept),
        *(f"{n} was lost and could not be set again." for n in refused if n not in pins),
        *(f"{n} is checked out in another worktree: not undone." for n in left),
        *(f"{n} was moved by a push or fetch: not undone." for n in moved_remote_refs(baseline, records)),
    )
    commands = [_command(baseline, n, ref) for h, ref in kept.items() for n in _names(found, h) or [made[h]]]
    return KeptRefs(notes, tuple(dict.fromkeys(commands)))


def _names(found: Mapping[str, str], commit: str) -> list[str]:
    """The branches and tags that stood on a commit: each of them is wanted back."""
    return sorted(n for n, h in found.items() if h == commit and n.startswith(("refs/heads/", "refs/tags/")))


def _updated(git: Git, wanted: list[tuple[str, str]]) -> set[str]:
    """Set refs, delete those without a hash; returns those that git refuses (half by half: one undoes all)."""
    if not wanted:
        return set()
    try:
        # What has become a ref to a ref is written itself, not what it leads to.
        acts = (f"update {name} {to}\n" if to else f"delete {name}\n" for name, to in wanted)
        told = (f"option no-deref\n{act}" for act in acts)
        git.run("update-ref", "--stdin", stdin=os.fsencode("".join(told)))
    except HostError:
        if len(wanted) == 1:
            return {wanted[0][0]}
        half = len(wanted) // 2
        return _updated(git, wanted[:half]) | _updated(git, wanted[half:])
    return set()


def _whole(git: Git, hashes: list[str]) -> set[str]:
    """Those of which every object is there: a ref to anything else makes ``git gc`` fail for ever."""
    if not hashes:
        return set()
    try:
        git.run("rev-list", "--objects", "--quiet", *hashes, "--not", "--all")
    except HostError:
        half = len(hashes) // 2
        return _whole(git, hashes[:half]) | _whole(git, hashes[half:]) if half else set()
    return {*hashes}


def moved_remote_refs(baseline: Baseline, now: Mapping[str, str]) -> list[str]:
    """Remote-tracking refs that are not where they were."""
    return [n for n, h in now.items() if n.startswith("refs/remotes/") and baseline.refs.get(n) != h]


def _stash_again(git: Git, baseline: Baseline, now: Mapping[str, str]) -> None:
    """The stash of the start, in a linked worktree, with what came on top of it since. Raises HostError."""
    if not shared_refs.are_apart(baseline) or shared_refs.has_stashes(baseline, now):
        return
    before = shared_refs.stashes(baseline.refs)
    entries = [*before, *(h for h in shared_refs.stashes(now) if h not in before)]
    if shared_refs.STASH in now:
        git.run("update-ref", "-d", shared_refs.STASH)
    else:  # a log without its ref
        baseline.common_tree.away(gitdir_backup.STASH_LOG)
    for entry in entries:
        git.run("stash", "store", "-m", git.text("log", "-1", "--format=%s", entry), entry)
