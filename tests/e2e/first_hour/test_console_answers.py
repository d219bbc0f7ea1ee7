"""The console beside a real session: its yes lets the command run, and is on record as another terminal's."""

from __future__ import annotations

import asyncio

import pexpect
import pytest

from sentinel_guard.commands.console.console import Console
from sentinel_guard.commands.console.gate_screen import UNREAD, Confirmation
from sentinel_guard.host.machine.state_paths import places
from tests.support.time_limits import limit


@pytest.mark.parametrize(("key", "out"), [("y", "released\n"), ("n", "")], ids=["yes", "no"])
def test_an_answer_at_the_console_counts(stage, key, out):
    stage.policy('[confirm]\nrelease = ["./release*"]\n')
    stage.commit(a__txt="a\n")
    stage.write("release", "#!/bin/sh\necho released\n").chmod(0o755)
    runner = stage.on_terminal("./release")
    runner.expect_exact("Confirm? (Y/N):")

    async def answer() -> None:
        app = Console(places(stage.environ))
        async with app.run_test(size=(100, 40)) as pilot:
            for seen in (lambda: app._look.questions, lambda: isinstance(app.screen, Confirmation)):
                for _ in range(int(limit(10) * 20)):
                    if seen():
                        break
                    await pilot.pause(0.05)
                assert seen(), "it was never shown"
                if not isinstance(app.screen, Confirmation):
                    await pilot.press("enter")
            await pilot.pause(UNREAD + 0.1)
            await pilot.press(key)
            await pilot.pause(0.2)

    asyncio.run(answer())
    runner.expect(pexpect.EOF)
    assert stage.seen()[0]["out"] == out
    [said] = stage.log(kind="human")
    assert (said["data"]["yes"], said["data"]["assurance"]) == (key == "y", "other-terminal")
