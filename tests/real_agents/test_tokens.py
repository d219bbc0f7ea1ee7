"""What the real coding agents record of their tokens: the ledger against the counts that the model has told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sentinel_guard.core.json_codec import entry_from
from sentinel_guard.core.session import token_ledger
from tests.support.agents.real_agents import AGENTS, WITH_SUBAGENTS, RealAgent, Started
from tests.support.agents.scripted_model import Tokens
from tests.support.time_limits import limit
from tests.support.wait_until import until

every_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
COUNTS = ("input", "output", "cache_read", "cache_write")
STEPS = (("shell", "echo one"), ("parallel", "echo two", "echo three"), ("shell", "echo four"))


def counted(usages) -> list[int]:
    return [sum(getattr(usage, name) for usage in usages) for name in COUNTS]


@every_agent
def test_the_ledger_equals_what_the_model_told_to_the_token(stage, play, agent):
    stage.commit(a__txt="one\n")
    for run in range(2):
        played = play(agent, STEPS)
        assert len(played.told) == 4, played.done
        [*_, (session, usages)] = token_ledger.latest(map(entry_from, stage.log())).items()
        assert {usage.source for usage in usages} == {agent.name}
        assert counted(usages) == counted(played.used), (run, session)
        assert len(usages) == len(played.used), "each reply once"
    shown = json.loads(stage.sentinel("usage", "--json").stdout)
    assert [sum(row[name] for row in shown["rows"]) for name in COUNTS] == [2 * n for n in counted(played.used)]
    assert [e for e in stage.log(kind="usage") if "unread" in e["data"]] == []


@every_agent
def test_the_replies_to_subagents_are_counted(stage, play, agent):
    stage.commit(a__txt="one\n")
    # Codex's work beside.
    inner, waits = ("echo inner", "touch done"), "until test -e done; do sleep 0.5; done; sleep 2; echo the end"
    steps = (("shell", "echo one"), ("delegate", *inner), ("shell", waits))
    played = play(agent, steps, arguments=WITH_SUBAGENTS.get(agent.name, tuple))
    assert len(played.told) == 3, played.done
    [(_, usages)] = token_ledger.latest(map(entry_from, stage.log())).items()
    assert counted(usages) == counted(played.used) and len(usages) > 4


@pytest.mark.parametrize("kept", [True, False], ids=["with a record", "without one"])
@pytest.mark.parametrize("agent", [a for a in AGENTS if a.name == "claude"], ids=lambda agent: agent.name)
def test_telemetry_tells_of_each_reply_and_counts_where_no_record_is_kept(stage, play, agent, kept):
    stage.commit(a__txt="one\n")
    stage.policy("[cost]\ntelemetry = true\n")
    more = () if kept else ("--no-session-persistence",)
    steps = (*STEPS, ("subagent",), ("shell", "env | grep -c OTEL_"))
    played = play(agent, steps, arguments=lambda words: (*words, *more))
    assert played.told[-1].split()[0] == "0", "its commands send nothing there"
    entries = [entry_from(entry) for entry in stage.log()]
    [(_, usages)] = token_ledger.latest(entries).items()
    told = [usage for usage in usages if usage.source == token_ledger.TELEMETRY]
    assert counted(told) == counted(played.used) and len(told) == len(played.used), "each reply once, to the token"
    assert counted(token_ledger.counted(usages)) == counted(played.used), "and never two sources added"
    assert kept == ("claude" in {usage.source for usage in usages})
    assert stage.sentinel("usage", "--json").stdout.endswith('"unknown": {}}\n')


def other_wire(agent: RealAgent, started: Started, wire: str, url: str) -> Started:
    """The agent's start with another protocol between it and the model, where it tells counts in another way."""
    if agent.name == "copilot":
        told = {"anthropic": ("TYPE", "BASE_URL"), "responses": ("WIRE_API",)}[wire]
        values = {"TYPE": wire, "BASE_URL": url, "WIRE_API": wire}
        environ = {**started.environ, **{f"COPILOT_PROVIDER_{name}": values[name] for name in told}}
        return replace(started, environ={**environ, "COPILOT_MODEL": "claude-sonnet-4.5"})
    files = {path: json.loads(json.dumps(held).replace("anthropic", wire)) for path, held in started.files.items()}
    return replace(started, files=files, arguments=tuple(word.replace("anthropic", wire) for word in started.arguments))


WIRES = (("copilot", "anthropic"), ("copilot", "responses"), ("opencode", "openai"))


@pytest.mark.parametrize(("name", "wire"), WIRES, ids=["-".join(row) for row in WIRES])
def test_the_ledger_is_right_whatever_the_models_provider(stage, play, name, wire):
    plain = next(agent for agent in AGENTS if agent.name == name)
    agent = replace(plain, started=lambda url, *where: other_wire(plain, plain.started(url, *where), wire, url))
    stage.commit(a__txt="one\n")
    played = play(agent, STEPS)
    assert len(played.told) == 4, played.done
    [(_, usages)] = token_ledger.latest(map(entry_from, stage.log())).items()
    assert counted(usages) == counted(played.used)


def spendthrift(reply: int) -> Tokens:
    return Tokens(30_000, 20 + reply, 1000)


@every_agent
def test_r6_a_model_that_spends_too_much_is_told_to_cool_down_and_waits(stage, play, agent):
    stage.commit(a__txt="one\n")
    stage.policy("[cost]\ncooldown_seconds = 1\n[breaker]\nseconds = 1\n")
    steps = tuple(("shell", f"sleep 0.3; echo {n}") for n in range(12))
    played = play(agent, steps, tokens=spendthrift)
    told = "\n".join(played.told)
    assert "SENTINEL COOL DOWN: This session is held for 1 s: " in told, played.done
    assert "work tokens in 2 replies within a minute, the limit is 50,000" in told
    assert "This session is held for 2 s: " in told and "This session is held for 4 s: " in told
    assert "This is cool-down number 4 within 10 minutes" in told, "which is L3"
    cooled = [e["data"]["until"] - e["at"] for e in stage.log(kind="state") if e["data"]["event"] == "cool"]
    assert [round(seconds) for seconds in cooled[:3]] == [1, 2, 4]


@every_agent
def test_hooks_alone_fill_the_ledger_and_hold_what_spends_too_much(stage, play, agent):
    stage.commit(a__txt="one\n")
    stage.policy("[cost]\ncooldown_seconds = 1\n")
    steps = tuple(("shell", f"sleep 0.3; echo {n}") for n in range(4))
    played = play(agent, steps, guarded=False, hooked=True, tokens=spendthrift)
    assert len(played.told) == len(steps), played.done
    assert until(lambda: stage.log(kind="end"), limit(30)), "the session ends with its agent"
    [(_, usages)] = token_ledger.latest(map(entry_from, stage.log())).items()
    assert counted(usages) == counted(played.used)
    cooled = [e["data"]["until"] - e["at"] for e in stage.log(kind="state") if e["data"]["event"] == "cool"]
    assert [round(seconds) for seconds in cooled[:1]] == [1]


@every_agent
def test_r6_a_session_whose_tokens_come_from_the_cache_is_left_alone(stage, play, agent):
    stage.commit(a__txt="one\n")
    played = play(agent, STEPS, tokens=lambda reply: Tokens(100, 20 + reply, 90_000))
    assert len(played.told) == 4 and "SENTINEL" not in "\n".join(played.told)
    assert stage.log(kind="state") == []
