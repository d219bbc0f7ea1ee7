"""The daemon's life: it does not outlive the files by which it is reached and remembers."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sentinel_guard.core.wire_framing import encode
from sentinel_guard.daemon import assembly
from sentinel_guard.daemon.peer_connection import LAST_WORD
from sentinel_guard.host.machine.state_paths import StatePaths, places
from tests.support.time_limits import limit
from tests.support.wait_until import until


@pytest.fixture
def where(monkeypatch):
    monkeypatch.setattr(assembly, "LOOK", 0.01)
    folder = tempfile.mkdtemp(prefix="sg-")  # short, because a Unix socket path holds 107 bytes
    made = places({"SENTINEL_HOME": folder})
    made.make()
    yield made
    shutil.rmtree(folder, ignore_errors=True)


def replace(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.write_text("another daemon's")


SAYS = """
import sys
from sentinel_guard.core.analysis.programs.databases import sql_statements
before = "sqlglot" in sys.modules
sql_statements.load()
print(before, "sqlglot" in sys.modules)
"""


def test_the_parser_of_sql_is_loaded_beside_what_is_asked(where: StatePaths, monkeypatch):
    monkeypatch.setattr(assembly, "LOOK", 0.01)
    loads = threading.Event()
    monkeypatch.setattr(assembly.sql_statements, "load", lambda: None)
    monkeypatch.setattr(assembly, "keep_what_is_loaded", loads.set)
    daemon = assembly.Daemon(where)

    async def story() -> None:
        served = asyncio.create_task(daemon.run())
        assert await asyncio.to_thread(loads.wait, limit(5))
        daemon.stopped.set()
        await served

    asyncio.run(story())
    told = subprocess.run([sys.executable, "-c", SAYS], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True"]


GONE = [
    (lambda p: shutil.rmtree(p.home), "everything was removed"),
    (lambda p: shutil.rmtree(p.runtime), "the runtime folder was cleaned"),
    (lambda p: p.agent_socket.unlink(), "no launcher can reach it"),
    (lambda p: replace(p.operator_socket), "another daemon has its place"),
    (lambda p: p.database.unlink(), "what it writes is on no record"),
]


@pytest.mark.parametrize(("lose", "why"), GONE, ids=[why for _, why in GONE])
def test_a_daemon_whose_files_are_gone_ends(where: StatePaths, lose, why):
    daemon = assembly.Daemon(where)

    async def story() -> bool:
        served = asyncio.create_task(daemon.run())
        await asyncio.sleep(0.1)
        lived = not served.done()
        lose(where)
        await asyncio.wait_for(served, limit(5))
        return lived

    assert asyncio.run(story()), "it lived until then"
    if where.operator_socket.is_file():
        assert where.operator_socket.read_text() == "another daemon's", "what is not its own stays"


def test_a_daemon_that_stops_does_not_wait_for_who_reads_no_answers(where: StatePaths):
    daemon, asked = assembly.Daemon(where), encode([(b"J", b'{"op": "hello"}')]) * 20_000

    async def story() -> None:
        served = asyncio.create_task(daemon.run())
        await asyncio.to_thread(until, where.operator_socket.exists)
        peer.connect(str(where.operator_socket))
        peer.setblocking(False)
        loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(loop.sock_sendall(peer, asked), limit(0.5))
        began.append(time.monotonic())
        daemon.stopped.set()
        await served

    began = list[float]()
    with socket.socket(socket.AF_UNIX) as peer:
        asyncio.run(story())
    assert time.monotonic() - began[0] < LAST_WORD / 2


def test_each_change_of_the_users_policy_is_on_record(where: StatePaths):
    daemon = assembly.Daemon(where)
    load, noted = daemon.beginnings._policies.load, []
    where.config.mkdir(parents=True, exist_ok=True)
    for text in (None, "version = 1\n", "version = 1\n", "version = 1\n[gate]\nseconds = 9\n", "[broken", None):
        where.policy.unlink(missing_ok=True)
        if text is not None:
            where.policy.write_text(text)
        assert until(lambda: [load() for _ in range(3)])
        noted.append(len([*daemon.store.entries(kinds=("daemon",))]))
    entries = [e.data for e in daemon.store.entries(kinds=("daemon",))]
    daemon.store.close()
    assert noted == [0, 1, 1, 2, 3, 4], "one for each change, and none for the same bytes"
    assert {e["event"] for e in entries} == {"policy-changed"}
    assert entries[1]["old"] == entries[0]["new"] == hashlib.sha256(b"version = 1\n").hexdigest()
    assert (entries[0]["old"], entries[3]["new"]) == ("", "")


def test_a_daemon_ends_by_itself_so_long_after_its_last_session(monkeypatch, tmp_path):
    for name, seconds in (("LOOK", 0.01), ("IDLE", 0.2)):
        monkeypatch.setattr(assembly, name, seconds)
    monkeypatch.setattr(assembly, "keep_what_is_loaded", lambda: None)
    places = StatePaths(tmp_path / "state", tmp_path / "run", tmp_path / "config")
    live = {"s1": object()}

    async def course() -> float:
        daemon = SimpleNamespace(
            places=places, used=0.0, sessions=SimpleNamespace(live=live), stopped=asyncio.Event(), _bury_orphans=int
        )
        ending = asyncio.create_task(assembly.Daemon._end_when_idle(daemon, assembly._standing(places)))
        await asyncio.sleep(0.3)
        assert not daemon.stopped.is_set(), "a session that asks nothing for hours"
        live.clear()
        ended = time.monotonic()
        await daemon.stopped.wait()
        ending.cancel()
        return time.monotonic() - ended

    assert asyncio.run(course()) > 0.15
