"""A session's files are watched, and a session is taken up again after a restart. Real repository, real parts."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Entry
from sentinel_guard.core.policy.policy import Gate, Policy
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon.file_integrity.file_change_alerts import FLOOD, FREE
from sentinel_guard.errors import HostError, PeerError
from sentinel_guard.host.file_integrity.file_change import ChangeDecision
from sentinel_guard.host.machine import processes
from tests.support.fakes import FullStore, ScriptedHuman
from tests.support.watched_session import Room, until

CLOSED = 'version = 1\n[paths]\ncreate = "deny"\n'
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


@pytest.fixture
def room(tmp_path):
    made = Room(tmp_path)
    yield made
    made.close()


def test_a_tampered_file_is_put_back_recorded_and_the_person_told(room, repo):
    async def play():
        live = await room.begin(repo)
        assert live.watch.restricted == (f"{repo}/.env",)
        (repo / ".env").write_text("MODE=evil\n")
        assert await until(lambda: live.runner.told)
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
        assert await until(lambda: live.runner.told)

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
    assert {e.kind for e in room.store.log} <= {"end"} and not room.beginnings.sessions.live


def restarted(room, repo, *entries, owner=None):
    """A session with these entries, and what a new daemon makes of it."""

    async def play():
        live = await room.begin(repo, **({"owner": owner} if owner else {}))
        room.beginnings.sessions.note(live, [e(live.id) for e in entries])
        room.close()
        before = live.session, live.path
        room.renew().resume_all()
        return live.id, before

    return asyncio.run(play())


def test_a_restart_takes_a_session_up_as_it_was(room, repo):
    ident, before = restarted(room, repo, lambda s: encode_entries.state(s, 5.0, Event.BREAK, until=9e9, reason="loop"))
    live = room.beginnings.sessions.live[ident]
    assert (live.session, live.path) == before
    assert live.session.state is State.PAUSED
    assert live.watch is not None


def test_a_restart_leaves_no_question_open_that_nobody_answers(room, repo):
    ident, _ = restarted(room, repo, lambda s: encode_entries.state(s, 5.0, Event.ASK, question="q1"))
    assert room.beginnings.sessions.live[ident].session.state is State.ACTIVE
    assert room.store.log[-1].data == {"event": "answered", "reason": "restart"}


def test_a_restart_remembers_a_kill_and_whether_it_was_carried_out(room, repo):
    ident, _ = restarted(room, repo, lambda s: encode_entries.state(s, 5.0, Event.KILL))
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
    ident, _ = restarted(room, repo, lambda s: encode_entries.state(s, 5.0, Event.KILL), owner=gone())
    assert ident in room.beginnings.sessions.live
    room.beginnings.sessions.note(room.beginnings.sessions.live[ident], [Entry(6.0, ident, "recovery", {})])
    room.renew().resume_all()
    assert ident not in room.beginnings.sessions.live and room.store.live_sessions() == ()
    assert room.beginnings.sessions.find(ident).session.state is State.KILLED


# Whose it was, and the person's word. The looks at processes are real in test_activity and e2e.


def doubtful(monkeypatch, word):
    monkeypatch.setattr("sentinel_guard.daemon.file_integrity.watch_session_files.attribute", lambda *_: word)


def test_the_persons_own_change_is_taken_recorded_and_told(room, repo, monkeypatch):
    async def play():
        live = await room.begin(repo)
        (repo / ".env").write_text("MODE=mine\n")
        assert await until(lambda: live.runner.told)
        return live

    doubtful(monkeypatch, ChangeDecision.TAKE)
    live = asyncio.run(play())
    assert (repo / ".env").read_text() == "MODE=mine\n"
    entry = room.store.log[-1]
    assert (entry.kind, entry.level, entry.data["done"]) == ("watch", "", "taken as yours")
    assert "MODE=<masked>" in entry.data["diff"], "the record has what the screen leaves out"
    assert live.runner.told[0]["text"] == "SENTINEL: .env was changed while the agent was idle: taken as yours."


def test_who_saves_often_reads_one_line(room, repo, monkeypatch):
    async def play():
        live = await room.begin(repo)
        for n in range(3):
            (repo / ".env").write_text(f"MODE=mine{n}\n")
            assert await until(lambda n=n: len([e for e in room.store.log if e.kind == "watch"]) > n)
        return live

    doubtful(monkeypatch, ChangeDecision.TAKE)
    live = asyncio.run(play())
    assert len(live.runner.told) == 1


REPLIES = (
    (True, "MODE=evil\n", "taken as yours", "a yes keeps it"),
    (False, ORIGINAL, "put back", "a no puts it back"),
    (OSError("gone"), ORIGINAL, "put back", "a person who is out of reach said no"),
)


@pytest.mark.parametrize("row", REPLIES, ids=[r[3] for r in REPLIES])
def test_what_is_in_doubt_is_asked_about(room, repo, monkeypatch, row):
    reply, stays, done, _ = row

    async def play():
        live = await room.begin(repo)
        live.runner = ScriptedHuman(reply)
        # At once: a file that is emptied and then written is two changes to one who looks in between.
        (repo.parent / "aside").write_text("MODE=evil\n")
        (repo.parent / "aside").replace(repo / ".env")
        assert await until(lambda: [e for e in room.store.log if e.kind == "watch"])
        return live

    doubtful(monkeypatch, ChangeDecision.ASK)
    live = asyncio.run(play())
    [question] = live.runner.asked
    assert (question.ask.action, question.ask.target) == ("RESTRICTED_CHANGE", ".env")
    assert "MODE=<masked>" in question.detail and "evil" not in question.detail
    assert (repo / ".env").read_text() == stays
    assert [e.data["event"] for e in room.store.log if e.kind == "state"] == ["ask", "answered"]
    assert live.session.state is State.ACTIVE
    [said] = [e for e in room.store.log if e.kind == "human"]
    assert said.data["authorized_by"] == ("user" if reply is True else "")
    assert room.store.log[-1].data["done"] == done


OVER = (
    (lambda repo: (repo / ".env").write_text(ORIGINAL), ChangeDecision.ASK, "it was undone"),
    (
        lambda repo: (repo / ".env").write_text("MODE=worse\n"),
        ChangeDecision.PUT_BACK,
        "it went on, now clearly of the agent",
    ),
)


@pytest.mark.parametrize(("act", "word"), [o[:2] for o in OVER], ids=[o[2] for o in OVER])
def test_a_question_about_what_is_over_is_taken_back(room, repo, monkeypatch, act, word):
    async def play():
        live = await room.begin(repo)
        (repo / ".env").write_text("MODE=evil\n")
        assert await until(lambda: live.runner.asked)
        doubtful(monkeypatch, word)
        act(repo)
        assert await until(lambda: live.session.state is State.ACTIVE)

    doubtful(monkeypatch, ChangeDecision.ASK)
    asyncio.run(play())
    [said] = [e for e in room.store.log if e.kind == "human"]
    assert (said.data["yes"], said.data["why"]) == (False, "moot")
    assert (repo / ".env").read_text() == ORIGINAL


def test_silence_is_a_no_and_several_files_are_one_question(room, repo, monkeypatch):
    async def play():
        live = await room.begin(repo)
        monkeypatch.setattr(live, "policy", lambda: replace(Policy(), gate=Gate(seconds=0.3)))
        (repo / ".env").write_text("MODE=evil\n")
        (repo / ".env.more").write_text("NEW=1\n")
        assert await until(lambda: (repo / ".env").read_text() == ORIGINAL and not (repo / ".env.more").exists())
        return live

    doubtful(monkeypatch, ChangeDecision.ASK)
    live = asyncio.run(play())
    assert {name for q in live.runner.asked for name in q.ask.target.split(", ")} == {".env", ".env.more"}


def test_what_is_in_question_when_the_session_ends_is_put_back(room, repo, monkeypatch):
    async def play():
        live = await room.begin(repo)
        (repo / ".env").write_text("MODE=evil\n")
        assert await until(lambda: live.runner.asked)
        live.watch.stop()

    doubtful(monkeypatch, ChangeDecision.ASK)
    asyncio.run(play())
    assert (repo / ".env").read_text() == ORIGINAL


def test_a_window_is_on_record_and_survives_the_daemon(room, repo):
    async def play():
        live = await room.begin(repo)
        live.watch.allow(str(repo / ".env"), 60)
        live.watch.allow(str(repo / "secrets"), 60)
        live.watch.allow(str(repo / "secrets"), 0)
        room.close()
        room.renew().resume_all()
        live = room.beginnings.sessions.live[live.id]
        (repo / ".env").write_text("MODE=mine\n")
        assert await until(lambda: [e for e in room.store.log if e.kind == "watch"])
        return live

    live = asyncio.run(play())
    assert list(live.watch.windows()) == [str(repo / ".env")]
    assert (repo / ".env").read_text() == "MODE=mine\n"
    assert "a window that you opened" in room.store.log[-1].data["what"]
    said = [e.data for e in room.store.log if e.kind == "human"]
    assert [(d["action"], d["authorized_by"]) for d in said] == [("ALLOW", "user")] * 3


def test_a_restricted_file_that_the_session_makes_where_none_was_stays(room, repo):
    async def play():
        live = await room.begin(repo)
        made = repo / "made.pem"
        made.write_text("x\n")
        (repo / ".env").write_text("MODE=evil\n")
        made.write_text("y\n")
        assert await until(lambda: (repo / ".env").read_text() == ORIGINAL)
        await asyncio.to_thread(live.watch.stop)
        assert made.read_text() == "y\n"
        assert live.watch.is_new(str(made), lambda _paths: frozenset())
        assert not live.watch.is_new(str(repo / ".env"), lambda _paths: frozenset())

    asyncio.run(play())


def test_what_changed_while_the_daemon_was_away_is_put_back(room, repo):
    async def play():
        (room.places.config / "sentinel.toml").write_text(CLOSED)
        live = await room.begin(repo)
        room.close()
        (repo / ".env").write_text("MODE=evil\n")
        new = repo / "a/b/.env.new"
        new.parent.mkdir(parents=True)
        new.write_text("NEW=1\n")
        room.renew().resume_all()
        assert await until(lambda: (repo / ".env").read_text() == ORIGINAL and not new.exists())
        return room.beginnings.sessions.live[live.id]

    asyncio.run(play())


def test_what_was_restricted_at_the_start_is_to_the_end(room, repo):
    async def play():
        (repo / "plain.txt").write_text("not restricted\n")
        await room.begin(repo)
        room.close()
        (room.places.config / "sentinel.toml").write_text('version = 1\n[paths]\nrestricted = ["plain.txt"]\n')
        room.renew().resume_all()
        await asyncio.sleep(0.3)
        (repo / "plain.txt").write_text("changed\n")
        await asyncio.sleep(0.4)

    asyncio.run(play())
    assert (repo / "plain.txt").read_text() == "changed\n", "it has no original, so nothing of it is taken away"


def test_who_rewrites_a_file_without_end_does_not_fill_the_log(room, repo):
    async def play():
        live = await room.begin(repo)
        for n in range(40):
            (repo / ".env").write_text(f"MODE={n}\n")
            assert await until(lambda: (repo / ".env").read_text() == ORIGINAL)
        return live

    live = asyncio.run(play())
    assert len([e for e in room.store.log if e.kind == "watch"]) == len(live.runner.told) == FREE


def test_a_flood_is_summed_up_on_record(room, repo):
    async def play():
        (room.places.config / "sentinel.toml").write_text(CLOSED)
        live = await room.begin(repo)
        for n in range(FLOOD + 20):
            (repo / f"{n}.pem").write_text("x\n")
        assert await until(lambda: not [*repo.glob("*.pem")])
        await asyncio.to_thread(live.watch.stop)
        await asyncio.sleep(0)

    asyncio.run(play())
    found = [e for e in room.store.log if e.kind == "watch"]
    assert len(found) == FLOOD + 1
    assert "20 more changes of restricted files" in found[-1].data["what"]
