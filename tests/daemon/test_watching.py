"""A session's files are watched, and a session is taken up again after a restart. Real repository, real parts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path

import pytest

from sentinel_guard.core import record
from sentinel_guard.core.model import Entry
from sentinel_guard.core.session import Event, State
from sentinel_guard.daemon.beginnings import Beginnings
from sentinel_guard.daemon.recovery import Recovery
from sentinel_guard.errors import HostError, PeerError
from sentinel_guard.host import processes
from sentinel_guard.host.places import Places
from sentinel_guard.host.policies import Policies
from tests.fakes import FullStore, MemoryStore, ScriptedHuman

ORIGINAL = "MODE=debug\n"


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    (root / ".gitignore").write_text(".env\n")
    (root / ".env").write_text(ORIGINAL)
    for command in ("init -q", "add -A", "commit -qm start"):
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    return root


class Room:
    """What begins sessions, as the daemon joins it."""

    def __init__(self, folder: Path, store=None) -> None:
        self.places = Places(folder / "state", folder / "run", folder / "config")
        self.places.make()
        self.store = store or MemoryStore()
        self.owner = processes.identify(os.getpid())
        self.renew()

    def renew(self) -> Beginnings:
        """The daemon, started anew on the same log."""
        self.beginnings = Beginnings(
            places=self.places, store=self.store, policies=Policies(self.places), recovery=Recovery(self.places),
            now=time.time,
        )  # fmt: skip
        return self.beginnings

    async def begin(self, repo, **fields):
        message = {"cwd": str(repo), "path": "/usr/bin:/bin", "command": ["agent"], "interactive": True} | fields
        live, _ = await self.beginnings.begin(message, fields.get("owner", self.owner))
        live.runner = ScriptedHuman()
        return live

    def close(self) -> None:
        for live in self.beginnings.sessions.live.values():
            if live.watch:
                live.watch.stop()


@pytest.fixture
def room(tmp_path):
    made = Room(tmp_path)
    yield made
    made.close()


async def until(happened, seconds=5.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.01)


def test_a_tampered_file_is_put_back_recorded_and_the_person_told(room, repo):
    async def play():
        live = await room.begin(repo)
        assert live.watch.restricted == (f"{repo}/.env",)
        (repo / ".env").write_text("MODE=evil\n")
        await until(lambda: live.runner.told)
        return live

    live = asyncio.run(play())
    assert (repo / ".env").read_text() == ORIGINAL
    entry = room.store.log[-1]
    assert (entry.kind, entry.level, entry.data["check"]) == ("watch", "L2", "unannounced")
    assert Path(entry.data["kept"]).read_text() == "MODE=evil\n", "the tampered version is kept"
    [notice] = live.runner.told
    assert (notice["event"], notice["level"]) == ("notice", "L2")
    assert "was put back" in notice["text"] and entry.data["kept"] in notice["text"]


def test_what_cannot_be_recorded_is_put_back_and_told_all_the_same(tmp_path, repo):
    async def play():
        live = await room.begin(repo)
        (repo / ".env").unlink()
        await until(lambda: live.runner.told)

    room = Room(tmp_path, FullStore(room=1))
    try:
        asyncio.run(play())
        assert (repo / ".env").read_text() == ORIGINAL
        assert [e.kind for e in room.store.log] == ["session"]
    finally:
        room.close()


def test_a_stopped_watch_leaves_files_alone(room, repo):
    async def play():
        live = await room.begin(repo)
        live.watch.stop()
        (repo / ".env").write_text("the person's own\n")
        await asyncio.sleep(0.4)

    asyncio.run(play())
    assert (repo / ".env").read_text() == "the person's own\n"
    assert len(room.store.log) == 1


def test_a_session_begins_with_what_a_restart_needs(room, repo):
    live = asyncio.run(room.begin(repo, path=f"{room.places.shims('old')}:/usr/bin"))
    [entry] = room.store.log
    start = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, capture_output=True, text=True, check=True).stdout
    assert entry.data["start_hash"] == start.strip()
    assert entry.data["owner"] == [room.owner.pid, room.owner.start]
    assert entry.data["path"] == live.path == "/usr/bin", "another session's shims are no part of the user's PATH"


NOT_BEGUN = (
    ({"cwd": "/nowhere"}, HostError, "a folder that is gone"),
    ({"cwd": "/"}, HostError, "no repository"),
    ({"command": "agent"}, PeerError, "a command that is no list"),
)


@pytest.mark.parametrize(("fields", "error"), [n[:2] for n in NOT_BEGUN], ids=[n[2] for n in NOT_BEGUN])
def test_what_cannot_be_guarded_does_not_begin(room, repo, fields, error):
    with pytest.raises(error):
        asyncio.run(room.begin(repo, **fields))
    assert not room.store.log and not room.beginnings.sessions.live


def restarted(room, repo, *entries, owner=None):
    """A session with these entries, and what a new daemon makes of it."""

    async def play():
        live = await room.begin(repo, **({"owner": owner} if owner else {}))
        room.beginnings.sessions.note(live, [e(live.id) for e in entries])
        room.close()
        before = live.session, live.path, live.start_snapshot
        room.renew().resume_all()
        return live.id, before

    return asyncio.run(play())


def test_a_restart_takes_a_session_up_as_it_was(room, repo):
    ident, before = restarted(room, repo, lambda s: record.state(s, 5.0, Event.BREAK, until=9e9, reason="loop"))
    live = room.beginnings.sessions.live[ident]
    assert (live.session, live.path, live.start_snapshot) == before
    assert live.session.state is State.PAUSED
    assert live.watch is not None


def test_a_restart_leaves_no_question_open_that_nobody_answers(room, repo):
    ident, _ = restarted(room, repo, lambda s: record.state(s, 5.0, Event.ASK, question="q1"))
    assert room.beginnings.sessions.live[ident].session.state is State.ACTIVE
    assert room.store.log[-1].data == {"event": "answered", "reason": "restart"}


def test_a_restart_remembers_a_kill_and_whether_it_was_carried_out(room, repo):
    ident, _ = restarted(room, repo, lambda s: record.state(s, 5.0, Event.KILL))
    live = room.beginnings.sessions.live[ident]
    assert live.session.state is State.KILLED and not live.buried.is_set()
    room.beginnings.sessions.note(live, [Entry(6.0, ident, "recovery", {})])
    room.renew().resume_all()
    live = room.beginnings.sessions.live[ident]
    assert live.buried.is_set() and live.watch is None


def gone():
    process = subprocess.Popen(["true"])
    peer = processes.identify(process.pid)
    process.wait()
    return peer


def test_a_session_whose_owner_has_gone_ends(room, repo):
    ident, _ = restarted(room, repo, owner=gone())
    assert ident not in room.beginnings.sessions.live
    assert room.store.log[-1].kind == "end" and room.store.live_sessions() == ()


def test_a_kill_is_not_forgotten_because_its_owner_has_gone(room, repo):
    ident, _ = restarted(room, repo, lambda s: record.state(s, 5.0, Event.KILL), owner=gone())
    assert ident in room.beginnings.sessions.live
    room.beginnings.sessions.note(room.beginnings.sessions.live[ident], [Entry(6.0, ident, "recovery", {})])
    room.renew().resume_all()
    assert ident not in room.beginnings.sessions.live and room.store.live_sessions() == ()
    assert room.beginnings.sessions.find(ident).session.state is State.KILLED
