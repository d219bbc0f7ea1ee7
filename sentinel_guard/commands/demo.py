"""``sentinel-guard demo``: a scripted agent triggers every level of response, in a temporary home and repository.

It drives the installed commands on a terminal of its own; nothing here is special-cased. The agent's ``rm`` is a stub
that prints, so that the demo is harmless even if the guard failed.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import sentinel_guard

DATA = Path(sentinel_guard.__file__).parent / "demo"
KILLED = 137
PROMPT = b"Confirm? (Y/N):"
THINKS = 1.2
"""Seconds that the scripted person looks at the question."""
LIMIT = 60.0
SIZE = (30, 110)
ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[78=>])|[\x07\x00]")
FILES = {
    ".env": "MODE=debug\nPASSWORD=correct-horse\n",
    ".gitignore": ".env\n__pycache__/\n",
    "README.md": "# A small shop\n",
    "src/cart.py": "def total(prices):\n    return sum(prices)\n",
    "tests/check_cart.py": "import sys\nsys.path.insert(0, 'src')\nimport cart\nassert cart.total([1, 2]) == 3\n",
}


def demo(*, keep: bool) -> int:
    """Play the story and show what is left; exit code 0 if every level answered as the protocol says."""
    folder = Path(tempfile.mkdtemp(prefix="sg-demo-"))
    stage = _Stage(folder)
    try:
        stage.build()
        before = stage.look()
        code = stage.play()
        return stage.curtain(code, before)
    finally:
        stage.run("sentinel-guard", "daemon", "stop", "--force", show=False)
        if keep:
            print(f"\nEverything is left in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


class _Stage:
    """The throw-away home, repository and terminal."""

    def __init__(self, folder: Path) -> None:
        self.repo = folder / "shop"
        self._folder = folder
        self._home, self._bin = folder / "home", folder / "bin"
        path = f"{self._bin}:{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "XDG_", "SENTINEL_"))}
        self.environ = kept | {
            "HOME": str(self._home),
            "SENTINEL_HOME": str(folder / "guard"),
            "PATH": path,
            "TERM": os.environ.get("TERM", "xterm-256color"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def build(self) -> None:
        for made in (self._home, self._bin, self.repo, self._folder / "guard" / "config"):
            made.mkdir(parents=True, mode=0o700)
        (self._home / ".gitconfig").write_text(
            "[user]\n\tname = Demo\n\temail = demo@example.com\n[init]\n\tdefaultBranch = main\n"
        )
        stub = self._bin / "rm"
        stub.write_text('#!/bin/sh\necho "the stub rm was reached: nothing was deleted: $*"\n')
        stub.chmod(0o755)
        shutil.copy(DATA / "sentinel.toml", self._folder / "guard" / "config")
        self._repository()

    def _repository(self) -> None:
        for name, text in FILES.items():
            file = self.repo / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        remote = self._folder / "remote.git"
        for command in (
            ("git", "init", "-q"),
            ("git", "add", "-A"),
            ("git", "commit", "-qm", "a small shop"),
            ("git", "init", "-q", "--bare", str(remote)),
            ("git", "remote", "add", "origin", str(remote)),
            ("git", "push", "-q", "-u", "origin", "main"),
            ("sentinel-guard", "install"),
            ("git", "add", "sentinel.toml"),
            ("git", "commit", "-qm", "guarded"),
        ):
            self.run(*command, show=False)
        # The person's own unfinished work, which the end of the story must not cost.
        (self.repo / "README.md").write_text("# A small shop\n\nMy unfinished sentence\n")
        (self.repo / "notes.txt").write_text("my own notes, in no commit\n")

    def run(self, *command: str, show: bool = True) -> int:
        """Run a command on the stage; its output is seen only if ``show``, or if it fails."""
        done = subprocess.run(
            command, cwd=self.repo, env=self.environ, check=False, stdin=subprocess.DEVNULL,
            stdout=None if show else subprocess.PIPE, stderr=None if show else subprocess.STDOUT,
        )  # fmt: skip
        return done.returncode

    def look(self) -> dict[str, bytes]:
        """The person's repository as it is: every file but git's and the reports."""
        files = (
            p for p in self.repo.rglob("*") if p.is_file() and ".git" not in p.parts and "incidents" not in p.parts
        )
        return {str(p.relative_to(self.repo)): p.read_bytes() for p in files}

    def play(self) -> int:
        """The agent works under guard, on a terminal where a scripted person sits."""
        _say("sentinel-guard run -- ./agent.sh tasks.txt")
        command = ["sentinel-guard", "run", "--", str(DATA / "agent.sh"), str(DATA / "tasks.txt")]
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.repo)
            with contextlib.suppress(OSError):
                os.execvpe(command[0], command, self.environ)  # noqa: S606 - no shell wanted
            os._exit(127)
        _size(terminal)
        for seen in _screen(terminal):
            if PROMPT in seen:
                time.sleep(THINKS)
                os.write(terminal, b"y")
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status)

    def curtain(self, code: int, before: dict[str, bytes]) -> int:
        """Show what is left: the log, the report, and the repository as the person had it."""
        _say("sentinel-guard log")
        self.run("sentinel-guard", "log", "--last", "30")
        self.run("sentinel-guard", "log", "verify")
        _say("sentinel-guard incidents show")
        self._show_report()
        _say("git status  (the person's own unfinished work, as before)")
        self.run("git", "status", "--short")
        same = self.look() == before
        print(f"\nthe agent's session ended with exit code {code} (killed: {KILLED})")
        print(f"every file of the person's is as it was, bit for bit: {'yes' if same else 'NO'}")
        return 0 if same and code == KILLED else 1

    def _show_report(self) -> None:
        done = subprocess.run(
            ("sentinel-guard", "incidents", "show"), cwd=self.repo, env=self.environ, check=False, capture_output=True
        )
        lines = done.stdout.decode(errors="replace").splitlines()
        print("\n".join(lines[:45]))
        if len(lines) > 45:
            print(f"... and {len(lines) - 45} more lines")


def _say(text: str) -> None:
    bold = ("\033[1;33m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"\n{bold[0]}$ {text}{bold[1]}", flush=True)


def _screen(terminal: int) -> Iterator[bytes]:
    """Copy what the terminal shows to our output, and give it piece by piece; ends with the program or in time."""
    raw, deadline, tail = sys.stdout.isatty(), time.monotonic() + LIMIT, b""
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:
            return
        if not data:
            return
        sys.stdout.buffer.write(data if raw else ESCAPES.sub(b"", data).replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        sys.stdout.buffer.flush()
        tail += data
        yield tail
        tail = b"" if PROMPT in tail else tail[-len(PROMPT) :]


def _size(terminal: int) -> None:
    termios.tcsetwinsize(terminal, SIZE)
