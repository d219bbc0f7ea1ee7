"""Whether git would run our hooks for one command: asked of git itself, with that command's options and environment.

Rules of this file:
1. What git says counts, not what a text or a setting seems to mean: include, HOME, GIT_CONFIG_* and -c are all its own.
2. Only what we put there is put right, and only its mode: a hook of ours that is not executable is made so again.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.run_git import program
from sentinel_guard.host.githooks.chained_hooks import place
from sentinel_guard.host.githooks.hook_locations import HookFolders
from sentinel_guard.host.githooks.hook_managers import LEGACY
from sentinel_guard.host.githooks.hook_templates import ALL, MODE, is_ours

PATIENCE = 5.0
"""Seconds for git's answer, which takes 3 ms: settings may lie where nothing is ever read from."""
HOOKS = "core.hookspath"
MOST = 1000
"""Settings of an environment that are looked at."""
_QUIET = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_TRACE2": "0",  # else settings of an agent's would have us write to a file of its choice
    "GIT_TRACE2_EVENT": "0",
    "GIT_TRACE2_PERF": "0",
}
_NOWHERE = (b"not a git repository", b"cannot change to")


class ActiveHooks(NamedTuple):
    """Our hooks as they stood in force in a repository."""

    common: str
    """The directory that its work trees share, resolved."""
    folder: str
    """Where git found them."""
    names: tuple[str, ...]


def locate(root: str, environ: Mapping[str, str]) -> HookFolders | None:
    """Where git finds its hooks in ``root`` with an environment; None outside of a repository. Raises HostError."""
    found = _asked((), root, environ)
    return HookFolders(*map(Path, found)) if found else None


def active_hooks(found: HookFolders) -> ActiveHooks | None:
    """Our hooks that git runs there; None where there are none."""
    names = tuple(name for name in ALL if not _wrong(found.hooks, name))
    return ActiveHooks(str(found.common), str(found.hooks), names) if names else None


def missing(ours: ActiveHooks, options: Sequence[str], cwd: str, environ: Mapping[str, str]) -> str:
    """Why git would not run them for a command; empty where it would, and in another repository.

    ``options`` are the words between ``git`` and the subcommand. Modes are put back first. Raises HostError where git
    cannot tell.
    """
    found = _asked(options, cwd, environ)
    if found is None or found[0] != ours.common:
        return ""
    mend(ours._replace(folder=found[1]))
    wrong = [words for name in ours.names if (words := _wrong(Path(found[1]), name))]
    moved = f"git looks for hooks in {found[1]}: " if wrong and found[1] != ours.folder else ""
    return moved + wrong[0] if wrong else ""


def without_other_hooks(ours: ActiveHooks, cwd: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Variables to set so that no ``core.hooksPath`` of GIT_CONFIG_COUNT leads away from our hooks; {} where none does.

    The other settings move up (git-config(1), GIT_CONFIG_COUNT); what stands beyond the count is not read.
    """
    count = environ.get("GIT_CONFIG_COUNT", "")
    rows = range(int(count)) if count.isdecimal() and int(count) <= MOST else range(0)
    given = [(environ.get(f"GIT_CONFIG_KEY_{i}", ""), environ.get(f"GIT_CONFIG_VALUE_{i}", "")) for i in rows]
    kept = [(key, value) for key, value in given if key.lower() != HOOKS or _leads_to(value, cwd, ours.folder)]
    if len(kept) == len(given):
        return {}
    moved = {
        f"GIT_CONFIG_{word}_{i}": text
        for i, row in enumerate(kept)
        for word, text in zip(("KEY", "VALUE"), row, strict=True)
    }
    return {"GIT_CONFIG_COUNT": str(len(kept)), **moved}


def _leads_to(value: str, cwd: str, folder: str) -> bool:
    return bool(value) and os.path.realpath(os.path.join(cwd, value)) == folder  # noqa: PTH118 - text with surrogates


def mend(ours: ActiveHooks) -> list[str]:
    """Make our hooks executable again. Returns those that were not, by name."""
    return [name for name in ours.names if _mended(Path(ours.folder, name))]


def _mended(hook: Path) -> bool:
    off = [p for p in (hook, hook.with_name(hook.name + LEGACY)) if not os.access(p, os.X_OK) and is_ours(p)]
    with contextlib.suppress(OSError):
        for ours in off:
            ours.chmod(MODE)
        return bool(off)
    return False


def _wrong(folder: Path, name: str) -> str:
    hook = folder / name
    ours = place(hook)
    if not is_ours(ours):
        return f"{name} is not ours there" if os.path.lexists(ours) else f"{name} is not there"
    return "" if os.access(ours, os.X_OK) and os.access(hook, os.X_OK) else f"{name} is not executable"


def _asked(options: Sequence[str], cwd: str, environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The shared directory and the folder of hooks, resolved; None outside of a repository."""
    kept = {k: v for k, v in environ.items() if not k.startswith(("LD_", "GIT_TRACE"))} | _QUIET
    command = [program(), *options, "rev-parse", "--git-common-dir", "--git-path", "hooks"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=cwd, env=kept, timeout=PATIENCE
        )
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        raise HostError(f"git does not say where it finds its hooks for this command ({type(e).__name__}).") from e
    if done.returncode and any(words in done.stderr for words in _NOWHERE):
        return None
    paths = done.stdout.splitlines()
    if done.returncode or len(paths) != 2:
        raise HostError("git does not say where it finds its hooks for this command.", "look at what `git status` says")
    base = os.path.join(cwd, *_folders(options))  # noqa: PTH118 - text with surrogates
    common, hooks = (os.path.realpath(os.path.join(base, os.fsdecode(path))) for path in paths)  # noqa: PTH118 - the same
    return common, hooks


def _folders(options: Sequence[str]) -> Iterator[str]:
    yield from (folder for word, folder in itertools.pairwise(options) if word == "-C")
