"""Entries become nouns again, and what was stopped and not reported is found."""

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.decode_entries import action_from, finding_from, unreported
from sentinel_guard.core.json_codec import as_stored, finding_json
from sentinel_guard.core.model import Ask, Entry, Finding, Layer, Outcome, Response, Verdict
from sentinel_guard.core.policy.policy import Policy
from tests.support.judge_cases import action

BREAK = Finding(
    "loop", Response.BREAK, "SYSTEM INTERVENTION: Loop.", "three times", "change", operations=frozenset("o")
)
KILL = Finding("rules", Response.KILL, "`x`", "it deletes", rule="system.delete")


def stored(entries):
    return [as_stored(e) for e in entries]


def verdict(finding, command="make", ident="a1"):
    return Verdict(action(command, ident=ident), (), (finding,))


def proposed(finding, **given):
    return stored(encode_entries.of_verdict(verdict(finding, **given), "o", poll=False, policy=Policy()))


def observed(finding, **given):
    allowed = stored(encode_entries.of_verdict(Verdict(action("make", **given)), "o", poll=False, policy=Policy()))
    ended = stored([encode_entries.of_outcome(action("make", **given), Outcome("a1", 5.0, 1))])
    return allowed + ended + stored(encode_entries.of_observation(verdict(finding), "said", 5.0, Policy()))


REPORT = Entry(9.0, "s", "incident", {"path": "/r/INCIDENT.md", "seal": "x"})
ASKED = Entry(9.5, "s", "incident", {"event": "asked", "names": ["INCIDENT"]})

FOUND = (
    (proposed(KILL), Response.KILL, "system.delete", "a proposal that killed"),
    (observed(BREAK), Response.BREAK, "", "an outcome that tripped the breaker"),
    ([*observed(BREAK), ASKED], Response.BREAK, "", "what else is on record of incidents is no report"),
    ([*observed(BREAK), REPORT, *proposed(KILL)], Response.KILL, "system.delete", "one reported, the next not"),
    ([*observed(BREAK), *proposed(Finding("state", Response.DENY, "paused"), ident="a2")],
     Response.BREAK, "", "refused since"),
    ([Entry(1.0, "s", "state", {"event": "kill", "reason": "r"})],
     Response.KILL, "", "an old log without the verdict"),
)  # fmt: skip


@pytest.mark.parametrize(("entries", "response", "rule"), [r[:3] for r in FOUND], ids=[r[3] for r in FOUND])
def test_the_newest_stop_without_a_report_is_found(entries, response, rule):
    found = unreported(entries, "/w")
    assert found is not None
    assert found.response is response
    assert found.decisive.rule == rule
    assert found.action.root == "/w"


NONE = (
    ([], "an empty log"),
    ([*observed(BREAK), REPORT], "it was reported"),
    (proposed(Finding("rules", Response.DENY, "x")), "a refusal stops no session"),
    ([Entry(1.0, "s", "state", {"event": "cool"})], "nor does a cool-down"),
)


@pytest.mark.parametrize("entries", [r[0] for r in NONE], ids=[r[1] for r in NONE])
def test_nothing_is_left_to_be_reported(entries):
    assert unreported(entries, "/w") is None


def test_the_loops_operations_come_back():
    assert unreported(observed(BREAK), "/w").decisive.operations == frozenset("o")
    assert unreported(observed(BREAK), "/w").action.arguments == {"command": "make"}


def test_a_finding_comes_back_as_it_was():
    asked = Finding("rules", Response.ASK, "w", "y", "i", "r", "e", Ask("DEPLOY", "PROD", "LOW"), frozenset({"o"}))
    assert finding_from(finding_json(asked)) == asked


@pytest.mark.parametrize("data", [{}, {"arguments": "x", "layer": "new"}, {"id": None}])
def test_entries_of_another_version_become_something(data):
    assert action_from(Entry(1.0, "s", "verdict", data)).layer is Layer.CLI
    assert finding_from(data).response is Response.ALLOW
