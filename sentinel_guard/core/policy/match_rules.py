"""Find the policy rules that match an effect, and the ``confirm`` patterns that match a command.

``matches`` is the truth about one rule; an ``Index`` only spares it the rules that cannot be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple, Self

from sentinel_guard.core.model import Command, Effect, Kind
from sentinel_guard.core.policy.path_patterns import Anywhere
from sentinel_guard.core.policy.policy import Policy, Rule
from sentinel_guard.core.policy.target_placeholders import TargetContext, matches_target

_NAMES = 4096
"""Kinds of effects of programs, and programs, that an index remembers."""
_WILD = re.compile(r"[*?[]")


def matches(rule: Rule, effect: Effect, ground: TargetContext) -> bool:
    """Whether a rule takes an effect in: its command keys and its effect keys, all that are given."""
    return _means(rule, effect) and _aims(rule, effect.target, ground)


def _means(rule: Rule, effect: Effect) -> bool:
    """All but the target."""
    return _takes(rule, effect.kind, effect.how, sure=effect.sure) and _matches_command(rule, effect.command)


def _takes(rule: Rule, kind: Kind, how: frozenset[str], *, sure: bool) -> bool:
    if rule.sure is not None and rule.sure is not sure:
        return False
    return not rule.effect or (kind in rule.effect and rule.how <= how and not rule.no_how & how)


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
    """The rules that a kind of effect of a program's may meet."""

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


class _ByProgram:
    """The rules of one kind of effect: a text may name hundreds of programs, of which hardly a rule speaks."""

    def __init__(self) -> None:
        self._named: dict[str, list[tuple[int, Rule]]] = {}
        self._others: list[tuple[int, Rule]] = []
        """Of any program, or of a pattern of names."""

    def add(self, place: int, rule: Rule) -> None:
        if rule.program and not any(_WILD.search(name) for name in rule.program):
            for name in dict.fromkeys(rule.program):
                self._named.setdefault(name, []).append((place, rule))
        else:
            self._others.append((place, rule))

    def of(self, program: str) -> list[Rule]:
        """Those that may mean a program, in the policy's order."""
        found = sorted((*self._others, *self._named.get(program, ())), key=itemgetter(0))
        return [rule for _, rule in found]


class Index:
    """The rules and gates of one policy, by what a command is called: most commands meet none of them."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._rules: dict[str, _ByProgram] = {}
        for place, rule in enumerate(policy.rules):
            for kind in rule.effect or (Kind.EXECUTE,):
                self._rules.setdefault(kind, _ByProgram()).add(place, rule)
        gates = [(name, p.removeprefix("./").split()) for name, given in policy.confirm.items() for p in given]
        self._gates = [(name, first, tuple(rest)) for name, (first, *rest) in gates]
        self._gated = Anywhere(pattern for _, first, _ in self._gates for pattern in (first, f"*/{first}"))
        self._named = lru_cache(_NAMES)(self._find_rules)
        self._opened = lru_cache(_NAMES)(self._find_gates)

    def rules(self, effect: Effect, ground: TargetContext) -> Sequence[Rule]:
        """The rules that take an effect in, in the policy's order."""
        command, target = effect.command, effect.target
        program, subcommand = (command.program, command.subcommand) if command else ("", "")
        named = self._named(effect.kind, effect.how, effect.sure, program, subcommand)
        if not named.rules:
            return ()
        found = named.rules if named.targets and matches_target(named.targets, target, ground) else named.free
        return [rule for rule in found if _matches_command(rule, command) and _aims(rule, target, ground)]

    def _find_rules(self, kind: Kind, how: frozenset[str], sure: bool, program: str, subcommand: str) -> _Named:
        rules = self._rules[kind].of(program) if kind in self._rules else ()
        return _Named.of(r for r in rules if _names(r, program, subcommand) and _takes(r, kind, how, sure=sure))

    def is_gated(self, argv: tuple[str, ...]) -> bool:
        """Whether any gate may stand before what runs: before hardly a program does one."""
        return bool(argv) and bool(self._opened(argv[0]))

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
        if not self._gated.match(program):
            return ()
        return tuple(
            (name, rest)
            for name, first, rest in self._gates
            if fnmatchcase(program, first) or fnmatchcase(program, f"*/{first}")
        )
