"""Puts the hook reference-transaction in place where a session works, and takes it away when the last one has ended.

git runs it twice for each ref of a fetch: a thousand new refs cost seconds, whatever it does. It checks in sessions
alone, so nobody else is to pay for it.

Rules of this file:
1. Where ``install`` has left it beside its place, a session puts it there. What an earlier version installed stays.
2. What is theirs is kept meanwhile, under the name that it has in a chain (``chained_hooks``), and is given back.
3. Sessions of another home's daemon may work there, too: each session holds a shared lock on the folder (flock(2)), and
   who cannot have it alone leaves the hook.
4. One that was left behind, because the daemon fell, does no harm: it checks nothing outside of sessions, and the next
   session there takes it away at its end.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.git.private_git_dir import layout
from sentinel_guard.host.githooks import chained_hooks
from sentinel_guard.host.githooks.hook_templates import BEFORE, IN_SESSIONS, MODE, OWN, SESSION, is_ours
from sentinel_guard.host.machine import atomic_files

SHARED = (0.0, 0.01, 0.03, 0.1, 0.3)
"""Seconds before each try to share the folder with who has it alone: to take a hook away takes some milliseconds."""


class SessionHook:
    """The repositories in which sessions work. Any thread may call it."""

    def __init__(self) -> None:
        self._works: dict[str, dict[Path, list[int]]] = {}
        """Session -> the hooks that it works with, each with the lock on its folder."""
        self._lock = threading.Lock()

    def begin(self, session: str, root: str) -> str:
        """A session works in a work tree (none: empty) from now on. Why the hook cannot be put in place, for the
        person; empty where it can, or is not installed.
        """
        try:
            common = layout(root).common_dir if root else ""
            with self._lock:
                hooks = self._works.setdefault(session, {})
                for hook in _places(common):
                    hooks[hook] = hooks.get(hook) or _locked(hook.parent, fcntl.LOCK_SH)
                    _put(hook)
        except HostError as e:
            return e.message
        except OSError as e:
            return f"{SESSION} cannot be put in place: {e.strerror}"
        return ""

    def end(self, session: str, root: str) -> None:
        """It works no more. What cannot be taken away stays (rule 4)."""
        with self._lock, contextlib.suppress(HostError, OSError):
            hooks = self._works.pop(session, {})
            for fd in (fd for held in hooks.values() for fd in held):
                os.close(fd)
            for hook in [*hooks] or _places(layout(root).common_dir if root else ""):
                for fd in _locked(hook.parent, fcntl.LOCK_EX):
                    try:
                        _take(hook)
                    finally:
                        os.close(fd)


def _places(common: str) -> Iterator[Path]:
    """Where it has to stand: in git's folder of hooks and in ours, wherever ``install`` has left it."""
    for folder in (Path(common, "hooks"), Path(common, OWN, "hooks")) if common else ():
        if is_ours(folder / (SESSION + IN_SESSIONS)):
            yield folder / SESSION


def _locked(folder: Path, how: int) -> list[int]:
    """A descriptor that holds the lock; none where others stand in the way, or the file system has no locks."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for wait in (0.0,) if how == fcntl.LOCK_EX else SHARED:
        time.sleep(wait)
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
        except OSError as e:
            if e.errno != errno.EWOULDBLOCK:
                break
        else:
            return [fd]
    os.close(fd)
    return []


def _put(hook: Path) -> None:
    kept, text = hook.with_name(hook.name + BEFORE), hook.with_name(hook.name + IN_SESSIONS).read_bytes()
    if os.path.lexists(hook):
        if is_ours(hook) and hook.read_bytes() == text:
            return
        if os.path.lexists(kept):
            raise HostError(f"Both {hook} and {kept} are there")
        hook.rename(kept)
    atomic_files.write(hook, text, MODE, durable=False)
    _link(hook)


def _take(hook: Path) -> None:
    if not is_ours(hook):
        return
    chained_hooks.give_back(hook.with_name(hook.name + BEFORE), hook)
    _link(hook)


def _link(hook: Path) -> None:
    if hook.parent.parent.name != OWN:
        chained_hooks.link(hook.parent)
