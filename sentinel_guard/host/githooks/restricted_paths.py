"""Finds changes of restricted paths in commits and pushes, and names what to do instead."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import groupby
from shlex import quote
from typing import NamedTuple

from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.host import policy_files
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.git.commit_contents import SUBMODULE, Change
from sentinel_guard.host.githooks.hook_request import HookCase
from sentinel_guard.host.machine.state_paths import places

RULE = "paths.restricted"
SHOWN = 4
"""Paths that are told one by one."""
_VERBS = {"A": "adds", "D": "deletes", "H": "holds", "T": "changes the type of"}
_OWN = (policy_files.NAME, ".sentinel-secrets.toml")


class _Met(NamedTuple):
    """Restricted paths that one refusal names."""

    pattern: str
    changes: list[Change]


def in_commit(case: HookCase, changes: Iterable[Change]) -> list[Finding]:
    """The restricted paths that a commit changes, deletions among them."""
    met = _by_pattern(_met(case, changes))
    undo = "git restore --staged" if met and commit_contents.has_head(case.root, case.environ) else "git rm --cached"
    return [_finding(case, m, "this commit", f"{undo} {_all(m)}{_ignore(m)}") for m in met]


def in_commits(case: HookCase, changes: Iterable[Change], *, deletions: bool = False) -> list[tuple[str, Finding]]:
    """The restricted paths that finished commits add or change, each with its commit."""
    some = (c for c in changes if deletions or c.status != "D")
    return [
        (commit, _finding(case, m, f"commit {commit[:12]}", redo(case, commit)))
        for commit, together in groupby(some, key=lambda c: c.commit)
        for m in _by_pattern(_met(case, together))
    ]


def in_files(case: HookCase, names: Iterable[str]) -> list[Finding]:
    """The restricted paths among named files, as a repository holds them."""
    met = _by_pattern(_met(case, [Change(name, "H") for name in names]))
    return [_finding(case, m, "the repository", f"git rm --cached {_all(m)}") for m in met]


def is_restricted(case: HookCase, path: str) -> bool:
    """Whether a commit of the path is refused whatever it holds."""
    return path not in _OWN and bool(case.policy.restricts(f"{case.root}/{path}", str(case.root)))


def is_let_in(case: HookCase, path: str) -> bool:
    """Whether a pattern restricts the path, and a later one (``!``) takes it out again."""
    if case.policy.restricts(f"{case.root}/{path}", str(case.root)):
        return False
    only = replace(case.policy.paths, restricted=tuple(p for p in case.policy.paths.restricted if p[:1] != "!"))
    return bool(replace(case.policy, paths=only).restricts(f"{case.root}/{path}", str(case.root)))


def redo(case: HookCase, commit: str) -> str:
    """The command that begins to change a commit."""
    short = commit[:12]
    return (
        f"git rebase -i {short}^"
        if commit_contents.exists(case.root, f"{short}^", case.environ)
        else "git rebase -i --root"
    )


def _finding(case: HookCase, met: _Met, who: str, undo: str) -> Finding:
    only = len(met.changes) == 1
    which = "which is restricted" if only else "which are restricted"
    what = f"{who} {_what(met.changes)}, {which} (pattern {met.pattern})"
    back = _allow(case, met.changes)
    return Finding(
        "rules", Response.DENY, what, instead=f"{back} Take {'it' if only else 'them'} out: {undo}", rule=RULE
    )


def _by_pattern(met: Iterable[tuple[Change, str]]) -> list[_Met]:
    groups: dict[str, list[Change]] = {}
    for change, pattern in met:
        groups.setdefault(pattern, []).append(change)
    return [_Met(pattern, changes) for pattern, changes in groups.items()]


def _all(met: _Met) -> str:
    """The paths as git takes them: by name, or many by their folders, where their pattern is one of names."""
    names = [c.path for c in met.changes]
    if (
        len(names) <= SHOWN
        or "/" in met.pattern
        or not all(fnmatchcase(n.rpartition("/")[2], met.pattern) for n in names)
    ):
        return " ".join(map(readable, names))
    folders = dict.fromkeys(name.rpartition("/")[0] for name in names)
    return " ".join(readable(f":(glob){_literal(f)}/{met.pattern}" if f else f":(glob){met.pattern}") for f in folders)


def _ignore(met: _Met) -> str:
    """What keeps new files out of the next ``git add -A``: a line for each; empty where they are many."""
    new = [f"/{_literal(c.path)}" for c in met.changes if c.status == "A" and c.path.isprintable()]
    if not new or len(new) > SHOWN:
        return ""
    said = f"echo {quote(new[0])}" if len(new) == 1 else f"printf '%s\\n' {' '.join(map(quote, new))}"
    return f" && {said} >> .gitignore"


def _literal(folder: str) -> str:
    return re.sub(r"([*?\[\\])", r"\\\1", folder)


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


def _allow(case: HookCase, changes: Iterable[Change]) -> str:
    """How the person lets paths pass for good: the patterns that take them back, and the file that they go into."""
    users = replace(case.policy, project=Paths())
    backs = _backs(case, users, list(changes))
    belong = "If it belongs here" if len(backs) == 1 else "If they belong here"
    ask = "ask the user to " if case.session else ""
    if not all(backs):
        return f"{belong}, {ask}take the pattern out of {case.root / policy_files.NAME}."
    import json  # noqa: PLC0415 - most commits have nothing to tell, and do not wait for it

    listed = ", ".join(map(json.dumps, backs))
    return f"{belong}, {ask}add {listed} to [paths] restricted in {places(case.environ).policy}."


def _backs(case: HookCase, users: Policy, changes: Sequence[Change]) -> list[str]:
    """The patterns that take paths back: one for each, but for several files of a kind in one folder.

    An empty one: only the project restricts a path.
    """
    root = str(case.root)
    paths = [_restricting(case, users, change) for change in changes]
    folders = Counter(path.rpartition("/")[0] for path in paths)
    backs = []
    for path in paths:
        folder, _, name = path.removeprefix(f"{root}/").rpartition("/")
        pattern = users.restricts(path, root) if path else ""
        alike = pattern.startswith("*.") and folders[path.rpartition("/")[0]] > 1
        tried = ([f"!{folder}/{pattern}"] if alike else []) + [f"!{folder and '/'}{folder}/{name}"]
        backs.append(next((p for p in tried if _takes_back(users, p, path, root)), f"!{pattern}") if path else "")
    return list(dict.fromkeys(backs))


def _takes_back(policy: Policy, pattern: str, path: str, root: str) -> bool:
    paths = replace(policy.paths, restricted=(*policy.paths.restricted, pattern))
    return not replace(policy, paths=paths).restricts(path, root)


def _what(changes: Sequence[Change]) -> str:
    """What is done to paths: all of them to one path, the first of many."""
    shown = ", ".join(map(_one, changes[:SHOWN]))
    verb = " and ".join(dict.fromkeys(_VERBS.get(c.status, "changes") for c in changes))
    if len(changes) == 1:
        return f"{verb} {shown}"
    more = f" and {len(changes) - SHOWN:,} more" if len(changes) > SHOWN else ""
    return f"{verb} {len(changes):,} files ({shown}{more})"


def _one(change: Change) -> str:
    path = readable(change.path)
    if change.mode == SUBMODULE:
        return f"{path}, a submodule"
    return f"{path}, a link to {readable(change.link)}" if change.link else path


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
