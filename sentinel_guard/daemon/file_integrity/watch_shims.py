"""Looks at the shims of all sessions when the kernel tells that something was done to any of them, and now and then.

Rules of this file:
1. One instance of inotify for all sessions; what hides a folder is told by the list of mounts.
2. Where the kernel does not tell of all of them, or a look could not be made, they are looked at each second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.host.machine.changed_paths import ChangedMounts, ChangedPaths

SHIMS, WHOLE = 1.0, 60.0
"""Seconds from one look to the next where the kernel tells nothing, and where it does."""
SOON = 0.1
"""Seconds from a look to the next at the least, whatever is told."""
log = logging.getLogger(__name__)


class ShimsWatch:
    def __init__(self, sessions: Sessions, look: Callable[..., Awaitable[None]]) -> None:
        """``look`` takes the live sessions, and ends those whose shims are harmed."""
        self._sessions, self._look = sessions, look
        self._changes: ChangedPaths | None = None
        self._mounts: ChangedMounts | None = None
        self._known, self._told = list[str](), True

    async def run(self) -> None:
        """Until it is cancelled."""
        loop, due = asyncio.get_running_loop(), self._sessions.shims_due
        with contextlib.suppress(OSError):
            self._mounts = ChangedMounts()
            # Each look at the list takes the event: what is registered anew for each wait misses what came before it.
            loop.add_reader(self._mounts.fileno(), due.set)
        try:
            while True:
                due.clear()
                began = time.monotonic()
                try:
                    lives = [*self._sessions.live.values()]
                    await self._look_at(lives)
                    await asyncio.sleep(SOON)
                    await self._wait(began, lives)
                except Exception:
                    log.exception("the sessions' shims could not be looked at")
                    await asyncio.sleep(SHIMS)
        finally:
            if self._mounts:
                loop.remove_reader(self._mounts.fileno())
            self._close()

    async def _look_at(self, lives: Sequence[Live]) -> None:
        ids = [live.id for live in lives]
        if ids != self._known:
            await self._look(*lives)  # which tells what there is to be watched
        await asyncio.to_thread(self._arm, lives, ids)
        await self._look(*lives)

    async def _wait(self, began: float, lives: Sequence[Live]) -> None:
        """Until something is told, a session begins, or it is time."""
        loop, due, changes = asyncio.get_running_loop(), self._sessions.shims_due, self._changes
        told = self._told and (changes is None or changes.complete)
        seconds = SHIMS if not told or any(live.shims and live.shims.unseen for live in lives) else WHOLE
        if changes:
            loop.add_reader(changes.fileno(), due.set)
        try:
            async with asyncio.timeout(began + seconds - time.monotonic()):
                await due.wait()
        except TimeoutError:
            pass
        finally:
            if changes:
                loop.remove_reader(changes.fileno())

    def _arm(self, lives: Sequence[Live], ids: list[str]) -> None:
        """Take what was told; have what stands there now watched."""
        if self._mounts:
            self._mounts.take()
        if ids == self._known:
            if self._changes:
                self._changes.take()
            return
        before, self._changes, self._known, self._told = self._changes, None, ids, True
        if before:
            before.close()
        paths = [path for live in lives if live.shims for path in live.shims.paths]
        try:
            self._changes = ChangedPaths(paths) if paths else None
        except OSError as e:
            self._told = False
            log.warning("the sessions' shims are looked at each second: %s", e.strerror)

    def _close(self) -> None:
        for found in (self._changes, self._mounts):
            if found:
                found.close()
