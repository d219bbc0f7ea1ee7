"""Bash parser: script text -> syntax tree; the grammar, top layer of the parser (rules in ``lexer``).

``parse`` never raises, never hangs and runs nothing. What it did not understand is in ``errors``; who judges treats an
error as something opaque. Commands found before and after an error still count, as bash runs the lines before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sentinel_guard.core.analysis.parser.lexer import META, Run
from sentinel_guard.core.analysis.parser.simple_command_parser import KEYWORDS, PARENTHESES, Simples
from sentinel_guard.core.analysis.parser.syntax_tree import (
    Arithmetic,
    Arm,
    Case,
    Coproc,
    Function,
    Group,
    If,
    List,
    Literal,
    Loop,
    Node,
    Part,
    Pipeline,
    Script,
    Subshell,
    Test,
    Word,
)

MAX_TEXT = 64 * 1024
"""Characters that are parsed; what lies behind them is an error."""

_END = r"(?=(?:\\\n)*(?:[ \t\n;&|<>()]|\Z))"
_RESERVED = re.compile(f"(?:{'|'.join(sorted(map(re.escape, KEYWORDS)))}){_END}")
_BEGIN = frozenset(word[0] for word in KEYWORDS)
_CLOSER = re.compile(rf"\)|;;|;&|(?:then|elif|else|fi|done|do|esac|\}}){_END}")
_AND_OR = ("&&", "||")
_TIME_OPTION = re.compile(rf"(?:[ \t]|\\\n)*(?:-p|--){_END}")
_COPROC_NAME = re.compile(
    r"([A-Za-z_][A-Za-z0-9_]*)[ \t]+(?=\(|(?:\{|\[\[|while|until|for|if|case|select)[ \t\n;&|<>()])"
)
_SPLIT_OPERATOR = re.compile(r"(?:&(?:\\\n)+[&>]|\|(?:\\\n)+[|&]|<(?:\\\n)+[<>&(]|>(?:\\\n)+[>&|(]|;(?:\\\n)+[;&])")


def parse(text: str) -> Script:
    """The tree of a script. Never raises; errors and overruns (64 KB, depth, time) are in ``errors``."""
    text = text.replace("\0", "")  # as bash does
    run = Run(steps=1000 + min(len(text), MAX_TEXT))
    if len(text) > MAX_TEXT:
        run.errors.append(f"longer than {MAX_TEXT} characters")
        text = text[:MAX_TEXT]
    if "\\\n" in text and _SPLIT_OPERATOR.search(text):
        run.errors.append("an operator is split over two lines")
    try:
        body = Parser(text, run).script()
    except RecursionError:
        run.errors.append("depth")
        body = List(())
    return Script(body, tuple(run.errors), text)


class Parser(Simples):
    __slots__ = ()

    # ---- lists and pipelines ----

    def script(self) -> List:
        items: list[tuple[Node, str]] = []
        while True:
            items.extend(self.commands().items)
            self.lines()
            if self.at >= self.size:
                break
            self.error(f"unexpected {self.text[self.at : self.at + 8]!r}")
            before = self.at
            self.word()
            self.at = max(self.at, before + 1)
        if self.pending:
            self.error("heredoc without body")
        return List(tuple(items))

    def commands(self) -> List:
        items: list[tuple[Node, str]] = []
        while True:
            self.lines()
            if self.at >= self.size or _CLOSER.match(self.text, self.at):
                break
            before = self.at
            self._and_or(items)
            if self.at == before:
                break
        return List(tuple(items))

    def _and_or(self, items: list[tuple[Node, str]]) -> None:
        first = len(items)
        node = self._pipeline()
        while (operator := self.text[self.at : self.at + 2]) in _AND_OR:
            self.at += 2
            if node:
                items.append((node, operator))
            self.lines()
            node = self._pipeline()
        separator = self._separator()
        if separator == "&" and len(items) > first:
            last = ((node, ""),) if node else ()
            node = List((*items[first:], *last))
            del items[first:]
        if node:
            items.append((node, separator))

    def _separator(self) -> str:
        char = self.text[self.at : self.at + 1]
        if char == "\n":
            self.newline()
            return char
        if char == "&" or (char == ";" and not self.peek(";;") and not self.peek(";&")):
            self.at += 1
            return char
        return ""

    def _pipeline(self) -> Node | None:
        """The pipeline at the cursor, and past the blanks behind it."""
        negated = timed = False
        while (keyword := self._reserved()) in ("!", "time"):
            self.at += len(keyword)
            negated = negated != (keyword == "!")
            timed = timed or keyword == "time"
            while keyword == "time" and (option := _TIME_OPTION.match(self.text, self.at)):
                self.at = option.end()
            self.blanks()
            if keyword == "time" and self.peek("-\\\n"):
                self.error("an option is split over two lines")
        if (negated or timed) and (self.at >= self.size or self.text[self.at] in ";\n)"):
            return Pipeline((), negated, timed)
        first = self._command(keyword)
        self.blanks()
        bar = self.text[self.at : self.at + 2]
        if not (negated or timed) and (bar[:1] != "|" or bar == "||"):
            return first
        stages = [first]
        while bar[:1] == "|" and bar != "||":
            self.at += 2 if bar == "|&" else 1
            self.lines()
            stages.append(self._stage())
            self.blanks()
            bar = self.text[self.at : self.at + 2]
        return Pipeline(tuple([stage for stage in stages if stage]), negated, timed)

    def _stage(self) -> Node | None:
        """A later stage of a pipeline: bash takes ``!`` and ``time`` there too."""
        while (keyword := self._reserved()) in ("!", "time"):
            self.at += len(keyword)
            self.blanks()
        return self._command(keyword)

    # ---- commands ----

    def _reserved(self) -> str:
        """The reserved word at the cursor, or an empty string."""
        if self.text[self.at : self.at + 1] not in _BEGIN:
            return ""
        match = _RESERVED.match(self.text, self.at)
        return match.group() if match else ""

    def _keyword(self, word: str) -> bool:
        if self._reserved() != word:
            return False
        self.at += len(word)
        return True

    def _closing(self, word: str) -> None:
        """Past newlines and the keyword that must stand there."""
        self.lines()
        if not self._keyword(word):
            self.error(f"missing {word}")

    def _command(self, keyword: str) -> Node | None:
        """The command at the cursor, which begins with a reserved word or with none."""
        parenthesis = self.text[self.at : self.at + 1] == "("
        if not parenthesis and keyword in ("", "in"):
            return self.simple()
        if not self.enter():
            self.leave()
            return None
        read = Parser._parenthesized if parenthesis else _COMPOUND.get(keyword)
        node = None
        if read:
            self.at += len(keyword)
            node = read(self)
        else:
            self.error(f"unexpected {keyword}")
            self.at += len(keyword)
        self.leave()
        return node

    def _parenthesized(self) -> Node:
        start = self.at
        if self.peek("((") and (parts := self.arithmetic(start + 2, "))")) is not None:
            return Arithmetic(Word(parts, self.text[start + 2 : self.at - 2]), self.redirects())
        self.at = start + 1
        body = self.commands()
        self.lines()
        self.expect(")")
        return Subshell(body, self.redirects())

    def group(self) -> Node:
        body = self.commands()
        self._closing("}")
        return Group(body, self.redirects())

    def if_clause(self) -> Node:
        clauses = []
        otherwise = None
        while True:
            condition = self.commands()
            self._closing("then")
            clauses.append((condition, self.commands()))
            self.lines()
            if not self._keyword("elif"):
                break
        if self._keyword("else"):
            otherwise = self.commands()
        self._closing("fi")
        return If(tuple(clauses), otherwise, self.redirects())

    def while_loop(self) -> Node:
        return self._conditional("while")

    def until_loop(self) -> Node:
        return self._conditional("until")

    def _conditional(self, kind: str) -> Node:
        condition = self.commands()
        return Loop(kind, "", None, condition, self._loop_body(), self.redirects())

    def for_loop(self) -> Node:
        self.blanks()
        start = self.at
        if self.peek("(("):
            parts = self.arithmetic(start + 2, "))")
            if parts is None:
                self.stop("unterminated for ((")
            header = Word(parts or (), self.text[start + 2 : self.at - 2])
            self._end_of_header()
            return Loop("arithmetic", "", (header,), None, self._loop_body(), self.redirects())
        return self._over_words("for")

    def select_loop(self) -> Node:
        self.blanks()
        return self._over_words("select")

    def _over_words(self, kind: str) -> Node:
        variable = self.word()
        self.lines()
        words = None
        if self._keyword("in"):
            self.blanks()
            words = self._words()
        self._end_of_header()
        name = variable.literal or variable.source
        return Loop(kind, name, words, None, self._loop_body(), self.redirects())

    def _end_of_header(self) -> None:
        self.blanks()
        self.take(";")

    def _words(self) -> tuple[Word, ...]:
        words = []
        while (word := self.word()).source:
            words.append(word)
            self.blanks()
        return tuple(words)

    def _loop_body(self) -> List:
        self.lines()
        if self._keyword("{"):
            body = self.commands()
            self._closing("}")
            return body
        self._closing("do")
        body = self.commands()
        self._closing("done")
        return body

    def case_clause(self) -> Node:
        self.blanks()
        subject = self.word()
        self._closing("in")
        arms = []
        while True:
            self.lines()
            if self._keyword("esac"):
                break
            before = self.at
            if self.at < self.size:
                arms.append(self._arm())
            if self.at == before:
                self.error("unterminated case")
                break
        return Case(subject, tuple(arms), self.redirects())

    def _arm(self) -> Arm:
        self.take("(")
        self.blanks()
        patterns = [self.word()]
        self.blanks()
        while self.take("|"):
            self.blanks()
            patterns.append(self.word())
            self.blanks()
        self.expect(")")
        body = self.commands()
        self.lines()
        end = next((end for end in (";;&", ";;", ";&") if self.take(end)), "")
        return Arm(tuple(patterns), body, end)

    def function(self) -> Node:
        self.blanks()
        name = self.word()
        self.blanks()
        if match := PARENTHESES.match(self.text, self.at):
            self.at = match.end()
        return self.define(name)

    def define(self, name: Word) -> Function:
        self.lines()
        body = self._command(self._reserved()) if self.enter() else None
        self.leave()
        return Function(name.literal or name.source, body or List(()))

    def coproc(self) -> Node:
        self.blanks()
        name = "COPROC"
        match = _COPROC_NAME.match(self.text, self.at)
        if match and not self._reserved():
            name = match.group(1)
            self.at = match.end()
        return Coproc(name, self._command(self._reserved()) or List(()))

    def test(self) -> Node:
        words: list[Word] = []
        while True:
            self.lines()
            if self.at >= self.size or self.text[self.at] == ";":
                self.error("unterminated [[")
                break
            if self.peek("]]") and self.text[self.at + 2 : self.at + 3] in ("", *META):
                self.at += 2
                break
            words.append(self._test_word(regex=bool(words) and words[-1].source == "=~"))
        return Test(tuple(words), self.redirects())

    def _test_word(self, *, regex: bool) -> Word:
        """An operand or operator of ``[[``; behind ``=~`` a regular expression, which may hold ``( ) | < >``."""
        start = self.at
        parts: list[Part] = []
        level = 0
        while self.at < self.size:
            char = self.text[self.at]
            if word := self.word().parts:
                parts.extend(word)
                continue
            if not regex and parts:
                break
            level += (char == "(") - (char == ")")
            if regex and (level < 0 or (level == 0 and char in " \t\n;&")):
                break
            operator = char * 2 if not regex and char in "&|" and self.peek(char * 2) else char
            parts.append(Literal(operator))
            self.at += len(operator)
            if not regex:
                break
        self.at = max(self.at, start + 1)
        return Word(tuple(parts), self.text[start : self.at])


_COMPOUND: dict[str, Callable[[Parser], Node]] = {
    "{": Parser.group,
    "if": Parser.if_clause,
    "for": Parser.for_loop,
    "select": Parser.select_loop,
    "while": Parser.while_loop,
    "until": Parser.until_loop,
    "case": Parser.case_clause,
    "function": Parser.function,
    "coproc": Parser.coproc,
    "[[": Parser.test,
}
