"""Encode verdicts and outcomes as audit entries. Redacted here, so that nothing unredacted can reach a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.checks.rules import STRIKES
from sentinel_guard.core.json_codec import finding_json, verdict_json
from sentinel_guard.core.model import Action, Entry, Finding, Layer, Outcome, Response, Verdict
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.operation_fingerprint import is_install
from sentinel_guard.core.session.session import Event, outcome_data
from sentinel_guard.core.text.redact_by_pattern import redact, redact_data

TEXT = 4000
"""Characters of a text among a tool call's arguments that are kept."""
EFFECTS = 30
"""Effects of a verdict that are kept; beyond them their number is."""


def of_verdict(verdict: Verdict, operation: str, *, poll: bool, policy: Policy) -> list[Entry]:
    """The entries of a decision: the verdict itself, then what it does to the session's state."""
    action, decisive = verdict.action, verdict.decisive
    data: dict[str, object] = {
        "id": action.id,
        "layer": action.layer.value,
        "tool": action.tool,
        "arguments": _recorded(action),
        "cwd": action.cwd,
        "operation": operation,
    }
    data |= _seen(verdict)
    data |= {"parent": action.parent} if action.parent else {"call": verdict.response < Response.ASK}
    data |= {"poll": True} if poll else {}
    data |= {"installs": True} if is_install(action) else {}
    makes = [e.target for e in verdict.effects if "makes" in e.how]
    data |= {"makes": makes} if makes else {}
    unmakes = [e.target for e in verdict.effects if "unmakes" in e.how]
    data |= {"unmakes": unmakes} if unmakes else {}
    data |= {"agent": action.agent} if action.agent else {}
    data |= {"client_call": action.call} if action.call else {}
    data |= {"subagent": action.subagent} if action.subagent else {}
    data |= {"wrapper": "unknown"} if action.unknown_wrapper else {}
    data |= {"for_itself": True} if action.for_itself else {}
    if decisive and decisive.rule in STRIKES:
        data["strike"] = decisive.rule
    entry = Entry(action.at, action.session, "verdict", _plain(data), verdict.response.level)
    return [entry, *_changes(action, decisive, policy)]


def of_outcome(action: Action, outcome: Outcome) -> Entry:
    return Entry(outcome.at, action.session, "outcome", _plain(outcome_data(outcome)))


def of_observation(verdict: Verdict, text: str, at: float, policy: Policy) -> list[Entry]:
    """What was said about an outcome: a hint (``text``), or the breaker."""
    action, response = verdict.action, max(verdict.response, Response.HINT if text else Response.ALLOW)
    findings = [finding_json(f) for f in verdict.findings]
    data: dict[str, object] = {"id": action.id, "response": response.word, "findings": findings, "told": text}
    entry = Entry(at, action.session, "observation", _plain(data), response.level)
    return [entry, *_changes(action, verdict.decisive, policy, at)]


def state(session: str, at: float, event: Event, **data: object) -> Entry:
    """A step of the state table."""
    return Entry(at, session, "state", _plain({"event": event.value, **data}))


def _changes(action: Action, decisive: Finding | None, policy: Policy, at: float = 0.0) -> Sequence[Entry]:
    at = at or action.at
    match decisive.response if decisive else None:
        case Response.BREAK:
            assert decisive
            operations = sorted(decisive.operations)
            until = at + policy.breaker.seconds
            return [state(action.session, at, Event.BREAK, until=until, reason=decisive.what, operations=operations)]
        case Response.COOL_DOWN:
            assert decisive
            until = at + decisive.held
            return [state(action.session, at, Event.COOL, until=until, reason=decisive.what)]
        case Response.KILL:
            assert decisive
            return [state(action.session, at, Event.KILL, reason=decisive.what)]
        case _:
            return []


def _recorded(action: Action) -> dict[str, object]:
    """The arguments; of a tool call not the whole text of a file that it writes."""
    if action.layer is not Layer.HOOK:
        return dict(action.arguments)
    return {name: _cut(value) for name, value in action.arguments.items()}


def _cut(value: object) -> object:
    if not isinstance(value, str) or len(value) <= TEXT:
        return value
    # What is cut in two is known no more: more is redacted than is kept.
    return f"{redact(value[: 2 * TEXT])[:TEXT]}… ({len(value)} characters)"


def _seen(verdict: Verdict) -> dict[str, object]:
    if not verdict.findings:
        return {"response": verdict.response.word}
    # What was decided without a finding needs no list of effects: the arguments say all.
    said = verdict_json(replace(verdict, effects=verdict.effects[:EFFECTS]))
    said["effects_in_all"] = len(verdict.effects) if len(verdict.effects) > EFFECTS else 0
    names = ("response", "findings", "granted", "effects", "effects_in_all", "authorized_by")
    return {name: said[name] for name in names if said.get(name)}


def _plain(data: dict[str, object]) -> dict[str, object]:
    redacted = redact_data(data)
    assert isinstance(redacted, dict)
    return redacted
