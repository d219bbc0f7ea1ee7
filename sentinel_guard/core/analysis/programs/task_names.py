"""Task runners whose tasks nobody reads here (nx, turbo, cargo xtask, mage …): what a task's own name says it does.

``turbo run deploy`` runs a script of each package of a workspace, ``cargo xtask release`` a program of the project.
Where the name says that something is deployed, released or thrown away, that is what counts; a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.model import Effect, Kind

_TRIES = re.compile(r"(?i)dry[-_:]?run|check|plan|preview|local|dev|test|validate|--help|-h|--graph|--dry")
_PARTS = re.compile(r"[:._/-]")
_LOSES = frozenset(
    ("destroy", "drop", "wipe", "purge", "nuke", "teardown", "undeploy", "rollback", "reseed", "truncate")
)
_CHANGES = frozenset(("deploy", "release", "publish", "ship", "promote", "migrate-prod"))
_STORES = frozenset(("db", "database", "data", "schema", "prod", "production"))
"""Beside one of these ``reset`` is a loss."""
_VERBS: dict[str, tuple[str, ...]] = {
    "nx": ("run", "run-many", "affected", "exec"), "turbo": ("run",), "lerna": ("run", "exec"), "moon": ("run",),
    "cargo": ("xtask", "make"), "rush": (), "mage": (), "pants": ("run",), "bazel": ("run",), "bazelisk": ("run",),
    "please": ("run",), "plz": ("run",), "lage": (), "wireit": (), "earthly": (), "dagger": ("call", "run"),
    "fab": (), "fabric": (), "invoke": (), "inv": (), "nox": (), "doit": (), "grunt": (), "gulp": (), "jake": (),
    "buildozer": (), "wsl-run": (), "hatch": ("run",), "pdm": ("run",), "rye": ("run",), "pixi": ("run",),
}  # fmt: skip
"""Runner -> the first words behind which a task is named; none: any word."""
_OPTIONS = ("-t", "--target", "--targets", "--tasks", "--filter")
_OWN = frozenset(("nx", "lerna"))
"""``nx release``, ``lerna publish`` are verbs of their own."""
MOST = 8
"""Words that are looked at."""


def named(call: Call) -> Iterator[Effect]:
    """What the names of the tasks say; nothing where the runner only tries."""
    program = call.command.program
    words = [item.text for item in call.fields[1 : MOST + 1]]
    if any(_TRIES.search(word) for word in words):
        return
    verbs = _VERBS[program]
    plain = [word for word in words if word[:1] != "-"]
    if verbs and plain[:1] and plain[0] not in verbs:
        if program == "cargo":
            return
        plain = plain[:1]  # ``nx deploy app``: the rest are projects
    elif verbs:
        plain = plain[1:]
    given = [word.partition("=")[2] for word in words if word.partition("=")[0] in _OPTIONS]
    for word in (*plain[:2], *given):
        yield from _said(call, word)


def _said(call: Call, word: str) -> Iterator[Effect]:
    parts = [part for part in _PARTS.split(word.lower()) if part]
    loses = bool(_LOSES & {*parts}) or ("reset" in parts and bool(_STORES & {*parts}))
    if loses:
        yield call.effect(Kind.DEPLOY, f"{call.command.program} {word}"[:80], "delete", sure=False)
    elif parts and (parts[0] in _CHANGES or parts[-1] in _CHANGES - {"release"}):
        yield call.effect(Kind.DEPLOY, f"{call.command.program} {word}"[:80], sure=False)


_ALREADY = frozenset(("cargo", "nx", "lerna", "hatch", "pdm", "rye", "pixi", "dagger", "bazel"))
"""Other rows have these, too."""
PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(_VERBS.keys() - _ALREADY, named)
OPTIONS = {name: options("") for name in PROGRAMS}
