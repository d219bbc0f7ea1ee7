"""Verify policy rules: run their examples through the whole policy, on a simulated machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.rules import Rules
from sentinel_guard.core.model import Action, Finding, Kind, Layer, Response
from sentinel_guard.core.policy import rule_examples
from sentinel_guard.core.policy.match_rules import matches
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.core.policy.rule_examples import Analyse
from sentinel_guard.core.session.session import Session


class Proof(NamedTuple):
    """One rule, tried."""

    rule: Rule
    problems: tuple[str, ...]
    """What does not hold, in words; empty for a good rule."""


class Prover:
    """Tries texts against one policy. Runs nothing."""

    def __init__(self, policy: Policy, analyse: Analyse) -> None:
        self.policy, self.analyse = policy, analyse
        self._rules = Rules()

    def findings(self, text: str) -> tuple[Finding, ...]:
        """What the policy's rules say to a command, at the top of the repository of the examples."""
        effects = rule_examples.example(text, self.analyse)
        action = Action(
            "example", "", Layer.CLI, "shell", {"command": text}, rule_examples.ROOT, 0.0, rule_examples.ROOT
        )
        return tuple(
            self._rules(Case(action, effects, Session("", rule_examples.ROOT), self.policy, home=rule_examples.HOME))
        )

    def stopping(self, text: str) -> Finding | None:
        """The strictest finding that would stop a command (ask, deny, kill); None where it runs."""
        found = max(self.findings(text), key=lambda f: f.response, default=None)
        return found if found and found.response >= Response.ASK else None

    def prove(self, rules: Iterable[Rule]) -> Iterator[Proof]:
        """Each rule with what does not hold of it: a hit that misses, a miss that hits, a way out that is none."""
        for rule in rules:
            problems = [p.words for p in rule_examples.validate((rule,), self.analyse, self.policy)]
            yield Proof(rule, (*problems, *self._way_out(rule)))

    def _way_out(self, rule: Rule) -> Iterator[str]:
        """What a rule says to do instead must pass the guard; a sentence that is no command is only words."""
        if rule.instead and not self._is_prose(rule.instead) and (found := self.stopping(rule.instead)):
            by = f"{found.rule or found.check}: {found.response.word}, {found.why}"
            yield f"{rule.source}: rule {rule.id}: its instead {rule.instead!r} does not pass the guard ({by})."

    def _is_prose(self, text: str) -> bool:
        effects = rule_examples.example(text, self.analyse)
        return any(e.kind is Kind.OPAQUE and "parse" in e.how for e in effects)

    def newly_blocked(self, rule: Rule) -> Iterator[tuple[str, str]]:
        """Honest commands that this rule, put on top of the policy, would newly stop: (command, the rule it is from).

        Honest is what the policy's rules name as ``miss`` or ``instead``.
        """
        if rule.response < Response.ASK:
            return
        ground = rule_examples.ground(self.policy)
        seen: set[str] = set()
        for other in self.policy.rules:
            for text in (*other.miss, other.instead):
                if text and text not in seen and not self.stopping(text):
                    seen.add(text)
                    if any(matches(rule, e, ground) for e in rule_examples.example(text, self.analyse)):
                        yield text, other.id
