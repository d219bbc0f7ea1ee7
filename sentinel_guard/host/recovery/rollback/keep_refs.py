"""Keeps refs at a rollback: the agent's commits stay reachable, and refs that record pushes and fetches stay."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import replace

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.recovery.baseline import gitdir_backup
from sentinel_guard.host.recovery.baseline.backup_pack import existing
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline

RECORDS = ("refs/remotes/", "refs/sentinel/")
"""Refs that tell what happened and are not rolled back."""


def keep_refs(baseline: Baseline, found: Mapping[str, str]) -> list[str]:
    """Keep what ``found`` (refs before the rollback) held reachable under ``refs/sentinel/<session>/``, and put records
    back that went with packed-refs. Returns notes.
    """
    try:
        return _pinned(baseline, found)
    except HostError as e:
        return [f"The session's commits could not be kept reachable: {e}"]


def _pinned(baseline: Baseline, found: Mapping[str, str]) -> list[str]:
    git = replace(baseline.where.git, settings=baseline.shadow.git.settings)
    now = gitdir_backup.refs(baseline.where.common_dir, baseline.where.git_dir)
    ours = f"refs/sentinel/{baseline.session}"
    if ours in now:  # it would leave no room for what is kept below it
        git.run("update-ref", "-d", ours)
    records = {n: h for n, h in found.items() if n.startswith(RECORDS) and n != ours}
    strays = _strays(baseline, now)
    held = {*baseline.refs.values(), *(now | strays).values()}
    made = {h: n for n, h in found.items() if n not in records and h not in held}
    number = itertools.count(1)
    free = (ref for n in number if (ref := f"refs/sentinel/{baseline.session}/{n}") not in {*now, *found})
    pins = {next(free): h for h in made}
    wanted = pins | {n: h for n, h in records.items() if now.get(n) != h} | strays
    there = existing(git, set(wanted.values()))
    there -= {*pins.values()} - _whole(git, [h for h in pins.values() if h in there])
    refused = _updated(git, [(n, h) for n, h in wanted.items() if h in there])
    kept = {h: n for n, h in pins.items() if h in there and n not in refused}
    return [
        *(f"{made[h]} of the session is kept as {ref}." for h, ref in kept.items()),
        *(f"{made[h]} of the session ({h}) is not kept: objects of it were destroyed." for h in made if h not in kept),
        *(f"{n} was lost and could not be set again." for n in refused if n not in pins),
        *(f"{n} was moved by a push or fetch: not undone." for n in moved_remote_refs(baseline, records)),
    ]


def _updated(git: Git, wanted: list[tuple[str, str]]) -> set[str]:
    """Set refs; returns those that git refuses (half by half, for one that it refuses undoes all)."""
    if not wanted:
        return set()
    try:
        git.run("update-ref", "--stdin", stdin=os.fsencode("".join(f"update {n} {h}\n" for n, h in wanted)))
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


def _strays(baseline: Baseline, now: Mapping[str, str]) -> dict[str, str]:
    """In a linked worktree, whose refs are shared: its own branch, and refs that are gone."""
    if not baseline.where.linked:
        return {}
    gone = {n: h for n, h in baseline.refs.items() if n.startswith("refs/") and n not in now}
    own = {baseline.branch: baseline.head} if baseline.branch and baseline.head else {}
    return gone | {n: h for n, h in own.items() if now.get(n) != h}
