"""Whether the guard is in effect: a command that must be refused goes the way that an agent's commands go.

A throw-away repository beside the person's own: a real session with their daemon and policy writes to a restricted file
there by the guarded shell, by a shim and, where calls are held, past both; and the git hook of the person's own
repository looks at a commit of it. What counts is that the file is as it was, and who said no.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sentinel_guard.commands.agent_hooks import prove_agent_hooks
from sentinel_guard.commands.require_human import sessions
from sentinel_guard.doctor import Probe
from sentinel_guard.errors import HostError
from sentinel_guard.host import kernel_layer
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies
from sentinel_guard.host.trial_folders import TRIAL

CANDIDATES = (".env", "id_rsa", "secrets", "server.pem")
"""Of which one is restricted, unless the person's policy lets all of them be."""
SECONDS = 120.0
_HOOK = "pre-applypatch"
"""Of the hooks that check a commit the one in whose place people have none of their own, which would run along."""
_TEXT = "throw-away\n"
_AGENT = (
    'sh -c "echo changed >> {name}"; echo shell $?; git rm -qf {name}; echo shim $?; '
    '/bin/sh -c "echo changed >> {name}"; echo kernel $?'
)
_WAYS = {
    "shell": ("the guarded shell", "a command that an agent gives to its shell"),
    "shim": ("the shims", "a git that an agent starts"),
    "kernel": ("the kernel layer", "a shell started by its path, past the shims"),
}


def prove(places: StatePaths, cwd: Path) -> list[Probe]:
    """One probe for each way. Nothing is tried inside of a session, nor where policy restricts none of CANDIDATES."""
    if sessions():
        return [Probe(ok=True, what="inside of a guarded session: that it is in effect is not tried out")]
    with tempfile.TemporaryDirectory(prefix=TRIAL) as folder:
        policy = Policies(places).load()
        name = next((n for n in CANDIDATES if policy.restricts(f"{folder}/{n}", folder)), "")
        if not name:
            return [Probe(ok=False, what=f"your policy restricts none of {', '.join(CANDIDATES)}: nothing was tried")]
        file, environ = Path(folder, name), _environ()
        file.write_text(_TEXT)
        for words in (["init", "-q"], ["add", "-f", name]):
            subprocess.run(["git", *words], cwd=folder, env=environ, check=True, capture_output=True, timeout=SECONDS)
        return [*_session(file, environ), *_hook(file, cwd, environ), *prove_agent_hooks.prove(places, cwd, name)]


def _session(file: Path, environ: Mapping[str, str]) -> Iterator[Probe]:
    agent = ["/bin/sh", "-c", _AGENT.format(name=file.name)]
    command = [sys.executable, "-I", "-m", "sentinel_guard", "run", "--", *agent]
    done = subprocess.run(
        command, cwd=file.parent, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", check=False, timeout=SECONDS, start_new_session=True,
    )  # fmt: skip
    codes = dict(re.findall(r"(?m)^(\w+) (\d+)$", done.stdout))
    whole, held = file.exists() and file.read_text() == _TEXT, kernel_layer.probed(kernel_layer.begin_probe())[0]
    if not codes:
        said = (done.stderr.strip().splitlines() or ["it ended without a word"])[0]
        yield Probe(ok=False, what=f"NOT IN EFFECT: no session can be begun: {said}", todo=_todo(done.stderr))
        return
    for way, (what, example) in _WAYS.items():
        refused = codes.get(way) == "126" if way != "kernel" else codes.get(way) not in {"0", None} and whole
        if way == "kernel" and not held:
            continue
        if refused:
            yield Probe(ok=True, what=f"in effect: {what} refused {example}")
        else:
            yield Probe(ok=False, what=f"NOT IN EFFECT: {what} let {example} change {file.name}", todo=_todo(""))


def _todo(said: str) -> str:
    rest = " ".join(said.strip().splitlines()[1:3])
    return rest or "Is [kernel] mode or [shims] set in your policy? If not: sentinel-guard log, and report it."


def _hook(file: Path, cwd: Path, environ: Mapping[str, str]) -> Iterator[Probe]:
    """The hook of the repository that the person stands in; none is installed where this yields nothing."""
    if not file.exists():
        return  # which is said already
    try:
        hook = next((path for path in install_hooks.installed(cwd) if path.name == _HOOK), None)
    except HostError:
        return
    if hook is None:
        return
    done = subprocess.run(
        [hook], cwd=file.parent, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", check=False, timeout=SECONDS,
    )  # fmt: skip
    if done.returncode and f"{file.name}, which is restricted" in done.stderr:
        yield Probe(ok=True, what=f"in effect: the git hooks of this repository refused a commit of {file.name}")
    else:
        said = (done.stderr.strip().splitlines() or ["nothing"])[0]
        what = f"NOT IN EFFECT: the git hooks of this repository let a commit of {file.name} pass; they said: {said}"
        yield Probe(ok=False, what=what, todo=install_hooks.INSTALL)


def _environ() -> dict[str, str]:
    """The person's, without what would lead git to another repository."""
    return {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k.startswith("GIT_CONFIG")}
