"""Reads of secrets that lie in no file: what a command prints of stores and of the environment (READ ``secrets of X``).

Shown is what comes before whoever asked. What goes into a variable, into a program that loads it, or through a filter
that takes harmless lines only, is read and not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.output_visibility import prints_arguments
from sentinel_guard.core.analysis.languages.interpreters import PROGRAMS as INTERPRETERS
from sentinel_guard.core.analysis.languages.shared import client_losses, environment_output
from sentinel_guard.core.analysis.parser.syntax_tree import Simple
from sentinel_guard.core.analysis.programs import secret_stores
from sentinel_guard.core.analysis.secret_names import names_credential
from sentinel_guard.core.model import Command, Effect, Kind

_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_NO_CODE = frozenset((*SHELLS, *_AWKS, "sed", "gsed"))
_PRINTED = ("-p", "--print", "-pe")
"""Options with which a runtime prints the value of what it is given."""
_VALUE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?:\}|:?-)|([A-Za-z_]\w*))")
"""Uses of a variable's whole value: ``${x:+y}``, ``${#x}``, ``${x:0:4}`` are none."""
_SHORT = 10
"""Characters that no code which prints or loses anything has."""
_LOSSES = (Kind.DEPLOY, Kind.DATABASE)
_FILES = (">", ">>", ">|", "&>", "&>>")


def add(walk: Walker, call: Call, place: WalkContext) -> None:
    """The secrets that a program prints, and what its code takes down elsewhere."""
    for target, how in secret_stores.sources(call):
        _read(walk, target, call.command, place, lists=how == secret_stores.LISTS)
    found = _code_loses(call)
    if found and not any(e.command is call.command and e.kind in _LOSSES and "delete" in e.how for e in walk.effects):
        walk.add(Effect(Kind.DEPLOY, found, sure=False, how=frozenset(("delete",)), command=call.command), place)
    if (loaded := _code_loads(call)) is not None:
        walk.opaque(loaded, "code", place)
    if _code_prints(call):
        _read(walk, secret_stores.ENVIRONMENT, call.command, place, lists=True)


def add_variables(walk: Walker, own: Command, place: WalkContext) -> None:
    """All variables, with the secrets among them, as a builtin or ``env`` prints them."""
    if printed := secret_stores.printed_variables(own):
        _read(walk, printed, own, place, lists=True)


def add_printed_variables(walk: Walker, node: Simple, place: WalkContext) -> None:
    """``echo $API_KEY``: a variable that this text did not set, and that is called like a secret."""
    if place.elsewhere or not node.words or "$" not in node.source or not prints_arguments(node.words):
        return
    if any(r.op in _FILES for r in node.redirects):
        return
    scope = place.scope
    for word in node.words[1:]:
        names = [one or other for one, other in _VALUE.findall(word.source)]
        if any(names_credential(name) and name not in scope.variables for name in names):
            argv = tuple(item.source for item in node.words)
            _read(walk, secret_stores.VARIABLE, Command(argv[0], argv, via=place.via), place, lists=False)
            return


def _read(walk: Walker, target: str, own: Command, place: WalkContext, *, lists: bool) -> None:
    shown = place.shown and not place.disk and not (lists and place.harmless)
    walk.add(Effect(Kind.READ, target, how=frozenset(("shown",) if shown else ()), command=own), place)


def _code_prints(call: Call) -> bool:
    program = call.command.program
    if program == "jq":
        return any(environment_output.jq_prints_environment(item.text) for item in call.fields[1:] if item.known)
    if program in _AWKS:
        return any(environment_output.awk_prints_environment(item.text) for item in call.fields[1:])
    if program not in INTERPRETERS or program in _NO_CODE:
        return False
    return any(environment_output.prints_environment(text) for text in _texts(call))


_TRUSTS = re.compile(r"\btrust_remote_code\s*=\s*True|\btorch\.hub\.load\(|\bsource_url\s*=")
_UNPICKLES = re.compile(
    r"\b(?:pickle|joblib|dill|cloudpickle|torch|marshal|pandas|pd)\.(?:load|loads|read_pickle)\s*\("
)


def _code_loads(call: Call) -> str | None:
    """What code of others is loaded with data: by a library that is told to trust it, or out of a fetched file."""
    if call.command.program not in INTERPRETERS or call.command.program in _NO_CODE:
        return None
    for text in _texts(call):
        if match := _TRUSTS.search(text):
            return match[0]
        if _UNPICKLES.search(text) and any(path in text for path in call.world.fetched):
            return "an object that was fetched"
    return None


def _code_loses(call: Call) -> str:
    """What code takes down through a client library; empty for nothing."""
    program = call.command.program
    if program not in INTERPRETERS or program in _NO_CODE:
        return ""
    return next((found for text in _texts(call) if (found := client_losses.lost(text))), "")


def _texts(call: Call) -> Iterator[str]:
    """The code of an interpreter's call: arguments, standard input, files that this text wrote."""
    printed = call.has(*_PRINTED)
    for item in call.fields[1:]:
        if len(item.text) > _SHORT:
            yield f"print({item.text})" if printed else item.text
    yield call.stdin.replace(UNKNOWN, "")
    made = call.world.made()
    for item in call.operands[:1] if made else ():
        if item.known and (path := call.locate(item)) in made:
            yield (call.world.read(path) or "").replace(UNKNOWN, "")
