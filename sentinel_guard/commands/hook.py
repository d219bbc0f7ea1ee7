"""``sentinel-guard hook NAME``: what a git hook (or the pre-commit framework) asks. No daemon is needed.

Rules of this file:
1. What cannot be read is refused: any error ends in a code that stops the commit or the push.
2. A refusal names the path, the pattern, and the way out.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from sentinel_guard.core.policy import Paths, Policy
from sentinel_guard.errors import ConfigError
from sentinel_guard.host import policies, staged
from sentinel_guard.host.places import places
from sentinel_guard.host.staged import Change

PROTECTED = ("refs/heads/main", "refs/heads/master")
"""Branches that a push neither deletes nor rewrites."""

_VERBS = {"A": "adds", "D": "deletes", "T": "changes the type of"}
_OWN = policies.NAME
_SHOWN = 20


def hook(name: str, arguments: tuple[str, ...] = (), stdin: Callable[[], bytes] = lambda: b"") -> int:
    """Runs one hook in the current directory: 0 to go on, 1 with words on standard error. Raises SentinelError.

    ``arguments`` are git's; ``stdin`` reads what git sends, for ``pre-push``.
    """
    root = staged.top(Path.cwd())
    policy = policies.load_paths(places(), root)
    for warning in policy.warnings:
        _say(f"SENTINEL WARNING: {warning}")
    if name in ("pre-commit", "restricted-paths"):
        refusals = list(_commit(root, policy))
    elif name == "pre-push":
        refusals = list(_push(root, policy, arguments, stdin()))
    else:
        raise ConfigError(f"There is no hook {name!r}.", "There are pre-commit, pre-push and restricted-paths.")
    for refusal in refusals[:_SHOWN]:
        _say(f"403 SENTINEL BLOCKED: {refusal}")
    if len(refusals) > _SHOWN:
        _say(f"403 SENTINEL BLOCKED: and {len(refusals) - _SHOWN} more.")
    return 1 if refusals else 0


def _commit(root: Path, policy: Policy) -> Iterator[str]:
    refused = list(_restricted(root, policy, staged.staged(root)))
    undo = "git restore --staged" if refused and staged.has_head(root) else "git rm --cached"
    for change, pattern in refused:
        path = readable(change.path)
        yield (
            f"this commit {_what(change)}, which is restricted (pattern {pattern}). {_allow(root, policy, change)} "
            f"Take it out: {undo} {path}"
        )


def _restricted(root: Path, policy: Policy, changes: list[Change]) -> Iterator[tuple[Change, str]]:
    """The changes of restricted paths, and of links to them, with the pattern that says so."""
    for change in changes:
        if change.path == _OWN and change.status != "D":
            continue  # committing one's policy is what one does with it; an agent cannot write the file
        if path := _restricting(root, policy, change):
            yield change, policy.restricts(path, str(root))


def _allow(root: Path, policy: Policy, change: Change) -> str:
    """How the person lets a path pass for good: the pattern that takes it back, and the file that it goes into."""
    users = replace(policy, project=Paths())
    path = _restricting(root, users, change)
    if not path:
        return f"If it belongs here, take the pattern out of {root / _OWN}."
    name = path.removeprefix(f"{root}/")
    pattern = users.restricts(path, str(root))
    near = [] if "/" in pattern else [f"!{name.rpartition('/')[0]}/{pattern}"]
    back = next((p for p in (*near, f"!/{name}") if _takes_back(users, p, path, root)), f"!{pattern}")
    return f"If it belongs here, add {json.dumps(back)} to [paths] restricted in {places().policy}."


def _restricting(root: Path, policy: Policy, change: Change) -> str:
    """Which path of a change is restricted: its own, or that of what it links to; empty for none."""
    path = root / change.path
    both = (str(path), *([os.path.normpath(path.parent / change.link)] if change.link else []))
    return next((p for p in both if policy.restricts(p, str(root))), "")


def _takes_back(policy: Policy, pattern: str, path: str, root: Path) -> bool:
    paths = replace(policy.paths, restricted=(*policy.paths.restricted, pattern))
    return not replace(policy, paths=paths).restricts(path, str(root))


def _what(change: Change) -> str:
    path = readable(change.path)
    if change.link:
        return f"{_VERBS.get(change.status, 'changes')} {path}, a link to {readable(change.link)}"
    return f"{_VERBS.get(change.status, 'changes')} {path}"


def _push(root: Path, policy: Policy, arguments: tuple[str, ...], lines: bytes) -> Iterator[str]:
    remote = arguments[0] if arguments else "origin"
    for line in filter(None, os.fsdecode(lines).splitlines()):  # none at all: everything is up to date
        words = line.split(" ")
        if len(words) != 4:
            raise ConfigError(
                f"git sent a line that is no ref to push: {line!r}", "Run the hook by git push, not by hand."
            )
        _, local, ref, old = words
        if not local.strip("0"):
            if ref in PROTECTED:
                yield f"this push deletes {ref}, which is protected. Delete it at the remote's own site if you must."
            continue
        yield from _rewrites(root, ref, old, local)
        yield from _carries(root, policy, staged.pushed(root, local, old, remote))


def _rewrites(root: Path, ref: str, old: str, local: str) -> Iterator[str]:
    if ref in PROTECTED and old.strip("0") and not staged.is_ancestor(root, old, local):
        name = ref.removeprefix("refs/heads/")
        first = f"git pull --rebase origin {name}"
        yield f"this push rewrites {ref}, which is protected: commits of others would be lost. First: {first}"


def _carries(root: Path, policy: Policy, changes: list[Change]) -> Iterator[str]:
    for change, pattern in _restricted(root, policy, changes):
        if change.status != "D":
            yield (
                f"commit {change.commit[:12]} {_what(change)}, which is restricted (pattern {pattern}). "
                f"{_allow(root, policy, change)} "
                f"Take it out of the commit: git rebase -i {change.commit[:12]}^"
            )


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


def _say(text: str) -> None:
    from sentinel_guard.core.respond import visible  # noqa: PLC0415 - a commit that passes need not wait for it

    print(visible(text, keep="\n"), file=sys.stderr)
