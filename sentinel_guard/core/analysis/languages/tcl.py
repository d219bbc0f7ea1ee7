"""Tcl (expect, tclsh): what ``spawn``, ``exec``, ``system`` and ``open |`` run, and what is typed into a shell.

Words are read as Tcl(n) has it: braces keep a word as it is, quotes and bare words hold substitutions. Whatever stands
in braces may be a script (``if``, ``proc``, the actions of ``expect``), and is read as one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS
from sentinel_guard.core.analysis.expansion.shell_state import Field

MAX_DEPTH = 10
"""Scripts inside scripts."""
MAX_TEXT = 64 * 1024
"""Characters of a script that is looked at."""

_ESCAPES = {"n": "\n", "r": "\n", "t": "\t"}
_VALUE_OPTIONS = frozenset(("-open", "-ignore", "-i", "-timeout"))
_TYPED_INTO = frozenset((*SHELLS, "ssh", "su", "sudo", "docker", "telnet"))
"""What ``send`` types into these is shell text."""

_DATA = frozenset(("puts", "set", "append", "lappend", "string", "regexp", "send_user", "expr"))
"""What they are given in braces is no script."""
_OPERATORS = {"|": "|", "|&": "|&", "<": "<", ">": ">", ">>": ">>", "2>": "2>", "2>>": "2>>", ">&": "&>", "<<": "<<<"}
"""Of ``exec``: the same in a shell."""

_SCRATCH = re.compile(r"\bset\s+(\w+)\s+[^\n;]*(?:/tmp/|/tmp\s|\bTMPDIR\b|\bmktemp\b)")
"""Variables that hold a place in a temporary folder."""
_NAMES = re.compile(r"\$\{?(\w+)")

Words = list[Field]


def commands(text: str, depth: int = 0) -> Iterator[Words]:
    """The commands of a script and of all that stands in braces or brackets in it, each as its words."""
    reader = _Reader(text[:MAX_TEXT])
    while (words := reader.command()) is not None:
        if words:
            yield words
        data = bool(words) and words[0].text in _DATA
        for inner in (reader.run if data else (*reader.inner, *reader.run)) if depth < MAX_DEPTH else ():
            yield from commands(inner, depth + 1)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text.replace("\\\n", " "), 0
        self.inner: list[str] = []
        """Of the command that was read last: what stands in braces."""
        self.run: list[str] = []
        """And what stands in brackets, which runs wherever it is."""

    def command(self) -> Words | None:
        """The words of the next command; None at the end."""
        self.inner, self.run = [], []
        self._skip(r"[\s;]*")
        if self.at >= len(self.text):
            return None
        if self.text[self.at] == "#":
            self._skip(r"[^\n]*")
            return []
        words: Words = []
        while self.at < len(self.text) and self.text[self.at] not in "\n;":
            words += self._word()
            self._skip(r"[ \t\r]*")
        return words

    def _skip(self, pattern: str) -> None:
        match = re.compile(pattern).match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _word(self) -> Words:
        spread = self.text.startswith("{*}", self.at) and self.text[self.at + 3 : self.at + 4].strip() != ""
        self.at += 3 if spread else 0
        if self.text[self.at] == "{":
            text, known = self._balanced("{", "}"), True
            self.inner.append(text)
        elif self.text[self.at] == '"':
            text, known = self._quoted()
        else:
            text, known = self._bare()
        if spread and known:
            return [Field(found.text, found.known) for found in next(commands(text.replace("\n", " ")), [])]
        return [Field(text, known, source=text)]

    def _balanced(self, opening: str, closing: str) -> str:
        start, level = self.at + 1, 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            level += (sign == opening) - (sign == closing)
            self.at += 2 if sign == "\\" else 1
            if not level:
                break
        return self.text[start : self.at if level else self.at - 1]

    def _quoted(self) -> tuple[str, bool]:
        self.at += 1
        text, known = "", True
        while self.at < len(self.text) and self.text[self.at] != '"':
            piece, so = self._piece()
            text, known = text + piece, known and so
        self.at += 1
        return text, known

    def _bare(self) -> tuple[str, bool]:
        text, known = "", True
        while self.at < len(self.text) and not self.text[self.at].isspace() and self.text[self.at] != ";":
            piece, so = self._piece()
            text, known = text + piece, known and so
        return text, known

    def _piece(self) -> tuple[str, bool]:
        """One character, escape or ``[…]``; a variable is not known."""
        sign = self.text[self.at]
        if sign == "[":
            inner = self._balanced("[", "]")
            self.run.append(inner)
            return "$tcl", False
        if sign == "\\":
            self.at += 2
            return _ESCAPES.get(letter := self.text[self.at - 1 : self.at], letter), True
        self.at += 1
        return sign, sign != "$"


def calls(text: str) -> Iterator[tuple[str, list[object]]]:
    """What a script does, as unparsed_languages.py tells it: ``shell``, ``delete`` or ``open``, and with what."""
    typing = False
    scratch = set(_SCRATCH.findall(text))
    for words in commands(text):
        verb, rest = words[0].text.removeprefix("::"), words[1:]
        if verb in ("spawn", "exec"):
            rest = _without_options(rest)
            typing = typing or (bool(rest) and paths.base(rest[0].text) in _TYPED_INTO)
            yield "shell", [" ".join(_as_shell(item) for item in rest)]
        elif verb == "system":
            yield "shell", [_joined(rest)]
        elif verb == "eval":
            yield from calls(_joined(rest))
        elif verb == "send" and typing:
            yield "shell", [_joined(_without_options(rest)[-1:])]
        elif verb == "open" and rest:
            path, mode = rest[0].text, rest[1].text if len(rest) > 1 else "r"
            yield ("shell", [path[1:]]) if path[:1] == "|" else ("open", [path, mode])
        elif verb == "file" and rest and rest[0].text == "delete":
            named = [item for item in rest[1:] if item.text[:1] != "-" and not scratch & {*_NAMES.findall(item.text)}]
            yield "delete", [item.text if item.known else None for item in named]


def _as_shell(item: Field) -> str:
    """A word of ``exec``: its pipes and redirections are those of a shell, but for ``<<``."""
    text = item.text
    if not item.known:
        return f'"{text}"'
    for sign in sorted(_OPERATORS, key=len, reverse=True):
        if text.startswith(sign):
            behind = text[len(sign) :]
            return f"{_OPERATORS[sign]} {shlex.quote(behind)}" if behind else _OPERATORS[sign]
    return shlex.quote(text)


def _joined(words: Sequence[Field]) -> str:
    return " ".join(item.text for item in words)


def _without_options(words: Sequence[Field]) -> Words:
    at = 0
    while at < len(words) and words[at].text[:1] == "-" and len(words[at].text) > 1:
        at += 2 if words[at].text in _VALUE_OPTIONS else 1
    return list(words[at:])
