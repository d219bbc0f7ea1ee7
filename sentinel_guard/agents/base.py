"""What is known of a coding agent: its programs' names, and how it wraps the shell commands that its model writes.

Rules of this package:
1. Data and pure functions, a file for each agent; ``registry`` lists them.
2. A wrapper is recognised as a whole, to its last character, or not at all: then it is judged as it is.
3. Nothing of the model's may stand outside of the cut-out command. Where an agent quotes the command, that follows from
   the quoting; where it does not (Gemini CLI), a command that would leave its place is no command by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

QUOTED = r"'[^']*(?:'\"'\"'[^']*)*'"
"""A word in single quotes, as most agents write it: a single quote inside is ``'"'"'``."""
PATH = rf"(?:[\w./+@%:,=-]+|{QUOTED})"
"""A path as an agent writes it: quoted where it has to be, or always."""


PATIENCE = 60.0
"""Seconds: a moderate number for an agent whose own is not known."""


@dataclass(frozen=True, slots=True)
class Framed:
    """A shell text of an agent, taken apart."""

    command: str
    """What the model wrote."""
    sourced: tuple[str, ...] = ()
    """Files of the agent's own that the shell reads before it: absolute paths."""


def _plain(_text: str) -> Framed | None:
    return None


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """One coding agent, as far as the guard must know it."""

    name: str
    """As ``docs/agents.md`` and the audit log name it."""
    programs: frozenset[str]
    """Base names of the programs and scripts that its processes run, without endings such as ``.js``."""
    unwrap: Callable[[str], Framed | None] = _plain
    """A shell text in the agent's wrapper -> its parts; None for any other text. By default there is no wrapper."""
    marks: tuple[str, ...] = ()
    """Words that only the agent's wrapper has: what has one and cannot be unwrapped is an unknown wrapper."""
    patience: float = PATIENCE
    """Seconds after which the agent goes on without a call that has not ended, less some to spare: it then hands its
    model what was printed so far, or ends the call."""
    own: tuple[re.Pattern[str], ...] = ()
    """Whole shell texts that the agent runs for itself, with no command of the model's in them."""

    def starts_for_itself(self, text: str) -> bool:
        """Whether a shell text is the agent's own housekeeping."""
        return any(pattern.fullmatch(text) for pattern in self.own)

    def is_unknown_wrapper(self, text: str) -> bool:
        """Whether a text that could not be unwrapped looks like a wrapper all the same: of another version, say."""
        return any(mark in text for mark in self.marks)


def unquoted(word: str) -> str:
    """A word of ``QUOTED`` or ``PATH``, without its quotes."""
    return word[1:-1].replace("'\"'\"'", "'") if word.startswith("'") else word
