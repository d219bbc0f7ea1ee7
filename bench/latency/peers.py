"""Measures what an agent waits for its guard before a command: ours and other guards', in turns, in one run.

Each is installed by its own command in a home of its own, and called as Claude Code calls it: the hook that it put into
``settings.json``, with the payload on standard input. Run with ``make bench-peers``; fetches the others once, from PyPI
and npm, and of each that does not come says why. While it is measured nobody has a network. Figures of one run compare;
those of two runs do not.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bench.benchmark_results import Row, cpu_timed, median_ms, percentile_ms, show, timed
from bench.other_secret_scanners import CACHE
from bench.verdict_latency import COMMANDS, WHO, cpu

FOLDER = CACHE.parent / "peers"
TIMES = int(os.environ.get("TIMES", "60"))
"""Calls of each, in turns."""
WARM = 5
"""Calls before that, for whatever starts with the first."""
PATIENCE = 60.0
"""Seconds for one call."""
HONEST, STOPPED = "git status", "git push --force origin main"
"""What none of them stops, and what each of them says something else to."""
OURS = "sentinel-guard"


@dataclass(frozen=True)
class Peer:
    """A guard: its package, and how it is installed for Claude Code."""

    name: str
    package: str
    registry: str
    install: tuple[str, ...] = ()
    """Its own command, which writes ``settings.json``."""
    hook: tuple[str, ...] = ()
    """What its plugin for Claude Code registers, where there is no such command without Claude Code."""

    @property
    def programs(self) -> Path:
        if self.registry == "here":
            return Path(sys.executable).parent
        return FOLDER / self.name / ("node_modules/.bin" if self.registry == "npm" else "bin")

    def fetch(self) -> str:
        """Why it cannot be had; empty where it is there."""
        if self.registry == "here" or (self.programs / self.name).exists():
            return ""
        folder = FOLDER / self.name
        if self.registry == "npm":
            return _done("npm", "install", "--silent", "--prefix", str(folder), self.package)
        pip = (str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        return _done(sys.executable, "-m", "venv", str(folder)) or _done(*pip, self.package)


PEERS = (
    Peer(OURS, "", "here", install=(OURS, "install", "--agent", "claude", "--user")),
    Peer("nah", "nah==0.11.0", "pypi", install=("nah", "install", "claude")),
    Peer("cc-safety-net", "cc-safety-net@2.4.5", "npm", hook=("cc-safety-net", "hook", "--claude-code")),
    Peer("hol-guard", "hol-guard==3.57.0", "pypi", install=("hol-guard", "install", "claude-code")),
    Peer("termaxa", "termaxa", "pypi"),
)


def _done(*command: str) -> str:
    """What a command said where it failed, its last line; empty where it worked."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as e:
        return f"{command[0]}: {e.strerror}"
    said = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
    return said[-1] if done.returncode else ""


@dataclass
class Installed:
    """A guard that works in a throw-away home."""

    peer: Peer
    home: Path
    taken: list[float] = field(default_factory=list)
    used: float = 0.0
    """Seconds of processor time: of what was started for the calls, and of what runs beside them."""

    @property
    def repo(self) -> Path:
        return self.home / "repo"

    @cached_property
    def environ(self) -> Mapping[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SENTINEL_", "XDG_", "GIT_"))}
        path = f"{self.peer.programs}:{os.environ['PATH']}"
        return {**kept, **WHO, "HOME": str(self.home), "SENTINEL_HOME": str(self.home / "guard"), "PATH": path}

    def prepare(self) -> str:
        """Why it cannot be measured; empty where it answers."""
        self.repo.mkdir(parents=True)
        for command in (["git", "init", "-q"], ["git", "commit", "-qm", "start", "--allow-empty"]):
            subprocess.run(command, cwd=self.repo, env=self.environ, check=True)
        if self.peer.install:
            done = subprocess.run(
                self.peer.install, cwd=self.repo, env=self.environ, capture_output=True, text=True, check=False
            )
            if done.returncode:
                return f"its installation failed: {(done.stderr or done.stdout).strip()[-120:]}"
        for n in range(WARM):
            self.call(f"{HONEST} # {n}")
        if self.call(HONEST) == self.call(STOPPED):
            return f"it says the same to `{HONEST}` and to `{STOPPED}`"
        return ""

    @cached_property
    def commands(self) -> list[list[str]]:
        """What Claude Code runs before a command of the shell."""
        if self.peer.hook:
            return [[*self.peer.hook]]
        said = json.loads((self.home / ".claude" / "settings.json").read_text())["hooks"]["PreToolUse"]
        rows = [h for g in said if g.get("matcher", "*") in ("", "*") or "Bash" in g["matcher"] for h in g["hooks"]]
        return [[h["command"], *h["args"]] if "args" in h else ["/bin/sh", "-c", h["command"]] for h in rows]

    def call(self, command: str) -> str:
        """What it answers, without what differs from call to call."""
        payload = {
            "session_id": "bench",
            "transcript_path": str(self.home / "transcript.jsonl"),
            "cwd": str(self.repo),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"toolu_{time.monotonic_ns()}",
        }
        given, said = json.dumps(payload), ""
        for hook in self.commands:
            done = subprocess.run(
                hook, input=given, cwd=self.repo, env=self.environ, capture_output=True, text=True, check=False,
                timeout=PATIENCE,
            )  # fmt: skip
            with contextlib.suppress(ValueError):
                answer = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
                said += str(answer.get("permissionDecision", ""))
            said += str(done.returncode)
        return said

    def measure(self, command: str) -> None:
        self.used += cpu_timed(lambda: self.taken.extend(timed(lambda: self.call(command))))

    def beside(self) -> float:
        """Seconds of processor time so far of what runs on between calls."""
        return sum(map(cpu, self._processes()))

    def close(self) -> None:
        """End what it started; then delete the home."""
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)

    def _processes(self) -> Iterator[int]:
        """Those that were started in its home."""
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if f"HOME={self.home}".encode() in environ.read_bytes().split(b"\0"):
                    yield int(environ.parent.name)


def rows() -> Iterator[Row]:
    """Ours first; each beside it, and how many times as long it takes."""
    there, below = list[Installed](), Path(tempfile.mkdtemp(prefix="sg-"))
    try:
        for peer in PEERS:
            why = peer.fetch() or (found := Installed(peer, below / peer.name)).prepare()
            if why:
                yield Row(f"{peer.name}: not measured", None, None, "", why)
            else:
                there.append(found)
        before = [one.beside() for one in there]
        for n in range(TIMES):
            for one in there:
                one.measure(f"{COMMANDS[n % len(COMMANDS)]} # {n}")
        for one, spent in zip(there, before, strict=True):
            one.used += one.beside() - spent
        ours = there[0]
        for one in there:
            p50, used = median_ms(one.taken), 1000 * one.used / TIMES
            times = f"{p50 / median_ms(ours.taken):.2f} x ours, CPU {one.used / ours.used:.2f} x"
            beside = f"{times}; p99 {percentile_ms(one.taken, 0.99):.1f} ms, CPU {used:.1f} ms"
            yield Row(f"{one.peer.package or OURS}: a command of Claude Code's, p50", None, p50, "ms", beside)
    finally:
        for one in there:
            one.close()
        shutil.rmtree(below, ignore_errors=True)


def _without_network() -> None:
    """Go on as a process that reaches nobody but itself."""
    if os.environ.get("SENTINEL_BENCH_ALONE"):
        with socket.socket() as any_socket:
            up = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
            fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS
        return
    for peer in PEERS:
        peer.fetch()
    alone = ["unshare", "--map-root-user", "--net", "--", sys.executable, "-m", "bench.latency.peers"]
    os.execvpe(alone[0], alone, {**os.environ, "SENTINEL_BENCH_ALONE": "1"})


if __name__ == "__main__":
    _without_network()
    show(rows())
