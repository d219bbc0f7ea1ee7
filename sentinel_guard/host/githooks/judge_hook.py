"""``judge``: decides for a git hook whether the commit, push or ref update may go on, in its process or the daemon's.

Rules of this file:
1. What cannot be read is refused: any error is a SentinelError, which stops the commit or the push.
2. The environment of the hook is a value: nothing is read from this process's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.policy import presets
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.errors import ConfigError, HostError
from sentinel_guard.host import policy_files
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.githooks import empty_commits, pushes_and_refs, restricted_paths
from sentinel_guard.host.githooks.hook_request import COMMIT, MESSAGE, HookCase, Judged
from sentinel_guard.host.githooks.secrets_in_commits import Words, look
from sentinel_guard.host.githooks.staged_changes import staged
from sentinel_guard.host.machine.atomic_files import read_regular
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.secrets import added_lines

if TYPE_CHECKING:
    from sentinel_guard.core.secrets.model import Hit
    from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
    from sentinel_guard.host.githooks.preexisting_commits import PreexistingObjects


_COMMITS = ("pre-commit", "pre-merge-commit", "pre-applypatch", COMMIT)
_TOLD_POLICY = (*_COMMITS, "pre-push", "restricted-paths")
"""Hooks that tell what is wrong with the policy: one in a commit."""
_THEIRS = "If you mean it all the same, it is yours to choose: {} --no-verify"
_ANYWAY = {
    **dict.fromkeys(("pre-commit", "pre-merge-commit", MESSAGE, COMMIT), _THEIRS.format("git commit")),
    "pre-applypatch": _THEIRS.format("git am"),
    "pre-push": _THEIRS.format("git push"),
}


def _nothing() -> UserSecrets:
    from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING  # noqa: PLC0415 - asked for where there is a text only

    return NOTHING


def judge(
    hook: str,
    work: Path,
    policy: Policy,
    arguments: tuple[str, ...] = (),
    stdin: bytes = b"",
    *,
    environ: Mapping[str, str] | None = None,
    known: Callable[[], UserSecrets] = _nothing,
    session: bool = False,
    seen: PreexistingObjects | None = None,
) -> Judged:
    """What a hook finds. ``work``: the folder that git ran it in; ``arguments`` and ``stdin``: what git gave it.

    ``environ`` is the hook's whole environment (this process's, if not given); ``session`` says that a guarded session
    asks, ``seen`` what it need not answer for.
    Blocks while git works; any thread may call it. Raises SentinelError for what cannot be judged.
    """
    judges = HOOKS.get(hook)
    if judges is None:
        raise ConfigError(f"There is no hook {hook!r}.", f"There are {', '.join(HOOKS)}.")
    given = os.environ if environ is None else environ
    trees = empty_commits.trees(work, given) if hook == COMMIT else None
    if trees and trees.head == trees.staged:
        return judge(MESSAGE, work, policy, arguments, environ=given, known=known, session=session)
    root = top(hook, work, given)
    trees = trees if root == work else None
    judged = judges(HookCase(hook, root, work, policy, arguments, stdin, given, known, session, seen, trees))
    if hook in _TOLD_POLICY:
        broken = _broken(places(given).policy, root / policy_files.NAME)
        judged = Judged(broken, () if broken else policy.warnings) + judged
    findings = tuple(presets.softened(finding, policy) for finding in judged.findings)
    judged = replace(judged, findings=findings)
    theirs = "" if session or not judged.refused else _ANYWAY.get(hook, "")
    return replace(judged, anyway=theirs)


def _broken(users: Path, project: Path) -> tuple[Finding, ...]:
    """What a policy that cannot be read would restrict nobody knows."""
    wrong: list[Finding] = []
    for path in filter(os.path.lexists, (users, project)):
        try:
            policy_files.read(path, limited=path == project)
        except ConfigError as e:
            wrong.append(_wrong(e, f"Correct {path}"))
    return tuple(wrong)


def _wrong(error: ConfigError, instead: str) -> Finding:
    return Finding("rules", Response.DENY, f"the policy file is wrong: {error.message}", "", instead, "policy.invalid")


def top(hook: str, work: Path, environ: Mapping[str, str]) -> Path:
    """The top of the work tree; for a bare repository the folder that git ran the hook in. Raises HostError."""
    try:
        return commit_contents.top(work, environ)
    except HostError:
        if hook not in ("pre-push", "reference-transaction"):
            raise
        return work  # a bare repository has no work tree


def _commit(case: HookCase) -> Judged:
    """What is staged; and the message, where one judges for both hooks of a commit."""
    changes = staged(case.root, case.environ, case.trees)
    lines = added_lines.added_lines(case.root, changes, case.environ)
    both = lines.joined(_said(case)) if case.hook == COMMIT else lines
    return Judged(tuple(restricted_paths.in_commit(case, changes))) + _leaks(case, both)


def _restricted_paths(case: HookCase) -> Judged:
    if ends := _range(case):
        return pushes_and_refs.restricted_since(case, *ends)
    changes = staged(case.root, case.environ)
    others = [] if _is_merge(case) else sorted({*case.arguments} - {c.path for c in changes})
    return Judged((*restricted_paths.in_commit(case, changes), *restricted_paths.in_files(case, others)))


def _secrets(case: HookCase) -> Judged:
    if ends := _range(case):
        return pushes_and_refs.leaks_since(case, *ends, _excluded(case, *ends))
    changes = staged(case.root, case.environ)
    if not _is_merge(case) and not {*case.arguments} <= {c.path for c in changes}:  # --all-files, --files
        whole = added_lines.files(case.root, case.arguments, case.environ)
        return _leaks(case, whole, "the repository holds")
    every = not case.arguments and not _by_framework(case)
    chosen = [c for c in changes if every or c.path in case.arguments or c.status == "D"]
    return _leaks(case, added_lines.added_lines(case.root, chosen, case.environ))


def _by_framework(case: HookCase) -> bool:
    """Whether pre-commit asks: what it does not name then, its ``exclude`` leaves out."""
    return "PRE_COMMIT" in case.environ


def _excluded(case: HookCase, old: str, new: str) -> frozenset[str]:
    """The files of a range that pre-commit knows and does not name. A file that came and went it does not know."""
    if not _by_framework(case):
        return frozenset()
    return frozenset(commit_contents.differing_paths(case.root, old, new, case.environ)) - {*case.arguments}


def _is_merge(case: HookCase) -> bool:
    """Whether a merge is being concluded: pre-commit then names files that are as one of its sides has them."""
    return bool(commit_contents.merging(case.root, case.environ))


def _message(case: HookCase) -> Judged:
    return _leaks(case, _said(case))


def _said(case: HookCase) -> added_lines.Added:
    """The message of the commit."""
    if not case.arguments:
        raise ConfigError("The hook for messages needs the message's file.", "git gives it: .git/COMMIT_EDITMSG")
    path = case.work / case.arguments[0]
    try:
        data = read_regular(path)
    except OSError as e:
        raise HostError(f"Cannot read the message {path}: {e.strerror}.") from e
    # An agent edits nothing, and git cuts at the scissors line only by an option that no hook is told.
    return added_lines.message(data, edited=not case.session and case.environ.get("GIT_EDITOR") != ":")


def _push(case: HookCase) -> Judged:
    """What is pushed, and under which names."""
    return pushes_and_refs.pushed(case) + _named(case)


def _named(case: HookCase) -> Judged:
    words = (line.split(" ") for line in os.fsdecode(case.stdin).splitlines())
    names = added_lines.names(w[2] for w in words if len(w) == 4 and w[1].strip("0"))
    found = _leaks(case, names, undo="Give it another name").findings
    return Judged(tuple(replace(f, response=Response.BREAK) if case.session else f for f in found))


def _leaks(case: HookCase, lines: added_lines.Added, adds: str = "this commit adds", undo: str = "") -> Judged:
    def words(hit: Hit) -> Words:
        if hit.line and not hit.path:
            again = f"Write the message again without it; {case.work / case.arguments[0]} still holds it"
            return Words("the message of this commit holds", again)
        name = hit.path and not hit.line
        return Words(adds, undo or ("Give the file another name" if name else "Take it out and git add the file again"))

    found, notes = look(case, lines, words)
    return Judged(tuple(f.finding for f in found), notes)


def _range(case: HookCase) -> tuple[str, str] | None:
    """The range that pre-commit was told to look at (``--from-ref``, ``--to-ref``), as in CI."""
    old, new = case.environ.get("PRE_COMMIT_FROM_REF", ""), case.environ.get("PRE_COMMIT_TO_REF", "")
    return (old, new) if old and new else None


def _policy(case: HookCase) -> Judged:
    """Whether the project's policy file can be used: as it is staged, else as it is on disk."""
    held = {c.path: c.blob for c in commit_contents.tracked(case.root, case.environ)}.get(policy_files.NAME)
    try:
        if held:
            policy_files.prove(commit_contents.contents(case.root, [held], case.environ)[held], policy_files.NAME)
        elif (case.root / policy_files.NAME).exists():
            policy_files.validate(case.root / policy_files.NAME, limited=True)
    except ConfigError as e:
        return Judged((_wrong(e, "correct it, then git add it"),))
    return Judged()


HOOKS: Mapping[str, Callable[[HookCase], Judged]] = {
    "pre-commit": _commit,
    "pre-merge-commit": _commit,
    "pre-applypatch": _commit,
    MESSAGE: _message,
    COMMIT: _commit,
    "pre-push": _push,
    "reference-transaction": pushes_and_refs.transaction,
    "restricted-paths": _restricted_paths,
    "secrets": _secrets,
    "message": _message,
    "policy": _policy,
}
