"""A real agent on a full screen, played by a scripted model, and the person in front of it (``make test-agents``)."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.agents.real_agents import RealAgent, install_hooks, set_up
from tests.support.agents.scripted_model import ScriptedModel, Step
from tests.support.agents.tmux import PROMPT, Tmux
from tests.support.guarded_repository import BIN, Stage
from tests.support.wait_until import until

GATE = r"Confirm\? \(Y/N\)"
STOPPED = r"Stopped +\S"
TRIES = 5
"""Gemini wants its key twice within a third of a second, which a machine under load may miss."""
DEAF = 1.0
"""Seconds; longer than the keyboard is not heard after a question was shown, and after it was answered."""
TURN = 90.0
"""Seconds that a turn may take on a machine under load."""
AT_SHELL = re.escape(PROMPT.strip()) + r"\s*\Z"
MODES = {"cursor_flag": "1", "alternate_on": "0", "mouse_any_flag": "0", "keypad_flag": "0", "keypad_cursor_flag": "0"}
"""What a program must leave behind on a terminal."""


@dataclass(frozen=True)
class Screen:
    """What a person must know of an agent's screen."""

    ready: str
    """Stands where the agent listens to its keyboard."""
    leave: str
    """The line that ends it."""
    interrupt: tuple[str, ...]
    """Keys that end a running command."""
    interrupted: str
    suspend: tuple[str, ...] = ("C-z",)
    stop: str = ""
    """The line that ends what an interrupt leaves running."""
    moving: str = r"(?!)"
    """What changes by itself: a spinner with its words, hints and tips."""


CLAUDE_HINTS = r"^[·✢✳✶✻✽*] .*|^[● ] A step.*|^ +⎿  Tip:.*|^     \S.*|\(#s\)|[^ ] \w+ · /effort$|· ← for agents"
SCREENS = {
    "claude": Screen("bypass permissions on", "/exit", ("Escape",), "Interrupted", moving=CLAUDE_HINTS),
    "codex": Screen("Ask Codex|for shortcuts", "/quit", ("Escape",), "Conversation interrupted", stop="/stop"),
    "opencode": Screen(r"Ask anything|ctrl\+p commands", "/exit", ("Escape", "Escape"), "(?i)interrupted|aborted"),
    "gemini": Screen("Type your message", "/quit", ("Escape",), "(?i)cancelled", ("C-z", "C-z")),
}


class FullScreenAgent:
    """The agent below ``sentinel-guard run`` in a person's shell, or without it; ``hooked``: its own hooks guard it."""

    def __init__(
        self, stage: Stage, agent: RealAgent, steps: Sequence[Step], *, guarded: bool = True, hooked: bool = False
    ) -> None:
        self.stage, self.facts, self.steps = stage, SCREENS[agent.name], steps
        self.model = ScriptedModel(steps)
        started = set_up(stage, agent, self.model.url)
        if hooked:
            install_hooks(stage, agent)
        self.tmux = Tmux(stage.folder, stage.environ, stage.repo)
        self._settings = self._stty()
        run = (str(BIN / "sentinel-guard"), "run", "--") if guarded else ()
        self.tmux.enter(shlex.join([*run, str(agent.path()), *started.full_screen]))
        self.tmux.until(self.facts.ready, TURN)

    def close(self) -> None:
        self.tmux.close()
        self.model.close()

    def say(self, text: str) -> None:
        """A line for the agent."""
        self.tmux.type(text)
        self.tmux.until(re.escape(text))
        time.sleep(0.5)  # Enter that follows at once is taken for a part of what was pasted
        self.tmux.press("Enter")

    def turn(self, text: str, ends: str) -> str:
        """Say it, and wait for the words that end the turn."""
        self.say(text)
        return self.tmux.until(ends, TURN)

    def asked(self) -> str:
        """The question to the person, when it can be answered."""
        seen = self.tmux.until(GATE, TURN)
        time.sleep(DEAF)
        return seen

    def answer(self, key: str) -> None:
        self.tmux.press(key)
        self.tmux.until_gone(GATE)
        time.sleep(DEAF)

    def keys_arrive(self, text: str = "abcde") -> None:
        """What is typed stands on the screen; what is erased does not."""
        self.tmux.type(text)
        self.tmux.until(text)
        self.tmux.press(*["BSpace"] * 2)
        self.tmux.wait(lambda seen: text[:-2] in seen and text not in seen, "the keys erase")
        self.tmux.press(*["BSpace"] * (len(text) - 2))
        self.tmux.until_gone(text[:-2])

    def interrupt(self) -> None:
        """End the running command as a person does."""
        for key in self.facts.interrupt:
            self.tmux.press(key)
            time.sleep(0.5)
        self.tmux.until(self.facts.interrupted)
        if self.facts.stop:
            self.say(self.facts.stop)

    def suspend(self) -> None:
        """Stop it with its own key: the shell and its terminal are the person's."""
        for _ in range(TRIES):
            self.tmux.press(*self.facts.suspend)
            if until(lambda: re.search(STOPPED, self.tmux.screen()), 5):
                break
        self.tmux.until(STOPPED, 1)
        self._given_back()

    def erase(self) -> None:
        """Empty the prompt: the key that suspends Gemini undoes what was typed before, too."""
        self.tmux.press("C-u")
        self.tmux.until(self.facts.ready)

    def inner_size(self) -> tuple[int, int]:
        """Columns and rows of the terminal that the agent has."""
        outer = self.tmux.terminal("pane_tty")
        for pid in self.stage.processes():
            with contextlib.suppress(OSError):
                terminal = str(Path(f"/proc/{pid}/fd/0").readlink())
                if terminal.startswith("/dev/pts/") and terminal != outer:
                    with Path(terminal).open("rb") as opened:
                        return tuple(os.get_terminal_size(opened.fileno()))
        raise AssertionError("no process has a terminal of its own")

    def leave(self) -> int:
        """End the agent as a person does; its exit code."""
        self.erase()
        self.say(self.facts.leave)
        return self.ended()

    def ended(self) -> int:
        """Wait for the agent's end; its exit code. The terminal is the shell's again, as it was."""
        self.tmux.until(AT_SHELL, TURN)
        self.tmux.enter('echo "code=$?"')
        code = re.findall(r"code=(\d+)", self.tmux.until(r"code=\d+"))[-1]
        self._given_back()
        return int(code)

    def still(self) -> list[str]:
        """The lines of the screen without what changes by itself; numbers and spinners are masked."""
        lines = (MASK.sub("#", line) for line in self.tmux.screen().splitlines())
        still = (re.sub(self.facts.moving, "", line).rstrip() for line in lines)
        return [line for line in still if line]

    def _given_back(self) -> None:
        assert self._stty() == self._settings, "the terminal's settings are as they were"
        modes = {name: self.tmux.terminal(name) for name in MODES}
        assert modes == MODES, "and its modes"

    def _stty(self) -> str:
        command = ["stty", "-g", "-F", self.tmux.terminal("pane_tty")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


MASK = re.compile(r"[\u2800-\u28ff⬝■•◦⊶⊷]|\d+")
