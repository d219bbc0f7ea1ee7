"""Whether the hooks of coding agents are in effect: a call that must be refused goes the client's way.

For each settings file in which ``install --agent`` put hooks: the commands that stand there now are run with a payload
of that client, in a throw-away repository; what counts is that they say the client's own refusal.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sentinel_guard.agents import registry
from sentinel_guard.agents.hook_dialect import HookDialect, Moment
from sentinel_guard.commands.agent_hooks.install_agent_hooks import USER, file_of, program_of
from sentinel_guard.core.text.settings_edit import editor
from sentinel_guard.doctor import Probe
from sentinel_guard.errors import HostError
from sentinel_guard.host import agent_hook_files, codex_hook_trust
from sentinel_guard.host.git import repository
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.trial_folders import TRIAL

SECONDS = 60.0
_NUMBER = re.compile(r"\d+\.\d+\.\d+")
RENEW = "sentinel-guard install --agent {}"


def prove(places: StatePaths, cwd: Path, restricted: str) -> list[Probe]:
    """A probe or more for each file and each agent. ``restricted``: a name that the person's policy lets nobody
    write.
    """
    files = [(file, registry.hooks_of(row.agent)) for file, row in agent_hook_files.known(places).items()]
    known = [(file, dialect) for file, dialect in files if dialect]
    found = [probe for dialect in dict.fromkeys(dialect for _, dialect in known) for probe in _version(dialect)]
    return found + [probe for file, dialect in known for probe in _file(dialect, file, cwd, restricted)]


def _version(dialect: HookDialect) -> Iterator[Probe]:
    """Which version of the agent is on PATH, and whether its hooks can stop what they should."""
    program = program_of(dialect)
    if program is None:
        return
    try:
        said = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            check=False, timeout=SECONDS,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        said = ""
    number = _NUMBER.search(said)
    what = f"{dialect.client} {number[0] if number else 'of a version that it does not tell'} is {program}"
    if number and tuple(map(int, number[0].split("."))) < dialect.least:
        least = ".".join(map(str, dialect.least))
        yield Probe(
            False, f"fails open: {what}, and lets a call run whose hook fails", f"Update it to {least} or later."
        )
    else:
        yield Probe(True, what)


def _file(dialect: HookDialect, file: Path, cwd: Path, restricted: str) -> Iterator[Probe]:
    renew = RENEW.format(dialect.client)
    if scripts := dialect.scripts("."):
        name = file.stem if file.stem in dialect.events else next(n for n in dialect.events if dialect.form(n))
        if dialect.form(name):
            ours = file.is_file() and dialect.mark in file.read_text(errors="replace")
            command = dialect.runs(str(file)) if ours and file.name in scripts else ""
            yield from _event(dialect, name, file, [command] if command else [], restricted)
            yield Probe(ok=True, what=f"fails open: {dialect.client}: {dialect.fails_open}")
        return
    try:
        settings = file.read_text(encoding="utf-8")
        value = editor(file.name).value(settings)
    except (OSError, ValueError) as e:
        yield Probe(ok=False, what=f"NOT IN EFFECT: hooks of {dialect.client}: {file} cannot be read: {e}", todo=renew)
        return
    managed = str(file) == dialect.places.managed
    for other, held in ((file, value), *_others(dialect, file, cwd)):
        if off := dialect.disarmed(held, managed=managed and other != file):
            what = f"NOT IN EFFECT: hooks of {dialect.client} in {file}: {off} ({other})"
            yield Probe(ok=False, what=what, todo=f"Correct {other}.")
    for name in (event for event in dialect.events if dialect.form(event)):
        yield from _event(dialect, name, file, dialect.commands(value, name), restricted)
    if dialect.trusts:
        yield from _trusted(dialect, cwd)
    yield Probe(ok=True, what=f"fails open: {dialect.client}: {dialect.fails_open}")


def _others(dialect: HookDialect, file: Path, cwd: Path) -> Iterator[tuple[Path, object]]:
    """The settings that the client reads here beside this file, as far as they can be read."""
    root = repository.top(str(cwd))
    at, home = dialect.places, file_of(dialect, USER, root)
    here = [Path(root, name) for name in dict.fromkeys((at.project, at.user))] if root else []
    for other in (*here, home, Path(at.managed or "/nowhere")):
        if other != file:
            with contextlib.suppress(OSError, ValueError):
                yield other, editor(other.name).value(other.read_text(encoding="utf-8"))


def _event(dialect: HookDialect, name: str, file: Path, commands: list[str], restricted: str) -> Iterator[Probe]:
    renew = RENEW.format(dialect.client)
    if not commands:
        what = f"NOT IN EFFECT: hooks of {dialect.client}: {file} holds none of ours for {name}"
        yield Probe(ok=False, what=what, todo=renew)
    if dialect.moment(name) is not Moment.CALL:
        return
    for command in commands:
        said = _run(command, dialect, name, restricted)
        if dialect.is_refusal(name, said.stdout) and not said.returncode:
            yield Probe(
                ok=True, what=f"in effect: {name} of {dialect.client} refused a change of {restricted} ({file})"
            )
        else:
            words = (said.stderr or said.stdout).strip().splitlines()[:1] or ["nothing"]
            what = f"NOT IN EFFECT: {name} of {dialect.client} let a change of {restricted} pass ({file})"
            what = f"{what}; it said: {words[0]}"
            yield Probe(ok=False, what=what, todo=renew)


def _run(command: str, dialect: HookDialect, name: str, restricted: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory(prefix=TRIAL, ignore_cleanup_errors=True) as folder:
        environ = _environ()
        subprocess.run(["git", "init", "-q", folder], env=environ, check=True, capture_output=True, timeout=SECONDS)
        Path(folder, restricted).write_text("throw-away\n")
        payload = dialect.sample(name, f"doctor-{os.getpid()}", folder, f"echo changed >> {restricted}")
        return subprocess.run(
            ["/bin/sh", "-c", command], input=json.dumps(payload), cwd=folder, env=environ, capture_output=True,
            text=True, errors="replace", check=False, timeout=SECONDS,
        )  # fmt: skip


def _trusted(dialect: HookDialect, cwd: Path) -> Iterator[Probe]:
    program = program_of(dialect)
    if program is None:
        return
    try:
        count = codex_hook_trust.trusted(program, str(cwd), os.environ, dialect.is_ours)
    except HostError as e:
        yield Probe(ok=False, what=f"{dialect.client}: {e.message}", todo=e.hint)
        return
    well = count >= len(dialect.events)
    what = f"{dialect.client} trusts {count} of {len(dialect.events)} hooks that it finds in {cwd}"
    yield Probe(well, what if well else f"NOT IN EFFECT: {what}", "" if well else f"{RENEW.format('codex')} --trust")


def _environ() -> Mapping[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k.startswith("GIT_CONFIG")}
