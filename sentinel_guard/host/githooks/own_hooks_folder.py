"""Installs our git hooks in a folder of their own, where another folder or tool owns the existing hooks (theirs).

``core.hooksPath`` names our folder; each hook there runs theirs from where it is, under its own name, and then checks.

Rules of this file:
1. Nothing of theirs is changed, moved or shared: not a tracked file, not a folder of several repositories.
2. The setting is in a file of ours that is included last: what husky, npm or a person writes to the configuration
   stays theirs, and says what our hooks run.
3. It holds for this repository where it is: in one that was moved or copied, theirs run as if we were not there.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import settings_file
from sentinel_guard.host.githooks.chained_hooks import put_for_sessions
from sentinel_guard.host.githooks.hook_locations import Repository
from sentinel_guard.host.githooks.hook_managers import moved, tool
from sentinel_guard.host.githooks.hook_templates import (
    MARK,
    MODE,
    NAMES,
    OFTEN,
    SESSION,
    Programs,
    is_ours,
    own_folder_hook_script,
    session_hook_script,
)
from sentinel_guard.host.githooks.install_messages import put as put_words
from sentinel_guard.host.githooks.install_messages import summed
from sentinel_guard.host.machine import atomic_files

FORWARDED = (
    "applypatch-msg", "post-applypatch", "prepare-commit-msg", "post-commit", "pre-rebase", "post-checkout",
    "post-merge", "pre-auto-gc", "post-rewrite", "sendemail-validate",
)  # fmt: skip
"""Handed on always: theirs may come with the next pull."""
RARE = (
    SESSION, "post-index-change", "push-to-checkout", "pre-receive", "update", "proc-receive", "post-receive",
    "post-update",
)  # fmt: skip
"""Handed on where they are there: git runs them often, or behaves otherwise where there is one."""
_READABLE = 0o644
_CONFIG = "config"
_SAYS = "`sentinel-guard uninstall` takes these lines away"


def put(repo: Repository, programs: Programs) -> list[str]:
    """Put our folder in place and in force. Returns what was done. Raises HostError, OSError."""
    repo.ahead.mkdir(parents=True, exist_ok=True)
    session = session_hook_script(_said_once(repo, SESSION), programs)
    rows = [*put_for_sessions(repo.ahead, session)]
    said = summed([*rows, *((what, name) for name in wanted(repo) if (what := _put(repo, name, programs)))])
    _keep(repo.own / _CONFIG, settings_file([("core.hookspath", str(repo.ahead))]))
    if _edit(repo.settings, lambda text: _with(_without(text), _includes(repo))):
        said.append(f"The hooks of {repo.asked} stay as they are and run first.")
    return said


def take(repo: Repository, *, everywhere: bool = True) -> list[str]:
    """Take it away; not ``everywhere``: from all work trees but those that have settings of their own.

    Returns what was done. Raises HostError, OSError.
    """
    if not os.path.lexists(repo.own / _CONFIG) and not repo.ahead.is_dir():
        return []
    for path in repo.settings_files() if everywhere else [repo.common / "config"]:
        _edit(path, _without)
    if any(MARK.encode() in path.read_bytes() for path in repo.settings_files()):
        return []
    left = [said for hook in sorted(repo.ahead.glob("*")) if (said := _give(hook, repo.asked))]
    (repo.own / _CONFIG).unlink(missing_ok=True)
    for folder in (repo.ahead, repo.own):
        with contextlib.suppress(OSError):
            folder.rmdir()
    return [f"Took our hooks away: git runs those of {repo.asked} alone again.", *left]


def wanted(repo: Repository) -> list[str]:
    """The names that our folder has to hold."""
    return [*NAMES, *FORWARDED, *(n for n in RARE if os.access(repo.asked / n, os.X_OK))]


def _put(repo: Repository, name: str, programs: Programs) -> str:
    hook, ours = repo.ahead / name, is_ours(repo.ahead / name)
    text = own_folder_hook_script(name, _said_once(repo, name), programs)
    if os.path.lexists(hook) and not ours and not tool(hook):
        hint = f"Move it to {repo.asked} if you need it, then try again."
        raise HostError(f"{hook} is not ours, and stands in our place.", hint)
    for stray in moved(hook):
        if is_ours(stray):
            stray.unlink()
    if ours and hook.read_bytes() == text and os.access(hook, os.X_OK):
        return ""
    _give(hook, repo.asked)
    atomic_files.write(hook, text, MODE)
    return put_words(repo.ahead, renewed=ours) if name in NAMES else ""


def _said_once(repo: Repository, name: str) -> str:
    """The folder of theirs, for a hook that cannot ask for it: it has no time, or would not understand the answer."""
    if name not in OFTEN and "\n" not in str(repo.common):
        return ""
    return repo.theirs or str(repo.usual)


def _give(hook: Path, theirs: Path) -> str:
    """Clear a place in our folder: what a tool wrote there goes to where it would have been without us."""
    place = theirs / hook.name
    if is_ours(hook):
        hook.unlink()
    elif hook.is_dir():
        with contextlib.suppress(OSError):
            hook.rmdir()
    elif os.path.lexists(hook):
        if os.path.lexists(place) and (tool(hook) is None or tool(place) != tool(hook)):
            return f"Left {hook} where it is: it is not ours, and {place} is there already."
        hook.replace(place)
    return ""


def _keep(path: Path, text: bytes) -> None:
    if not path.is_file() or path.read_bytes() != text:
        atomic_files.write(path, text, _READABLE)


def _includes(repo: Repository) -> bytes:
    """Includes our file for the repository in this place and for its linked work trees (git-config(1), includeIf)."""
    common, path = str(repo.common), os.path.relpath(repo.own / _CONFIG, repo.settings.parent)
    if "\n" in common:  # which no subsection's name can hold
        return settings_file([("include.path", path)])
    pattern = re.sub(r"([*?\[\]\\])", r"\\\1", common)
    return settings_file([(f"includeif.gitdir:{p}.path", path) for p in (pattern, f"{pattern}/**")])


def _with(text: bytes, includes: bytes) -> bytes:
    # The comment's sign tells whether a line end before it is ours as well.
    sign = "#" if text.endswith(b"\n") or not text else "\n;"
    return text + f"{sign} {MARK}: {_SAYS}\n".encode() + includes


_PATH = re.compile(rb'\s*path = "?(?:\.\./)*sentinel-guard/config"?\s*')


def _without(text: bytes) -> bytes:
    """The settings without our lines; a section to which somebody has added stays."""
    kept: list[bytes] = []
    joined = -1
    lines = re.findall(rb"[^\n]*\n|[^\n]+", text)
    for line, after in itertools.zip_longest(lines, lines[1:], fillvalue=b""):
        if MARK.encode() in line:
            joined = len(kept) if line.startswith(b";") else -1
        elif not _PATH.fullmatch(line):
            kept.append(line)
        elif kept and kept[-1].startswith(b"[include") and after[:1] not in (b" ", b"\t"):
            kept.pop()
    whole = b"".join(kept)
    return whole.removesuffix(b"\n") if len(kept) == joined else whole


def _edit(path: Path, change: Callable[[bytes], bytes]) -> bool:
    """Change a configuration file as git does, under its lock. Returns whether anything changed. Raises HostError."""
    path = Path(os.path.realpath(path))
    before = path.read_bytes() if path.is_file() else b""
    if change(before) == before:
        return False
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError as e:
        hint = f"Try again in a moment; if no git runs, remove {lock}."
        raise HostError(f"git is changing {path}, or was killed while it did.", hint) from e
    try:
        before = path.read_bytes() if path.is_file() else b""
        with os.fdopen(descriptor, "wb") as file:
            file.write(change(before))
            file.flush()
            if path.exists():
                os.fchmod(file.fileno(), path.stat().st_mode)
            os.fsync(file.fileno())
        lock.replace(path)
    except BaseException:
        lock.unlink(missing_ok=True)
        raise
    return True
