"""Probes for ``sentinel-guard doctor``: what protects this machine and repository, what is missing, what to do.

Each probe returns a ``Finding``-like triple; none changes anything.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sentinel_guard.agents import registry
from sentinel_guard.agents.token_records import registry as records
from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.client import Operator
from sentinel_guard.core.session import token_ledger
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import HostError, SentinelError
from sentinel_guard.host import audit_witness, kernel_layer, shims
from sentinel_guard.host.git import repository
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine import processes
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies

WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
ENOUGH_WATCHES = 8192
LOOKED_AT = 5000
"""Newest verdicts among which unknown wrappers are looked for."""
WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Probe:
    """What one look at the machine gave."""

    ok: bool
    what: str
    todo: str = ""


def probe(places: StatePaths, cwd: Path) -> list[Probe]:
    """Every probe, in order. A probe that fails itself is a probe that is not ok."""
    return [_run(p, places, cwd) for p in PROBES]


def _run(ask: Callable[[StatePaths, Path], Probe], places: StatePaths, cwd: Path) -> Probe:
    try:
        return ask(places, cwd)
    except (SentinelError, OSError, ValueError, subprocess.SubprocessError) as e:
        return Probe(ok=False, what=f"{(ask.__doc__ or '').strip()}: {e}")


def _system(_places: StatePaths, _cwd: Path) -> Probe:
    """The system"""
    linux = platform.system() == "Linux"
    what = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return Probe(linux, what, "" if linux else "Only Linux is supported in this release.")


def _user(_places: StatePaths, _cwd: Path) -> Probe:
    """The user"""
    if os.getuid():
        return Probe(ok=True, what=f"an ordinary user ({os.getuid()})")
    what = "you are root: what runs as root under guard can undo it, and no file is closed to it"
    return Probe(ok=True, what=what, todo="Work as an ordinary user where you can.")


def _git(_places: StatePaths, _cwd: Path) -> Probe:
    """Git"""
    path = shutil.which("git")
    if not path:
        return Probe(ok=False, what="git is not on PATH", todo="Install git 2.30 or newer.")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True)
    return Probe(ok=True, what=f"{said.stdout.strip()} ({path})")


def _launcher(_places: StatePaths, _cwd: Path) -> Probe:
    """The launcher"""
    built = shims.LAUNCHER.exists() and os.access(shims.LAUNCHER, os.X_OK)
    return Probe(built, f"launcher {shims.LAUNCHER}", "" if built else "Install again where there is a C compiler.")


def _kernel(_places: StatePaths, _cwd: Path) -> Probe:
    """The kernel layer"""
    works, words = kernel_layer.probed(kernel_layer.begin_probe())
    todo = "Restricted files are watched instead, and put back. docs/kernel-layer.md says what each machine can."
    return Probe(works, f"kernel layer: {words}", "" if works else todo)


def _folders(places: StatePaths, _cwd: Path) -> Probe:
    """The state folder"""
    places.make()
    free = shutil.disk_usage(places.state).free
    roomy = free > 100 << 20
    return Probe(
        roomy, f"state in {places.state}, {free >> 20:,} MB free", "" if roomy else "Make room: at least 100 MB."
    )


def _daemon(places: StatePaths, _cwd: Path) -> Probe:
    """The guard daemon"""
    try:
        with Operator(places, start=False) as operator:
            hello = operator.request("hello")
    except SentinelError:
        return Probe(ok=True, what="the guard daemon does not run; it starts with the first session")
    return Probe(ok=True, what=f"the guard daemon {hello['version']} runs as process {hello['pid']}")


def _repository(_places: StatePaths, cwd: Path) -> Probe:
    """The repository"""
    root = repository.top(str(cwd))
    return Probe(
        bool(root), f"repository {root}" if root else "not in a git repository", "" if root else "cd into one."
    )


def _policy(places: StatePaths, cwd: Path) -> Probe:
    """The policy"""
    policy = Policies(places).load(repository.top(str(cwd)) or "")
    if policy.warnings:
        return Probe(ok=False, what="; ".join(policy.warnings), todo="sentinel-guard policy validate")
    return Probe(ok=True, what=f"policy: {len(policy.rules)} rules, {len(policy.paths.restricted)} restricted patterns")


def _hooks(_places: StatePaths, cwd: Path) -> Probe:
    """The git hooks"""
    try:
        seen = install_hooks.hook_states(cwd)
    except HostError:
        if repository.top(str(cwd)):
            raise
        return Probe(ok=True, what="git hooks: none outside of a repository")
    there, wrong = [s.name for s in seen if s.ok], list(dict.fromkeys(s.words for s in seen if not s.ok))
    if not there and not install_hooks.complaint(install_hooks.find(cwd)):
        return Probe(ok=False, what="git hooks not installed here", todo=install_hooks.INSTALL)
    what = "; ".join([f"git hooks in place: {', '.join(there) or 'none'}", *wrong])
    return Probe(not wrong, what, install_hooks.INSTALL if wrong else "")


def _watches(_places: StatePaths, _cwd: Path) -> Probe:
    """The file watcher"""
    count = int(WATCHES.read_text())
    enough = count >= ENOUGH_WATCHES
    return Probe(enough, f"inotify: {count:,} watches", "" if enough else "sysctl fs.inotify.max_user_watches=524288")


def _wrappers(places: StatePaths, _cwd: Path) -> Probe:
    """The agents' wrappers"""
    well = Probe(ok=True, what="the agents' wrappers are known, as far as agents ran here")
    if not places.database.exists():
        return well
    reader, since = SqliteReader(places.database), time.time() - WEEK
    try:
        recent = (e for e in reader.entries(kinds=("verdict",), last=LOOKED_AT) if e.at > since)
        names = sorted({str(e.data.get("agent")) for e in recent if e.data.get("wrapper") == "unknown"})
    finally:
        reader.close()
    if not names:
        return well
    what = f"{', '.join(names)}: wrapped commands in a way that this version does not know; each was judged as a whole"
    todo = "Update sentinel-guard, or report it with the agent's version."
    return Probe(ok=False, what=what, todo=todo)


def _tokens(places: StatePaths, _cwd: Path) -> Probe:
    """The agents' records of tokens"""
    names = ", ".join(record.agent for record in records.RECORDS)
    well = Probe(ok=True, what=f"tokens are read from what {names} record; another agent has to report them")
    if not places.database.exists():
        return well
    reader, since = SqliteReader(places.database), time.time() - WEEK
    try:
        recent = [e for e in reader.entries(kinds=("usage",), last=LOOKED_AT) if e.at > since]
    finally:
        reader.close()
    told = {e.session: why for e in recent if (why := token_ledger.unread(e)) is not None}
    unknown = {session: why for session, why in told.items() if why}
    if not unknown:
        return well
    session, why = [*unknown.items()][-1]
    what = f"the tokens of {len(unknown)} session(s) of the last week are not known, last of {session}: {visible(why)}"
    return Probe(ok=False, what=what, todo="The cost limiter had nothing to go by there: sentinel-guard usage")


def _servers(_places: StatePaths, _cwd: Path) -> Probe:
    """The agents' servers"""
    there: dict[str, list[str]] = {}
    for process in processes.of_user():
        agent = registry.server_of(processes.executable(process.pid), process.command)
        if agent and "SENTINEL_SESSION" not in processes.environ(process.pid):
            there.setdefault(agent.name, []).append(str(process.pid))
    if not there:
        return Probe(ok=True, what="no agent's server runs outside of a session")
    names = ", ".join(f"{name} (pid {' '.join(pids)})" for name, pids in sorted(there.items()))
    return Probe(ok=True, what=f"agents' servers outside of sessions: {names}; 'sentinel-guard run' works beside them")


def _witnesses(places: StatePaths, _cwd: Path) -> Probe:
    """The witnesses of the log"""
    witnesses, failed = Policies(places).load().audit.witness, []
    for witness in witnesses:
        try:
            audit_witness.told(witness)
        except HostError as e:
            failed.append(e.message)
    if failed:
        todo = "The daemon tells it when it starts and each minute then; daemon.log says what keeps it from that."
        return Probe(ok=False, what="; ".join(failed), todo=todo)
    return Probe(ok=True, what=f"witnesses of the log: {', '.join(witnesses) or 'none'}")


PROBES: tuple[Callable[[StatePaths, Path], Probe], ...] = (
    _system,
    _user,
    _git,
    _launcher,
    _kernel,
    _folders,
    _daemon,
    _repository,
    _policy,
    _witnesses,
    _hooks,
    _watches,
    _wrappers,
    _tokens,
    _servers,
)

LIMITS = (
    "Without the kernel layer what a program writes by itself (python, node) is seen after the fact, by the watcher.",
    "Without it a command started by its absolute path (/bin/rm) from a script is not seen.",
    "What a program reads is not held.",
    "What has left the machine (a push, a request) cannot be taken back.",
)
"""What no layer of this release stops (docs/threat-model.md)."""
