"""Installs our git hooks in the place of existing ones (theirs), which are kept beside them and run first.

Rules of this file:
1. What is not ours is kept, as NAME.before-sentinel, bytes, mode and link; a moment without a hook does not lose it.
2. What is kept runs as NAME, in a folder of links that is as deep as .git/hooks: what tells by its name who it is, or
   looks beside itself, still finds it.
3. Among pre-commit's own hooks ours stands where pre-commit puts what was there before it, and runs first.
4. Taking away gives back what would be there without us, also where a tool wrote its hooks anew meanwhile.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.githooks.hook_managers import LEGACY, TOOLS, moved, tool
from sentinel_guard.host.githooks.hook_templates import (
    ALL,
    BEFORE,
    IN_SESSIONS,
    MODE,
    NAMES,
    OWN,
    SESSION,
    Programs,
    chained_hook_script,
    is_ours,
    session_hook_script,
)
from sentinel_guard.host.githooks.install_messages import Row, summed
from sentinel_guard.host.githooks.install_messages import put as put_words
from sentinel_guard.host.machine import atomic_files


def put(folder: Path, programs: Programs) -> list[str]:
    """Put our hooks into a folder of hooks. Returns what was done, in lines. Raises HostError, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for name in NAMES for row in _put(folder, name, programs)]
    return summed([*rows, *put_for_sessions(folder, session_hook_script("", programs))])


def put_for_sessions(folder: Path, text: bytes) -> Iterator[Row]:
    """Put what checks in sessions beside its place; from there an earlier version's goes. Raises HostError, OSError."""
    waiting = folder / (SESSION + IN_SESSIONS)
    if not is_ours(waiting):
        yield from _take(folder / SESSION)
    elif waiting.read_bytes() == text:
        return
    atomic_files.write(waiting, text, MODE)


def take(folder: Path) -> list[str]:
    """Take our hooks out of a folder. Returns what was done, in lines. Raises OSError."""
    (folder / (SESSION + IN_SESSIONS)).unlink(missing_ok=True)
    return summed(row for name in ALL for row in _take(folder / name))


def link(folder: Path) -> None:
    """Make the links by which what is kept runs under its own name, or take them away where nothing is kept."""
    own = folder.parent / OWN
    kept = {name: name + BEFORE for name in ALL if os.path.lexists(folder / (name + BEFORE))}
    ours = (".sample", BEFORE, IN_SESSIONS)
    rest = {p.name for p in folder.glob("*") if not p.name.endswith(ours) and p.name not in ALL}
    wanted = kept | {name: name for name in rest if not _is_own(own / name)} if kept else {}
    for there in own.glob("*"):
        if there.is_symlink() and str(there.readlink()) != f"../{folder.name}/{wanted.get(there.name)}":
            there.unlink()
    if wanted:
        own.mkdir(exist_ok=True)
    for name, target in wanted.items():
        with contextlib.suppress(FileExistsError):
            (own / name).symlink_to(f"../{folder.name}/{target}")
    with contextlib.suppress(OSError):
        own.rmdir()


def _is_own(path: Path) -> bool:
    return path.exists() and not path.is_symlink()


def place(hook: Path) -> Path:
    """Where ours has to stand so that it runs when git runs ``hook``."""
    theirs = tool(hook)
    return hook.with_name(hook.name + LEGACY) if theirs is TOOLS[0] else hook


def _put(folder: Path, name: str, programs: Programs) -> Iterator[Row]:
    hook, kept = folder / name, folder / (name + BEFORE)
    _settle(hook, kept)
    ours = place(hook)
    text, there = chained_hook_script(name, programs), is_ours(ours)
    if there and ours.read_bytes() == text and os.access(ours, os.X_OK):
        return
    theirs = os.path.lexists(ours) and not there
    if theirs:
        if os.path.lexists(kept):
            hint = "Keep the one that you need as the former, remove the latter."
            raise HostError(f"Both {ours} and {kept} are there.", hint)
        ours.rename(kept)
    try:
        atomic_files.write(ours, text, MODE)
    except HostError:
        if not there and os.path.lexists(kept):
            kept.rename(ours)
        raise
    yield put_words(folder, renewed=there), name
    if theirs:
        yield "Kept yours, which run first", kept.name
    if ours is not hook:
        yield "pre-commit runs ours before its own", ours.name


def _settle(hook: Path, kept: Path) -> None:
    """Where a tool wrote its hook anew: ours that it moved away goes, and so does what it replaces of its own."""
    again = tool(hook)
    if is_ours(hook) and tool(kept) is TOOLS[0]:  # what an earlier version did among pre-commit's
        hook.rename(hook.with_name(hook.name + LEGACY))
        kept.rename(hook)
        return
    if again and again is tool(kept):
        kept.unlink()
    for stray in moved(hook):
        if is_ours(stray) and stray != place(hook):
            give_back(kept, stray)


def _take(hook: Path) -> Iterator[Row]:
    kept = hook.with_name(hook.name + BEFORE)
    if not is_ours(hook) and tool(hook) and tool(hook) is tool(kept):
        kept.unlink()
    found = next((p for p in (hook, *moved(hook)) if is_ours(p)), None)
    if found:
        yield f"Took git hooks out of {hook.parent}", hook.name
        if give_back(kept, found):
            yield "Yours are back", hook.name
    elif os.path.lexists(kept) and not os.path.lexists(hook):
        kept.rename(hook)  # we were stopped half-way
        yield f"Put back in {hook.parent}", hook.name
    elif os.path.lexists(kept):
        yield f"Left alone in {hook.parent}, not ours; what was there before sentinel-guard", kept.name


def give_back(kept: Path, ours: Path) -> bool:
    """Theirs comes to where ours is. Returns whether there is one."""
    back = os.path.lexists(kept)
    if back:
        kept.replace(ours)
    else:
        ours.unlink()
    return back
