"""When the shims of all sessions are looked at: real folders, the real kernel."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from sentinel_guard.daemon.file_integrity import watch_shims
from sentinel_guard.daemon.file_integrity.watch_shims import ShimsWatch
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.host.machine import changed_paths
from sentinel_guard.host.shim_integrity import ShimIntegrity
from tests.support.guard_in_memory import Stand
from tests.support.time_limits import limit


class Looks:
    """What was found at each look."""

    def __init__(self) -> None:
        self.harms: list[list[str]] = []
        self.looked = asyncio.Event()

    async def look(self, *lives: Live) -> None:
        self.harms.append([live.shims.harm() for live in lives if live.shims])
        self.looked.set()

    async def next(self, seconds: float) -> list[str]:
        self.looked.clear()
        async with asyncio.timeout(seconds):
            await self.looked.wait()
        return self.harms[-1]


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    found = Stand()
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / "git").write_bytes(b"launcher")
    found.live.shims = ShimIntegrity(tmp_path / "shims")
    return found


@contextlib.asynccontextmanager
async def watched(stand: Stand):
    looks = Looks()
    watching = asyncio.create_task(ShimsWatch(stand.sessions, looks.look).run())
    try:
        with contextlib.suppress(TimeoutError):
            while True:
                await looks.next(3 * watch_shims.SOON)
        yield looks
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching


def test_they_are_looked_at_when_something_is_done_to_one_and_when_a_session_begins(stand, tmp_path):
    async def course() -> None:
        async with watched(stand) as looks:
            stand.sessions.shims_due.set()
            assert await looks.next(limit(5)) == [""], "a session has begun"
            (tmp_path / "shims" / "git").unlink()
            assert await looks.next(limit(5)) == ["git is gone"]

    asyncio.run(course())


def test_they_are_looked_at_each_second_where_the_kernel_tells_nothing(stand, tmp_path, monkeypatch):
    def nothing_left(*_: object, **__: object) -> None:
        raise OSError(24, "no inotify instance is left")

    monkeypatch.setattr(changed_paths.ChangedPaths, "__init__", nothing_left)
    monkeypatch.setattr(watch_shims, "SHIMS", 0.4)

    async def course() -> None:
        async with watched(stand) as looks:
            (tmp_path / "shims" / "git").unlink()
            assert await looks.next(limit(5)) == ["git is gone"]

    asyncio.run(course())
