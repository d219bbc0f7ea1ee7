"""The MCP server inside real coding agents: its tools are called by the model, and answer about the session."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.agents.real_agents import AGENTS, RealAgent, Started
from tests.support.guarded_repository import BIN

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
}
"""Where each agent is told of the server, below the home; and the words. Codex and Qwen Code put such tools behind a
search of their own, which the script does not play.
"""


def with_server(agent: RealAgent) -> RealAgent:
    """The agent with our MCP server in its settings."""

    def started(url: str, home: Path, repo: Path) -> Started:
        plain = agent.started(url, home, repo)
        path, added = SETTINGS[agent.name]
        both = {**plain.files.get(path, {}), **added}
        environ = {**plain.environ, "ENABLE_TOOL_SEARCH": "false"}  # Claude Code's model would have to look for them
        return replace(plain, files={**plain.files, path: both}, environ=environ)

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


@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in SETTINGS], ids=lambda agent: agent.name)
def test_the_model_calls_the_tools_of_the_guards_mcp_server(stage, play, agent):
    stage.commit(a__txt="one\n")
    steps = (
        ("shell", "cat .env"),
        ("mcp", "explain_block", "{}"),
        ("mcp", "explain_block", json.dumps({"command": "git push --force origin main"})),
        ("mcp", "guard_status", "{}"),
        ("mcp", "report_token_usage", json.dumps({"input": 5, "output": 7})),
        ("mcp", "request_human_help", json.dumps({"context": "I am stuck on the regex"})),
        ("shell", "echo the end"),
    )
    played = play(with_server(agent), steps)
    told = played.told
    assert len(told) == len(steps), played.done
    assert "`cat .env`" in told[1] and "deny, L2" in told[1], told
    assert "FORCE_PUSH" in told[2] or "force" in told[2]
    assert re.search(r"guarded\W+true", told[3]) and "ACTIVE" in told[3]
    assert "tokens in the last minute" in told[4]
    assert "Nobody answered" in told[5], "no person is there, with or without a dialog of the client's"
    assert "the end" in told[6]
    [report] = [e["data"] for e in stage.log(kind="usage") if e["data"].get("source") == "report"]
    assert (report["input"], report["output"]) == (5, 7)
    assert [e for e in stage.log(kind="state") if e["data"]["event"] == "help"] == []
