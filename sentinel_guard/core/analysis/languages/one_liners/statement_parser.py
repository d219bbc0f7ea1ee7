"""Evaluates statements of a one-liner: keywords, loops, functions, imports. Expressions are expression_parser.py's.

Not a parser: it needs no grammar of statements. It goes through the tokens once and evaluates each expression as far as
its parts are constants. Loops over constants are gone through item by item; a function is read when it is called, and
one that nobody calls at the end, unsurely.
"""

from __future__ import annotations

from sentinel_guard.core.analysis.languages.one_liners.expression_parser import SEPARATORS, Expressions, parameters
from sentinel_guard.core.analysis.languages.one_liners.function_calls import MAX_NESTING, Closure
from sentinel_guard.core.analysis.languages.one_liners.language_tables import Grammar
from sentinel_guard.core.analysis.languages.shared import pure_functions, value_operations
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import UNRESOLVED, Dotted
from sentinel_guard.core.analysis.languages.shared.tokenizer import CLOSERS, Token, tokens

_FUNCTIONS = ("function", "sub", "def", "fn", "lambda", "proc")
_LOOPS = ("for", "foreach")
_OPENED = frozenset(("if", "unless", "while", "until", "for", "case"))
"""In ruby these open a block only where a statement begins."""


def read(text: str, grammar: Grammar, deeds: EffectCollector, names: dict[str, object]) -> None:
    """The deeds of a whole text. ``names`` is what its variables hold at the start, and at the end."""
    closures: list[Closure] = []
    reader = Reader(grammar, tokens(text, grammar.lexis), deeds, names, closures)
    reader.statements(len(reader.tokens))
    mark = len(deeds.effects)
    for closure in closures:
        if not closure.used:
            reader.enter(closure, [])
    deeds.doubt(mark)


class Reader(Expressions):
    """Reads one list of tokens. ``names`` and ``closures`` are shared with what it interpolates."""

    def __init__(
        self,
        grammar: Grammar,
        tokens: list[Token],
        deeds: EffectCollector,
        names: dict[str, object],
        closures: list[Closure],
    ) -> None:
        self.grammar = grammar
        self.tokens = tokens
        self.deeds = deeds
        self.names = names
        self.closures = closures
        self.at = 0
        self.pairs = _pairs(tokens, grammar.ends)

    def statements(self, end: int) -> object:
        value: object = UNRESOLVED
        while self.at < end and self.deeds.spend():
            before = self.at
            if self.tokens[before].kind == "op" and self.tokens[before].text in SEPARATORS:
                self.at += 1
                continue
            value = self._statement(end)
            self.at = max(self.at, before + 1)
        return value

    def _statement(self, end: int) -> object:
        start = self.at
        if self.key == "perl" and (loop := self._modifier(end)):
            self.at = loop + 1
            items = value_operations.items(self.expression(end))
            after = self.at
            return self._rounds(("$_",), items, start, loop, after)
        return self.expression(end)

    def _modifier(self, end: int) -> int:
        """Where ``… for LIST`` has its ``for``; 0 for none."""
        at = self.at + 1
        while at < end:
            token = self.tokens[at]
            if token.text in _LOOPS and token.kind == "word":
                return at
            if token.text == ";" or token.text in ("}", ")") or (token.text == "{" and self.tokens[at - 1].text == ")"):
                break
            at = self.pairs.get(at, at) + 1
        self.deeds.spend(at - self.at)
        return 0

    def inner(self, tokens: list[Token]) -> object:
        if self.deeds.level >= MAX_NESTING:
            self.deeds.opaque("nested too deeply", "parse")
            return UNRESOLVED
        self.deeds.level += 1
        value = Reader(self.grammar, tokens, self.deeds, self.names, self.closures).statements(len(tokens))
        self.deeds.level -= 1
        return value[-1] if isinstance(value, list) and len(value) == 1 else value

    # ---- names and keywords ----

    def word(self, token: Token, end: int) -> object:
        text, follows = token.text, self.peek(end)
        if self.key == "js" and follows.text == "=>":
            self.at += 1
            return self.closure((text,), end)
        if text not in self.names and self.tokens[self.at - 2 : self.at - 1] not in _MEMBERS:
            if text in _FUNCTIONS and follows.text not in (".", ",", "=", ")"):
                return self._function(text, end)
            if text in _LOOPS and (follows.kind == "word" or follows.text == "("):
                return self._loop(end)
            if text == "import" and self.key == "js" and follows.text != "(":
                return self._import(end)
        return self._variable(text, follows)

    def _variable(self, text: str, follows: Token) -> object:
        if text[0] in "$@%" and self.grammar.sigils:
            name = text.lstrip("$@%")
            if not name:
                return UNRESOLVED
            if self.key == "perl" and text[0] == "$" and follows.text in ("[", "{") and not follows.spaced:
                text = ("@" if follows.text == "[" else "%") + name
            if text in self.names:
                self.name = text
                return self.names[text]
        elif text in self.names:
            self.name = text
            return self.names[text]
        value = value_operations.known(
            self.deeds.call, text.replace("::", ".").lstrip("\\").replace("\\", "."), self.key
        )
        self.name = text
        if isinstance(value, Dotted) and self.grammar.bare and text[0] not in "$@%":
            self.name = "" if self.peek(len(self.tokens)).text not in ("=", "+=", "||=") else text
        return value

    # ---- functions ----

    def _function(self, keyword: str, end: int) -> object:
        """``function name(a) { … }``, ``sub name { … }``, ``def name(a) … end``, ``fn(a) => …``."""
        begin = self.at - 1
        name = ""
        while self.peek(end).kind == "word" or self.peek(end).text in ("*", ".", ":"):
            if self.peek(end).kind == "word" and self.peek(end).fresh:
                break
            name = self.peek(end).text if self.peek(end).kind == "word" else name
            self.at += 1
        params: tuple[str, ...] = ()
        if self.peek(end).text == "(":
            close = self.closing(self.at, end)
            params = parameters(self.tokens[self.at + 1 : close])
            self.at = close + 1
        if keyword in self.grammar.ends:
            close = self.closing(begin, end)
            closure = Closure(params, self.at, close, self.tokens, self.pairs)
            self.at = min(close + 1, end)
        else:
            while self.at < end and self.peek(end).text not in ("{", "=>", ";") and keyword != "lambda":
                self.at = self.closing(self.at, end) + 1 if self.peek(end).text == "(" else self.at + 1
            self.at += self.peek(end).text == "=>"
            closure = self.closure(params, end)
        if name:
            self.names[name] = closure
            self.closures.append(closure)
        return closure

    def closure(self, params: tuple[str, ...], end: int) -> Closure:
        start = self.at
        if self.peek(end).text == "{":
            close = self.closing(start, end)
            self.at = min(close + 1, end)
            closure = Closure(params, start + 1, close, self.tokens, self.pairs)
        else:
            self.at = self._expression_end(end)
            closure = Closure(params, start, self.at, self.tokens, self.pairs)
        self.closures.append(closure)
        return closure

    def _expression_end(self, end: int) -> int:
        at = self.at
        while at < end and not (self.tokens[at].kind == "op" and self.tokens[at].text in (",", ";", ")", "]", "}")):
            at = self.pairs.get(at, at) + 1
        self.deeds.spend(at - self.at)
        return min(at, end)

    def mapped(self, name: str, end: int) -> object:
        """``map { … } LIST``, ``eval { … }``."""
        start, close = self.at, self.closing(self.at, end)
        self.at = min(close + 1, end)
        items: list[object] = [UNRESOLVED]
        if name not in ("eval", "do"):
            self.at += self.peek(end).text == ","
            value = self.expression(end, 1)
            items = value_operations.items(value if isinstance(value, list) else [value])
        result = self._rounds(("$_",) if name not in ("eval", "do") else (), items, start + 1, close, self.at)
        return items if name in ("grep", "sort", "first") else result

    # ---- loops ----

    def _loop(self, end: int) -> object:
        """``for (const f of LIST) …``, ``foreach (LIST as $f) …``, ``for my $f (LIST) …``, ``for f in LIST do``."""
        begin = self.at - 1
        names: tuple[str, ...] = ()
        while self.peek(end).kind == "word" and self.peek(end).text in ("my", "our", "await", "local", "let"):
            self.at += 1
        if self.key == "perl":
            names = ("$_",)
            if self.peek(end).kind == "word":
                names = (self.peek(end).text,)
                self.at += 1
        if self.peek(end).text == "(":
            first, stop = self.at + 1, self.closing(self.at, end)
            after = min(stop + 1, end)
        else:
            first = self.at
            stop = after = self._header(first, end)
        names, items = self._heading(names, first, stop)
        if self.grammar.ends and begin in self.pairs:
            body, close = after, self.closing(begin, end)
            after = min(close + 1, end)
        elif after < end and self.tokens[after].text in ("{", "do"):
            body, close = after + 1, self.closing(after, end)
            after = min(close + 1, end)
        else:
            body, self.at = after, after
            close = after = self._expression_end(end)
        return self._rounds(names, items, body, close, after)

    def _header(self, at: int, end: int) -> int:
        start = at
        while at < end and self.tokens[at].text not in ("do", "{", ";") and not (at > start and self.tokens[at].fresh):
            at = self.pairs.get(at, at) + 1
        self.deeds.spend(at - start)
        return min(at, end)

    def _heading(self, names: tuple[str, ...], first: int, stop: int) -> tuple[tuple[str, ...], list[object]]:
        """The names that a loop sets, and what it goes through."""
        span = range(first, min(stop, first + 40))
        marks = ("as",) if self.key == "php" else ("of", "in", "=") if self.key == "julia" else ("of", "in")
        at = next((n for n in span if self.tokens[n].kind == "word" and self.tokens[n].text in marks), None)
        if at is None:
            self.at = first
            value: object = self.arguments(stop)[0] if names else self.statements(stop)
            return names, value_operations.items(value) if names else [UNRESOLVED]
        if self.key == "php":
            self.at = first
            value = self.expression(at, 1)
            found = [t.text for t in self.tokens[at + 1 : stop] if t.kind == "word"]
            return tuple(found[-1:]), value_operations.items(value)
        self.at = at + 1
        value = self.expression(stop, 1)
        found = [t.text for t in self.tokens[first:at] if t.kind == "word" and t.text not in ("const", "let", "var")]
        return tuple(found[-1:]), value_operations.items(value)

    def _rounds(self, names: tuple[str, ...], items: list[object], body: int, close: int, after: int) -> object:
        """The body once for each item."""
        saved = {name: self.names[name] for name in names if name in self.names}
        results: list[object] = []
        for item in items:
            self.names.update(dict.fromkeys(names, item))
            self.at = body
            results.append(self.statements(close))
        for name in names:
            self.names.pop(name, None)
        self.names.update(saved)
        self.at = after
        return results

    # ---- declarations ----

    def destructure(self, end: int) -> object:
        """``const {a: b, c} = require("fs")``, ``my ($a, $b) = @ARGV``."""
        start, close = self.at, self.closing(self.at, end)
        self.at = min(close + 1, end)
        if self.peek(end).text != "=":
            self.at = start
            return self.postfix(self.primary(end), end)
        self.at += 1
        value = self.expression(end)
        inside = self.tokens[start + 1 : close]
        if self.tokens[start].text == "{":
            for key, name in _pairs_of(inside):
                self.names[name] = value_operations.member(self.deeds.call, value, key, self.key)
        else:
            given = value if isinstance(value, list) else []
            for n, name in enumerate(parameters(inside)):
                self.names[name] = given[n] if n < len(given) else UNRESOLVED
        return value

    def _import(self, end: int) -> object:
        """``import fs, {rm as x} from "fs"``, ``import * as fs from "fs"``."""
        stop = next((n for n in range(self.at, min(end, self.at + 60)) if self.tokens[n].kind == "string"), None)
        if stop is None:
            return UNRESOLVED
        source = pure_functions.module(self.tokens[stop].text)
        inside = self.tokens[self.at : stop]
        self.at = stop + 1
        braces = next((n for n, t in enumerate(inside) if t.text == "{"), len(inside))
        for key, name in _pairs_of(inside[braces + 1 :]):
            self.names[name] = (
                source if key == "default" else value_operations.member(self.deeds.call, source, key, "js")
            )
        whole = [t.text for t in inside[:braces] if t.kind == "word" and t.text not in ("as", "from", "type")]
        self.names.update(dict.fromkeys(whole, source))
        return UNRESOLVED

    def braces(self, close: int) -> object:
        """An object or hash, or a block."""
        token, follows = self.peek(close), self.peek(close, 1)
        marks = ("=>", ",") if self.key in ("perl", "ruby") else (":", ",")
        is_pairs = token.kind in ("word", "string") and (follows.text in (*marks, ":") or self.at + 1 == close)
        if is_pairs and not (self.at + 1 == close and self.grammar.bare):
            values, named = self.arguments(close)
            return named if named or self.key != "lua" else values
        if self.key == "lua":
            return self.arguments(close)[0]
        value = self.statements(close)
        self.at = close
        return value if self.grammar.sigils else UNRESOLVED


_MEMBERS = [[Token("op", ".")], [Token("op", "->")], [Token("op", "?.")]]


def _pairs_of(tokens: list[Token]) -> list[tuple[str, str]]:
    """``a, b: c, d as e``: pairs of a key and the name for it."""
    found: list[tuple[str, str]] = []
    group: list[str] = []
    for token in [*tokens, Token("op", ",")]:
        if token.text == ",":
            if group:
                found.append((group[0], group[-1]))
            group = []
        elif token.kind == "word" and token.text not in ("as", "from", "type"):
            group.append(token.text)
    return found


def _pairs(tokens: list[Token], ends: frozenset[str]) -> dict[int, int]:
    """Where each bracket closes, and each block that ``end`` closes."""
    pairs: dict[int, int] = {}
    stack: list[tuple[int, str]] = []
    for at, token in enumerate(tokens):
        text = token.text
        if token.kind == "op":
            if text in CLOSERS and text != "<":
                stack.append((at, CLOSERS[text]))
            elif text in (")", "]", "}"):
                _close(stack, pairs, at, text)
        elif ends and token.kind == "word" and not (at and tokens[at - 1].text in (".", ":", "::")):
            if text in ("end", "until") and (text == "end" or "repeat" in ends):
                _close(stack, pairs, at, "end")
            elif text in ends and _opens(tokens, at, stack, ends):
                stack.append((at, "end"))
    return pairs


def _opens(tokens: list[Token], at: int, stack: list[tuple[int, str]], ends: frozenset[str]) -> bool:
    """Ruby's ``do`` belongs to a loop before it, and its modifiers open nothing."""
    if "def" not in ends:
        return True
    token = tokens[at]
    if token.text in _OPENED:
        return token.fresh or (at > 0 and tokens[at - 1].text in ("=", "{", "|", "do", "then", "("))
    if token.text == "do" and stack and tokens[stack[-1][0]].text in ("while", "until", "for"):
        return any(t.fresh for t in tokens[stack[-1][0] + 1 : min(at + 1, stack[-1][0] + 30)])
    return True


def _close(stack: list[tuple[int, str]], pairs: dict[int, int], at: int, sign: str) -> None:
    """Closes the last thing opened with this closer; what was opened inside of it closes here too."""
    depth = len(stack)
    while depth and stack[depth - 1][1] != sign and len(stack) - depth < 8:
        depth -= 1
    if depth and stack[depth - 1][1] == sign:
        for opened, _ in stack[depth - 1 :]:
            pairs[opened] = at
        del stack[depth - 1 :]
