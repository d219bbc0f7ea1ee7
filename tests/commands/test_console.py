"""``sentinel-guard console``: what it shows, and who may say yes by it. The real app on a terminal in memory."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import closing

import pytest
from textual.widgets import DataTable, RichLog, Sparkline, Static

from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.commands.console import console, gate_screen
from sentinel_guard.commands.console.chat_screen import ChatScreen
from sentinel_guard.commands.console.console import Console
from sentinel_guard.commands.console.console_feed import MINUTES, NOBODY, Feed, Rates
from sentinel_guard.commands.console.gate_screen import Confirmation
from sentinel_guard.core.model import Entry
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon
from tests.support.time_limits import limit

SESSION = "20261125-070000-ab12"
STATUS = {
    "session": SESSION, "state": "ASKING", "seconds_left": 12.4, "calls": 3, "loop_count": 2, "error_rate": 0.5,
    "tokens_per_minute": 41_000, "command": ["claude", "[red]x\x1b[2J"], "root": "/r", "reason": "",
}  # fmt: skip
ASKED = {
    "question": "q1", "session": SESSION, "action": "DEPLOY", "target": "PRODUCTION", "risk": "HIGH", "until": 0.0,
    "detail": "./deploy.sh [bold]now[/bold]", "why": "it deploys",
}  # fmt: skip
BLOCK = ["[SENTINEL SECURITY]", "Action: DEPLOY", "Target: PRODUCTION", "Risk: HIGH", "Confirm? (Y/N):"]


@pytest.fixture
def where():
    # Short, because a Unix socket path holds 107 bytes.
    with tempfile.TemporaryDirectory(prefix="sg-") as home:
        made = places({"SENTINEL_HOME": home})
        made.make()
        yield made


@pytest.fixture
def daemon(where):
    fake = FakeDaemon(where)
    fake.replies |= {"status": {"sessions": [STATUS]}, "questions": {"questions": [ASKED]}}
    yield fake
    fake.close()


def drive(where, act) -> None:
    """Run the console and do something as its person."""

    async def run() -> None:
        app = Console(where)
        async with app.run_test(size=(120, 40)) as pilot:

            async def until(seen) -> None:
                deadline = time.monotonic() + limit(10)
                while not seen():
                    assert time.monotonic() < deadline, "it was never shown"
                    await pilot.pause(0.05)

            await act(app, pilot, until)

    asyncio.run(run())


def shown(app, selector: str) -> str:
    return str(app.screen_stack[0].query_one(selector, Static).render())


def log_lines(app) -> list[str]:
    return [line.text for line in app.screen_stack[0].query_one(RichLog).lines]


def asks(daemon, op: str) -> list[dict]:
    return [m for m in daemon.heard if m["op"] == op]


def test_sessions_questions_and_log_are_shown_as_text(where, daemon):
    with closing(SqliteStore(where.database)) as store:
        store.append(Entry(time.time(), SESSION, "verdict", {"response": "deny", "arguments": {"command": "x"}}, "L2"))

        async def act(app, pilot, until):
            await until(lambda: app.screen_stack[0].query_one(DataTable).row_count and log_lines(app))
            row = [str(cell) for cell in app.screen_stack[0].query_one(DataTable).get_row_at(0)]
            assert row == ["ab12", "ASKING", "12 s", "3", "2", "50%", "41,000", r"claude [red]x\x1b[2J", "/r"]
            assert "DEPLOY on PRODUCTION" in shown(app, "#question") and "[bold]now" in shown(app, "#question")
            assert "deny: x" in log_lines(app)[0]
            store.append(Entry(time.time(), SESSION, "human", {"yes": False}))
            await until(lambda: len(log_lines(app)) == 2)
            await pilot.press("b")
            assert len(log_lines(app)) == 1 and "deny" in log_lines(app)[0], "only what was refused"
            await pilot.press("b", "slash", *"human", "enter")
            assert ["human" in line for line in log_lines(app)] == [True], "only lines with this word"

        drive(where, act)


def test_a_yes_is_given_on_the_gate_once_it_could_be_read(where, daemon, monkeypatch):
    async def act(app, pilot, until):
        await until(lambda: app._look.questions)
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, Confirmation))
        lines = [line.strip() for line in app.screen.query_one("#gate", Static).render().plain.splitlines()]
        assert lines[-5:] == BLOCK
        monkeypatch.setattr(gate_screen, "UNREAD", 1e9)
        await pilot.press("y")
        assert not asks(daemon, "decide"), "typed before it could be read"
        monkeypatch.setattr(gate_screen, "UNREAD", 0.0)
        await pilot.press("x", "y")
        await until(lambda: asks(daemon, "decide"))

    drive(where, act)
    [sent] = asks(daemon, "decide")
    assert (sent["session"], sent["question"], sent["yes"]) == (SESSION, "q1", True)


MORE = {"details": "-three\n+four", "timed": 600.0, "preview": ["LOST for others: 2 commits"]}
ANSWERS = (
    (MORE, ("t",), {"yes": True, "timed": True}, "a yes for a while"),
    (MORE, ("n",), {"yes": False}, "a no after all"),
    ({**MORE, "code": True}, ("y", *"123456", "enter"), {"yes": True, "code": "123456"}, "a code behind the yes"),
    ({**MORE, "code": True}, ("y", "enter", "1", "enter"), {"yes": True, "code": "1"}, "an empty code is none"),
    ({}, ("t", "d", "y"), {"yes": True}, "what is not offered is no key"),
)


@pytest.mark.parametrize("row", ANSWERS, ids=[row[3] for row in ANSWERS])
def test_what_belongs_to_an_answer_goes_with_it(where, daemon, monkeypatch, row):
    more, keys, said, _ = row
    monkeypatch.setattr(gate_screen, "UNREAD", 0.0)
    daemon.replies["questions"] = {"questions": [ASKED | more]}

    async def act(app, pilot, until):
        await until(lambda: app._look.questions)
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, Confirmation))
        text = app.screen.query_one("#gate", Static).render().plain
        assert ("LOST for others" in text) == ("d: details" in text) == bool(more)
        if more:
            await pilot.press("d")
            await until(lambda: app.screen.query_one("#details").display)
            assert "+four" in str(app.screen.query_one("#details Static", Static).render())
        await pilot.press(*keys)
        await until(lambda: asks(daemon, "decide"))

    drive(where, act)
    [sent] = asks(daemon, "decide")
    assert {k: v for k, v in sent.items() if k in ("yes", "timed", "code")} == said


def test_a_no_and_later(where, daemon):
    async def act(app, pilot, until):
        await until(lambda: app._look.questions)
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, Confirmation))
        await pilot.press("escape")
        assert not isinstance(app.screen, Confirmation) and not asks(daemon, "decide"), "it stays open"
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, Confirmation))
        await pilot.press("n")
        await until(lambda: asks(daemon, "decide"))

    drive(where, act)
    assert [m["yes"] for m in asks(daemon, "decide")] == [False]


def test_where_somebody_else_was_first_the_gate_goes(where, daemon):
    async def act(app, pilot, until):
        await until(lambda: app._look.questions)
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, Confirmation))
        daemon.replies["questions"] = {"questions": []}
        await until(lambda: not isinstance(app.screen, Confirmation))

    drive(where, act)
    assert not asks(daemon, "decide")


def test_a_refusal_of_the_daemon_is_told(where, daemon):
    daemon.replies["decide"] = {"ok": False, "error": "From inside a guarded session nobody answers.", "hint": ""}
    told = []

    async def act(app, pilot, until):
        await until(lambda: app._look.questions)
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, Confirmation))
        await pilot.press("n")
        await until(lambda: app._notifications)
        told.extend(note.message for note in app._notifications)

    drive(where, act)
    assert any("From inside a guarded session nobody answers." in text for text in told), told


CHATS = (
    ("ACTIVE", True, "who works is paused first"),
    ("AWAITING_HUMAN", False, "who calls for help waits already"),
    ("PAUSED", False, "so does who is paused"),
)


@pytest.mark.parametrize(("state", "pauses"), [row[:2] for row in CHATS], ids=[row[2] for row in CHATS])
def test_the_chat_says_and_resumes(where, daemon, state, pauses):
    daemon.replies |= {"status": {"sessions": [STATUS | {"state": state, "reason": "lost \x1b[2J"}]}}
    daemon.replies["questions"] = {"questions": []}

    async def act(app, pilot, until):
        await until(lambda: app._look.sessions)
        called = r"ab12 asks for your help: lost \x1b[2J" in shown(app, "#question")
        assert called == (state == "AWAITING_HUMAN")
        await pilot.press("c")
        await until(lambda: isinstance(app.screen, ChatScreen))
        await pilot.press("enter", *"try [b]", "enter", "escape")
        assert not isinstance(app.screen, ChatScreen) and not asks(daemon, "resume"), "to leave it ends nothing"
        await pilot.press("c", *"/resume", "enter")
        await until(lambda: asks(daemon, "resume"))

    drive(where, act)
    assert [m["text"] for m in asks(daemon, "say")] == ["try [b]"]
    assert bool(asks(daemon, "pause")) == pauses


def test_a_chat_that_cannot_begin_says_why(where, daemon):
    daemon.replies["pause"] = {"ok": False, "error": "The session is ASKING: it waits for you already.", "hint": ""}

    async def act(app, pilot, until):
        await until(lambda: app._look.sessions)
        await pilot.press("c")
        await until(lambda: app._notifications)
        assert not isinstance(app.screen, ChatScreen)

    drive(where, act)


@pytest.mark.parametrize(("key", "op"), [("p", "pause"), ("r", "resume")])
def test_verbs_go_to_the_session_that_is_chosen(where, daemon, key, op):
    async def act(app, pilot, until):
        await until(lambda: app._look.sessions)
        await pilot.press(key)
        await until(lambda: asks(daemon, op))

    drive(where, act)
    assert asks(daemon, op)[0]["session"] == SESSION


def test_a_kill_is_asked_about(where, daemon, monkeypatch):
    monkeypatch.setattr(gate_screen, "UNREAD", 0.0)

    async def act(app, pilot, until):
        await until(lambda: app._look.sessions)
        for key in ("n", "y"):
            await pilot.press("k")
            await until(lambda: isinstance(app.screen, Confirmation))
            await pilot.press(key)
            await until(lambda: not isinstance(app.screen, Confirmation))
        await until(lambda: asks(daemon, "kill"))

    drive(where, act)
    assert [(m["session"], m["rollback"]) for m in asks(daemon, "kill")] == [(SESSION, False)]


def test_without_a_daemon_it_says_so_and_waits(where):
    async def act(app, pilot, until):
        await until(lambda: NOBODY in shown(app, "#trouble"))
        fake = FakeDaemon(where)
        fake.replies |= {"status": {"sessions": [STATUS]}, "questions": {"questions": []}}
        try:
            await until(lambda: app.screen_stack[0].query_one(DataTable).row_count == 1)
            assert shown(app, "#trouble") == ""
        finally:
            fake.close()

    drive(where, act)


def test_rates_a_minute(where, daemon):
    rates, now = Rates(), 60.0 * 100
    counts = {"input": 5, "output": 7, "cache_read": 99, "cache_write": 1}
    rates.take(
        [
            Entry(now - 61, "s", "usage", counts),
            Entry(now, "s", "usage", counts),
            Entry(now, "s", "verdict", {"call": True}),
            Entry(now, "s", "verdict", {"parent": "a"}),
            Entry(now - 60 * MINUTES, "s", "verdict", {"call": True}),
            Entry(now, "t", "verdict", {"call": True}),
        ]
    )
    assert rates.tokens("s", now)[-3:] == [13.0, 0.0, 13.0]
    assert rates.calls("s", now) == [0.0] * (MINUTES - 1) + [1.0], "steps of a call are none, nor what is too old"


def test_the_chart_is_of_the_session_that_is_chosen(where, daemon):
    drawn = []
    with closing(SqliteStore(where.database)) as store:
        store.append(Entry(time.time(), SESSION, "usage", {"output": 900}))
        store.append(Entry(time.time(), "another", "usage", {"output": 5}))

        async def act(app, pilot, until):
            await until(lambda: any(app.screen_stack[0].query_one("#tokens", Sparkline).data or ()))
            drawn.extend(app.screen_stack[0].query_one("#tokens", Sparkline).data)

        drive(where, act)
    assert sum(drawn) == 900.0, "another session's tokens are not in it"


def test_inside_of_a_session_it_is_not_opened(where, monkeypatch):
    monkeypatch.setenv("SENTINEL_SESSION", "of-a-test")
    with pytest.raises(SentinelError, match="From inside"):
        console.console(where)


def test_without_a_terminal_it_is_not_opened(where):
    with pytest.raises(SentinelError, match="needs a terminal"):
        console.console(where)


def test_each_entry_comes_once(where):
    feed = Feed(where)
    with closing(SqliteStore(where.database)) as store:
        seen = []
        for text in "abc":
            store.append(Entry(1.0, "", "daemon", {"what": text}))
            seen += [entry.data["what"] for entry in feed.look().entries]
    assert seen == ["a", "b", "c"]
