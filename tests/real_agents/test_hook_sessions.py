"""Which session a real agent's calls belong to where its own hooks report them: subagents, sessions gone on with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.support.agents.real_agents import AGENTS
from tests.support.time_limits import limit
from tests.support.wait_until import until

BLOCKED = "403 SENTINEL BLOCKED"
NO_MARK = {"gemini"}
"""Agents whose hooks do not tell that a subagent calls."""


def named(*names: str):
    return pytest.mark.parametrize("agent", [a for a in AGENTS if a.name in names], ids=lambda agent: agent.name)


def calls(stage) -> list[dict]:
    """The tool calls on record, as their verdicts tell them."""
    return [e["data"] for e in stage.log(kind="verdict") if not e["data"].get("parent")]


@pytest.mark.parametrize("guarded", [False, True], ids=["alone", "with run"])
@named("claude", "qwen", "gemini", "copilot", "opencode")
def test_each_call_of_a_subagent_is_on_record_once_with_its_mark(stage, play, agent, guarded):
    stage.commit(a__txt="one\n")
    inner, marked = ("echo inner", "cat .env", "touch done"), agent.name not in NO_MARK
    waits = "until test -e done; do sleep 0.5; done; echo the end"
    played = play(
        agent, (("shell", "echo outer"), ("delegate", *inner), ("shell", waits)), guarded=guarded, hooked=True
    )
    assert "the end" in played.told[-1], played.done
    assert len(stage.log(kind="session")) == 1, "one session"
    made = Counter((d["arguments"].get("command"), bool(d.get("subagent"))) for d in calls(stage))
    assert made.pop((None, False)) == 1, "the call of the subagent itself"
    assert made == dict.fromkeys([("echo outer", False), *((c, marked) for c in inner), (waits, False)], 1)
    assert [d["arguments"]["command"] for d in calls(stage) if d["response"] == "deny"] == ["cat .env"]
    ended = Counter(e["data"]["id"] for e in stage.log(kind="outcome"))
    let_run = [d for d in calls(stage) if d["call"]]
    assert [d["arguments"] for d in let_run if ended[d["id"]] != 1] == [], "each has its outcome"


RESUMED = {
    "claude": lambda words, ident: (*words, "--resume", ident),
    "codex": lambda words, ident: (words[0], "resume", *words[1:-1], ident, words[-1]),
    "gemini": lambda words, _: (*words, "--resume", "latest"),
    "qwen": lambda words, ident: (*words, "--resume", ident),
    "opencode": lambda words, ident: (words[0], "--session", ident, *words[1:]),
}
"""How an agent without a terminal goes on with a session: its usual arguments and the session's id -> arguments.
Copilot CLI then takes no ``--trust-folder``, and runs no hooks of a project that was not trusted on a screen.
"""


@named(*RESUMED)
def test_a_session_that_is_resumed_begins_anew_and_one_that_was_killed_stays_killed(stage, play, agent):
    stage.commit(a__txt="one\n")

    def resumed(words: Sequence[str]) -> tuple[str, ...]:
        return RESUMED[agent.name](tuple(words), sessions()[-1]["client"][1])

    def sessions() -> list[dict]:
        return [e["data"] for e in stage.log(kind="session")]

    steps = [("shell", "echo one"), ("shell", "echo two"), ("shell", f"rm -r {stage.repo}/.git")]
    played = play(agent, steps[:1], guarded=False, hooked=True)
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
