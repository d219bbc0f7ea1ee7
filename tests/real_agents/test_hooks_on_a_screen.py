"""The real coding agents on a full screen, guarded by their own hooks: without ``run``, and with it."""

from __future__ import annotations

import pytest

from tests.real_agents.test_full_screen import PUSH, left_of, pushed, repo  # noqa: F401 - the fixture, too
from tests.real_agents.test_hooks import BLOCKED, SECRET, own_tools
from tests.support.agents.real_agents import AGENTS
from tests.support.time_limits import limit
from tests.support.wait_until import until

SCREENS = ("claude", "codex", "opencode")


@pytest.mark.parametrize("guarded", [False, True], ids=["alone", "with run"])
@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in SCREENS], ids=lambda agent: agent.name)
def test_hooks_guard_an_agent_on_a_full_screen_and_end_it(repo, on_screen, agent, guarded):  # noqa: F811
    shown = [] if guarded else [("shell", "cat .env"), *own_tools(repo, agent)[:-1]]  # a person would be asked
    first = [("shell", "echo one"), ("shell", "echo x >> .env"), *shown, own_tools(repo, agent)[-1], ("shell", PUSH)]
    last = (("say", "FIRST TURN ENDS"), ("shell", f"rm -r {repo.repo}/.git"), ("shell", "echo never > reached"))
    start = repo.git("rev-parse", "HEAD")
    screen = on_screen(agent, (*first, *last), guarded=guarded, hooked=True)
    screen.say("first turn")
    if guarded:
        assert f"| {PUSH}\n" in screen.asked()
        screen.answer("y")
    screen.tmux.until("FIRST TURN ENDS", limit(90))
    told = dict(zip(first, screen.model.told, strict=True))
    refused = first[1:-1] if guarded else first[1:]
    assert [step for step in refused if BLOCKED not in told[step]] == [], told
    assert "one" in told[first[0]] and pushed(repo) == guarded
    assert (repo.repo / ".env").read_text() == SECRET
    assert len(repo.log(kind="session")) == 1, "one session"
    asked = [e["data"]["arguments"] for e in repo.log(kind="verdict") if not e["data"].get("parent")]
    assert len(asked) == len(first), ("each call once", asked)
    screen.keys_arrive()
    screen.erase()
    screen.say("second turn")
    if agent.name == "codex" and not guarded:
        # Its calls are made by a server, which was ended: the screen waits for another one, until the person leaves.
        screen.tmux.until("Reconnecting to server", limit(90))
        screen.tmux.press("C-c")
    code = screen.ended()
    assert (code == 137) == guarded, (code, screen.tmux.screen())
    assert until(lambda: repo.log(kind="incident"), limit(20)), repo.log()
    assert repo.git("rev-parse", "HEAD") == start and not (repo.repo / "reached").exists()
    assert until(lambda: not left_of(screen), limit(20)), left_of(screen)
