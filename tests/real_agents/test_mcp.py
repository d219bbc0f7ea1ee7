"""The MCP server inside real coding agents: its tools are called by the model, and answer about the session."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w

from sentinel_guard.commands.console.chat_screen import ChatScreen
from sentinel_guard.commands.console.console import Console
from sentinel_guard.host.machine.state_paths import places
from tests.real_agents.conftest import Played
from tests.support.agents.real_agents import AGENTS, RealAgent, Started
from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit

COMMAND = str(BIN / "sentinel-guard")
SERVER = {"command": COMMAND, "args": ["mcp"]}
SERVERS = {"mcpServers": {"sentinel": SERVER}}
SETTINGS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "claude": (".claude.json", SERVERS),
    "gemini": (".gemini/settings.json", SERVERS),
    "opencode": (
        ".config/opencode/opencode.json",
        {"mcp": {"sentinel": {"type": "local", "command": [COMMAND, "mcp"], "enabled": True}}},
    ),
    "copilot": (
        ".copilot/mcp-config.json",
        {"mcpServers": {"sentinel": {"type": "local", **SERVER, "tools": ["*"]}}},
    ),
    "cline": ("cline/settings/cline_mcp_settings.json", SERVERS),
    "qwen": (".qwen/settings.json", SERVERS),
    "codex": (".codex/config.toml", {"mcp_servers": {"sentinel": SERVER}}),
}
"""Where each agent is told of the server, below the home; and the words."""
SEARCHES = {
    "codex": "guard_status explain_block request_human_help report_token_usage",
    "qwen": "select:mcp__sentinel__guard_status,mcp__sentinel__request_human_help",
}
"""Agents whose model has to look for such tools first, and the words."""


def with_server(agent: RealAgent) -> RealAgent:
    """The agent with our MCP server in its settings."""

    def started(url: str, home: Path, repo: Path) -> Started:
        plain = agent.started(url, home, repo)
        path, added = SETTINGS[agent.name]
        before = plain.files.get(path, {})
        both = before + tomli_w.dumps(dict(added)) if isinstance(before, str) else {**before, **added}
        return replace(plain, files={**plain.files, path: both})

    return replace(agent, started=started)


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "claude"], ids=lambda agent: agent.name)
def test_the_server_knows_a_session_that_only_the_agents_hooks_report(stage, play, agent):
    stage.commit(a__txt="one\n")
    steps = (("shell", "cat .env"), ("mcp", "explain_block", "{}"), ("mcp", "guard_status", "{}"))
    played = play(with_server(agent), steps, guarded=False, hooked=True)
    assert len(played.told) == len(steps), played.done
    assert "`cat .env`" in played.told[1] and "deny, L2" in played.told[1]
    assert re.search(r"guarded\W+true", played.told[2])


ANSWER = {"hookEventName": "Elicitation", "action": "accept", "content": {"words": "use a raw string"}}


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "claude"], ids=lambda agent: agent.name)
def test_the_answer_of_the_clients_own_dialog_reaches_the_model(stage, play, agent):
    """A hook of the person's plays the person: without a terminal the client would cancel."""
    stage.commit(a__txt="one\n")
    said = {"type": "command", "command": f"echo {shlex.quote(json.dumps({'hookSpecificOutput': ANSWER}))}"}
    served = with_server(agent)

    def started(url: str, home: Path, repo: Path) -> Started:
        plain = served.started(url, home, repo)
        settings = {**plain.files[".claude/settings.json"], "hooks": {"Elicitation": [{"hooks": [said]}]}}
        return replace(plain, files={**plain.files, ".claude/settings.json": settings})

    steps = (("mcp", "request_human_help", json.dumps({"context": "stuck"})), ("shell", "echo the end"))
    played = play(replace(served, started=started), steps)
    assert "The user says: use a raw string" in played.told[0], played.done
    assert "the end" in played.told[1]


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in SEARCHES], ids=lambda agent: agent.name)
def test_what_a_person_says_at_the_console_reaches_the_model_that_asked(stage, play, agent):
    stage.commit(a__txt="one\n")
    assert stage.sentinel("daemon", "start").returncode == 0
    asks = ("mcp", "request_human_help", json.dumps({"context": "stuck on the regex"}))
    steps = (("search", SEARCHES[agent.name]), asks, ("shell", "echo the end"))

    async def talk() -> Played:
        app = Console(places(stage.environ))
        async with app.run_test(size=(100, 40)) as pilot:
            played = asyncio.create_task(asyncio.to_thread(play, with_server(agent), steps))
            for _ in range(int(limit(60) * 20)):
                if isinstance(app.screen, ChatScreen):
                    break
                await pilot.pause(0.05)
                if [s for s in app._look.sessions if s["state"] == "AWAITING_HUMAN"]:
                    await pilot.press("c")
            await pilot.press(*"use -E", "enter", *"/resume", "enter")
            return await played

    played = asyncio.run(talk())
    assert len(played.told) == len(steps), (played.told, played.done)
    assert "use -E" in played.told[1] and "the end" in played.told[2], played.told
    assert [e["data"]["event"] for e in stage.log(kind="state")][:2] == ["help", "resume"]


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in SETTINGS], ids=lambda agent: agent.name)
def test_the_model_calls_the_tools_of_the_guards_mcp_server(stage, play, agent):
    stage.commit(a__txt="one\n")
    search = [("search", SEARCHES[agent.name])] if agent.name in SEARCHES else []
    steps = (
        *search,
        ("shell", "cat .env"),
        ("mcp", "explain_block", "{}"),
        ("mcp", "explain_block", json.dumps({"command": "git push --force origin main"})),
        ("mcp", "guard_status", "{}"),
        ("mcp", "report_token_usage", json.dumps({"input": 5, "output": 7})),
        ("mcp", "request_human_help", json.dumps({"context": "I am stuck on the regex"})),
        ("shell", "echo the end"),
    )
    played = play(with_server(agent), steps)
    assert len(played.told) == len(steps), (played.told, played.done)
    assert not search or "request_human_help" in played.told[0]
    told = played.told[len(search) :]
    assert "`cat .env`" in told[1] and "deny, L2" in told[1], told
    assert "FORCE_PUSH" in told[2] or "force" in told[2]
    assert re.search(r"guarded\W+true", told[3]) and "ACTIVE" in told[3]
    assert "tokens in the last minute" in told[4]
    assert "Nobody answered" in told[5], "no person is there, with or without a dialog of the client's"
    assert "the end" in told[6]
    [report] = [e["data"] for e in stage.log(kind="usage") if e["data"].get("source") == "report"]
    assert (report["input"], report["output"]) == (5, 7)
    assert [e for e in stage.log(kind="state") if e["data"]["event"] == "help"] == []
