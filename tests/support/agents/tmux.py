"""A person at a terminal: a shell in a tmux of a test's own, where keys are typed and the screen is read."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.time_limits import limit

STEP = 0.1
PROMPT = "person$ "
TAIL = re.compile(r"\n*\Z")


class Tmux:
    """One window of a private tmux server; the person's shell runs in it."""

    def __init__(self, folder: Path, environ: Mapping[str, str], cwd: Path, size: tuple[int, int] = (100, 30)) -> None:
        assert shutil.which("tmux"), "tmux is not on PATH: the agents cannot be tested on a full screen"
        # A server for each folder: its socket lies there, and no configuration of anybody's is read.
        self._environ = {**environ, "TMUX_TMPDIR": str(folder), "PS1": PROMPT}
        width, height = map(str, size)
        shell = ("bash", "--norc", "--noprofile", "-i")
        self._tmux("new-session", "-d", "-s", "w", "-c", str(cwd), "-x", width, "-y", height, *shell)
        self._tmux("set", "-g", "window-size", "manual")
        self._tmux("set", "-g", "remain-on-exit", "on")
        self.resize(*size)
        self.until(re.escape(PROMPT.strip()))

    def close(self) -> None:
        subprocess.run(["tmux", "kill-server"], env=self._environ, capture_output=True, check=False)

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", *arguments], env=self._environ, capture_output=True, text=True, check=True,
            errors="replace", timeout=limit(30),
        )  # fmt: skip
        return done.stdout

    def type(self, text: str) -> None:
        """Letters as they are typed, without Enter."""
        self._tmux("send-keys", "-t", "w", "-l", text)

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: ``Enter``, ``Escape``, ``C-c``."""
        for key in keys:
            self._tmux("send-keys", "-t", "w", key)

    def enter(self, line: str) -> None:
        """A line for the shell."""
        self.type(line)
        self.press("Enter")

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-t", "w", "-x", str(columns), "-y", str(rows))

    def screen(self) -> str:
        """What the person sees."""
        return TAIL.sub("\n", self._tmux("capture-pane", "-p", "-t", "w"))

    def terminal(self, name: str) -> str:
        """A fact of the terminal by tmux's name: ``cursor_flag``, ``alternate_on``, ``mouse_any_flag``."""
        return self._tmux("display", "-p", "-t", "w", f"#{{{name}}}").strip()

    def wait(self, happened: Callable[[str], object], what: str, seconds: float = 60.0) -> str:
        """The screen on which it is so; fails with the screen that there is."""
        deadline = time.monotonic() + seconds
        while not happened(seen := self.screen()):
            assert time.monotonic() < deadline, f"{what} in {seconds:g} s:\n{seen}"
            time.sleep(STEP)
        return seen

    def until(self, pattern: str, seconds: float = 60.0) -> str:
        """The screen on which the pattern stands."""
        return self.wait(lambda seen: re.search(pattern, seen), f"not seen: {pattern}", seconds)

    def until_gone(self, pattern: str, seconds: float = 60.0) -> str:
        return self.wait(lambda seen: not re.search(pattern, seen), f"still there: {pattern}", seconds)

    def settled(self, quiet: float = 1.0, seconds: float = 60.0) -> str:
        """The screen when nothing has changed on it for so long."""
        deadline, since, before = time.monotonic() + seconds, time.monotonic(), self.screen()
        while time.monotonic() - since < quiet and time.monotonic() < deadline:
            time.sleep(STEP)
            if (seen := self.screen()) != before:
                since, before = time.monotonic(), seen
        return before
