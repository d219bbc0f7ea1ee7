"""The two-key gate by name: commands and tools before which the policy wants a person's yes (``[confirm]``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.finding_texts import evidence, short, shown
from sentinel_guard.core.model import Ask, Command, Effect, Finding, Layer, Response
from sentinel_guard.core.policy.match_rules import Index
from sentinel_guard.core.secrets.redact_before_logging import redact_secrets

NAME = "rules"
"""The check that speaks for them."""
_SHELLS = ("sh", "bash", "zsh", "dash", "ksh")
_NO_EXECUTION = re.compile(r"-[a-bd-z]*n[a-bd-z]*")
_INTERPRETERS = frozenset(
    (
        *(*_SHELLS, "source", "."),
        *("python", "python3", "node", "deno", "bun", "ruby", "perl"),
    )
)


def before_command(case: Case, effect: Effect, index: Index) -> Iterator[Finding]:
    """The gates that a command stands before."""
    command = effect.command
    argv = _as_program(command) if command is not None else ()
    if command is None or not index.is_gated(argv) or _only_parses(command):
        return
    for name in index.gates(argv):
        words = [w for w in argv[1:] if not w.startswith("-")]
        target = words[0] if words else paths.base(argv[0])
        yield _gate(case, name, target, f"`{shown(case, effect)}`", evidence(effect))


def _as_program(command: Command) -> tuple[str, ...]:
    """What runs and its words: the script, where an interpreter is given one."""
    return command.operands if command.program in _INTERPRETERS and command.operands else command.argv


def _only_parses(command: Command) -> bool:
    """``bash -n deploy.sh`` reads the script and runs nothing of it."""
    if command.program not in _SHELLS:
        return False
    before = takewhile(lambda word: word.startswith("-"), command.argv[1:])
    return any(_NO_EXECUTION.fullmatch(word) for word in before)


def before_tool(case: Case) -> Iterable[Finding]:
    """A tool of the agent that bears an action's name: ``deploy``, ``mcp__ops__delete_database``."""
    if case.action.layer is not Layer.HOOK:
        return ()
    tool = case.action.tool.rpartition("__")[2].lower().replace("-", "_")
    if tool not in case.policy.confirm:
        return ()
    values = [v for v in case.action.arguments.values() if isinstance(v, str)]
    target = values[0] if values else tool
    return (_gate(case, tool, target, f"the tool {case.action.tool}", f"tool {case.action.tool}"),)


def _gate(case: Case, name: str, target: str, what: str, evidence: str) -> Finding:
    # In capitals nobody would know a secret any more.
    ask = Ask(name.upper(), short(case, redact_secrets(target, case.known())).upper(), "HIGH")
    why = f"{name} needs a person's yes (policy [confirm])"
    return Finding(NAME, Response.ASK, what, why, "ask the user to run it", f"confirm.{name}", evidence, ask)
