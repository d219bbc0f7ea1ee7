"""Shell texts of the real agents, in two versions each, as recorded (tests/vectors/frames)."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from sentinel_guard.agents.registry import AGENTS
from sentinel_guard.core.model import Response
from sentinel_guard.daemon import wire_messages
from tests.core.checks.test_bypasses import response

VECTORS = sorted((Path(__file__).parents[1] / "vectors" / "frames").glob("*.json"))
BY_NAME = {agent.name: agent for agent in AGENTS}


def recorded(file: Path) -> dict:
    vectors = json.loads(file.read_text())
    for call in vectors["calls"]:
        if "head" in call:
            call["argv"][-1] = vectors["heads"][call["head"]] + call["argv"][-1]
    return vectors


def judged(name: str, argv: list[str]) -> str | None:
    """What of a shell's arguments is judged."""
    text = wire_messages.script(tuple(argv))
    framed = BY_NAME[name].unwrap(text) if text is not None else None
    return framed.command if framed else text


OTHERWISE = {
    ("gemini", "bash -c 'echo nested; exit 4'"): "echo nested; exit 4",
    ("gemini", '/bin/sh -c "echo posix"'): "echo posix",
    ("copilot", "sleep 1; echo detached"): None,
}
"""What the agent itself makes of a command: Gemini CLI takes a shell's text out, Copilot CLI hands a detached command
to a script of its own as an argument, and all of it is judged."""


def expected(name: str, asked: str) -> str | None:
    # Gemini CLI and Qwen Code trim what the model wrote.
    return OTHERWISE.get((name, asked), asked.strip() if name in ("gemini", "qwen") else asked)


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: file.stem)
def test_what_is_judged_is_what_the_model_wrote(file):
    vectors = recorded(file)
    name = vectors["client"]
    found = [(c["asked"], judged(name, c["argv"])) for c in vectors["calls"]]
    wrong = [(asked[:100], text) for asked, text in found if text not in (asked, expected(name, asked))]
    assert wrong == []


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: file.stem)
def test_what_an_agent_runs_for_itself_is_known(file):
    vectors = recorded(file)
    agent = BY_NAME[vectors["client"]]
    texts = [wire_messages.script(tuple(argv)) for argv in vectors["own"] if argv[0].rsplit("/", 1)[-1] == "bash"]
    assert [text[:200] for text in texts if text is not None and not agent.starts_for_itself(text)] == []


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: file.stem)
def test_an_agents_limit_is_known_with_some_seconds_to_spare(file):
    vectors = json.loads(file.read_text())
    limit, patience = vectors["waiting"]["default_s"], BY_NAME[vectors["client"]].patience
    assert limit * 0.8 <= patience <= limit - 2


@pytest.mark.parametrize("file", VECTORS, ids=lambda file: file.stem)
def test_nothing_that_an_agent_runs_for_itself_is_refused_or_asked_about(file):
    vectors = json.loads(file.read_text())
    started = [(shlex.join(argv), False) for argv in (*vectors["git"], *vectors["programs"])]
    started += [(argv[-1], True) for argv in vectors["own"]]
    assert [text for text, own in started if response(text, for_itself=own) > Response.HINT] == []
