"""Reads of secrets that lie in no file: what a command prints of stores and of the environment (READ ``secrets of X``).
And which reads come before whoever asked (how: shown).

What goes into a variable, into a program that loads it, or through a filter that takes harmless lines only, is read and
not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.output_visibility import (
    COPIERS,
    TESTS,
    exposes_content,
    prints_arguments,
    said_values,
    values_of_errors,
)
from sentinel_guard.core.analysis.languages import code_meanings
from sentinel_guard.core.analysis.languages.shared import environment_output
from sentinel_guard.core.analysis.parser.syntax_tree import Redirect, Simple, Word
from sentinel_guard.core.analysis.programs import secret_stores
from sentinel_guard.core.analysis.secret_names import STORE, names_credential
from sentinel_guard.core.model import Command, Effect, Kind

_FILES = (">", ">>", ">|", "&>", "&>>")


def add(walk: Walker, call: Call, place: WalkContext) -> None:
    """The secrets that a program prints, where it may print any."""
    for target, how in secret_stores.sources(call):
        _read(walk, target, call.command, place, lists=how == secret_stores.LISTS)
    if _code_prints(call):
        _read(walk, secret_stores.ENVIRONMENT, call.command, place, lists=True)


PROGRAMS = secret_stores.PROGRAMS | {"jq"} | code_meanings.AWKS | code_meanings.LANGUAGES
"""All programs of which ``add`` has something to say, beside HELPERS."""


def add_variables(walk: Walker, own: Command, place: WalkContext) -> None:
    """All variables, with the secrets among them, as a builtin or ``env`` prints them."""
    if printed := secret_stores.printed_variables(own):
        _read(walk, printed, own, place, lists=True)


def add_printed_variables(walk: Walker, node: Simple, place: WalkContext) -> None:
    """``echo $API_KEY``: a variable that this text did not set, and that is called like a secret."""
    words = [*node.words, *(item.value for item in node.assignments)]
    own_tests = TESTS - place.scope.functions.keys() - place.scope.aliases.keys()
    add_errors(walk, values_of_errors(words, own_tests), words, node.redirects, place)
    if place.elsewhere or not node.words or not prints_arguments(node.words):
        return
    if any(r.op in _FILES for r in node.redirects):
        return
    scope = place.scope
    for word in node.words[1:] if any("$" in word.source for word in node.words) else ():
        names = said_values(word, own_tests, quoted=place.wanted)
        if any(names_credential(name) and name not in scope.variables for name in names):
            argv = tuple(item.source for item in node.words)
            _read(walk, secret_stores.VARIABLE, Command(argv[0], argv, via=place.via), place, lists=False)
            return


def add_errors(
    walk: Walker, names: Iterable[str], words: Sequence[Word], redirects: Sequence[Redirect], place: WalkContext
) -> None:
    """``[ x "$TOKEN" y ]``: a secret that an error says, where errors are seen."""
    if place.elsewhere or any(r.fd == "2" or r.op in ("&>", "&>>") for r in redirects):
        return
    if any(names_credential(name) and name not in place.scope.variables for name in names):
        argv = tuple(word.source for word in words)
        own = Command(argv[0], argv, via=place.via)
        _read(walk, secret_stores.VARIABLE, own, replace(place, shown=True), lists=False)


def _read(walk: Walker, target: str, own: Command, place: WalkContext, *, lists: bool) -> None:
    shown = place.shown and not place.disk and not (lists and place.harmless)
    walk.add(Effect(Kind.READ, target, how=frozenset(("shown",) if shown else ()), command=own), place)


def _code_prints(call: Call) -> bool:
    program = call.command.program
    if program == "jq":
        return any(environment_output.jq_prints_environment(item.text) for item in call.fields[1:] if item.known)
    if program in code_meanings.AWKS:
        return any(environment_output.awk_prints_environment(item.text) for item in call.fields[1:])
    if program not in code_meanings.LANGUAGES:
        return False
    return any(environment_output.prints_environment(text) for text in code_meanings.texts(call))


def as_seen(effect: Effect, place: WalkContext) -> Effect:
    """A read with the word ``shown`` where its content comes before whoever asked."""
    world = place.scope.world
    if isinstance(world, Overlay) and effect.target in world.secrets:
        shown = _is_shown(effect, place)
        return replace(effect, target=f"{STORE}{effect.target}", how=effect.how | ({"shown"} if shown else set()))
    if effect.target.startswith(STORE):
        hidden = not place.shown or (place.harmless and effect.target == secret_stores.ENVIRONMENT)
        return effect.with_how(effect.how - {"shown"}) if hidden else effect
    return effect.with_how(effect.how | {"shown"}) if _is_shown(effect, place) else effect


def _is_shown(effect: Effect, place: WalkContext) -> bool:
    """Of what runs inside of another command, its own place has said so before."""
    command = effect.command
    if command is None or place.disk or effect.target.startswith("/dev/fd/") or len(command.via) > len(place.via):
        return False
    return (place.shown or command.program in COPIERS) and exposes_content(command, effect.target)
