"""``sentinel-guard check``: what would the guard say to this? Changes nothing, needs no daemon."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.text import Text

from sentinel_guard.core import respond
from sentinel_guard.core.analysis.effects import analyse
from sentinel_guard.core.checks.base import Case, Guarded
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.codec import verdict_json
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Action, Layer, Response, Verdict
from sentinel_guard.core.operation import operation
from sentinel_guard.core.session import Session
from sentinel_guard.host import inventory, repository
from sentinel_guard.host.places import Places
from sentinel_guard.host.policies import Policies
from sentinel_guard.host.world import HostWorld

COLOURS = {Response.ALLOW: "green", Response.SNAPSHOT: "green", Response.HINT: "cyan", Response.ASK: "yellow"}


class Checker:
    """Judges commands one by one against the policy of where they would run."""

    def __init__(self, places: Places) -> None:
        self._policies = Policies(places)
        self._world = HostWorld(dict(os.environ))
        self._guarded = Guarded((str(places.state), str(places.runtime)), (str(places.config),))
        self._warned: set[str] = set()
        self._roots: dict[str, tuple[str, tuple[str, ...]]] = {}

    def verdict(self, command: str, cwd: str) -> Verdict:
        """What a fresh session would be told."""
        root, restricted = self._workspace(cwd)
        policy = self._policies.load(root)
        self._warn(policy.warnings)
        action = Action("check", "check", Layer.CLI, "shell", {"command": command}, cwd, time.time(), root)
        settings = (*self._guarded.settings, *((f"{root}/sentinel.toml", f"{root}/.git/hooks") if root else ()))
        guarded = Guarded(self._guarded.folders, settings)
        effects = analyse(action, self._world)
        session = Session("check", root=root)
        case = Case(action, effects, session, policy, None, operation(action), restricted, guarded, self._world.home)
        return judge(case, CHECKS)

    def _warn(self, warnings: tuple[str, ...]) -> None:
        """What of a policy file is not in force, each once, on standard error."""
        for warning in (w for w in warnings if w not in self._warned):
            self._warned.add(warning)
            print(f"SENTINEL WARNING: {respond.visible(warning, keep=chr(10))}", file=sys.stderr)

    def _workspace(self, cwd: str) -> tuple[str, tuple[str, ...]]:
        if cwd not in self._roots:
            root = repository.top(cwd) or ""
            policy = self._policies.load(root)
            found = inventory.walk(root, lambda path: bool(policy.restricts(path, root))).restricted if root else ()
            self._roots[cwd] = root, tuple(f"{root}/{name}" for name in found)
        return self._roots[cwd]


def check(places: Places, command: tuple[str, ...], cwd: Path, *, as_json: bool) -> int:
    """Say what would happen; exit code 0 if it would run, 126 if it would be refused or asked about."""
    # One word is a shell text, as an agent's shell tool gives it; several are an argv.
    text = command[0] if len(command) == 1 else shlex.join(command)
    verdict = Checker(places).verdict(text, str(cwd.absolute()))
    if as_json:
        print(json.dumps(_json(verdict)))
    else:
        _print(verdict)
    return 0 if verdict.response < Response.ASK else 126


def lines(places: Places, source: Iterable[str], sink: TextIO) -> int:
    """One JSON object a line in, one a line out, in the same order; a bad line gets an ``error``. Exit code 1 then."""
    checker, bad = Checker(places), 0
    for line in source:
        if not line.strip():
            continue
        try:
            asked = json.loads(line)
            command, cwd = str(asked["command"]), str(Path(asked.get("cwd") or ".").absolute())
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            bad += 1
            answer: dict[str, object] = {"error": f'a line is {{"command": TEXT, "cwd": FOLDER}}: {e}'}
        else:
            answer = _json(checker.verdict(command, cwd))
        sink.write(json.dumps(answer) + "\n")
        sink.flush()
    return 1 if bad else 0


def _json(verdict: Verdict) -> dict[str, object]:
    said = verdict_json(verdict)
    return {key: said[key] for key in ("response", "level", "findings")}


def _print(verdict: Verdict) -> None:
    console = Console(highlight=False)
    colour = COLOURS.get(verdict.response, "red")
    level = f" ({verdict.response.level})" if verdict.response.level else ""
    console.print(Text(f"{verdict.response.word}{level}", style=f"bold {colour}"))
    for finding in verdict.findings:
        name = finding.rule or finding.check
        console.print(Text(f"  {name}: {respond.sentence(finding)}"), soft_wrap=True)
