"""Stand-ins for coding agents and their servers: real processes that are called as the real ones are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WAITS = "import time; print('ready', flush=True); time.sleep(300)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"
PARENT = f"import subprocess, sys; subprocess.Popen(['sleep', '300']); {WAITS}"
"""A server with a tool that runs."""

# An agent that leaves a server behind unless it is told not to, as Codex does; --help is told by the test.
AGENT = """#!{python}
import os, subprocess, sys
from pathlib import Path
if sys.argv[1:] == ["--help"]:
    print({help!r})
    sys.exit()
print("started with", *sys.argv[1:], flush=True)
if "--no-daemon" not in sys.argv:
    words = [sys.argv[0], "-c", {waits!r}, "app-server", "--listen", "unix://"]
    null = {{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}}
    server = subprocess.Popen(words, executable={python!r}, start_new_session=True, **null)
    Path({pids!r}).open("a").write(str(server.pid) + "\\n")
"""
NEW, OLD = (
    "Options:\n      --no-daemon\n          Run without the shared background server",
    "Options:\n  --no-alt-screen",
)


def server(*words: str, program: str = "/opt/bin/codex", does: str = WAITS, **options) -> subprocess.Popen[str]:
    """A process with this command line; the caller ends it."""
    command = [program, "-c", does, *words]
    process = subprocess.Popen(command, executable=sys.executable, stdout=subprocess.PIPE, text=True, **options)
    assert process.stdout and process.stdout.readline() == "ready\n"
    return process


def agent(folder: Path, name: str, said: str = NEW) -> Path:
    """A program of this name whose ``--help`` says this; the pids of the servers that it leaves stand in ``pids``."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(AGENT.format(python=sys.executable, help=said, waits=WAITS, pids=str(folder / "pids")))
    program.chmod(0o755)
    return program


def left(folder: Path) -> list[int]:
    """Pids of the servers that the agents of this folder have left."""
    noted = folder / "pids"
    return [int(line) for line in noted.read_text().split()] if noted.exists() else []
