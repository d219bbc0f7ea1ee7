"""An index finds what a look at every rule finds, in the same order."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Effect, Kind, Response
from sentinel_guard.core.policy import rule_examples
from sentinel_guard.core.policy.match_rules import Index, matches
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.core.policy.target_placeholders import TargetContext
from sentinel_guard.host.policy_files import builtin

POLICY = merge(builtin())
INDEX = Index(POLICY)
GROUND = TargetContext(POLICY, rule_examples.ROOT, rule_examples.HOME)


def every_rule(effect: Effect) -> list[Rule]:
    asked = [r for r in POLICY.rules if effect.kind in (r.effect or (Kind.EXECUTE,))]
    return [r for r in asked if matches(r, effect, GROUND)]


@pytest.mark.parametrize("rule", POLICY.rules, ids=[r.id for r in POLICY.rules])
def test_no_rule_is_lost_on_the_examples_of_any(rule: Rule) -> None:
    for text in (*rule.hit, *rule.miss):
        for effect in rule_examples.example(text, analyse):
            assert list(INDEX.rules(effect, GROUND)) == every_rule(effect), text


def test_an_effect_without_a_command_meets_the_rules_that_name_none() -> None:
    effect = Effect(Kind.DELETE, rule_examples.ROOT, how=frozenset(("recursive",)))
    assert list(INDEX.rules(effect, GROUND)) == every_rule(effect) != []


def test_a_rule_on_commands_has_no_target() -> None:
    rule = Rule("r", Response.ASK, "why", program=("x",), target=("/nowhere",))
    command = rule_examples.example("x y", analyse)[0]
    assert list(Index(Policy(rules=(rule,))).rules(command, GROUND)) == [rule]


GATES = [
    (("deploy",), ["deploy"], "the program"),
    (("/opt/bin/deploy", "now"), ["deploy"], "the program by its path"),
    (("./scripts/deploy.sh",), ["deploy"], "a path with a wildcard"),
    (("npm", "run", "deploy"), ["deploy", "release"], "two gates, in the policy's order"),
    (("npm", "run", "build"), [], "other words"),
    (("npm",), [], "too few words"),
]


@pytest.mark.parametrize(("argv", "names", "why"), GATES, ids=[why for *_, why in GATES])
def test_gates(argv: tuple[str, ...], names: list[str], why: str) -> None:
    patterns = ("deploy", "./scripts/deploy*", "npm run deploy", "npm run de*")
    policy = Policy(confirm={"deploy": patterns, "release": ("npm run deploy",)})
    assert Index(policy).gates(argv) == names, why
