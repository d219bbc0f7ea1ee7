"""Installs our git hooks in a repository beside existing ones, and uninstalls them without a trace.

Rules of this file:
1. What is ours carries ``MARK``. What is not ours is kept, bytes and mode, and run first.
2. ``install`` twice is ``install`` once; ``uninstall`` gives back what was there. Each may be stopped and run again.
3. Nothing that other repositories or other people share is changed.

``chained_hooks`` is the way for .git/hooks, ``own_hooks_folder`` where another folder or tool owns the hooks.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.githooks import chained_hooks, own_hooks_folder
from sentinel_guard.host.githooks.hook_locations import HookFolders, Repository, find
from sentinel_guard.host.githooks.hook_managers import moved, tool
from sentinel_guard.host.githooks.hook_templates import (
    BEFORE,
    MARK,
    NAMES,
    OWN,
    TAKE_OUT,
    Programs,
    is_ours,
    take_out_script,
)

__all__ = ["BEFORE", "MARK", "NAMES", "OWN", "Programs", "find", "is_ours"]

INSTALL = "sentinel-guard install"
INSTALLED = "installed"
"""In our folder: tells that hooks were put in place, where a tool has taken every one of them away."""
_TOLD = f"{MARK}: hooks were put in place here by `sentinel-guard install`.\n"


class HookState(NamedTuple):
    """One hook of NAMES, as git would find it now."""

    name: str
    ok: bool
    words: str
    """Why it does not check; empty where it does."""


def install(root: Path, python: str = sys.executable, launcher: str = "", **others: str) -> list[str]:
    """Puts our hooks in place. Returns what was done, in lines; none where all was in place. Raises HostError.

    ``python``, ``launcher`` and ``others`` are what the hooks call, absolute: see ``Programs``.
    """
    repo, programs = find(root), Programs(python, launcher, **others)
    return _put_words(repo, lambda: _install(repo, programs))


def uninstall(root: Path) -> list[str]:
    """Takes our hooks away and puts back what was there. Returns what was done, in lines. Raises HostError."""
    repo = find(root)
    return _put_words(repo, lambda: _uninstall(repo))


def install_template(folder: Path, python: str = sys.executable, **others: str) -> list[str]:
    """Puts our hooks into a template folder of ``git init``. Returns and raises as ``install``."""
    try:
        return chained_hooks.put(folder / "hooks", Programs(python, **others))
    except OSError as e:
        raise _denied(folder, e) from e


def uninstall_template(folder: Path) -> list[str]:
    """Takes our hooks out of a template folder. Returns and raises as ``uninstall``."""
    try:
        return chained_hooks.take(folder / "hooks")
    except OSError as e:
        raise _denied(folder, e) from e


def installed(root: Path) -> tuple[Path, ...]:
    """Our hooks that git runs. Raises HostError."""
    repo = find(root)
    return tuple(_place(repo, seen.name) for seen in _look(repo) if seen.ok)


def hook_states(root: Path) -> list[HookState]:
    """Each hook of NAMES: whether it checks, and why not. Raises HostError."""
    return _look(find(root))


def complaint(repo: HookFolders) -> str:
    """What a person should know who relies on hooks that were installed here; empty where all is well, or none were."""
    if not (repo.own / INSTALLED).exists() and not _traces(repo, *NAMES):
        return ""
    return "; ".join(dict.fromkeys(seen.words for seen in _look(repo) if not seen.ok))


@lru_cache(maxsize=256)
def hook_folders(root: str) -> tuple[str, ...]:
    """The folders of hooks that nobody may write inside a session of a work tree; a linked one shares another's."""
    folders = [f"{root}/.git"]
    with contextlib.suppress(HostError):
        folders.append(layout(root).common_dir)
    return tuple(f"{folder}/{name}" for folder in dict.fromkeys(folders) for name in ("hooks", OWN))


@lru_cache(maxsize=16)
def guarded(roots: frozenset[str]) -> tuple[str, ...]:
    """What nobody may write inside a session of these work trees: their policies and folders of hooks."""
    return tuple(path for root in sorted(roots) for path in (f"{root}/sentinel.toml", *hook_folders(root)))


def _install(repo: Repository, programs: Programs) -> list[str]:
    repo.own.mkdir(exist_ok=True)
    (repo.own / INSTALLED).write_text(_TOLD)
    (repo.own / TAKE_OUT).write_bytes(take_out_script())
    if _owned(repo):
        said = own_hooks_folder.put(repo, programs)
        if repo.settings.name == "config":  # else other work trees still go by .git/hooks
            chained_hooks.take(repo.usual)
        if repo.asked not in (repo.usual, repo.ahead) and any(is_ours(repo.asked / name) for name in NAMES):
            chained_hooks.take(repo.asked)  # where an earlier version put them
    else:
        said = chained_hooks.put(repo.usual, programs)
        own_hooks_folder.take(repo, everywhere=False)
    chained_hooks.link(repo.usual)
    return said


def _uninstall(repo: Repository) -> list[str]:
    said = [*own_hooks_folder.take(repo), *chained_hooks.take(repo.usual)]
    if repo.asked not in (repo.usual, repo.ahead):
        said += chained_hooks.take(repo.asked)
    for name in (INSTALLED, TAKE_OUT):
        (repo.own / name).unlink(missing_ok=True)
    chained_hooks.link(repo.usual)
    return said


def _owned(repo: Repository) -> bool:
    """Whether the hooks of .git/hooks are not git's to run, or not ours to move."""
    if repo.asked != repo.usual:
        return True
    kept = (repo.usual / (name + BEFORE) for name in NAMES)
    owners = (tool(hook) for hook in (*(repo.usual / name for name in NAMES), *kept))
    return any(owner.ahead for owner in owners if owner)


def _place(repo: HookFolders, name: str) -> Path:
    return chained_hooks.place(repo.hooks / name)


def _look(repo: HookFolders) -> list[HookState]:
    return [HookState(name, not (words := _wrong(repo, name)), words) for name in NAMES]


def _wrong(repo: HookFolders, name: str) -> str:
    hook, ours = repo.hooks / name, _place(repo, name)
    if is_ours(ours):
        return "" if os.access(ours, os.X_OK) and os.access(hook, os.X_OK) else f"{ours} is not executable"
    traces = list(_traces(repo, name))
    if any(is_ours(t) and t.parent != repo.hooks for t in traces if t.parent in (repo.usual, repo.ahead)):
        return f"core.hooksPath is {repo.hooks}: ours in {traces[0].parent} are passed by"
    if not os.path.lexists(hook):
        return f"{name} is not there"
    by = tool(hook)
    return f"{name} was replaced" + (f" by {by.name} (it does so at: {by.again})" if by else "")


def _traces(repo: HookFolders, *names: str) -> list[Path]:
    """What tells that our hooks were put in place once."""
    folders = dict.fromkeys((repo.hooks, repo.usual, repo.ahead))
    hooks = [folder / name for folder in folders for name in names]
    ours = [p for hook in hooks for p in (hook, *moved(hook)) if is_ours(p)]
    return ours + [kept for hook in hooks if os.path.lexists(kept := hook.with_name(hook.name + BEFORE))]


def _put_words(repo: Repository, work: Callable[[], list[str]]) -> list[str]:
    try:
        return work()
    except OSError as e:
        raise _denied(repo.common, e) from e


def _denied(folder: Path, error: OSError) -> HostError:
    where = error.filename or folder
    hint = "Check the folder's permissions, and the room on the disk."
    return HostError(f"Cannot put hooks into {folder} or take them out: {where}: {error.strerror}.", hint)
