"""``sentinel-guard check``: shows the verdict on a command line or a tool call without running it.

Changes nothing, needs no daemon.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO

from sentinel_guard.commands import check_explain
from sentinel_guard.core import response_text
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case, GuardResources
from sentinel_guard.core.checks.registry import OF_OUTCOMES, OF_PROPOSALS
from sentinel_guard.core.json_codec import verdict_json
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Action, Layer, Outcome, Response, Verdict
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.policy.target_placeholders import inside
from sentinel_guard.core.secrets.allowlisted_findings import NONE
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets
from sentinel_guard.core.session.operation_fingerprint import operation
from sentinel_guard.core.session.session import Session
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import ConfigError
from sentinel_guard.host import shims
from sentinel_guard.host.git import committed_file, repository
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine import birth_time
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies
from sentinel_guard.host.recovery.baseline import worktree_inventory
from sentinel_guard.host.secrets import allowlist_file, user_secret_files
from sentinel_guard.host.world import FolderMemory, HostWorld
from sentinel_guard.humans.styled_text import Printer

REFUSED, KILLED = 126, 137
"""Exit codes: as the launcher's of a refused command, and of a session that was killed."""
_LINE = '{"command": TEXT, "cwd": FOLDER} or {"tool": NAME, "input": {...}, "cwd": FOLDER}'


class Checker:
    """Judges commands and tool calls one by one against the policy of where they would run."""

    def __init__(self, places: StatePaths) -> None:
        self._policies = Policies(places)
        self._environ, self._folders = dict(os.environ), FolderMemory()
        self._guarded = GuardResources((str(places.state), str(places.runtime)), places.settings)
        self._warned: set[str] = set()
        self._caches: dict[str, user_secret_files.Cache] = {}
        self._roots: dict[str, tuple[str, tuple[str, ...]]] = {}

    @property
    def home(self) -> str:
        return HostWorld(self._environ, memory=self._folders).home

    def policy(self, cwd: str) -> Policy:
        """The policy in force in a folder."""
        return self._policies.load(self._workspace(cwd)[0])

    def verdict(self, command: str, cwd: str) -> Verdict:
        """What a fresh session would be told about a shell text."""
        return self._judged("shell", {"command": command}, cwd, Layer.CLI)

    def tool(self, name: str, given: Mapping[str, object], cwd: str) -> Verdict:
        """What a fresh session would be told about an agent's tool call."""
        return self._judged(name, given, cwd, Layer.HOOK)

    def _judged(self, tool: str, arguments: Mapping[str, object], cwd: str, layer: Layer) -> Verdict:
        root, _ = self._workspace(cwd)
        action = Action("check", "check", layer, tool, arguments, cwd, time.time(), root)
        return self.judge(action, Session("check", root=root), operation(action))

    def judge(self, action: Action, session: Session, operation: str, outcome: Outcome | None = None) -> Verdict:
        """What this session would be told about an action of its own, or about how it ended."""
        root, restricted = self._workspace(action.root or action.cwd)
        policy = self._policies.load(root)
        self._warn(policy.warnings)
        guarded = GuardResources(self._guarded.folders, self._settings(root))
        # What it would do was judged before it ran; of a call that has ended only how it ended is.
        world = HostWorld(self._environ, memory=self._folders, policy=policy, root=root, committed=committed_file.read)
        effects = () if outcome else analyse(action, world)
        case = Case(
            action, effects, session, policy, outcome, operation, restricted, guarded, world.home,
            look=world.peek, new=functools.partial(_is_new, root), supposed=True,
            tracked=functools.partial(repository.tracked, root),
            known=_asked_once(lambda: self._known(root, policy, restricted)),
            baseline=lambda: allowlist_file.reviewed(root) if root else NONE,
        )  # fmt: skip
        return judge(case, OF_OUTCOMES if outcome else OF_PROPOSALS)

    def _known(self, root: str, policy: Policy, restricted: tuple[str, ...]) -> UserSecrets:
        """The person's own secrets, as the daemon would know them."""
        cache = self._caches.setdefault(root, user_secret_files.Cache())
        environ = self._environ
        return (
            user_secret_files.collect(Path(root), policy, environ, cached=cache, restricted=restricted)
            if root
            else NOTHING
        )

    def _settings(self, root: str) -> tuple[str, ...]:
        own = (f"{root}/sentinel.toml", *install_hooks.hook_folders(root)) if root else ()
        return *self._guarded.settings, *shims.own_code(frozenset((root,))), *own

    def _warn(self, warnings: tuple[str, ...]) -> None:
        """What of a policy file is not in force, each once, on standard error."""
        for warning in (w for w in warnings if w not in self._warned):
            self._warned.add(warning)
            print(f"SENTINEL WARNING: {visible(warning, keep=chr(10))}", file=sys.stderr)

    def _workspace(self, cwd: str) -> tuple[str, tuple[str, ...]]:
        if cwd not in self._roots:
            root = repository.top(cwd) or ""
            policy = self._policies.load(root)
            found = worktree_inventory.restricted(root, lambda path: bool(policy.restricts(path, root))) if root else ()
            self._roots[cwd] = self._roots[root] = root, tuple(f"{root}/{name}" for name in found)
        return self._roots[cwd]


def _asked_once(known: Callable[[], UserSecrets]) -> Callable[[], UserSecrets]:
    """``functools.cache`` without what it takes to make one, which each verdict would pay and few would use."""
    told: list[UserSecrets] = []

    def secrets() -> UserSecrets:
        if not told:
            told.append(known())
        return told[0]

    return secrets


def _is_new(root: str, path: str) -> bool:
    """Of what lies elsewhere a text is judged as if all that it names were there."""
    return inside(path, root) and birth_time.is_gone(path)


def check(
    places: StatePaths, command: tuple[str, ...], cwd: Path, *, as_json: bool = False, explained: bool = False
) -> int:
    """Say what would happen to a command. Returns the exit code: see ``exit_code``."""
    # One word is a shell text, as an agent's shell tool gives it; several are an argv.
    text = command[0] if len(command) == 1 else shlex.join(command)
    checker, folder = Checker(places), str(cwd.absolute())
    return _say(checker, checker.verdict(text, folder), as_json=as_json, explained=explained)


def check_tool(
    places: StatePaths, name: str, given: str, cwd: Path, *, as_json: bool = False, explained: bool = False
) -> int:
    """The same for an agent's tool call; ``given`` is its input as JSON text. Raises ConfigError."""
    checker, folder = Checker(places), str(cwd.absolute())
    return _say(checker, checker.tool(name, _input(given), folder), as_json=as_json, explained=explained)


def _input(text: str) -> Mapping[str, object]:
    hint = """For example: sentinel-guard check --tool Write --input '{"file_path": "x", "content": ""}'"""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise ConfigError(f"--input is not JSON: {e}", hint) from e
    if not isinstance(given, dict):
        raise ConfigError("--input is not a JSON object.", hint)
    return given


def lines(places: StatePaths, source: Iterable[str], sink: TextIO) -> int:
    """One JSON object a line in, one a line out, in the same order; a bad line gets an ``error``. Exit code 1 then."""
    checker, bad = Checker(places), 0
    for line in source:
        if not line.strip():
            continue
        try:
            verdict = _asked(checker, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as e:
            bad += 1
            answer: dict[str, object] = {"error": f"a line is {_LINE}: {e}"}
        else:
            answer = _json(verdict)
        sink.write(json.dumps(answer) + "\n")
        sink.flush()
    return 1 if bad else 0


def _asked(checker: Checker, line: dict[str, object]) -> Verdict:
    cwd = line.get("cwd") or "."
    if not isinstance(cwd, str):
        raise TypeError("cwd is no text")
    folder = str(Path(cwd).absolute())
    if "tool" not in line:
        return checker.verdict(str(line["command"]), folder)
    given = line.get("input", {})
    if not isinstance(given, dict):
        raise TypeError("input is no object")
    return checker.tool(str(line["tool"]), given, folder)


def _say(checker: Checker, verdict: Verdict, *, as_json: bool, explained: bool) -> int:
    if as_json:
        print(json.dumps({"verdicts": [_json(verdict, effects=explained)]}))
    elif explained:
        check_explain.show(verdict, checker.policy(verdict.action.cwd), checker.home, Printer())
    else:
        _print(verdict)
    return exit_code(verdict.response)


def exit_code(response: Response) -> int:
    """0 where it would run; 3 where a person would be asked; 126 refused (L2, L3); 137 where the session would end."""
    if response < Response.ASK:
        return 0
    if response is Response.ASK:
        return 3
    return KILLED if response is Response.KILL else REFUSED


def _json(verdict: Verdict, *, effects: bool = False) -> dict[str, object]:
    said = verdict_json(verdict)
    return {key: said[key] for key in ("response", "level", "findings", *(("effects",) if effects else ()))}


def _print(verdict: Verdict) -> None:
    printer = Printer()
    printer.put(check_explain.heading(verdict.response))
    for finding in verdict.findings:
        name = finding.rule or finding.check
        printer.whole(f"  {name}: {response_text.sentence(finding)}")
