"""Texts that look like an agent's wrapper: nothing is cut out of them but what an agent was seen to write
(``tests/vectors/frame_attacks.toml``).
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel_guard.agents.base import Framed
from sentinel_guard.agents.registry import AGENTS
from sentinel_guard.core.model import Response
from tests.agents.test_recorded_wrappers import VECTORS, recorded
from tests.agents.test_unwrap import of_claude, of_codex, of_gemini, quoted
from tests.core.checks.test_bypasses import response

TABLE = tomllib.loads((Path(__file__).parents[1] / "vectors" / "frame_attacks.toml").read_text(encoding="utf-8"))
BY_NAME = {agent.name: agent for agent in AGENTS}
EVIL = TABLE["evil"]


def of_copilot(command: str) -> str:
    return f"echo $$ > '/tmp/copilot-detached-a-1.pid'; {command}"


WRAP = {"claude": of_claude, "codex": of_codex, "gemini": of_gemini, "copilot": of_copilot}


def judged(name: str, text: str) -> Response:
    """The answer to all that is judged of a text that the agent has its shell run."""
    framed = BY_NAME[name].unwrap(text)
    return max(map(response, [framed.command, framed.around or framed.command] if framed else [text]))


def test_what_is_wrapped_is_not_refused_for_its_wrapper():
    assert {name: judged(name, wrap("ls")) for name, wrap in WRAP.items()} == dict.fromkeys(WRAP, Response.ALLOW)
    assert response(EVIL) >= Response.ASK


AROUND = [
    pytest.param(name, row["text"].replace("@frame@", wrap("ls")).replace("@evil@", EVIL), id=f"{name}: {row['why']}")
    for row in TABLE["around"]
    for name, wrap in WRAP.items()
]


@pytest.mark.parametrize(("name", "text"), AROUND)
def test_what_stands_around_a_wrapper_is_judged(name, text):
    assert judged(name, text) >= Response.ASK


INSIDE = [pytest.param(row, id=f"{row['agent']}: {row['why']}") for row in TABLE["inside"]]


@pytest.mark.parametrize("row", INSIDE)
def test_what_is_put_into_a_wrapper_is_judged(row):
    frame = WRAP[row["agent"]]("ls")
    assert row["find"] in frame, "the wrapper has this part"
    text = frame.replace(row["find"], row["put"].replace("@evil@", EVIL), 1)
    assert text != frame
    if row.get("softer"):
        assert BY_NAME[row["agent"]].unwrap(text) is None
    else:
        assert judged(row["agent"], text) >= Response.ASK


COMMANDS = [
    pytest.param(name, row, id=f"{name}: {row['why']}")
    for row in TABLE["command"]
    for name in ([row["agent"]] if "agent" in row else WRAP)
]


@pytest.mark.parametrize(("name", "row"), COMMANDS)
def test_a_command_comes_out_whole_and_is_judged(name, row):
    command = row["text"].replace("@evil@", EVIL)
    framed = BY_NAME[name].unwrap(WRAP[name](command))
    assert framed is not None and framed.command == command
    assert row.get("softer") or judged(name, WRAP[name](command)) >= Response.ASK


MADE_UP = re.compile(r"(?<=/tmp/claude-)[\w-]+(?=-cwd)|(?<=/tmp/gemini-shell-)\w+|(?<=/tmp/copilot-detached-)[\w-]+")
"""Names that the agents make up anew for each call."""
HARM = (
    ";x;", "&x&", "|x|", "\nx\n", "$(x)", "`x`", "<(x)", ">x", "<x", "'", '"', "\\", "''", "#", "(", ")", "{", "}", "!",
    "$x", "${x}", "'x'", " x ", "\t", "=x", "*", "~", "\r", "\N{NO-BREAK SPACE}", "\N{ARABIC-INDIC DIGIT ONE}",
)  # fmt: skip
"""What changes a shell text, wherever it is put."""


LEADS = {"claude": "eval ", "codex": " -c ", "gemini": " EXIT\n", "copilot": ".pid'; "}
"""What stands before the command."""
OLDER = (" < /dev/null", " \\< /dev/null")
"""Claude Code's wrapper as the two recorded versions write it, and as older ones do: it is judged with the command."""


def cut(name: str, text: str, framed: Framed) -> set[str]:
    """What is cut off a text: all but its parts, and the names that are made up.

    Claude Code's wrapper is a chain, whose links are not all there in each version.
    """
    lead = LEADS[name]
    wanted = lead + (quoted(framed.command) if lead + quoted(framed.command) in text else framed.command)
    before, _, behind = text.partition(wanted)
    for part in filter(None, (framed.snapshot, framed.tools)):
        before = before.replace(quoted(part), "@").replace(part, "@")
    return {*MADE_UP.sub("@", f"{before}{lead}@{behind}").split(" && ")}


@cache
def texts(name: str) -> list[str]:
    """The wrapped texts of an agent that were recorded, in both versions."""
    texts = [call["argv"][-1] for file in VECTORS if file.stem.startswith(name) for call in recorded(file)["calls"]]
    return [text for text in texts if BY_NAME[name].unwrap(text)]


@cache
def constants_of(name: str) -> set[str]:
    found = [cut(name, text, framed) for text in texts(name) if (framed := BY_NAME[name].unwrap(text))]
    return {each.replace(*older) for each in set().union(*found) for older in (("", ""), OLDER)}


@pytest.mark.parametrize("name", WRAP)
def test_what_is_cut_was_recorded_of_both_versions(name):
    versions = [file for file in VECTORS if file.stem.startswith(name)]
    assert len(versions) == 2
    # Copilot's newer version hands a detached command on as an argument; Codex works with and without a terminal.
    wrapped = {file.stem for file in versions if any(map(BY_NAME[name].unwrap, texts_of(file)))}
    assert wrapped == {file.stem for file in versions} - {"copilot-1.0.102"}


def texts_of(file: Path) -> list[str]:
    return [call["argv"][-1] for call in recorded(file)["calls"]]


@pytest.mark.parametrize("name", WRAP)
def test_nothing_that_is_put_into_a_recorded_wrapper_is_cut_off(name):
    agent, known = BY_NAME[name], constants_of(name)
    text = min(texts(name), key=len)
    # Codex's is long, and the same over and over: its first and last lines say all of it.
    places = [*range(min(len(text), 1500)), *range(max(1500, len(text) - 2500), len(text) + 1)]
    for at in places:
        for harm in HARM:
            changed = text[:at] + harm + text[at:]
            framed = agent.unwrap(changed)
            assert framed is None or cut(name, changed, framed) <= known, (at, harm)


@pytest.mark.parametrize("name", WRAP)
@given(data=st.data())
def test_nothing_that_is_taken_out_of_a_recorded_wrapper_is_missed(name, data):
    agent, known = BY_NAME[name], constants_of(name)
    text = data.draw(st.sampled_from(texts(name)))
    at = data.draw(st.integers(0, len(text)))
    changed = text[:at] + data.draw(st.text(max_size=8)) + text[at + data.draw(st.integers(0, 40)) :]
    framed = agent.unwrap(changed)
    assert framed is None or cut(name, changed, framed) <= known
