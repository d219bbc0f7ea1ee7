"""Changes of restricted paths in commits and pushes, and the ways out that work."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace

from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy import Paths, Policy
from sentinel_guard.host import policies, staged
from sentinel_guard.host.hookcase import HookCase
from sentinel_guard.host.places import places
from sentinel_guard.host.staged import SUBMODULE, Change

RULE = "paths.restricted"
_VERBS = {"A": "adds", "D": "deletes", "T": "changes the type of"}
_OWN = (policies.NAME, ".sentinel-secrets.toml")


def in_commit(case: HookCase, changes: Iterable[Change]) -> list[Finding]:
    """The restricted paths that a commit changes, deletions among them."""
    met = list(_met(case, changes))
    undo = "git restore --staged" if met and staged.has_head(case.root, case.environ) else "git rm --cached"
    return [
        _finding(case, change, pattern, f"this commit {_what(change)}", f"{undo} {readable(change.path)}")
        for change, pattern in met
    ]


def in_commits(case: HookCase, changes: Iterable[Change], *, deletions: bool = False) -> list[tuple[str, Finding]]:
    """The restricted paths that finished commits add or change, each with its commit."""
    met = [(c, pattern) for c, pattern in _met(case, changes) if deletions or c.status != "D"]
    return [
        (c.commit, _finding(case, c, pattern, f"commit {c.commit[:12]} {_what(c)}", redo(case, c.commit)))
        for c, pattern in met
    ]


def in_files(case: HookCase, names: Iterable[str]) -> list[Finding]:
    """The restricted paths among named files, as a repository holds them."""
    met = _met(case, [Change(name, "A") for name in names])
    return [
        _finding(case, c, pattern, f"the repository holds {readable(c.path)}", f"git rm --cached {readable(c.path)}")
        for c, pattern in met
    ]


def redo(case: HookCase, commit: str) -> str:
    """The command that begins to change a commit."""
    short = commit[:12]
    return f"git rebase -i {short}^" if staged.exists(case.root, f"{short}^", case.environ) else "git rebase -i --root"


def _finding(case: HookCase, change: Change, pattern: str, what: str, undo: str) -> Finding:
    said = f"{what}, which is restricted (pattern {pattern})"
    return Finding("rules", Response.DENY, said, instead=f"{_allow(case, change)} Take it out: {undo}", rule=RULE)


def _met(case: HookCase, changes: Iterable[Change]) -> Iterator[tuple[Change, str]]:
    """The changes of restricted paths, and of links to them, with the pattern that says so."""
    for change in changes:
        if change.path in _OWN and change.status != "D":
            continue  # committing one's policy is what one does with it; an agent cannot write the file
        if path := _restricting(case, case.policy, change):
            yield change, case.policy.restricts(path, str(case.root))


def _restricting(case: HookCase, policy: Policy, change: Change) -> str:
    """Which path of a change is restricted: its own, or that of what it links to; empty for none."""
    path = f"{case.root}/{change.path}"
    both = (path, *([os.path.normpath(os.path.join(path, "..", change.link))] if change.link else []))  # noqa: PTH118 - a name that git gave: no file need be there
    return next((p for p in both if policy.restricts(p, str(case.root))), "")


def _allow(case: HookCase, change: Change) -> str:
    """How the person lets a path pass for good: the pattern that takes it back, and the file that it goes into."""
    users = replace(case.policy, project=Paths())
    path, root = _restricting(case, users, change), str(case.root)
    if not path:
        return f"If it belongs here, take the pattern out of {case.root / policies.NAME}."
    name = path.removeprefix(f"{root}/")
    pattern = users.restricts(path, root)
    near = [] if "/" in pattern else [f"!{name.rpartition('/')[0]}/{pattern}"]
    back = next((p for p in (*near, f"!/{name}") if _takes_back(users, p, path, root)), f"!{pattern}")
    mine = places(case.environ).policy
    return f"If it belongs here, add {json.dumps(back)} to [paths] restricted in {mine}."


def _takes_back(policy: Policy, pattern: str, path: str, root: str) -> bool:
    paths = replace(policy.paths, restricted=(*policy.paths.restricted, pattern))
    return not replace(policy, paths=paths).restricts(path, root)


def _what(change: Change) -> str:
    path = readable(change.path)
    said = f"{_VERBS.get(change.status, 'changes')} {path}"
    if change.mode == SUBMODULE:
        return f"{said}, a submodule"
    return f"{said}, a link to {readable(change.link)}" if change.link else said


def readable(path: str) -> str:
    """A path as a shell reads it back, whatever bytes it has."""
    if path.isprintable():
        return shlex.quote(path)
    escaped = "".join(_escaped(c) for c in path)
    return f"$'{escaped}'"


def _escaped(char: str) -> str:
    if char.isprintable() and char not in "\\'":
        return char
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(char))
