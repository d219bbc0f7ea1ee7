"""Find the policy rules that match an effect, and the ``confirm`` patterns that match a command.

``matches`` is the truth about one rule; an ``Index`` only spares it the rules that cannot be meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple, Self

from sentinel_guard.core.model import Command, Effect, Kind
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.core.policy.target_placeholders import TargetContext, matches_target

_NAMES = 1024
"""Names of programs that an index remembers."""


def matches(rule: Rule, effect: Effect, ground: TargetContext) -> bool:
    """Whether a rule takes an effect in: its command keys and its effect keys, all that are given."""
    return _means(rule, effect) and _aims(rule, effect.target, ground)


def _means(rule: Rule, effect: Effect) -> bool:
    """All but the target."""
    if rule.sure is not None and rule.sure is not effect.sure:
        return False
    if rule.effect and (effect.kind not in rule.effect or not rule.how <= effect.how or rule.no_how & effect.how):
        return False
    return _matches_command(rule, effect.command)


def _aims(rule: Rule, target: str, ground: TargetContext) -> bool:
    if rule.effect and rule.target and not matches_target(rule.target, target, ground):
        return False
    return not (rule.effect and rule.not_target and matches_target(rule.not_target, target, ground))


def _matches_command(rule: Rule, command: Command | None) -> bool:
    if command is None:
        return not (rule.program or rule.subcommand or rule.any_flag or rule.all_flags or rule.operand)
    return (
        _names(rule, command.program, command.subcommand)
        and (not rule.any_flag or bool(rule.any_flag & command.flags))
        and rule.all_flags <= command.flags
        and not rule.no_flag & command.flags
        and (not rule.operand or any(_like(rule.operand, o) for o in command.operands))
    )


def _names(rule: Rule, program: str, subcommand: str) -> bool:
    return (not rule.program or _like(rule.program, program)) and (not rule.subcommand or subcommand in rule.subcommand)


def _like(patterns: tuple[str, ...], text: str) -> bool:
    return text in patterns or any(fnmatchcase(text, p) for p in patterns)


class _Named(NamedTuple):
    """The rules that a kind of effect, or a command, may meet."""

    rules: tuple[Rule, ...]
    free: tuple[Rule, ...]
    """Those that look at no target."""
    targets: tuple[str, ...]
    """The target patterns of all others: most effects meet none, and one look at all of them tells."""

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Self:
        found = tuple(rules)
        aimed = [rule for rule in found if rule.effect and rule.target]
        targets = dict.fromkeys(pattern for rule in aimed for pattern in rule.target)
        return cls(found, tuple(rule for rule in found if not (rule.effect and rule.target)), tuple(targets))


class Index:
    """The rules and gates of one policy, by what a command is called: most commands meet none of them."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._rules: dict[str, list[Rule]] = {}
        for rule in policy.rules:
            for kind in rule.effect or (Kind.EXECUTE,):
                self._rules.setdefault(kind, []).append(rule)
        gates = [(name, p.removeprefix("./").split()) for name, given in policy.confirm.items() for p in given]
        self._gates = [(name, first, tuple(rest)) for name, (first, *rest) in gates]
        self._named = lru_cache(_NAMES)(self._find_rules)
        self._of = lru_cache(_NAMES)(self._find_kind)
        self._opened = lru_cache(_NAMES)(self._find_gates)
        self._last: tuple[Effect | None, _Named | None] = None, None
        """The effect that was asked about before, and the rules that may be meant of all that are like it."""

    def rules(self, effect: Effect, ground: TargetContext) -> Sequence[Rule]:
        """The rules that take an effect in, in the policy's order."""
        named, meant = self._of_command(effect)
        if not named.rules:
            return ()
        aimed = named.targets and matches_target(named.targets, effect.target, ground)
        found = named.rules if aimed else named.free
        return [rule for rule in found if (meant or _means(rule, effect)) and _aims(rule, effect.target, ground)]

    def _of_command(self, effect: Effect) -> tuple[_Named, bool]:
        """The rules that may be meant; True with those that are, but for the target: a command that does the same to
        many files is looked at once.
        """
        before, fewer = self._last
        again = before is not None and _is_same_but_target(before, effect)
        if again and fewer is not None:
            return fewer, True
        command = effect.command
        named = self._named(effect.kind, command.program, command.subcommand) if command else self._of(effect.kind)
        if again:
            named = _Named.of(rule for rule in named.rules if _means(rule, effect))
        self._last = effect, named if again else None
        return named, again

    def _find_rules(self, kind: Kind, program: str, subcommand: str) -> _Named:
        return _Named.of(rule for rule in self._rules.get(kind, ()) if _names(rule, program, subcommand))

    def _find_kind(self, kind: Kind) -> _Named:
        return _Named.of(self._rules.get(kind, ()))

    def gates(self, argv: tuple[str, ...]) -> list[str]:
        """Names of the gates that a command stands before, each once.

        Their patterns: ``deploy`` (program), ``./scripts/deploy*`` (path), ``npm run deploy`` (program, first words).
        """
        found = [
            name
            for name, rest in self._opened(argv[0])
            if len(argv) > len(rest) and all(map(fnmatchcase, argv[1:], rest))
        ]
        return list(dict.fromkeys(found)) if found else found

    def _find_gates(self, word: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        program = word.removeprefix("./")
        return tuple(
            (name, rest)
            for name, first, rest in self._gates
            if fnmatchcase(program, first) or fnmatchcase(program, f"*/{first}")
        )


def _is_same_but_target(one: Effect, other: Effect) -> bool:
    return (one.command is other.command) and (one.kind, one.how, one.sure) == (other.kind, other.how, other.sure)
