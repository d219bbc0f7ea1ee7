"""Which session a real agent's calls belong to where its own hooks report them: subagents, sessions gone on with."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence

import pytest

from tests.support.agents.real_agents import AGENTS, WITH_SUBAGENTS, install_hooks, set_up
from tests.support.agents.scripted_model import ScriptedModel
from tests.support.time_limits import limit
from tests.support.wait_until import until

BLOCKED = "403 SENTINEL BLOCKED"
NO_MARK = {"gemini"}
"""Agents whose hooks do not tell that a subagent calls."""


def named(*names: str):
    return pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in names], ids=lambda agent: agent.name)


def command(call: dict) -> str | None:
    """The command of a tool call on record; None of another tool."""
    arguments = call["arguments"]
    return arguments.get("command") or "; ".join(arguments.get("commands", ())) or None


def calls(stage) -> list[dict]:
    """The tool calls on record, as their verdicts tell them."""
    return [e["data"] for e in stage.log(kind="verdict") if not e["data"].get("parent")]


@pytest.mark.parametrize("guarded", [False, True], ids=["alone", "with run"])
@named("claude", "qwen", "gemini", "copilot", "opencode", "codex", "cline")
def test_each_call_of_a_subagent_is_on_record_once_with_its_mark(stage, play, agent, guarded):
    stage.commit(a__txt="one\n")
    inner, marked = ("echo inner", "cat .env", "touch done"), agent.name not in NO_MARK
    waits = "until test -e done; do sleep 0.5; done; echo the end"
    played = play(
        agent,
        (("shell", "echo outer"), ("delegate", *inner), ("shell", waits)),
        guarded=guarded,
        hooked=True,
        arguments=WITH_SUBAGENTS.get(agent.name, tuple),
    )
    assert "the end" in played.told[-1], played.done
    assert len(stage.log(kind="session")) == 1, "one session"
    made = Counter((command(d), bool(d.get("subagent"))) for d in calls(stage))
    assert made.pop((None, False)) == 1, "the call of the subagent itself"
    assert made == dict.fromkeys([("echo outer", False), *((c, marked) for c in inner), (waits, False)], 1)
    assert [command(d) for d in calls(stage) if d["response"] == "deny"] == ["cat .env"]
    ended = Counter(e["data"]["id"] for e in stage.log(kind="outcome"))
    let_run = [d for d in calls(stage) if d["call"]]
    assert [d["arguments"] for d in let_run if ended[d["id"]] != 1] == [], "each has its outcome"


RESUMED = {
    "claude": lambda words, ident: (*words, "--resume", ident),
    "codex": lambda words, ident: (words[0], "resume", *words[1:-1], ident, words[-1]),
    "gemini": lambda words, _: (*words, "--resume", "latest"),
    "qwen": lambda words, ident: (*words, "--resume", ident),
    "opencode": lambda words, ident: (words[0], "--session", ident, *words[1:]),
    "copilot": lambda words, ident: (*(w for w in words if w != "--trust-folder"), "--resume", ident),
}
"""How an agent without a terminal goes on with a session: its usual arguments and the session's id -> arguments."""
LEVEL = {"copilot": ("--user",)}
"""Copilot CLI then takes no ``--trust-folder``, and runs no hooks of a project that was not trusted on a screen."""


@named(*RESUMED)
def test_a_session_that_is_resumed_begins_anew_and_one_that_was_killed_stays_killed(stage, play, agent):
    stage.commit(a__txt="one\n")

    def resumed(words: Sequence[str]) -> tuple[str, ...]:
        return RESUMED[agent.name](tuple(words), sessions()[-1]["client"][1])

    def sessions() -> list[dict]:
        return [e["data"] for e in stage.log(kind="session")]

    steps = [("shell", "echo one"), ("shell", "echo two"), ("shell", f"rm -r {stage.repo}/.git")]
    played = play(agent, steps[:1], guarded=False, hooked=True, level=LEVEL.get(agent.name, ()))
    assert "one" in played.told[-1] and until(lambda: stage.log(kind="end"), limit(30)), played.done
    played = play(agent, steps, guarded=False, arguments=resumed)
    assert until(lambda: stage.log(kind="incident"), limit(30)), (stage.log(), played.done)
    assert [s["client"] for s in sessions()] == [sessions()[0]["client"]] * 2, "the first has ended with its process"
    judged = len(stage.log(kind="verdict"))
    more = tuple(("shell", f"echo {n} > reached") for n in range(3))
    played = play(agent, [*steps, *more], guarded=False, arguments=resumed)
    assert len(sessions()) == 2 and not (stage.repo / "reached").exists(), (played.told, played.done)
    # Some are stopped at the person's words already.
    refused = [e["data"]["response"] for e in stage.log(kind="verdict")[judged:]]
    assert set(refused) <= {"deny"} and (refused or not played.asked), (refused, played.done)


@named("claude", "qwen", "gemini")
def test_two_processes_of_one_session_are_one_session_and_a_kill_ends_both(stage, agent):
    """Codex refuses a second one by itself: "already has an active writer"."""
    stage.commit(a__txt="one\n")
    start = stage.git("rev-parse", "HEAD")
    # The second process finds the file, and does not wait.
    waits = "if test -e waits; then echo on; else touch waits; until test -e never; do sleep 0.3; done; fi"
    steps = (("shell", "echo one"), ("patient", waits), ("shell", "cat .env"), ("shell", f"rm -r {stage.repo}/.git"))
    model = ScriptedModel((*steps, ("shell", "echo never > reached")))
    try:
        started = set_up(stage, agent, model.url)
        install_hooks(stage, agent)
        options = {"cwd": stage.repo, "env": stage.environ, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        first = subprocess.Popen([agent.path(), *started.arguments], stderr=subprocess.DEVNULL, **options)
        assert until((stage.repo / "waits").exists, limit(60)) and first.poll() is None
        [session] = [e["data"]["client"] for e in stage.log(kind="session")]
        resumed = RESUMED[agent.name](started.arguments, session[1])
        subprocess.run([agent.path(), *resumed], check=False, timeout=limit(100), **options)
        assert until(lambda: stage.log(kind="incident"), limit(30)), stage.log()
        assert until(lambda: first.poll() is not None, limit(30)), "the other process has ended, too"
    finally:
        model.close()
    assert len(stage.log(kind="session")) == 1 and BLOCKED in "".join(model.told)
    assert stage.git("rev-parse", "HEAD") == start and not (stage.repo / "reached").exists()
