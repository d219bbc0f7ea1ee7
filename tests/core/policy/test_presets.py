"""Presets: what each sets, who may ask for it, and what observing lets pass."""

from __future__ import annotations

import tomllib

import pytest

from sentinel_guard.core.model import Ask, Finding, Response
from sentinel_guard.core.policy import file_schema, presets
from sentinel_guard.core.policy.file_schema import Layer
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Policy, Protection
from sentinel_guard.core.policy.settings_table import SETTINGS

OBSERVED = Policy(protection=Protection("observe"))
FINDINGS = (
    (Finding("rules", Response.DENY, "x", "y", "z", "paths.restricted"), Response.HINT, "a refusal"),
    (Finding("rules", Response.ASK, "x", ask=Ask("DEPLOY", "t", "HIGH")), Response.HINT, "a question"),
    (Finding("cost", Response.COOL_DOWN, "x"), Response.HINT, "a cool-down"),
    (
        Finding("loop", Response.BREAK, "SYSTEM INTERVENTION: x", operations=frozenset({"o"})),
        Response.HINT,
        "a breaker",
    ),
    (Finding("rules", Response.HINT, "x"), Response.HINT, "a hint"),
    (Finding("rules", Response.SNAPSHOT, "x"), Response.SNAPSHOT, "a snapshot"),
    (Finding("rules", Response.KILL, "x", rule="system.root"), Response.KILL, "a threat to the system"),
    (Finding("rules", Response.DENY, "x", rule="guard.state"), Response.DENY, "what the guard needs for itself"),
    (Finding("session_state", Response.DENY, "x"), Response.DENY, "a session that a person paused"),
    (Finding("human", Response.DENY, "x"), Response.DENY, "a person's no"),
)


@pytest.mark.parametrize(("finding", "response", "why"), FINDINGS, ids=[f[2] for f in FINDINGS])
def test_observing(finding, response, why):
    seen = presets.softened(finding, OBSERVED)
    assert seen.response is response, why
    assert presets.softened(finding, Policy()) is finding, "otherwise nothing changes"
    if seen != finding:
        assert presets.WOULD in seen.what and "SYSTEM INTERVENTION" not in seen.what
        assert not (seen.ask or seen.operations or seen.instead)


def test_every_preset_sets_what_there_is_and_strict_tightens_alone():
    assert set(presets.SETTINGS) == set(presets.NAMES) == set(SETTINGS["protection"]["preset"].choices)
    project = Layer("p", dict(presets.SETTINGS["strict"]))
    taken = merge(Layer(""), Layer(""), project)
    refused = [w for w in taken.warnings if "only the user's own policy" not in w]
    assert refused == [], "each value is as tight as what is built in, or tighter"
    for section, key in presets.SETTINGS["strict"]:
        assert key in SETTINGS[section]


def layer(text: str) -> Layer:
    return file_schema.parse(tomllib.loads(text), "f", text)


STRICT, OBSERVE = '[protection]\npreset = "strict"\n', '[protection]\npreset = "observe"\n'
MERGED = (
    (STRICT, "", ("strict", 3, "require", 0), "the user's"),
    (STRICT + "[failures]\nruns = 9\n", "", ("strict", 9, "require", 0), "what the user names counts before it"),
    ("", STRICT, ("strict", 3, "auto", 0), "a project's: without what only a user may set"),
    ("[failures]\nruns = 2\n", STRICT, ("strict", 2, "auto", 0), "what is tighter already stays"),
    ("", OBSERVE, ("standard", 5, "auto", 1), "a project cannot loosen"),
    (OBSERVE, "", ("observe", 5, "auto", 0), "the user may"),
    (OBSERVE, STRICT, ("strict", 3, "auto", 0), "and a project tightens it again"),
)


@pytest.mark.parametrize("row", MERGED, ids=[m[3] for m in MERGED])
def test_who_may_ask_for_it(row):
    user, project, (preset, runs, mode, warnings), why = row
    policy = merge(Layer(""), layer(user), layer(project))
    assert (policy.protection.preset, policy.failures.runs, policy.kernel.mode) == (preset, runs, mode), why
    assert len(policy.warnings) == warnings
