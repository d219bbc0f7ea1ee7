"""Generate a policy rule from an example command: its program, subcommand, flags and first named operand."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from sentinel_guard.core.model import Command, Kind
from sentinel_guard.core.policy import rule_examples
from sentinel_guard.core.policy.rule_examples import Analyse, ExampleWorld
from sentinel_guard.errors import ConfigError

_HINT = "Give one command, for example: sentinel-guard policy add --deny 'kubectl delete ns *' --why '...'"


class Draft(NamedTuple):
    """The keys of a rule that an example gives, and what a person should know about them."""

    keys: dict[str, object]
    notes: tuple[str, ...] = ()


class _Unglobbed(ExampleWorld):
    """The machine of the examples, where a ``*`` stands for anything and not for the files that are there."""

    def glob(self, pattern: str) -> tuple[str, ...]:  # noqa: ARG002 - World's
        return ()


def draft(text: str, analyse: Analyse) -> Draft:
    """The rule's keys for one example. Raises ConfigError where it is not one command."""
    command = _command(text, analyse)
    keys: dict[str, object] = {"program": command.program}
    notes: list[str] = []
    if command.subcommand:
        keys["subcommand"] = command.subcommand
    if command.flags:
        keys["all_flags"] = sorted(command.flags)
        notes.append("A flag's other name is not taken in (-f is not --force): name them all with --flag.")
    named = [word for word in command.operands if word.strip("*")]
    if named:
        keys["operand"] = named[0]
    if len(named) > 1:
        left = ", ".join(named[1:])
        notes.append(f"Of its words only {named[0]!r} is looked at, not {left}: --operand names another.")
    if len(keys) == 1:
        notes.append(f"It takes in every {command.program} there is.")
    return Draft(keys, tuple(notes))


def _command(text: str, analyse: Analyse) -> Command:
    effects = rule_examples.example(text, analyse, _Unglobbed())
    if any(e.kind is Kind.OPAQUE and e.how & {"parse", "name"} for e in effects):
        raise ConfigError(f"{text!r} is no command that can be read.", _HINT)
    commands = list({id(e.command): e.command for e in effects if e.kind is Kind.EXECUTE and e.command}.values())
    starters = {word.split(" ")[0] for c in commands for word in c.via}
    meant = [c for c in commands if c.program not in starters]
    if not meant:
        raise ConfigError(f"There is no command in {text!r}.", _HINT)
    if len(meant) > 1:
        names = ", ".join(" ".join(c.argv) for c in meant)
        raise ConfigError(f"{text!r} holds several commands: {names}.", _HINT)
    return meant[0]


def harmless(keys: dict[str, object], text: str) -> list[str]:
    """Commands that a rule from an example must leave alone: the words as data, and the program asked for help."""
    wanted = [f"echo {shlex.quote(text)}"]
    if len(keys) > 1:
        wanted.append(f"{keys['program']} --help")
    return wanted


def name(keys: dict[str, object], prefix: str) -> str:
    """An id from the keys: ``project.kubectl-delete-ns``."""
    words = [str(keys[key]) for key in ("program", "subcommand", "operand") if keys.get(key)]
    slug = re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-")
    return f"{prefix}.{slug or 'rule'}"


def action(ident: str) -> str:
    """What the gate shows for a rule: ``KUBECTL_DELETE_NS``."""
    return re.sub(r"[^A-Z0-9]+", "_", ident.partition(".")[2].upper()).strip("_") or ident.upper()
