"""What is known of a coding agent: its programs' names, how it wraps its model's shell commands, how it is started.

Rules of this package:
1. Data and pure functions, a file for each agent; ``registry`` lists them. Patterns are compiled where they are first
   needed (re): a runner, which starts with each session, needs none. Nor does it need ``dataclasses``, which take
   10 ms to be loaded with all that they need.
2. A wrapper is recognised as a whole, to its last character, or not at all: then it is judged as it is.
3. Nothing of the model's may stand outside of the cut-out command. Where an agent quotes the command, that follows from
   the quoting; where it does not (Gemini CLI), a command that would leave its place is no command by itself.
   What the wrapper itself runs in the same shell (``pwd``, a trap) the model may have redefined: it is judged, too.
4. An agent's tools run below the session that started it (ADR 0016): by an option or a variable of its own where it has
   one; a command line that works elsewhere is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple

from sentinel_guard.agents.hook_dialect import HookDialect

QUOTED = r"'[^']*(?:'\"'\"'[^']*)*'"
"""A word in single quotes, as most agents write it: a single quote inside is ``'"'"'``."""
PATH = rf"(?:[\w./+@%:,=-]+|{QUOTED})"
"""A path as an agent writes it: quoted where it has to be, or always."""


PATIENCE = 60.0
"""Seconds: a moderate number for an agent whose own is not known."""


class Framed(NamedTuple):
    """A shell text of an agent, taken apart."""

    command: str
    """What the model wrote."""
    around: str = ""
    """The command with what the wrapper runs in the same shell, as the model's words may change what that does."""
    snapshot: str = ""
    """The file of the agent's own that the shell reads before it: an absolute path."""
    tools: str = ""
    """The folder that is put in front of PATH before it."""


class Start(NamedTuple):
    """How an agent is started, so that its tools run inside the session and its shell is seen."""

    words: tuple[str, ...]
    """Behind the program's name."""
    added: str = ""
    """The option that was put in front of them."""
    listed: bool = False
    """True where older versions do not know that option: it is added only if the agent's own ``--help`` lists it."""
    note: str = ""
    """What the person is told of it."""
    refused: str = ""
    """The words for which it is not started at all: with them its tools run outside of the session."""
    unseen: str = ""
    """The words with which its shell is not seen: only the person may start it so."""


def _plain(_text: str) -> Framed | None:
    return None


def _no_path(_text: str) -> str:
    return ""


def _always(_argv: Sequence[str], _environ: Mapping[str, str]) -> bool:
    return True


def never(_argv: Sequence[str], _environ: Mapping[str, str]) -> bool:
    """Of an agent that wraps all that its model has run in a shell."""
    return False


def given(words: tuple[str, ...], *options: str) -> str:
    """The first of these options that stands before ``--``; empty where none does."""
    before = words[: words.index("--")] if "--" in words else words
    return next((o for o in options if any(w == o or w.startswith(f"{o}=") for w in before)), "")


def subcommand(words: tuple[str, ...], names: Container[str]) -> str:
    """The first of these subcommands that stands in front or behind options; empty where none does.

    An option's value cannot be told from a subcommand without a list of all options: it counts as one, too. So does the
    first word behind ``--``: commander and yargs look there (``claude -- agents``).
    """
    option = False
    for word, behind in zip_longest(words, words[1:], fillvalue=""):
        if word in names:
            return word
        if word == "--":
            return behind if behind in names else ""
        if not (word.startswith("-") or option):
            return ""
        option = word.startswith("-") and "=" not in word
    return ""


class CodingAgent(NamedTuple):
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
    snapshots: tuple[str, str, str] = ("", "", "")
    """Where it keeps its snapshots of the person's shell: a variable, else a folder below HOME; and a folder there."""
    snapshot_of: Callable[[str], str] = _no_path
    """A text that it runs for itself -> the snapshot that it makes; empty for any other text."""
    begins_snapshot: str = ""
    """Whole shell text with which it begins to make one, where another text ends that: a pattern."""
    tools: Callable[[str], str] = _no_path
    """The path of its program -> the folder of its own that its wrapper may put in front of PATH."""
    own: tuple[str, ...] = ()
    """Whole shell texts that the agent runs for itself, with no command of the model's in them: patterns."""
    is_call: Callable[[Sequence[str], Mapping[str, str]], bool] = _always
    """Whether a shell that is started so, with such an environment and a text of ``own``, is a call of its model's all
    the same: where a model can have a text run as it is, the text alone does not tell."""
    start: Callable[[tuple[str, ...]], Start] = Start
    """The words behind the program's name -> how it is started with them. By default as it stands."""
    environ: Mapping[str, str] = MappingProxyType({})
    """Variables that keep its tools inside the session; ``{folder}`` is the session's own folder."""
    servers: str = ""
    """A pattern that is found in the command line (each word ends with a zero byte) of its processes that run tools for
    others of its kind, and may outlive them."""
    hooks: HookDialect | None = None
    """How its own hooks speak; None where it has none, or they are not known."""

    def starts_for_itself(self, text: str) -> bool:
        """Whether a shell text is the agent's own housekeeping."""
        return any(re.fullmatch(pattern, text) for pattern in self.own)

    def snapshot_folder(self, environ: Mapping[str, str]) -> str:
        """Where its snapshots lie, by the environment of its process."""
        variable, usual, folder = self.snapshots
        top = environ.get(variable) or f"{environ.get('HOME', '')}/{usual}"
        return f"{top.rstrip('/')}/{folder}"

    def is_unknown_wrapper(self, text: str) -> bool:
        """Whether a text that could not be unwrapped looks like a wrapper all the same: of another version, say."""
        return any(mark in text for mark in self.marks)


def unquoted(word: str) -> str:
    """A word of ``QUOTED`` or ``PATH``, without its quotes."""
    return word[1:-1].replace("'\"'\"'", "'") if word.startswith("'") else word
