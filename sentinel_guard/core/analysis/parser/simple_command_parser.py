"""Parses simple commands, assignments and redirections; third layer of the bash parser (rules in ``lexer``)."""

from __future__ import annotations

import re
from abc import abstractmethod

from sentinel_guard.core.analysis.parser.dollar_parser import Dollars
from sentinel_guard.core.analysis.parser.lexer import META
from sentinel_guard.core.analysis.parser.syntax_tree import (
    SHARED,
    ArrayLiteral,
    Assignment,
    CommandSub,
    Function,
    Literal,
    Node,
    Part,
    Redirect,
    Script,
    Simple,
    Word,
    bare_word,
    shared_word,
)

DECLARERS = frozenset(("declare", "typeset", "local", "export", "readonly"))
"""Builtins whose operands are assignments."""

KEYWORDS = frozenset(
    "if then elif else fi for select while until do done case in esac function coproc time [[ ! { }".split()  # noqa: SIM905 - one line reads better than twenty
)

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_REDIRECT = re.compile(rf"(?:(?:(\d+)|(\{{{_NAME}\}}))(?=[<>]))?(<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)")
_REDIRECT_START = frozenset("<>&{0123456789")
_ASSIGN = re.compile(rf"({_NAME})(\+?=|\[)")
_ASSIGN_END = re.compile(r"\](\+?)=")
_ASSIGN_WORD = re.compile(rf"({_NAME})(?:\[([^\]]*)\])?(\+?)=")
_LETTER = r"[^ \t\n;&|<>()\\'\"$`#"
_PLAIN_RUN = re.compile(rf"{_LETTER}=\[]++(?![<>('\"\\$`#=\[])(?: {_LETTER}]++(?![<>('\"\\$`#]))*+")
"""The first words of most commands: one Literal each, one blank between them; neither assignment nor redirection."""
PARENTHESES = re.compile(r"\([ \t]*\)")
_SEPARATES = re.compile(r"[;&|\n]")


def assignment(word: Word) -> Assignment | None:
    """The assignment that an operand of ``export``, ``declare`` … is; None for any other word."""
    first = word.parts[0] if word.parts else None
    if not isinstance(first, Literal) or first.quoted or not (match := _ASSIGN_WORD.match(first.text)):
        return None
    rest = first.text[match.end() :]
    parts = (Literal(rest), *word.parts[1:]) if rest else word.parts[1:]
    key = match.group(2)
    index = None if key is None else Word((Literal(key),), key)
    return Assignment(match.group(1), index, bool(match.group(3)), Word(parts, word.source[match.end() :]))


class Simples(Dollars):
    __slots__ = ()

    @abstractmethod
    def define(self, name: Word) -> Function:
        """The function whose name and parentheses have been read. The grammar's part."""

    def simple(self) -> Node | None:
        """The simple command at the cursor, or the definition ``name() …``; None, with an error, for nothing."""
        start = end = self.at
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        text, size = self.text, self.size
        if (run := _PLAIN_RUN.match(text, start)) and (found := run.group().split(" "))[0] not in DECLARERS:
            self.at = end = run.end()
            words = list(map(shared_word if end - start <= SHARED else bare_word, found))
            self.blanks()
        while self.at < size:
            char = text[self.at]
            if char in _REDIRECT_START and (redirect := self.redirect()):
                redirects.append(redirect)
            elif char == "(":
                match = PARENTHESES.match(text, self.at)
                if match and len(words) == 1 and not assignments:
                    self.at = match.end()
                    return self.define(words[0])
                words.append(self._unexpected_parenthesis())
            elif char in META and not text.startswith(("<(", ">("), self.at):
                break
            elif not words and (assigned := self._assignment()):
                assignments.append(assigned)
            elif words and words[0].source in DECLARERS and (assigned := self._assignment()):
                words.append(_operand(assigned, text[end : self.at].lstrip()))
            elif (word := self.word()).source:
                words.append(word)
            end = self.at
            self.blanks()
        return self._made(assignments, words, redirects, start, end)

    def _made(
        self, assignments: list[Assignment], words: list[Word], redirects: list[Redirect], start: int, end: int
    ) -> Simple | None:
        if not (words or assignments or redirects):
            self.error("a command is missing")
            return None
        if words and "\\\n" in words[0].source:
            self._check_split(words[0].source.replace("\\\n", ""))
        return Simple(tuple(assignments), tuple(words), tuple(redirects), start, end, self.text[start:end])

    def _check_split(self, joined: str) -> None:
        """Bash joins continued lines before it looks for keywords and assignments; rare enough to be an error here."""
        if joined in KEYWORDS or _ASSIGN.match(joined):
            self.error("a keyword or an assignment is split over two lines")

    def _unexpected_parenthesis(self) -> Word:
        """``echo a(b``: an error, and yet what follows is looked at as commands."""
        self.error("unexpected (")
        start, mark = self.at, len(self.run.errors)
        self.at += 1
        if self.enter():
            body = self.commands()
            self.lines()
            self.take(")")
            source = self.text[start : self.at]
            part = CommandSub(Script(body, tuple(self.run.errors[mark:]), source), source)
            self.leave()
            return Word((part,), source)
        self.leave()
        return Word((), "")

    # ---- assignments ----

    def _assignment(self) -> Assignment | None:
        match = _ASSIGN.match(self.text, self.at)
        if not match:
            return None
        name, operator = match.groups()
        index = None
        if operator == "[":
            found = self._subscript(match.end())
            if not found:
                return None
            index, operator = found
        else:
            self.at = match.end()
        value = self._array() if self.peek("(") else self.word()
        return Assignment(name, index, operator[0] == "+", value)

    def _subscript(self, start: int) -> tuple[Word, str] | None:
        """The index and the operator behind it; None, with no trace, for a word that only looks like one."""
        before, errors = self.at, len(self.run.errors)
        self.at = start
        index = self._index()
        match = _ASSIGN_END.match(self.text, self.at)
        if not match:
            affordable = self.charge(self.at - start)
            self.at = before
            del self.run.errors[errors:]
            if not affordable:
                self.stop("time")
            return None
        bare = (p.text for p in index.parts if isinstance(p, Literal) and not p.quoted)
        if any(map(_SEPARATES.search, bare)):  # one word for bash, several commands for other shells
            self.error("a subscript that other shells read as commands")
        self.at = match.end()
        return index, match.group(1) + "="

    def _index(self) -> Word:
        """What stands between the brackets; those inside of it close in pairs."""
        start = self.at
        parts: list[Part] = []
        level = 0
        while True:
            more = self.argument("]", quoted=False)
            parts += more.parts
            level += sum(p.text.count("[") for p in more.parts if isinstance(p, Literal) and not p.quoted)
            if level <= 0 or not self.take("]"):
                return Word(tuple(parts), self.text[start : self.at])
            level -= 1
            parts.append(Literal("]"))

    def _array(self) -> Word:
        start = self.at
        self.at += 1
        words = []
        while True:
            self.lines()
            if self.take(")"):
                break
            if self.at >= self.size:
                self.error("unterminated array")
                break
            word = self.word()
            if word.source:
                words.append(word)
            else:
                self.error("unexpected character in an array")
                self.at += 1
        source = self.text[start : self.at]
        return Word((ArrayLiteral(tuple(words), source),), source)

    # ---- redirections ----

    def redirect(self) -> Redirect | None:
        """The redirection at the cursor; None where there is none."""
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return None
        number, name, operator = match.groups()
        self.at = match.end()
        self.blanks()
        word = self.word()
        if not word.source:
            self.error("redirection without target")
        redirect = Redirect(number or name or "", operator, word if word.source else None)
        if word.source and operator in ("<<", "<<-"):
            self.pending.append(redirect)
        return redirect

    def redirects(self) -> tuple[Redirect, ...]:
        """Those behind a compound command."""
        found = []
        self.blanks()
        while redirect := self.redirect():
            found.append(redirect)
            self.blanks()
        return tuple(found)


def _operand(assigned: Assignment, source: str) -> Word:
    """``name=value`` as one word."""
    equals = "+=" if assigned.append else "="
    index, parts = assigned.index, assigned.value.parts
    if index is None:
        return Word((Literal(assigned.name + equals), *parts), source)
    if (key := index.literal) is not None:
        return Word((Literal(f"{assigned.name}[{key}]{equals}"), *parts), source)
    return Word((Literal(f"{assigned.name}["), *index.parts, Literal("]" + equals), *parts), source)
