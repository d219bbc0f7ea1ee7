"""Parses bash expansions: ``$…``, backticks, ``<(…)``, ``>(…)``; second layer of the parser (rules in ``lexer``)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from sentinel_guard.core.analysis.parser.lexer import Lexer
from sentinel_guard.core.analysis.parser.syntax_tree import (
    ArithSub,
    CommandSub,
    DoubleQuoted,
    List,
    Literal,
    Parameter,
    Part,
    ProcessSub,
    Script,
    Variable,
    Word,
)

_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)(`?)", re.DOTALL)
_ANSI_QUOTED = re.compile(r"\$'((?:[^'\\]|\\.)*)('?)", re.DOTALL)
_IN_ARITHMETIC = re.compile(r"[^\\$`\"'()\[\]]+")
_IN_ARGUMENT = re.compile(r"[^\\$`\"'<>}/:\]]+")
_PARAMETER = re.compile(r"([!#]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])?")
_OPERATOR = re.compile(r":[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|~~?|@[QEPAaUuLKk](?=\})|[-=?+:]")
_ANSI_C = re.compile(
    r"\\(x\{[0-9a-fA-F]+\}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c\\\\|c.|.)", re.DOTALL
)
_BYTES = re.compile("[\udc80-\udcff]")
_ESCAPES = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


def ansi_c(text: str) -> str:
    r"""The value of ``$'text'``: ``\n``, ``\x41``, ``\101``, ``\u00e9``, ``\cA``; it ends at a NUL, as in bash."""
    done = _ANSI_C.sub(_escape, text).split("\0")[0]
    if _BYTES.search(done):
        done = done.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return done


def _escape(match: re.Match[str]) -> str:
    code = match.group(1)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if code[0] == "x" and len(code) > 1:
        return _byte(int(code[1:].strip("{}"), 16) & 255)
    if code[0] in "uU" and len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1]) & 31)
    return _byte(int(code, 8) & 255) if code[0] in "01234567" else match.group(0)


def _byte(value: int) -> str:
    """A byte as ``surrogateescape`` has it, so that those of one character come together again."""
    return chr(value) if value < 128 else chr(0xDC00 + value)


class Dollars(Lexer, ABC):
    __slots__ = ()

    @abstractmethod
    def commands(self) -> List:
        """Commands up to a closing token, which stays. The grammar's part."""

    @abstractmethod
    def script(self) -> List:
        """All commands of the text. The grammar's part."""

    def dollar(self, *, quoted: bool) -> Part:
        if match := _VARIABLE.match(self.text, self.at):
            self.at = match.end()
            return Variable(match.group(1))
        try:
            return self._expansion(self.text[self.at + 1 : self.at + 2], quoted) if self.enter() else Literal("")
        finally:
            self.leave()

    def _expansion(self, char: str, quoted: bool) -> Part:
        if self.peek("`"):
            return self._backticks(quoted)
        if char == "(":
            return self._parenthesis()
        if char == "{":
            return self._brace(quoted)
        if char == "[":
            return self._brackets()
        if char == "'" and not quoted:
            return self._ansi_quoted()
        self.at += 1
        if char == '"' and not quoted:
            self.at += 1
            return DoubleQuoted(self.double('"'))
        if self.peek("\\\n"):
            self.error("line continued behind $")
        return Literal("$", quoted=quoted)

    def _ansi_quoted(self) -> Literal:
        match = _ANSI_QUOTED.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        if not match.group(2):
            self.stop("unterminated $'")
        return Literal(ansi_c(match.group(1)), quoted=True)

    # ---- commands in words ----

    def _backticks(self, quoted: bool) -> CommandSub:
        start = self.at
        match = _BACKTICKS.match(self.text, start)
        assert match is not None
        self.at = match.end()
        if not match.group(2):
            self.stop("unterminated `")
        inner = re.sub(r'\\([`\\$"])' if quoted else r"\\([`\\$])", r"\1", match.group(1))
        mark = len(self.run.errors)
        body = self.nested(inner).script()
        return CommandSub(Script(body, tuple(self.run.errors[mark:]), inner), self.text[start : self.at])

    def _parenthesis(self) -> Part:
        start = self.at
        if self.peek("$((") and (parts := self.arithmetic(start + 3, "))")) is not None:
            return ArithSub(parts, self.text[start : self.at])
        self.at = start + 2
        script = self._substituted()
        return CommandSub(script, self.text[start : self.at])

    def process(self) -> ProcessSub:
        start = self.at
        self.at += 2
        self.enter()
        script = self._substituted()
        self.leave()
        return ProcessSub(self.text[start], script, self.text[start : self.at])

    def _substituted(self) -> Script:
        """Commands up to ``)``. Their heredocs are their own: one that is open outside goes on after them."""
        start, mark = self.at, len(self.run.errors)
        outer = self.pending, self.in_sub
        self.pending, self.in_sub = [], True
        body = self.commands()
        self.lines()
        if self.pending:
            self.error("heredoc without body")
        self.pending, self.in_sub = outer
        source = self.text[start : self.at]
        self.expect(")")
        return Script(body, tuple(self.run.errors[mark:]), source)

    # ---- arithmetic ----

    def _brackets(self) -> Part:
        start = self.at
        parts = self.arithmetic(start + 2, "]")
        if parts is None:
            self.stop("unterminated $[")
        return ArithSub(parts or (), self.text[start : self.at])

    def arithmetic(self, start: int, close: str) -> tuple[Part, ...] | None:
        """What stands from ``start`` to ``close``, which is taken; None, with no trace, where it is no arithmetic."""
        before, errors = self.at, len(self.run.errors)
        self.at = start
        parts = self._arithmetic_parts(close)
        if parts is None:
            self.charge(self.at - start)
            self.at = before
            del self.run.errors[errors:]
        return parts

    def _arithmetic_parts(self, close: str) -> tuple[Part, ...] | None:
        parts: list[Part] = []
        level = 0
        quoted = False
        while self.at < self.size:
            char = self.text[self.at]
            if level == 0 and not quoted and self.take(close):
                return tuple(parts)
            if part := self._arithmetic_part(char):
                parts.append(part)
                continue
            if char == "'":
                quoted = not quoted and self.text.find("'", self.at + 1) > 0
            elif not quoted and char in "([":
                level += char == "(" or close == "]"
            elif not quoted and char in ")]" and (char == ")" or close == "]"):
                level -= 1
                if level < 0:
                    return None
            parts.append(Literal(char))
            self.at += 1
        return None

    def _arithmetic_part(self, char: str) -> Part | None:
        if match := _IN_ARITHMETIC.match(self.text, self.at):
            self.at = match.end()
            return Literal(match.group())
        if char in "$`":
            return self.dollar(quoted=True)
        if char == '"':
            self.at += 1
            return DoubleQuoted(self.double('"'))
        if char == "\\":
            self.at += 2
            return Literal(self.text[self.at - 2 : self.at])
        return None

    # ---- ${…} ----

    def _brace(self, quoted: bool) -> Part:
        start = self.at
        self.at += 2
        if self.text[self.at : self.at + 1] in (" ", "\t", "\n", "|"):
            return self._function_substitution(start)
        match = _PARAMETER.match(self.text, self.at)
        assert match is not None
        prefix, name = match.group(1), match.group(2) or ""
        self.at = match.end()
        if prefix and (not name or (name in "@*#?$!-" and self.text[self.at : self.at + 1] != "}")):
            self.at -= len(name)  # ${#}, ${!}, ${#-default}: the prefix is the name
            prefix, name = "", prefix
        index = None
        if name and self.take("["):
            index = self.argument("]", quoted=False)
            self.expect("]")
        op, argument, extra = self._operation(prefix, index, quoted)
        if not self.take("}"):
            self.error("unterminated ${")
        return Parameter(name, index, op, argument, extra, self.text[start : self.at])

    def _operation(self, prefix: str, index: Word | None, quoted: bool) -> tuple[str, Word | None, Word | None]:
        """The operator and its arguments, up to the closing brace."""
        if self.peek("}"):
            keys = prefix == "!" and index is not None and index.source in ("@", "*")
            return "keys" if keys else {"": "", "#": "length", "!": "indirect"}[prefix], None, None
        if prefix == "!" and (self.peek("*}") or self.peek("@}")):
            self.at += 1
            return "names", None, None
        match = _OPERATOR.match(self.text, self.at)
        if prefix or not match:
            return "unknown", self.argument("}", quoted=quoted), None
        op = match.group()
        self.at = match.end()
        if op[0] == "@":
            return op, None, None
        quoted = quoted and op[0] not in "#%/^,~"  # a pattern has quotes of its own
        between = "/" if op[0] == "/" else ":" if op == ":" else ""
        argument = self.argument("}" + between, quoted=quoted)
        extra = self.argument("}", quoted=quoted) if between and self.take(between) else None
        return op, argument, extra

    def _function_substitution(self, start: int) -> CommandSub:
        """``${ command; }`` of bash 5.3."""
        mark = len(self.run.errors)
        self.at += 1
        inner = self.at
        body = self.commands()
        self.lines()
        source = self.text[inner : self.at]
        self.expect("}")
        return CommandSub(Script(body, tuple(self.run.errors[mark:]), source), self.text[start : self.at])

    def argument(self, stops: str, *, quoted: bool) -> Word:
        """A word inside braces or brackets, blanks included, up to one of ``stops``, which stays."""
        start, text = self.at, self.text
        parts: list[Part] = []
        apostrophe = False
        while self.at < self.size:
            char = text[self.at]
            if char in stops and not apostrophe:
                break
            if part := self._argument_part(char, quoted):
                parts.append(part)
                continue
            # Inside double quotes '…' keeps a brace from closing, and yet what it holds is expanded.
            if char == "'":
                apostrophe = not apostrophe and text.find("'", self.at + 1) > 0
            parts.append(Literal(char, quoted))
            self.at += 1
        return Word(tuple(parts), text[start : self.at])

    def _argument_part(self, char: str, quoted: bool) -> Part | None:
        if match := _IN_ARGUMENT.match(self.text, self.at):
            self.at = match.end()
            return Literal(match.group(), quoted)
        if char == "$" and quoted and (match := _ANSI_QUOTED.match(self.text, self.at)) and match.group(2):
            if set(ansi_c(match.group(1))) & set("$`\"\\'"):
                self.error("quotes inside of quotes, which shells read apart")
            return self._ansi_quoted()
        if char == "$" and quoted and self.peek('$"'):
            self.error("quotes inside of quotes, which shells read apart")
            self.at += 1
            char = '"'
        if char in "$`":
            return self.dollar(quoted=quoted)
        if char == '"':
            self.at += 1
            return DoubleQuoted(self.double('"'))
        if char == "'" and not quoted:
            return self.single()
        if char == "\\":
            return self._escaped(quoted)
        if char in "<>" and not quoted and self.text.startswith("(", self.at + 1):
            return self.process()
        return None

    def _escaped(self, quoted: bool) -> Literal:
        pair = self.text[self.at : self.at + 2]
        self.at += len(pair)
        if pair == "\\\n":
            return Literal("", quoted=True)
        return Literal(pair if quoted and pair[1:] not in tuple('$`"\\}') else pair[1:], quoted=True)
