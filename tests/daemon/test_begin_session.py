"""A session's shims when it begins, and when a daemon that was started anew takes it up. Real git, real shims."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from dataclasses import replace

import pytest

from sentinel_guard.core.hash_chain import entry_hash
from sentinel_guard.host.machine import processes
from sentinel_guard.host.shim_integrity import ShimIntegrity
from tests.support.watched_session import Room


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    for command in ("init -q", "commit -qm start --allow-empty"):
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    return root


@pytest.fixture
def room(tmp_path):
    made = Room(tmp_path)
    yield made
    made.close()


def gone():
    process = subprocess.Popen(["true"])
    peer = processes.identify(process.pid)
    process.wait()
    return peer


def taken_up(room, repo, harm, owner=None, *, recorded=True):
    """A session whose shims are harmed while no daemon runs, and what a new daemon makes of it."""

    async def play():
        live = await room.begin(repo, **({"owner": owner} if owner else {}))
        room.close()
        harm(room.places.shims(live.id))
        if not recorded:
            old = room.store.log[0]
            data = {name: value for name, value in old.data.items() if name != "shims"}
            room.store.log[0] = old = replace(old, data=data)
            room.store.log[0] = replace(old, hash=entry_hash(old.prev, old))
        room.renew().resume_all()
        return live.id

    return asyncio.run(play())


def test_what_the_shims_were_is_on_record_when_a_session_begins(room, repo):
    ident = taken_up(room, repo, lambda _: None)
    shims = ShimIntegrity.of(room.places.shims(ident))
    assert room.store.log[0].data["shims"] == shims.record
    assert shims.record.split("/")[1:] == sorted(p.name for p in room.places.shims(ident).iterdir())


TAKEN_UP = (
    (lambda _: None, "", "nothing happened"),
    (lambda f: (f / "new").write_text(""), "", "a name that came later"),
    (lambda f: (f / "git").unlink(), "git is gone", "a shim was deleted"),
    (shutil.rmtree, "the folder is gone", "all were deleted"),
    (lambda f: (f / ".bash_env").write_text(""), "they are not those that were made", "one was changed"),
)


@pytest.mark.parametrize(("harm", "words"), [row[:2] for row in TAKEN_UP], ids=[row[2] for row in TAKEN_UP])
def test_a_daemon_that_is_started_anew_looks_whether_they_stand(room, repo, harm, words):
    ident = taken_up(room, repo, harm)
    assert room.beginnings.sessions.live[ident].shims.harm() == words


def test_a_session_of_an_older_version_has_them_as_they_are_found(room, repo):
    ident = taken_up(room, repo, lambda f: (f / ".bash_env").write_text(""), recorded=False)
    assert room.beginnings.sessions.live[ident].shims.harm() == ""


def test_shims_that_went_with_daemon_and_runner_are_on_record(room, repo):
    taken_up(room, repo, shutil.rmtree, gone())
    notes = [e for e in room.store.log if e.kind == "daemon"]
    assert [e.level for e in notes] == ["L2"] and "the folder is gone" in notes[0].data["what"]
    assert room.store.log[-1].kind == "end"


def test_a_session_that_only_lost_its_runner_has_no_such_note(room, repo):
    taken_up(room, repo, lambda _: None, gone())
    assert [e.kind for e in room.store.log] == ["session", "end"]
