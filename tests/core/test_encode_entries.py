"""Verdicts and outcomes as entries: what the log keeps, what the state table learns, and that no secret gets there."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.json_codec import dumps
from sentinel_guard.core.model import Ask, Effect, Finding, Kind, Response, Verdict
from sentinel_guard.core.policy.policy import Breaker, Cost, Policy
from sentinel_guard.core.session.session import Event, Session, State
from tests.support.judge_cases import action, outcome

POLICY = Policy(breaker=Breaker(60.0), cost=Cost(cooldown_seconds=30.0))


def verdict(response=Response.ALLOW, *, parent="", at=100.0, command="ls", **fields) -> Verdict:
    found = Finding("rules", response, "`x`", "why", **fields)
    return Verdict(action(command, at=at, parent=parent), (), (found,) if response else ())


def entries(judged, *, poll=False):
    return encode_entries.of_verdict(judged, "op1", poll=poll, policy=POLICY)


LEVELS = (
    (Response.ALLOW, "", True, "what runs is a call"),
    (Response.SNAPSHOT, "", True, "after a snapshot too"),
    (Response.HINT, "L1", True, "with a hint too"),
    (Response.COOL_DOWN, "", True, "a cool-down is looked at again"),
    (Response.ASK, "", False, "what is still asked about did not run"),
    (Response.DENY, "L2", False, "nor did what was refused"),
    (Response.BREAK, "L3", False, "nor what tripped the breaker"),
    (Response.KILL, "L4", False, "nor what ended the session"),
)


@pytest.mark.parametrize(("response", "level", "call"), [v[:3] for v in LEVELS], ids=[v[3] for v in LEVELS])
def test_a_verdict_has_its_level_and_counts_as_a_call_only_if_it_ran(response, level, call):
    entry = entries(verdict(response))[0]
    assert (entry.kind, entry.level, entry.data["response"]) == ("verdict", level, response.word)
    assert (entry.at, entry.session, entry.data["operation"]) == (100.0, "s", "op1")
    assert Session("s").after(entry).calls != () if call else entry.data["call"] is False


def test_a_step_is_no_call_and_names_its_call():
    entry = entries(verdict(parent="a0"))[0]
    assert entry.data["parent"] == "a0" and "call" not in entry.data
    assert Session("s").after(entry).calls == ()


def test_a_poll_is_marked():
    [entry] = entries(verdict(), poll=True)
    assert Session("s").after(entry).calls[0].poll
    assert "poll" not in entries(verdict())[0].data


CHANGES = (
    (Response.BREAK, Event.BREAK, State.PAUSED, 160.0, "60 s from the call"),
    (Response.COOL_DOWN, Event.COOL, State.COOLING, 130.0, "as long as the finding says"),
    (Response.KILL, Event.KILL, State.KILLED, 0.0, "for ever"),
)


@pytest.mark.parametrize(("response", "event", "state", "until"), [c[:4] for c in CHANGES], ids=[c[4] for c in CHANGES])
def test_what_a_verdict_does_to_the_session(response, event, state, until):
    session = Session("s")
    both = entries(verdict(response, operations=frozenset({"o2", "o1"}), held=30.0))
    for entry in both:
        session = session.after(entry)
    assert both[1].data["event"] == event.value and len(both) == 2
    assert (session.state, session.until, session.reason) == (state, until, "`x`")
    assert session.tripped == ({"o1", "o2"} if response is Response.BREAK else frozenset())


@pytest.mark.parametrize("response", [r for r in Response if r not in {c[0] for c in CHANGES}], ids=lambda r: r.word)
def test_nothing_else_changes_a_session(response):
    assert len(entries(verdict(response))) == 1


STRIKES = (
    ("guard.settings", Response.DENY, ("guard.settings",), "the guard's settings"),
    ("guard.operator", Response.KILL, ("guard.operator",), "its operator socket"),
    ("system.guard", Response.DENY, (), "a command that steers it"),
    ("paths.restricted", Response.DENY, (), "an ordinary refusal"),
)


@pytest.mark.parametrize(("rule", "response", "strikes"), [s[:3] for s in STRIKES], ids=[s[3] for s in STRIKES])
def test_strikes_are_kept(rule, response, strikes):
    assert Session("s").after(entries(verdict(response, rule=rule))[0]).strikes == strikes


def test_a_yes_stays_on_record_with_what_it_granted():
    asked = verdict(Response.ASK, rule="confirm.deploy", ask=Ask("DEPLOY", "PROD"))
    granted = Verdict(asked.action, (Effect(Kind.DEPLOY, "prod"),), asked.findings, asked.findings, "user")
    data = entries(granted)[0].data
    assert data["authorized_by"] == "user" and data["response"] == "allow" and data["call"] is True
    assert [f["rule"] for f in data["granted"]] == ["confirm.deploy"]
    assert data["effects"][0]["target"] == "prod"


def test_of_thousands_of_effects_some_are_kept_and_their_number():
    effects = tuple(Effect(Kind.DELETE, f"/x/{n}") for n in range(5000))
    [entry, *_] = entries(replace(verdict(Response.DENY), effects=effects))
    assert [e["target"] for e in entry.data["effects"]] == [f"/x/{n}" for n in range(encode_entries.EFFECTS)]
    assert entry.data["effects_in_all"] == 5000
    assert len(dumps(entry.data)) < 10_000


def test_what_is_allowed_without_a_finding_is_kept_short():
    assert set(entries(verdict())[0].data) == {
        "id", "layer", "tool", "arguments", "cwd", "operation", "call", "response",
    }  # fmt: skip


TOKEN = "ghp_" + "a1" * 18
SECRETS = (
    (lambda: entries(verdict(command=f"curl -H 'Authorization: Bearer {TOKEN}' x")), "in a command"),
    (lambda: entries(verdict(Response.DENY, evidence=f"token {TOKEN}")), "in evidence"),
    (lambda: [encode_entries.of_outcome(action(), outcome(code=1, error=f"bad token {TOKEN}"))], "in an error"),
    (lambda: encode_entries.of_observation(verdict(), f"SENTINEL HINT: {TOKEN}", 5.0, POLICY), "in a hint"),
    (lambda: [encode_entries.state("s", 1.0, Event.HELP, reason=f"it says {TOKEN}")], "in a cry for help"),
)


@pytest.mark.parametrize("made", [s[0] for s in SECRETS], ids=[s[1] for s in SECRETS])
def test_no_secret_reaches_an_entry(made):
    text = dumps([dict(e.data) for e in made()])
    assert TOKEN not in text and "<redacted>" in text


def test_an_outcome_is_what_a_session_learns():
    done = outcome(code=2, error="boom", out="x", before="t1", after="t2", at=101.0)
    session = Session("s").after(entries(verdict())[0]).after(encode_entries.of_outcome(action(), done))
    assert session.calls[0].outcome == done


OBSERVED = (
    (Response.ALLOW, "", "", "nothing said"),
    (Response.ALLOW, "SENTINEL HINT: x", "L1", "a hint from the error alone"),
    (Response.HINT, "SENTINEL HINT: x", "L1", "a detector's hint"),
    (Response.BREAK, "SYSTEM INTERVENTION: x", "L3", "the breaker"),
)


@pytest.mark.parametrize(("response", "text", "level"), [o[:3] for o in OBSERVED], ids=[o[3] for o in OBSERVED])
def test_what_was_said_of_an_outcome(response, text, level):
    first, *rest = encode_entries.of_observation(verdict(response), text, 105.0, POLICY)
    assert (first.kind, first.level, first.at, first.data["told"]) == ("observation", level, 105.0, text)
    if response is Response.BREAK:
        assert rest[0].data["until"] == 165.0, "counted from the outcome, not from the call"
    else:
        assert not rest


def test_bytes_that_are_no_text_survive():
    [entry] = entries(verdict(command="cat \udcff"))
    assert json.loads(dumps(dict(entry.data)))["arguments"]["command"] == "cat \udcff"
