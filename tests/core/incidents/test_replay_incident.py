"""An incident's steps, judged again: the same by the same policy, otherwise by another. Stories of a real guard."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sentinel_guard.core import decode_entries
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.incidents import timeline
from sentinel_guard.core.incidents.replay_incident import entries_from, replay, stopped
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Entry, Response, Usage
from sentinel_guard.core.policy.policy import Gate
from tests.support.guard_in_memory import POLICY, ROOT, Stand, world

FAIL = {"code": 2, "error": "e1"}


def again(entries, policy=POLICY, call=None):
    def judged(action, session, op, outcome):
        effects = () if outcome else analyse(action, world())
        return judge(Case(action, effects, session, policy, outcome, op), CHECKS)

    return [*replay(entries, stopped(entries) if call is None else call, judged, policy)]


def story(*calls, replies=(), policy=POLICY):
    """The log of a session that made these calls: commands, (command, how it ended), or what to do with the stand."""
    stand = Stand(*replies, policy=policy)

    async def play():
        for call in calls:
            if callable(call):
                call(stand)
            elif isinstance(call, tuple):
                await stand.call(call[0], **call[1])
            else:
                await stand.propose(call)

    asyncio.run(play())
    return stand.store.log


LOOP = story(("ls", {}), *[("make", FAIL)] * 3)
KILL = story(("ls", {}), "rm -rf /")


def words(steps):
    return [(s.then.response.word, s.now.response.word) for s in steps]


def repeats(count):
    return replace(POLICY, loop=replace(POLICY.loop, repeats=count))


@pytest.mark.parametrize("log", [LOOP, KILL], ids=["a loop", "a kill"])
def test_by_the_same_policy_everything_is_as_it_was(log):
    steps = again(log)
    assert not [s for s in steps if s.changed]
    assert [s.stops for s in steps] == [False] * (len(steps) - 1) + [True]


def test_a_loop_that_is_let_go_on_longer_is_not_stopped():
    steps = again(LOOP, repeats(5))
    assert not any(s.stops for s in steps)
    assert words(steps)[-1] == ("break", "allow") and steps[-1].changed and steps[-1].ended


def test_a_stricter_policy_stops_it_earlier_and_what_came_after_is_not_shown():
    steps = again(story(*[("make", FAIL)] * 5, policy=repeats(5)), repeats(3))
    assert words(steps)[-1] == ("hint", "break")
    assert steps[-1].stops and steps[-1].entry.seq == 10


WAITED = story(
    ("make", FAIL),
    ("make", FAIL),
    ("make", FAIL),
    lambda s: setattr(s.now, "now", s.now.now + 61),
    ("ls", {}),
    "rm -rf /",
)


def test_an_earlier_breaker_of_the_session_is_lived_through():
    steps = again(WAITED)
    assert not [s for s in steps if s.changed]
    assert [s.now.response for s in steps if s.now.response >= Response.BREAK] == [Response.BREAK, Response.KILL]
    assert steps[-1].stops


def spend(stand):
    stand.report(Usage(stand.now(), output=30_000))


QUICK = replace(POLICY, cost=replace(POLICY.cost, cooldown_seconds=0))


def test_a_cool_down_of_then_comes_again_and_ends():
    log = story(spend, spend, ("ls", {}), "rm -rf /", policy=QUICK)
    assert words(again(log, QUICK)) == [("cool_down", "cool_down"), ("allow", "allow"), ("kill", "kill")]


def test_a_cool_down_that_is_new_holds_nothing_up():
    steps = again(
        story(
            spend,
            spend,
            ("ls", {}),
            "rm -rf /",
            policy=replace(QUICK, cost=replace(QUICK.cost, tokens_per_minute=10**9)),
        ),
        QUICK,
    )
    assert words(steps) == [("allow", "cool_down"), ("kill", "kill")]


ASKED = (
    (True, ("allow", "allow"), "a yes is taken as given again"),
    (False, ("deny", "deny"), "so is a no"),
)


@pytest.mark.parametrize(("reply", "expected"), [r[:2] for r in ASKED], ids=[r[2] for r in ASKED])
def test_what_a_person_said_then_counts(reply, expected):
    log = story("deploy prod", "rm -rf /", replies=(reply,))
    assert words(again(log))[0] == expected


def test_a_question_that_is_new_is_open():
    log = story(("deploy prod", {}), "rm -rf /", policy=replace(POLICY, confirm={}))
    steps = again(log)
    assert words(steps)[0] == ("allow", "ask")
    assert steps[-1].stops


def test_a_call_that_would_not_run_now_has_no_end():
    log = story(*[("deploy prod", FAIL)] * 3, policy=replace(POLICY, confirm={}, gate=Gate(seconds=1)))
    steps = again(log)
    assert not [s for s in steps if s.ended]
    assert steps[-1].stops, "the call that tripped the breaker would wait for a person"


def test_the_reports_own_table_tells_the_same():
    for log in (LOOP, KILL, WAITED):
        table = "\n".join(timeline.table(timeline.steps(timeline.entries_until_stop(log))))
        rows = timeline.rows(table)
        made = entries_from(rows, "replay", ROOT, log[-1].at)
        assert words(again(made)) == words(again(log))
        assert [e.seq for e in made][1:] == [r.number for r in rows if r.kind in ("verdict", "outcome", "observation")]


def test_a_command_that_was_cut_is_not_judged():
    log = story((f"echo {'x' * 500}", {}), ('Write {"file_path": "a"}', {}), "rm -rf /")
    made = entries_from(timeline.rows("\n".join(timeline.table(timeline.steps(log)))), "replay", ROOT, log[-1].at)
    steps = again(made)
    assert steps[0].now is None and not steps[0].changed and not steps[0].stops
    [write] = [e.data for e in made if e.data.get("tool") == "Write"]
    assert write["arguments"] == {"file_path": "a"}
    assert steps[-1].stops


def test_rows_before_midnight_are_of_the_day_before():
    rows = [
        timeline.Row(1, "23:59:59.900", "verdict", "`ls`", "allow"),
        timeline.Row(2, "00:00:01.000", "verdict", "`ls`", "kill: rules: x"),
    ]
    times = [e.at for e in entries_from(rows, "replay", ROOT, 86400.0 * 20 + 1)]
    assert times[1:] == [86400.0 * 20 - 0.1, 86400.0 * 20 + 1]


def test_without_a_stop_nothing_is_to_be_replayed():
    assert stopped(story(("ls", {}))) == ""
    assert decode_entries.unreported(LOOP, ROOT).response is Response.BREAK


def entry(kind, **data):
    return Entry(1.0, "s", kind, data)


def proposed(ident, **data):
    return entry("verdict", id=ident, tool="shell", layer="shell", cwd=ROOT, call=True, response="allow", **data)


OWN = (
    (["python3", "/home/ann/agent.py", "-x"], ["agent.py", "-x"], True, "the interpreter of the agent's script"),
    (["node", "/usr/bin/agent"], ["agent"], True, "one without arguments"),
    (["rm", "-rf", "/"], ["rm", "-rf", "/"], False, "the same command, from within"),
    (["rm", "-rf", "/"], ["agent"], False, "another command"),
)


@pytest.mark.parametrize(("argv", "command", "own"), [o[:3] for o in OWN], ids=[o[3] for o in OWN])
def test_the_persons_own_command_is_not_judged(argv, command, own):
    log = [entry("session", root=ROOT, command=command), proposed("a1", arguments={"argv": argv})]
    [step] = again(log, replace(POLICY, confirm={"agent": ("node", "python3")}), "none")
    assert (step.now.response is Response.ALLOW) is own


def test_what_was_tried_on_the_guard_itself_is_taken_as_given():
    tried = entry("verdict", id="op", tool="operator:stop", layer="cli", response="deny", strike="guard.operator")
    [step] = again([entry("session", root=ROOT), tried], call="none")
    assert step.then == step.now and step.now.response is Response.DENY


def test_a_cry_for_help_and_the_resume_are_lived_through():
    ls = proposed("a1", arguments={"command": "ls"})
    helped, resumed = entry("state", event="help"), entry("state", event="resume")
    log = [entry("session", root=ROOT), helped, ls, resumed, ls]
    assert [s.now.response.word for s in again(log, call="none")] == ["deny", "allow"]


def test_the_table_tells_of_help_too_and_what_looks_like_a_tool_may_be_a_command():
    rows = [
        timeline.Row(1, "00:00:01.000", "state", "help", ""),
        timeline.Row(2, "00:00:02.000", "verdict", "`make {not json}`", "allow"),
        timeline.Row(3, "00:00:03.000", "usage", "tokens reported", "input 5"),
    ]
    made = entries_from(rows, "replay", ROOT, 5.0)
    assert [e.kind for e in made] == ["session", "state", "verdict"]
    assert made[2].data["arguments"] == {"command": "make {not json}"}
