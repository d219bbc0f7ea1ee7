"""Bash lexer: script text -> words, with quotes, comments and heredocs. One cursor over one text.

The parser is one object in four layers: ``Lexer`` (here), ``dollar_parser.Dollars`` (expansions),
``simple_command_parser.Simples``, ``bash_parser.Parser`` (grammar). Rules of all four:
1. Nothing raises and nothing stands still: what is not understood is recorded, and the cursor goes on.
2. A substitution is parsed where it stands, so no command hides in a string.
3. Where bash itself is ambiguous the reading that finds more commands wins.
4. Depth and steps are limited (nesting bombs); over the limit is an error and the end of the text.
"""

from __future__ import annotations

import re
from typing import Self

from sentinel_guard.core.analysis.parser.syntax_tree import (
    DoubleQuoted,
    ExtGlob,
    Literal,
    Part,
    ProcessSub,
    Redirect,
    Word,
    bare_word,
)

MAX_DEPTH = 40
MAX_ERRORS = 100

META = frozenset(" \t\n;&|<>()")
PLAIN = re.compile(r"[^ \t\n;&|<>()\\'\"$`]+")
_WORD_END = frozenset(" \t\n;&|)")
_BLANK = frozenset(" \t\\#")
_BLANKS = re.compile(r"(?:[ \t]+|\\\n|#[^\n]*)+")
_IN_DOUBLE = re.compile(r"[^\\$`\"]+")


class Run:
    """What all parsers of one text share."""

    __slots__ = ("errors", "steps")

    def __init__(self, steps: int) -> None:
        self.errors: list[str] = []
        self.steps = steps


class Lexer:
    """The cursor. ``bash_parser.Parser`` adds the grammar."""

    __slots__ = ("at", "depth", "in_sub", "pending", "run", "size", "text")

    def __init__(self, text: str, run: Run, depth: int = 0) -> None:
        self.text = text
        self.size = len(text)
        self.at = 0
        self.run = run
        self.depth = depth
        self.pending: list[Redirect] = []
        self.in_sub = False

    def dollar(self, *, quoted: bool) -> Part:
        """The expansion at the cursor, which stands on a dollar or a backtick. The next layer's part."""
        raise NotImplementedError

    def process(self) -> ProcessSub:
        """The process substitution at the cursor. The next layer's part."""
        raise NotImplementedError

    def nested(self, text: str) -> Self:
        """The same parser for a text that was taken out of this one."""
        return type(self)(text, self.run, self.depth)

    # ---- bookkeeping ----

    def error(self, what: str) -> None:
        if len(self.run.errors) < MAX_ERRORS:
            self.run.errors.append(f"{what} at {self.at}")

    def stop(self, why: str) -> None:
        if why not in self.run.errors:
            self.run.errors.append(why)
        self.at = self.size

    def enter(self) -> bool:
        """One level deeper; False, with the cursor at the end, at a limit. Always paired with ``leave``."""
        self.depth += 1
        self.run.steps -= 1
        if self.depth > MAX_DEPTH:
            self.stop("depth")
        elif self.run.steps < 0:
            self.stop("time")
        else:
            return True
        return False

    def charge(self, characters: int) -> bool:
        """For text that will be read a second time: keeps the whole parse linear. False when the limit is reached."""
        self.run.steps -= characters >> 2
        return self.run.steps >= 0

    def leave(self) -> None:
        self.depth -= 1

    def peek(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def expect(self, text: str) -> None:
        if not self.take(text):
            self.error(f"missing {text}")

    # ---- blanks and heredocs ----

    def blanks(self) -> None:
        """Past blanks, continued lines and a comment."""
        text, at = self.text, self.at
        char = text[at : at + 1]
        if char == " " and text[at + 1 : at + 2] not in _BLANK:
            self.at = at + 1
        elif char in _BLANK and (match := _BLANKS.match(text, at)):
            self.at = match.end()

    def lines(self) -> None:
        """Past blanks, comments and newlines, with the heredocs that begin there."""
        char = self.text[self.at : self.at + 1]
        if char != "\n" and char not in _BLANK:
            return
        self.blanks()
        while self.text[self.at : self.at + 1] == "\n":
            self.newline()
            self.blanks()

    def newline(self) -> None:
        self.at += 1
        pending, self.pending = self.pending, []
        for redirect in pending:
            self.heredoc(redirect)

    def heredoc(self, redirect: Redirect) -> None:
        word = redirect.target or Word((), "")
        quoted = any(isinstance(p, DoubleQuoted) or (isinstance(p, Literal) and p.quoted) for p in word.parts)
        tag = word.literal
        tag = re.sub(r"[\\'\"]", "", word.source) if tag is None else tag
        body = self._heredoc_text(tag, redirect.strip_tabs, quoted)
        if redirect.strip_tabs:
            body = re.sub(r"(?m)^\t+", "", body)
        parts: tuple[Part, ...] = (Literal(body, quoted=True),)
        if not quoted:
            self.enter()
            parts = self.nested(body).double("")
            self.leave()
        # The body stands after the line that names it, so the redirect is the one node that is completed later.
        redirect.heredoc = Word(parts, body)

    def _heredoc_text(self, tag: str, strip: bool, quoted: bool) -> str:
        """The body; the cursor goes behind the delimiter."""
        start, text = self.at, self.text
        while self.at < self.size:
            begin = self.at
            line = self._heredoc_line(joined=not quoted)
            line = line.lstrip("\t") if strip else line
            if line == tag:
                return text[start:begin]
            if self.in_sub and line.startswith(tag) and ")" in line:  # bash: "E)" ends a heredoc inside $(
                self.at = text.index(tag, begin) + len(tag) if tag in text[begin : self.at] else self.at
                return text[start:begin]
        self.error("unterminated heredoc")
        return text[start:]

    def _heredoc_line(self, *, joined: bool) -> str:
        """The next line, and those that backslashes join to it where the delimiter was not quoted."""
        line = ""
        while self.at < self.size:
            end = self.text.find("\n", self.at)
            end = self.size if end < 0 else end
            piece = self.text[self.at : end]
            self.at = min(end + 1, self.size)
            backslashes = len(piece) - len(piece.rstrip("\\"))
            if not joined or backslashes % 2 == 0:
                return line + piece
            line += piece[:-1]
        return line

    # ---- words ----

    def word(self) -> Word:
        """The word at the cursor; without parts and without moving where none begins."""
        text, start = self.text, self.at
        parts: list[Part] = []
        if match := PLAIN.match(text, start):
            plain = match.group()
            self.at = match.end()
            if self.at == self.size or text[self.at] in _WORD_END:
                return bare_word(plain)
            parts.append(Literal(plain))
        while self.at < self.size:
            char = text[self.at]
            if char in META:
                if not self._substitution_or_extglob(char, parts):
                    break
            elif char == "\\":
                self._backslash(parts)
            elif char == "'":
                parts.append(self.single())
            elif char == '"':
                self.at += 1
                parts.append(DoubleQuoted(self.double('"')))
            elif char in "$`":
                parts.append(self.dollar(quoted=False))
            elif match := PLAIN.match(text, self.at):
                parts.append(Literal(match.group()))
                self.at = match.end()
        return Word(tuple(parts), text[start : self.at])

    def _substitution_or_extglob(self, char: str, parts: list[Part]) -> bool:
        if char in "<>" and self.text.startswith("(", self.at + 1):
            parts.append(self.process())
            return True
        last = parts[-1] if char == "(" and parts else None
        if not (isinstance(last, Literal) and not last.quoted and last.text[-1:] in "?*+@!" and last.text):
            return False
        if self.peek("()") or self.text[self.at - 1] != last.text[-1]:  # "a@()" defines a function
            return False
        parts[-1:] = [Literal(last.text[:-1])] if len(last.text) > 1 else []
        parts.append(self._extglob())
        return True

    def _extglob(self) -> ExtGlob:
        start = self.at - 1
        inner: list[Part] = []
        self.at += 1
        if self.enter():
            while self.at < self.size and not self.peek(")"):
                before = self.at
                inner.extend(self.word().parts)
                if self.at == before:
                    inner.append(Literal(self.text[before]))
                    self.at += 1
        self.leave()
        self.expect(")")
        return ExtGlob(tuple(inner), self.text[start : self.at])

    def _backslash(self, parts: list[Part]) -> None:
        char = self.text[self.at + 1 : self.at + 2]
        self.at = min(self.at + 2, self.size)
        if char != "\n":
            parts.append(Literal(char or "\\", quoted=True))

    def single(self) -> Literal:
        end = self.text.find("'", self.at + 1)
        body = self.text[self.at + 1 : end if end >= 0 else self.size]
        if end < 0:
            self.error("unterminated '")
        self.at = end + 1 if end >= 0 else self.size
        return Literal(body, quoted=True)

    def double(self, close: str) -> tuple[Part, ...]:
        """Double-quoted text up to ``close``, which is taken; to the end of the text where it is empty (heredocs)."""
        parts: list[Part] = []
        text = self.text
        while self.at < self.size:
            char = text[self.at]
            if char == close:
                self.at += 1
                return tuple(parts)
            if char == "\\":
                self._backslash_in_double(parts, close)
            elif char in "$`":
                parts.append(self.dollar(quoted=True))
            else:
                match = _IN_DOUBLE.match(text, self.at)
                self.at = match.end() if match else self.at + 1
                parts.append(Literal(match.group() if match else char, quoted=True))
        if close:
            self.error(f"unterminated {close}")
        return tuple(parts)

    def _backslash_in_double(self, parts: list[Part], close: str) -> None:
        pair = self.text[self.at : self.at + 2]
        self.at += len(pair)
        if pair != "\\\n":
            parts.append(Literal(pair[1:] if pair[1:] and pair[1:] in "$`\\" + close else pair, quoted=True))
