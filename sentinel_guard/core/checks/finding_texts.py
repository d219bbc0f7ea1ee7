"""What findings say: the command or path that they are about, short enough to read, and their evidence."""

from __future__ import annotations

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.model import Command, Effect, Finding, Kind
from sentinel_guard.core.secrets.redact_before_logging import shorten
from sentinel_guard.core.session.operation_fingerprint import command_text

_SHOWN = 120
_UNSURE = " (not sure)"


def shown(case: Case, effect: Effect) -> str:
    """The command of an effect, else the action as it was given, or a tool and its target; short enough to read."""
    if text := "" if effect.command is None or says_nothing(effect) else _command(case, effect.command):
        return text
    typed = {"command", "argv"} & set(case.action.arguments)
    return short(case, command_text(case.action) if typed else f"{case.action.tool} {effect.target}")


def _command(case: Case, command: Command) -> str:
    """A command has thousands of words and effects: it is put into words once."""
    told = case.told.get(id(command))
    if told is None:
        told = case.told[id(command)] = command, short(case, " ".join(" ".join(command.argv).split()))
    return told[1]


def short(case: Case, text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    if text not in case.shortened:
        case.shortened[text] = shorten(text, _SHOWN, case.known())
    return case.shortened[text]


def says_nothing(effect: Effect) -> bool:
    """Something unknown that left no text: an empty expansion, a pipe into an interpreter."""
    return effect.kind is Kind.OPAQUE and not effect.target.strip("… ")


def evidence(effect: Effect) -> str:
    return f"{effect.kind} {effect.target}" + ("" if effect.sure else _UNSURE)


def evidence_target(finding: Finding) -> str:
    """What the effect of a finding aims at."""
    return finding.evidence.partition(" ")[2].removesuffix(_UNSURE)


def near(path: str, root: str) -> str:
    """The path as the agent knows it: relative to the repository where it lies in it."""
    return path[len(root) + 1 :] if root and path.startswith(root + "/") else path
