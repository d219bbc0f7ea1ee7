"""Records of tokens that real files hold, read into a session's ledger."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sentinel_guard.core.model import Entry
from sentinel_guard.core.peer import Peer
from sentinel_guard.daemon.token_usage import read_records
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from tests.support.guard_in_memory import Stand

ID = "11111111-aaaa"


def line(ident: str, output: int, at: float) -> str:
    usage = {"input_tokens": 10, "output_tokens": output}
    told = {"type": "assistant", "timestamp": datetime.fromtimestamp(at, UTC).isoformat()}
    return json.dumps({**told, "message": {"id": ident, "model": "m", "usage": usage}}) + "\n"


class Desk:
    """A session of Claude Code whose home is a folder of the test's, and what it writes there."""

    def __init__(self, tmp_path, monkeypatch) -> None:
        self.stand = Stand(now=time.time)
        live, root = self.stand.live, tmp_path / "repo"
        began = {"root": str(root), "command": ["claude"], "interactive": False}
        self.stand.sessions.note(live, [Entry(time.time(), live.id, "session", began)])
        live.begun_in = {"HOME": str(tmp_path)}
        self.told = {"HOME": str(tmp_path), "CLAUDE_CODE_SESSION_ID": ID}
        monkeypatch.setattr(read_records.processes, "environ", lambda _pid: self.told)
        self.folder = tmp_path / ".claude/projects" / "".join(c if c.isalnum() else "-" for c in str(root))
        self.folder.mkdir(parents=True)
        self.records = TokenRecords(self.stand.sessions, self.stand.now)

    def write(self, *replies, conversation=ID, ago=0.0) -> None:
        file = self.folder / f"{conversation}.jsonl"
        with file.open("a") as opened:
            opened.writelines(line(ident, output, time.time() - ago) for ident, output in replies)

    def look(self, **fields) -> None:
        action = replace(self.stand.action("ls"), agent="claude", who=Peer(1, 1), **fields)
        asyncio.run(self.records.look(self.stand.live, action))

    def finish(self) -> None:
        self.records.finish(self.stand.live)

    def outputs(self) -> dict[str, int]:
        return {u.key: u.output for u in self.stand.live.session.usage}

    def lowered(self) -> list[object]:
        entries = self.stand.sessions.store.entries(session=self.stand.live.id, kinds=("usage",))
        return [e.data["lowered"]["output"] for e in entries if "lowered" in e.data]

    def entries(self) -> int:
        return self.stand.kinds().count("usage")


@pytest.fixture
def desk(tmp_path, monkeypatch):
    return Desk(tmp_path, monkeypatch)


def test_what_a_conversation_of_the_session_wrote_is_in_the_ledger_before_the_next_call(desk):
    desk.write(("m1", 1), ("m1", 20), ("m2", 30))
    desk.look()
    assert desk.outputs() == {"m1": 20, "m2": 30} and desk.entries() == 2
    desk.look()
    assert desk.entries() == 2, "once"
    desk.write(("m2", 35), ("m3", 5))
    desk.look()
    assert desk.outputs() == {"m1": 20, "m2": 35, "m3": 5} and desk.entries() == 4, "and what has changed"


@pytest.mark.parametrize(
    ("lines", "ago", "lowered", "why"),
    [
        ([("m1", 0)], 0.0, [0], "fewer tokens"),
        ([("m1", 0), ("m1", 5), ("m1", 0)], 0.0, [0], "which is said once"),
        ([("m1", 900)], 120.0, [], "an earlier time"),
        ([("m1", 900)], -3600.0, [], "a time to come"),
        ([("m1", 0)], 3600.0, [0], "a time before the session"),
    ],
)
def test_a_line_that_the_agent_adds_takes_no_tokens_from_the_ledger(desk, lines, ago, lowered, why):
    desk.write(("m1", 900))
    desk.look()
    known = desk.stand.live.session.usage
    desk.write(*lines, ago=ago)
    desk.look()
    desk.look()
    assert desk.stand.live.session.usage == known, why
    assert desk.lowered() == lowered, why
    desk.records = TokenRecords(desk.stand.sessions, desk.stand.now)
    entries = desk.entries()
    desk.look()
    assert (desk.stand.live.session.usage, desk.entries()) == (known, entries), "nor after a restart"


def test_a_higher_and_a_lower_line_that_come_at_once_count_as_the_higher_one(desk):
    desk.write(("m1", 900), ("m1", 0))
    desk.look()
    assert (desk.outputs(), desk.lowered()) == ({"m1": 900}, [0])


def test_a_record_that_is_written_anew_takes_no_tokens_from_the_ledger(desk):
    desk.write(("m1", 1), ("m1", 900), ("m2", 800))
    desk.look()
    (desk.folder / f"{ID}.jsonl").write_text("")
    desk.write(("m1", 1), ("m2", 800))
    desk.look()
    assert (desk.outputs(), desk.lowered()) == ({"m1": 900, "m2": 800}, [1])


def test_a_reply_of_a_time_to_come_counts_now(desk):
    desk.write(("m1", 900), ago=-3600.0)
    desk.look()
    [usage] = desk.stand.live.session.usage
    assert desk.stand.live.session.started <= usage.at <= time.time()


def test_what_other_conversations_of_the_repository_wrote_is_not(desk):
    desk.write(("theirs", 99), conversation="22222222-bbbb")
    desk.write(("old", 99), ago=3600.0)
    desk.write(("ours", 7))
    desk.look()
    assert desk.outputs() == {"ours": 7}


def test_what_only_lies_in_the_same_folder_is_left_alone_once_the_conversation_is_told(desk):
    told, desk.told = desk.told, {"HOME": desk.told["HOME"]}
    desk.write(("ours", 7))
    desk.write(("theirs", 1), conversation="22222222-bbbb")
    desk.look()
    desk.told = told
    desk.look()
    desk.write(("theirs-2", 99), conversation="22222222-bbbb")
    desk.write(("ours-2", 8))
    desk.look()
    assert desk.outputs() == {"ours": 7, "theirs": 1, "ours-2": 8}
    assert desk.entries() == 3, "and nothing is recorded twice"


def test_a_conversation_that_is_begun_anew_is_the_sessions_too(desk):
    desk.write(("m1", 1))
    desk.look()
    desk.told = {**desk.told, "CLAUDE_CODE_SESSION_ID": "33333333-cccc"}
    desk.write(("m2", 2), conversation="33333333-cccc")
    desk.look()
    assert desk.outputs() == {"m1": 1, "m2": 2}


def test_a_subagents_replies_are_counted(desk):
    desk.write(("m1", 1))
    desk.folder = desk.folder / ID / "subagents"
    desk.folder.mkdir(parents=True)
    desk.write(("sub", 50), conversation="agent-1")
    desk.look()
    assert desk.outputs() == {"m1": 1, "sub": 50}


def test_a_record_that_comes_just_before_the_end_is_read(desk):
    desk.write(("m1", 1))
    desk.look()
    desk.folder = desk.folder / ID / "subagents"
    desk.folder.mkdir(parents=True)
    desk.write(("sub", 50), conversation="agent-1")
    desk.finish()
    assert desk.outputs() == {"m1": 1, "sub": 50}, "though it was searched for a moment ago"


def test_without_a_call_the_work_folder_tells(desk):
    desk.write(("m1", 3))
    desk.finish()
    assert desk.outputs() == {"m1": 3}


def test_a_record_that_is_not_there_is_on_record_as_unread(desk, monkeypatch):
    desk.look()
    assert (desk.stand.live.session.tokens_unread, desk.entries()) == ("", 0), "it may only be late"
    monkeypatch.setattr(read_records, "MISSING", -1.0)
    desk.look()
    session = desk.stand.live.session
    assert "claude has no record of this conversation in" in session.tokens_unread and not session.token_sources
    desk.look()
    assert desk.entries() == 1, "which is said once"
    desk.write(("m1", 3))
    desk.look()
    assert (desk.outputs(), desk.stand.live.session.tokens_unread) == ({"m1": 3}, "")


def test_a_record_that_is_not_understood_is_on_record_as_unread(desk):
    file = desk.folder / f"{ID}.jsonl"
    told = {"type": "assistant", "timestamp": "2026-11-26T00:00:00Z", "message": {"id": "m", "usage": {"tokens": 5}}}
    file.write_text(json.dumps(told) + "\n")
    desk.look()
    assert "is not understood" in desk.stand.live.session.tokens_unread
    assert desk.outputs() == {}


def test_after_a_restart_nothing_is_recorded_again(desk):
    desk.write(("m1", 3))
    desk.look()
    desk.records = TokenRecords(desk.stand.sessions, desk.stand.now)
    desk.look()
    assert desk.entries() == 1


def test_what_comes_late_is_read_a_moment_after_the_call(desk, monkeypatch):
    monkeypatch.setattr(read_records, "LATE", (0.01, 0.01))

    async def play() -> None:
        action = replace(desk.stand.action("ls"), agent="claude", who=Peer(1, 1))
        await desk.records.look(desk.stand.live, action)
        desk.write(("m1", 3))
        desk.records.look_soon(desk.stand.live)
        desk.records.look_soon(desk.stand.live)
        await desk.records._readings[desk.stand.live.id].soon

    asyncio.run(play())
    assert desk.outputs() == {"m1": 3}


@pytest.mark.parametrize("stands", [False, True], ids=["a trial", "a repository of that name"])
def test_in_a_trial_of_doctors_no_agent_works_whose_tokens_were_unknown(desk, tmp_path, monkeypatch, stands):
    monkeypatch.setattr(read_records, "MISSING", 0.0)
    live, root = desk.stand.live, tmp_path / "sentinel-doctor-x"
    live.session = replace(live.session, root=str(root))
    if stands:
        root.mkdir()
    desk.look()
    desk.finish()
    assert desk.entries() == stands


def test_an_agent_that_nobody_knows_has_no_record(tmp_path):
    stand = Stand(now=time.time)
    records = TokenRecords(stand.sessions, stand.now)
    asyncio.run(records.look(stand.live, stand.action("ls")))
    records.look_soon(stand.live)
    assert stand.kinds() == ["session"]
