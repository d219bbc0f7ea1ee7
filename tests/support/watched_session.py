"""What begins sessions and watches their files, as the daemon joins it."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from sentinel_guard.daemon.begin_session import SessionStarter
from sentinel_guard.daemon.snapshots_and_rollback import Recovery
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies
from tests.support.fakes import MemoryStore, ScriptedHuman
from tests.support.time_limits import limit


class Room:
    """A daemon's parts in a folder of their own."""

    def __init__(self, folder: Path, store=None) -> None:
        self.places = StatePaths(folder / "state", folder / "run", folder / "config")
        self.places.make()
        self.store = store or MemoryStore()
        self.owner = processes.identify(os.getpid())
        self.renew()

    def renew(self) -> SessionStarter:
        """The daemon, started anew on the same log."""
        self.beginnings = SessionStarter(
            places=self.places, store=self.store, policies=Policies(self.places), recovery=Recovery(self.places),
            now=time.time,
        )  # fmt: skip
        return self.beginnings

    async def begin(self, repo, environ=(), **fields):
        message = {"cwd": str(repo), "path": "/usr/bin:/bin", "command": ["agent"], "interactive": True} | fields
        live, _ = await self.beginnings.begin(message, fields.get("owner", self.owner), dict(environ))
        live.runner = ScriptedHuman()
        return live

    def close(self) -> None:
        for live in self.beginnings.sessions.live.values():
            if live.watch:
                live.watch.stop()


async def until(happened, seconds=20.0) -> bool:
    began = time.monotonic()
    while not (seen := happened()):
        if time.monotonic() > began + limit(seconds):
            break
        await asyncio.sleep(0.01)
    return bool(seen)
