"""A person's interactive bash on a pty, where ``agent COMMAND`` is a job of that shell: under ``run``, or as it is."""

from __future__ import annotations

import shlex
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

import pexpect

from tests.support.run_on_pty import DRIVER
from tests.support.time_limits import limit

PROMPT = "%%% "
HUMAN = 0.1
"""Seconds between what a person sees and what they type."""


class Shell(pexpect.spawn):
    """Type lines, read what they print."""

    def __init__(self, folder: Path, *, runner: Sequence[str] = (), guarded: bool = True, **options) -> None:
        self._guarded = guarded
        driver = folder / "driver.py"
        driver.write_text(DRIVER)
        super().__init__(
            "bash",
            ["--norc", "--noprofile", "--noediting", "-i"],
            dimensions=(24, 80),
            timeout=limit(20),
            encoding="utf-8",
            **options,
        )
        self.delaybeforesend = None
        self.expect("[$#] ")
        command = shlex.join(runner or [sys.executable, str(driver)]) if guarded else "env"
        self.line(f"PS1='{PROMPT}'; alias agent='{command} '")

    def type(self, line: str) -> None:
        """Type a line; its echo is taken away."""
        self.sendline(line)
        self.expect_exact("\n")

    def line(self, line: str) -> str:
        """What a line prints until the next prompt."""
        self.type(line)
        return self.prompt()

    def prompt(self) -> str:
        """What was printed until the next prompt."""
        self.expect_exact(PROMPT)
        return self.before.replace("\r\n", "\n")

    def stop(self) -> str:
        """Press the stop key; what is printed until the shell is back."""
        self.send("\x1a")
        said = self.prompt()
        # What is typed in the very moment of the stop can be lost with the kernel's own flush, with and without us.
        time.sleep(HUMAN)
        return said

    def start(self, line: str) -> None:
        """Type a line that starts the agent; from now on what is typed is for the agent."""
        self.type(line)
        self._handed_over()

    def fg(self) -> None:
        """Bring the job to the foreground; from now on what is typed is for the agent."""
        self.type("fg")
        self.expect_exact("\n")
        self._handed_over()

    def _handed_over(self) -> None:
        """Wait until the runner has the terminal: what comes before is echoed by that one, and again by the agent's."""
        deadline = time.monotonic() + limit(10)
        while self._guarded and termios.tcgetattr(self.child_fd)[3] & termios.ICANON and time.monotonic() < deadline:
            time.sleep(0.005)

    def code(self) -> int:
        """The exit code of the last line."""
        return int(self.line("echo $?"))

    def jobs_say(self, words: str) -> None:
        """Wait until the shell's list of jobs has these words."""
        deadline = time.monotonic() + limit(10)
        while words not in (said := self.line("jobs")):
            assert time.monotonic() < deadline, said
            time.sleep(0.02)

    def job(self) -> int:
        """Pid of the job that was stopped or sent to the background last."""
        return int(self.line("jobs -p %+"))
