"""A throw-away home, repository and guard; real binary, daemon, git and terminals."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pexpect

from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.core.json_codec import dumps, entry_json
from sentinel_guard.host.machine.state_paths import places
from tests.support.time_limits import limit

BIN = Path(sys.executable).parent
AGENT = Path(__file__).parent / "coding_agent.py"
KERNEL = os.environ.get("SENTINEL_TEST_KERNEL", "off")
"""Mode of the kernel layer where a test says none: the other layers are tested without it."""


class Stage:
    """One user with one repository and a guard. ``served_by``: the user of another stage and their guard, with a home
    that is empty again and a repository of its own.
    """

    def __init__(self, below: Path | None = None, *, served_by: Stage | None = None) -> None:
        # Short, because a Unix socket path holds 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="sg-", dir=below))
        self.repo, self._owns_guard = self.folder / "repo", served_by is None
        self.home, self.guard = ((served_by or self).folder / name for name in ("home", "guard"))
        shutil.rmtree(self.home, ignore_errors=True)
        for folder in (self.home, self.repo, self.guard / "config"):
            folder.mkdir(parents=True, exist_ok=True)
        self.policy()
        self.stub_bin()
        self.environ = {
            "HOME": str(self.home),
            "SENTINEL_HOME": str(self.guard),
            "PATH": f"{self.folder / 'bin'}:{BIN}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PYTHONDONTWRITEBYTECODE": "1",
            **{k: v for k, v in os.environ.items() if k.startswith("GIT_")},
        }
        self._before = max((entry["seq"] for entry in self._entries(last=1)), default=0)

    def stub_bin(self) -> None:
        """Programs that a test must not run for real, before any other on PATH: they print what they were told."""
        folder = self.folder / "bin"
        folder.mkdir()
        for name in ("rm", "deploy", "mkfs.ext4"):
            stub = folder / name
            stub.write_text(f'#!/bin/sh\necho "stub {name}: $*"\n')
            stub.chmod(0o755)

    def close(self) -> None:
        self._end_daemons()
        subprocess.run(["chmod", "-R", "u+rwX", str(self.folder)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
        deadline = time.monotonic() + limit(10)
        while left := self._end_daemons():
            assert time.monotonic() < deadline, f"daemons of this test live on: {left}"
            time.sleep(0.05)

    def _end_daemons(self) -> list[int]:
        """Those that were there: what still ends may start another."""
        found = self.daemons() if self._owns_guard else []
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        return found

    def daemons(self) -> list[int]:
        """Its daemons, whether one can talk to them or not."""
        return [pid for pid, command in self.processes().items() if "daemon" in command]

    def processes(self) -> dict[int, list[str]]:
        """Processes that were started in its environment, with their command lines."""
        ours = f"SENTINEL_HOME={self.guard}".encode()
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if ours in (process / "environ").read_bytes().split(b"\0"):
                    command = (process / "cmdline").read_bytes().decode(errors="replace")
                    found[int(process.name)] = command.split("\0")
        return found

    def write(self, name: str, text: str | bytes) -> Path:
        file = self.repo / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.repo, env=self.environ, capture_output=True, text=True, check=True
        )
        return done.stdout

    def commit(self, **files: str) -> None:
        """A repository with one commit of these files (``a__b`` is ``a.b``), and an ignored ``.env``."""
        self.git("init", "-q", "-b", "main")
        self.write(".gitignore", ".env\n")
        self.write(".env", "MODE=debug\n")
        for name, text in files.items():
            self.write(name.replace("__", "."), text)
        self.git("add", "-A")
        self.git("commit", "-qm", "start")

    def policy(self, text: str = "") -> None:
        """The user's own policy."""
        mode = "" if "[kernel]" in text else f'[kernel]\nmode = "{KERNEL}"\n'
        (self.guard / "config" / "sentinel.toml").write_text(f"version = 1\n{text}\n{mode}")

    def sentinel(self, *arguments: str, cwd: Path | None = None, **options) -> subprocess.CompletedProcess:
        """Run our command line without a terminal."""
        return subprocess.run(
            [str(BIN / "sentinel-guard"), *arguments], cwd=cwd or self.repo, env=options.pop("env", self.environ),
            capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL, timeout=limit(60),
            **options,
        )  # fmt: skip

    def tasks(self, *tasks) -> list[str]:
        """The command line of an agent with these tasks."""
        (self.folder / "tasks.json").write_text(json.dumps(tasks))
        return [sys.executable, str(AGENT), str(self.folder / "tasks.json"), str(self.folder / "seen.json")]

    def seen(self) -> list[dict]:
        return json.loads((self.folder / "seen.json").read_text())

    def agent(self, *tasks) -> tuple[subprocess.CompletedProcess, list[dict]]:
        """An agent without a terminal does these tasks under guard."""
        done = self.sentinel("run", "--", *self.tasks(*tasks))
        assert (self.folder / "seen.json").exists(), f"the agent did not begin: {done}"
        return done, self.seen()

    def on_terminal(self, *tasks, **options) -> pexpect.spawn:
        """The same on a terminal, where a test sits as the person."""
        command = ["run", "--", *self.tasks(*tasks)]
        return self.terminal(str(BIN / "sentinel-guard"), *command, **options)

    def terminal(self, program: str, *arguments: str, **options) -> pexpect.spawn:
        return pexpect.spawn(
            program, list(arguments), cwd=str(self.repo), env=self.environ, encoding="utf-8", timeout=limit(20),
            dimensions=(30, 120), **options,
        )  # fmt: skip

    def log(self, **wanted) -> list[dict]:
        """Entries of the audit log since this stage was made, whose fields are as wanted."""
        since = self._entries(self._before)
        # What is still said of a session of another stage is none of this one's.
        begun = {"", *(e["session"] for e in since if e["kind"] == "session")}
        entries = (e for e in since if self._owns_guard or e["session"] in begun)
        return [e for e in entries if all(e.get(k) == v for k, v in wanted.items())]

    def _entries(self, after: int = 0, last: int = 0) -> list[dict]:
        """As ``log --json`` prints them; a process a look would cost more than most tests."""
        log = places(self.environ).database
        if not log.exists():
            return []
        with contextlib.closing(SqliteReader(log)) as reader:
            return json.loads(dumps([entry_json(entry) for entry in reader.entries(after=after, last=last)]))

    def calls(self) -> list[str]:
        """The commands of the tool calls on record, as they were judged."""
        entries = (e["data"] for e in self.log(kind="verdict"))
        return [str(d["arguments"].get("command", d["arguments"])) for d in entries if not d.get("parent")]
