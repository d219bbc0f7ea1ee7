"""The title of the person's terminal while a session is guarded: its state, and the agent's own title in between.

Rules of this file:
1. What stood there before is put back (xterm's title stack); a terminal without a stack is left without a title.
2. While nothing waits for a person, a title that the agent has set is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sentinel_guard.humans.terminal_prompts import visible

MAX_TITLE = 60
"""Columns."""
_KNOW_TITLES = re.compile(
    r"(?:xterm|tmux|screen|rxvt|alacritty|foot|kitty|wezterm|ghostty|konsole|vte|gnome|st|contour)\b"
)
"""Names of terminals (TERM) that take a title; others would print it."""
_WORDS: Mapping[str, str] = {
    "ACTIVE": "guarded",
    "ASKING": "SENTINEL ASKS",
    "AWAITING_HUMAN": "SENTINEL: help wanted",
    "PAUSED": "SENTINEL: paused",
    "COOLING": "SENTINEL: cooling down",
    "KILLED": "SENTINEL: ended",
}


class TerminalTitle:
    """What is to be written to the terminal; empty where it takes no title."""

    def __init__(self, command: str, term: str) -> None:
        """``command``: the agent's program; ``term``: the terminal's name."""
        self._command, self._knows = command, _KNOW_TITLES.match(term) is not None
        self._set = False
        self._state = "ACTIVE"

    def begin(self) -> bytes:
        """The terminal is the session's now."""
        if not self._knows or self._set:
            return b""
        self._set = True
        return b"\x1b[22;2t" + self._said(b"")

    def told(self, state: str, own: bytes) -> bytes:
        """The session's state has changed; ``own``: the title that the agent has set last."""
        before, self._state = self._state, state
        return self._said(own) if self._set and state != before else b""

    def end(self) -> bytes:
        """The terminal is given back."""
        given, self._set = self._set, False
        return b"\x1b]2;\x07\x1b[23;2t" if given else b""

    def _said(self, own: bytes) -> bytes:
        words = f"{_WORDS.get(self._state, self._state)}: {self._command}"
        said = visible(words, MAX_TITLE).encode(errors="replace")
        return b"\x1b]2;" + (own if own and self._state == "ACTIVE" else said) + b"\x07"
