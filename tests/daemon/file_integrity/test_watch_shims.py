"""When the shims of all sessions are looked at: real folders, the real kernel."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel_guard.daemon.file_integrity import watch_shims
from sentinel_guard.daemon.file_integrity.watch_shims import ShimsWatch
from sentinel_guard.daemon.live_sessions import Live
from sentinel_guard.host import shim_integrity
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


def test_a_look_that_could_not_be_made_is_made_again_soon(stand, tmp_path, monkeypatch):
    monkeypatch.setattr(watch_shims, "SHIMS", 0.3)
    real, no_descriptors = shim_integrity._hash, [True]

    def refused(path: str, size: int) -> str:
        if no_descriptors:
            raise OSError(errno.EMFILE, "too many open files")
        return real(path, size)

    async def course() -> None:
        async with watched(stand) as looks:
            monkeypatch.setattr(shim_integrity, "_hash", refused)
            (tmp_path / "shims" / "git").write_bytes(b"attacker")  # as long as it was
            assert await looks.next(limit(5)) == [""]
            no_descriptors.clear()
            async with asyncio.timeout(limit(5)):
                while await looks.next(limit(5)) == [""]:
                    pass
            assert looks.harms[-1] == ["git was changed"]

    asyncio.run(course())


MOUNTS = """
import asyncio, subprocess, sys
from types import SimpleNamespace
from sentinel_guard.daemon.file_integrity.watch_shims import ShimsWatch

async def course():
    sessions, looks = SimpleNamespace(live={}, shims_due=asyncio.Event()), []

    async def look(*_):
        looks.append(1)

    watching = asyncio.create_task(ShimsWatch(sessions, look).run())
    await asyncio.sleep(0.3)
    subprocess.run(["mount", "-t", "tmpfs", "a", sys.argv[1]], check=True)
    before = len(looks)
    while len(looks) == before:
        await asyncio.sleep(0.001)
    subprocess.run(["mount", "-t", "tmpfs", "b", sys.argv[1]], check=True)  # before it waits again
    before = len(looks)
    async with asyncio.timeout(20):
        while len(looks) == before:
            await asyncio.sleep(0.01)
    watching.cancel()

asyncio.run(course())
"""


def test_no_mount_is_missed_that_comes_soon_after_another(tmp_path):
    unshare = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", MOUNTS, str(tmp_path)]
    done = subprocess.run(unshare, capture_output=True, text=True, check=False, timeout=limit(60))
    assert done.returncode == 0, done.stderr


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
