"""A verb that is not known, of a program whose verbs can destroy: ``kubectl $ACTION deploy/api``, ``git "$1"``.

Rules of this file:
1. What stands in the verb's place decides: tables say where that is; where a known word is a verb already, the rest is
   its operand.
2. A variable that is called as options are may be empty, and hides no verb: ``docker $DOCKER_OPTS run x``.
3. In a script on disk it passes, as all that is opaque there does: the shims see what runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from sentinel_guard.core.analysis.expansion.command_and_options import Call, Parsed
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import package_publishing, subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import cloud_cli_subcommands, deployment_tools, other_service_clis
from sentinel_guard.core.analysis.programs.subcommand_tables import Row
from sentinel_guard.core.model import Command, Effect

_TABLES: dict[str, tuple[Row, ...]] = {
    **package_publishing.TABLES,
    **other_service_clis.TABLES,
    **deployment_tools.TABLES,
    **cloud_cli_subcommands.TABLES,
}
_ALWAYS = frozenset(("git", "docker", "podman", "nerdctl", "docker-compose", "systemctl", "zfs", "zpool"))
"""Their verbs destroy, and stand in code and not in a table."""
PROGRAMS = _TABLES.keys() | _ALWAYS
"""All programs that are looked at here."""
_TRIED = ("delete", "destroy", "rm", "remove", "uninstall", "down", "drop", "reset", "purge")
_LOST = ("destroy", "unpublish")
_PLACES = 3
"""Words among which a verb may stand."""
_OPTIONS = re.compile(
    r"(?i).*(?:opt|flag|arg|param|extra|verbose|quiet|debug|context|ctx|namespace|profile|region|config|env|dry|cluster)\w*"
)
_VERB = re.compile(r"(?i)(?:.*_)?(?:action|verb|op|operation|cmd|command|subcommand|method|do|mode|step)|[1-9@*]")
_VARIABLE = re.compile(r"\"?\$\{?([\w@*]+)(?:[:-].*)?\}?\"?")


def effects(call: Call) -> Iterator[Effect]:
    """An OPAQUE, how ``verb``, where the program may destroy by it; nothing where all words are known."""
    if False not in [item.known for item in call.fields]:
        return
    first = call.head.operands[:1] if call.head is not call.parsed else []
    words = [*first, *call.operands[: _PLACES - len(first)]]
    at = next((n for n, item in enumerate(words) if not item.known), None)
    if at is None or not _may_be_verb(words[at], first=at == 0):
        return
    program = call.command.program
    rows = _TABLES.get(program, ())
    if (program in _ALWAYS and at == 0) or any(_what(call, rows, at, verb) in _LOST for verb in _TRIED if rows):
        yield call.opaque(f"{program} {words[at].source or words[at].text}"[:200], "verb")


def has_verb(command: Command) -> bool:
    """Whether a command's first operand is a verb, and no value of the option before it."""
    first = command.subcommand or next(iter(command.operands), "")
    return first in _first_words(command.program) or subcommand_tables.settles(first)


@lru_cache(maxsize=256)
def _first_words(program: str) -> frozenset[str]:
    return subcommand_tables.first_words(_TABLES.get(program, ()))


def _may_be_verb(item: Field, *, first: bool) -> bool:
    named = _VARIABLE.fullmatch(item.source)
    if named is None:
        return first and item.source[:1] != "-" and not item.text.strip()
    return _VERB.fullmatch(named[1]) is not None or (first and _OPTIONS.fullmatch(named[1]) is None)


def _what(call: Call, rows: tuple[Row, ...], at: int, verb: str) -> str:
    """What the call would mean with this verb in that place."""
    if call.head is not call.parsed and at == 0:
        return subcommand_tables.what(replace(call, command=replace(call.command, subcommand=verb)), rows)
    behind = at - (call.head is not call.parsed)
    items = [*call.operands[:behind], Field(verb), *call.operands[behind + 1 :]]
    return subcommand_tables.what(replace(call, parsed=Parsed(call.parsed.flags, items)), rows)
