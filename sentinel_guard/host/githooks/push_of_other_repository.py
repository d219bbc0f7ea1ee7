"""What a push from a repository without our hooks may send, looked at as ``pre-push`` would (ADR 0053).

Rules of this file:
1. More than is sent may be looked at, never less: all that is not known to be at the remote, and all that is changed
   and not ignored, as two commits of our own.
2. Only what the session cannot have set says where the remote is and what it has (remotes_before_session.py).
3. Nothing is written to the repository, and no program of its settings is run. What is too much, or takes too long, is
   not known.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.core.model import Response
from sentinel_guard.core.policy import presets
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.git import commit_contents, repository
from sentinel_guard.host.git.capture_worktree import capture
from sentinel_guard.host.git.private_git_dir import Layout, PrivateGitDir, layout, scan
from sentinel_guard.host.git.run_git import Setting, settings, until
from sentinel_guard.host.githooks import pushes_and_refs, remotes_before_session
from sentinel_guard.host.githooks.hook_request import HookCase
from sentinel_guard.host.githooks.remotes_before_session import Start
from sentinel_guard.host.machine.atomic_files import read_regular

FILES, COMMITS, BYTES = 2000, 500, 10 << 20
"""That are looked at."""
SHOWN = 3
"""Finds that are told."""
_NO = ("false", "no", "off", "0", "")
_OTHERS = ("ls-files", "--others", "-z", "--exclude-standard")
_MESSAGES = ("MERGE_MSG", "SQUASH_MSG")
"""Files of a git directory whose words a commit without a message has."""
Known = Callable[[Path, Policy], UserSecrets]
"""The person's own values that count for a repository."""


class Push(NamedTuple):
    folder: str
    remote: str
    """Empty: what the settings say."""
    refs: Sequence[str]
    said: str
    """Words of the commands, which may come to be messages and names."""


class Bounds(NamedTuple):
    folder: Path
    """Of the guard: what is made for a look lies in it, and nowhere else."""
    moment: float
    """At which what is not known yet is not known (``time.monotonic``)."""


def look(push: Push, start: Start, bounds: Bounds, policy: Callable[[Path], Policy], known: Known) -> str | None:
    """What was found, in redacted words, empty for nothing; None where not all is known. Blocks while git works."""
    with until(bounds.moment):
        return _look(push, start, bounds.folder, policy, known)


def _look(push: Push, start: Start, own: Path, policy: Callable[[Path], Policy], known: Known) -> str | None:
    try:
        top = repository.top(push.folder)
        if top is None or remotes_before_session.is_led(start):
            return None
        where = layout(top)
        unread = (f"{where.git_dir}/MERGE_HEAD", f"{where.common_dir}/reftable")
        if any(map(os.path.lexists, unread)) or not remotes_before_session.is_of_here(where, start.since):
            return None
        found = settings(replace(where.git, settings=start.begun.get("GIT_CONFIG_GLOBAL", "")))
        remotes, sources = remotes_before_session.remotes(where, push.remote, found, start), _sources(where, push.refs)
        if not remotes or sources is None:
            return None
        out = [identity for remote in remotes for identity in remotes_before_session.out(where, remote, start.since)]
        own.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=own) as folder:
            made = _uncommitted(where, found, push.said, Path(folder))
            ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
            environ = {**ours, "GIT_DIR": folder, "GIT_WORK_TREE": top}
            case = HookCase(
                "pre-push", Path(top), Path(top), policy(Path(top)), (), b"", environ,
                lambda: known(case.root, case.policy), session=True,
            )  # fmt: skip
            return _found(case, made, sources, out) if made else None
    except (SentinelError, OSError, ValueError):
        return None


def _found(case: HookCase, made: Sequence[str], sources: Sequence[str], out: Sequence[str]) -> str | None:
    root, environ = case.root, case.environ
    commits = commit_contents.between(root, [*made, *sources], out, environ=environ)
    if len(commits.ids) > COMMITS:
        return None
    changes = commit_contents.changed(root, commits.ids, environ)
    sizes = commit_contents.sizes(root, [c.blob for c in changes if c.blob], environ)
    if len(changes) > FILES or sum(sizes.values()) > BYTES:
        return None
    judged = pushes_and_refs.carried(case, commits, sources)
    if judged.notes:
        return None
    grave = [f.what for f in (presets.softened(f, case.policy) for f in judged.findings) if f.response >= Response.ASK]
    said = "; ".join(grave[:SHOWN])
    for identity in made:
        said = said.replace(identity[:12], "to come")
    return said


def _uncommitted(where: Layout, found: Sequence[Setting], said: str, folder: Path) -> list[str] | None:
    """What is staged, and what is changed or new in the work tree, as a commit each; None for too much of it."""
    head = repository.head(where.root)
    shadow = PrivateGitDir(where, folder)
    shadow.make(found, filters=False)
    shadow.copy_index()
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(f"{where.common_dir}/shallow", folder / "shallow")
    shadow.unflag(shadow.flagged())  # a commit that names such a file takes it
    names = scan(shadow, "--exclude-standard")
    told = {s.key: s.value for s in found}
    if (told.get("core.ignorecase", "false") or "true").lower() not in _NO:  # it may take a rule back, too
        names = list(dict.fromkeys((*names, *shadow.git.names("-c", "core.ignoreCase=true", *_OTHERS))))
    if not head or len(names) > FILES or sum(map(int, _sizes(where.root, names))) > BYTES:
        return None
    for name in _MESSAGES:
        with contextlib.suppress(FileNotFoundError):
            said += "\n" + os.fsdecode(read_regular(Path(where.git_dir, name)))
    staged, tree = shadow.git.text("write-tree"), capture(shadow, names)
    if tree.left_out:
        return None
    made, words = [head], said.encode("utf-8", "surrogateescape")
    for one in (staged, tree.hash):
        made.append(os.fsdecode(shadow.git.run("commit-tree", one, "-p", made[-1], "-F", "-", stdin=words)).strip())
    return made[1:]


def _sizes(root: str, names: Sequence[str]) -> Iterator[int]:
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            yield os.lstat(f"{root}/{name}").st_size


def _sources(where: Layout, refs: Sequence[str]) -> list[str] | None:
    """The objects that refspecs name; one that is not there yet is a branch made of HEAD.

    A push takes a branch or a tag of that name before all that else may have it: an object, ``ORIG_HEAD``.
    """
    found = []
    for refspec in refs:
        source = refspec.partition(":")[0]
        if not source or source == "tag" or source[0] in "+-^" or any(sign in source for sign in ("*", "@{")):
            return None
        if any(part.startswith(pushes_and_refs.PRIVATE) for part in refspec.split(":")):
            return None
        found.append(where.git.text("rev-parse", "--verify", "--quiet", "--end-of-options", source, ok=(0, 1)))
        named = (f"refs/heads/{source}", f"refs/tags/{source}")
        found += where.git.text("for-each-ref", "--format=%(objectname)", *named).split()
    return [identity for identity in found if identity]
