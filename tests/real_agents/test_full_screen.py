"""The real coding agents on a full screen, under guard, with a person who types and looks (``make test-agents``)."""

from __future__ import annotations

import pytest

from tests.support.full_screen_agent import SCREENS
from tests.support.real_agents import AGENTS
from tests.support.wait_until import until

every_screen = pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in SCREENS], ids=lambda agent: agent.name)
PUSH = "git push --force origin main"


@pytest.fixture
def repo(stage):
    """A repository whose only commit was amended after it had been pushed."""
    stage.commit(a__txt="one\n")
    stage.git("init", "-q", "--bare", str(stage.folder / "remote.git"))
    stage.git("remote", "add", "origin", str(stage.folder / "remote.git"))
    stage.git("push", "-q", "origin", "main")
    stage.git("commit", "-q", "--amend", "-m", "rewritten")
    return stage


def pushed(stage) -> bool:
    return stage.git("rev-parse", "main") == stage.git("ls-remote", "origin", "main").split()[0] + "\n"


def conclude(screen) -> None:
    """The person ends the agent: nothing is left, and each call was on record once, as the model wrote it."""
    assert screen.leave() == 0
    stage = screen.stage
    asked = [command for kind, *commands in screen.steps for command in commands if kind != "say"]
    assert sorted(command.removesuffix(" &") for command in stage.calls()) == sorted(asked)
    left = until(lambda: not left_of(screen), 20) or left_of(screen)
    assert left is True, "no process of the session is left"


def left_of(screen) -> list[list[str]]:
    spared = {screen.tmux.terminal("pid"), screen.tmux.terminal("pane_pid")}
    found = screen.stage.processes().items()
    return [command for pid, command in found if str(pid) not in spared and "daemon" not in command]


@every_screen
def test_keys_turns_and_end(repo, on_screen, agent):
    steps = (
        ("shell", 'echo "it\'s $HOME"'),
        ("shell", "echo two >> a.txt; git add a.txt && git commit -qm 'second: it works'"),
        ("shell", "git checkout -q -b side"),
        ("say", "FIRST TURN ENDS"),
        ("shell", "git log --oneline | cat"),
        ("say", "SECOND TURN ENDS"),
    )
    screen = on_screen(agent, steps)
    screen.keys_arrive()
    screen.turn("first turn", "FIRST TURN ENDS")
    assert f"it's {repo.home}" in screen.model.told[0]
    assert repo.git("log", "-1", "--format=%s").strip() == "second: it works", "it may commit"
    assert repo.git("branch", "--show-current").strip() == "side"
    screen.turn("second turn", "SECOND TURN ENDS")
    assert "second: it works" in screen.model.told[3]
    conclude(screen)
