"""The console beside a real session: its yes lets the command run, its chat reaches the agent, and both are on record
as another terminal's.
"""

from __future__ import annotations

import asyncio

import pexpect
import pytest
from textual.widgets import RichLog

from sentinel_guard.commands.console.chat_screen import ChatScreen
from sentinel_guard.commands.console.console import Console
from sentinel_guard.commands.console.gate_screen import UNREAD, Confirmation
from sentinel_guard.host.machine.state_paths import places
from tests.support.time_limits import limit


@pytest.fixture
def stage(alone):
    """Questions of other sessions would wait for whoever is at this console, and for ten seconds after."""
    return alone


def at_console(stage, act) -> None:
    """Do something as the person of a console."""

    async def run() -> None:
        app = Console(places(stage.environ))
        async with app.run_test(size=(100, 40)) as pilot:
            await act(app, pilot)

    asyncio.run(run())


async def until(pilot, seen) -> None:
    for _ in range(int(limit(10) * 20)):
        if seen():
            return
        await pilot.pause(0.05)
    raise AssertionError("it was never shown")


@pytest.mark.parametrize(("key", "out"), [("y", "released\n"), ("n", "")], ids=["yes", "no"])
def test_an_answer_at_the_console_counts(stage, key, out):
    stage.policy('[confirm]\nrelease = ["./release*"]\n')
    stage.commit(a__txt="a\n")
    stage.write("release", "#!/bin/sh\necho released\n").chmod(0o755)
    runner = stage.on_terminal("./release")
    runner.expect_exact("Confirm? (Y/N):")

    async def answer(app, pilot) -> None:
        await until(pilot, lambda: app._look.questions)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirmation))
        await pilot.pause(UNREAD + 0.1)
        await pilot.press(key)
        await pilot.pause(0.2)

    at_console(stage, answer)
    runner.expect(pexpect.EOF)
    assert stage.seen()[0]["out"] == out
    [said] = stage.log(kind="human")
    assert (said["data"]["yes"], said["data"]["assurance"]) == (key == "y", "other-terminal")


def test_a_chat_at_the_console_goes_both_ways_and_resume_ends_it(stage):
    stage.commit(a__txt="a\n")
    runner = stage.on_terminal('sentinel-guard help-me "stuck on the regex"', "echo on")
    runner.expect_exact("stuck on the regex")

    def heard(app) -> str:
        return "\n".join(line.text for line in app.screen.query_one("#said", RichLog).lines)

    async def talk(app, pilot) -> None:
        await until(pilot, lambda: [s for s in app._look.sessions if s["state"] == "AWAITING_HUMAN"])
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ChatScreen) and "agent: stuck on the regex" in heard(app))
        await pilot.press(*"use -E", "enter")
        await until(pilot, lambda: "you: use -E" in heard(app))
        await pilot.press(*"/resume", "enter")
        await until(pilot, lambda: not isinstance(app.screen, ChatScreen))

    at_console(stage, talk)
    runner.expect_exact("you: use -E")
    runner.expect(pexpect.EOF)
    asked, after = stage.seen()
    assert "use -E" in asked["out"].splitlines() and after["out"] == "on\n"
    [said] = stage.log(kind="chat")
    assert (said["data"]["text"], said["data"]["assurance"]) == ("use -E", "other-terminal")
    assert stage.log(kind="state")[-1]["data"]["assurance"] == "other-terminal"
