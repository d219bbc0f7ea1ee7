"""Parses and evaluates expressions of a one-liner: operators, members, arguments. Calls are function_calls.py's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from sentinel_guard.core.analysis.languages.one_liners.function_calls import MAX_NESTING, Applied, Caller, Closure
from sentinel_guard.core.analysis.languages.shared import pure_functions, value_operations
from sentinel_guard.core.analysis.languages.shared.program_values import UNRESOLVED, Dotted, Method, joined, text_of
from sentinel_guard.core.analysis.languages.shared.tokenizer import CLOSERS, Token

END = Token("op", "")
"""Stands behind the last token."""

_LEVELS: Mapping[str, int] = {
    **dict.fromkeys(("=", ":=", "<-", "||=", "??=", "+=", ".="), 0), "?": 1, **dict.fromkeys(("||", "&&", "//",
    "??"), 2),
    **dict.fromkeys(("=~", "!~"), 3), **dict.fromkeys(("<>", "++", "..", "<<", ">>"), 5),
    **dict.fromkeys(("+", "-", "."), 5), **dict.fromkeys(("*", "/", "%", "**", "x"), 6),
}  # fmt: skip
_COMPARED = "|> == != === !== < > <= >= <=> & | ^ eq ne lt gt le ge in instanceof is -= *= /="
_OPERATORS = frozenset((*_LEVELS, *_COMPARED.split()))
_AMBIGUOUS = frozenset("* - + < / & % x in is".split())  # noqa: SIM905 - one line reads better than ten
"""On a new line these begin a statement, unless they join texts."""
SEPARATORS = frozenset((",", ";", ")", "]", "}", ":", "=>"))
_LOW = frozenset(
    ("or", "and", "xor", "not", "if", "unless", "for", "foreach", "while", "until", "do", "then", "end", "else",
    "elsif", "elseif", "rescue", "as", "of", "in")
)  # fmt: skip
_COMMON = "return if else while try finally throw do case switch until"
_SKIPPED: Mapping[str, frozenset[str]] = {
    "js": frozenset(f"{_COMMON} const let var await new yield typeof void async static export default delete".split()),
    "perl": frozenset(f"{_COMMON} my our local print say die warn and or not xor elsif unless no use package".split()),
    "ruby": frozenset(f"{_COMMON} puts print p pp and or not unless elsif then begin ensure raise yield when".split()),
    "php": frozenset(f"{_COMMON} echo print new elseif and or xor static global public private use".split()),
    "lua": frozenset(f"{_COMMON} local then elseif and or not print repeat".split()),
    "groovy": frozenset(f"{_COMMON} def var new println print assert final static".split()),
}
_DECLARES = ("my", "const", "let", "var", "local", "our")
_PREFIX = frozenset(("!", "-", "+", "~", "\\", "&", "...", "*", "**", "++", "--", "^", "->", "#", "@", "%"))
_BLOCKS = ("map", "grep", "first", "any", "all", "sort", "eval", "do", "none")


class Expressions(Caller):
    """The half of the reader that reads expressions."""

    @abstractmethod
    def word(self, token: Token, end: int) -> object:
        """The value of a name, or what a keyword begins; the reader stands behind it."""

    @abstractmethod
    def braces(self, close: int) -> object:
        """The value of what stands between braces."""

    @abstractmethod
    def inner(self, tokens: list[Token]) -> object:
        """The value of interpolated code."""

    @abstractmethod
    def closure(self, params: tuple[str, ...], end: int) -> Closure:
        """A function whose body begins here."""

    @abstractmethod
    def destructure(self, end: int) -> object:
        """``const {a: b} = …`` behind its keyword."""

    @abstractmethod
    def mapped(self, name: str, end: int) -> object:
        """``map { … } LIST`` of Perl, at the brace."""

    name = ""
    """The variable that the last operand was, for an assignment."""

    def peek(self, end: int, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self.tokens[at] if at < end else END

    def closing(self, at: int, end: int) -> int:
        """Where the bracket or block that opens at ``at`` closes."""
        return min(self.pairs.get(at, end), end)

    def expression(self, end: int, floor: int = 0) -> object:
        """One expression, and what operators join to it."""
        if self.deeds.level >= MAX_NESTING or not self.deeds.spend():
            self.deeds.opaque("nested too deeply", "parse")
            self.at = end
            return UNRESOLVED
        self.deeds.level += 1
        value = self.operand(end)
        while self.at < end:
            token = self.tokens[self.at]
            sign = token.text
            if sign not in _OPERATORS or token.kind not in ("op", "word") or _LEVELS.get(sign, 4) < floor:
                break
            if token.fresh and sign in _AMBIGUOUS and sign not in self.grammar.concat:
                break
            value = self._binary(sign, value, end)
        self.deeds.level -= 1
        return value

    def _binary(self, sign: str, left: object, end: int) -> object:
        name, level = self.name, _LEVELS.get(sign, 4)
        self.at += 1
        if sign == "?":
            return self._choice(end)
        right = self.expression(end, 0 if level == 0 else level + 1)
        self.name = ""
        if level == 0 and name:
            if sign in (".=", "+="):
                right = joined(left, right) if isinstance(left, str) else UNRESOLVED
            self.names[name] = right
            return right
        return value_operations.operate(sign, left, right, self.grammar.concat)

    def _choice(self, end: int) -> object:
        first = self.expression(end, 1)
        if self.peek(end).text == ":":
            self.at += 1
        second = self.expression(end, 1)
        self.name = ""
        return first if text_of(first) == text_of(second) else UNRESOLVED

    def operand(self, end: int) -> object:
        """A value with all that is called and looked up on it."""
        self.name = ""
        skipped = _SKIPPED.get(self.key, frozenset())
        while self.at < end:
            token = self.tokens[self.at]
            if token.kind == "op" and token.text in _PREFIX:
                self.at += 1
            elif (
                token.kind == "word"
                and token.text in skipped
                and token.text not in self.names
                and not self._is_name(end)
            ):
                self.at += 1
                if token.text in _DECLARES and self.peek(end).text in ("{", "[", "("):
                    return self.destructure(end)
            else:
                break
        if self.at >= end or (self.tokens[self.at].text in SEPARATORS and self.tokens[self.at].kind == "op"):
            return UNRESOLVED
        return self.postfix(self.primary(end), end)

    def _is_name(self, end: int) -> bool:
        """``delete: …``, ``p.x``: the word is a name there."""
        return self.peek(end, 1).text in ("=", ".", "=>", ",", ":")

    def primary(self, end: int) -> object:
        """One value, without what is called on it."""
        token = self.tokens[self.at]
        self.at += 1
        match token.kind:
            case "string":
                return self.text(token)
            case "words":
                return list(token.parts)
            case "shell":
                text = self.text(token)
                if self.key != "julia":  # there it is a value, that run() takes
                    self.deeds.shell([text], [], {})
                return text if self.key == "julia" else UNRESOLVED
            case "number":
                return int(token.text) if token.text.isdecimal() and len(token.text) < 10 else UNRESOLVED
            case "regex":
                self.text(token)
                return UNRESOLVED
            case "cut":
                self.deeds.opaque("nested too deeply", "parse")
                return UNRESOLVED
            case "word":
                return self.word(token, end)
        return self._bracket(token, end) if token.text in CLOSERS else UNRESOLVED

    def text(self, token: Token) -> object:
        """A string with what is interpolated."""
        parts = [part if isinstance(part, str) else self.inner(part) for part in token.parts]
        return joined(*parts) if len(parts) != 1 else parts[0]

    def _bracket(self, token: Token, end: int) -> object:
        start, close = self.at, self.closing(self.at - 1, end)
        if token.text == "<":
            return self._angle(end)
        if token.text == "(" and self.key == "js" and close + 1 < end and self.tokens[close + 1].text == "=>":
            self.at = close + 2
            return self.closure(parameters(self.tokens[start:close]), end)
        if token.text == "{":
            value = self.braces(close)
            self.at = min(close + 1, end)
            return value
        values, named = self.arguments(close)
        self.at = min(close + 1, end)
        if token.text == "[":
            return [*values, *named.values()]
        if self.key == "perl" and (len(values) != 1 or named):
            return [*values, *named.values()]
        return values[-1] if values else []

    def _angle(self, end: int) -> object:
        """``<*.c>`` of Perl; ``<STDIN>`` and ``<$f>`` are not known."""
        stop = next((n for n in range(self.at, min(end, self.at + 30)) if self.tokens[n].text == ">"), None)
        if self.key != "perl" or stop is None:
            return UNRESOLVED
        text = "".join(token.text for token in self.tokens[self.at : stop])
        self.at = stop + 1
        return pure_functions.FUNCTIONS["perl"]["glob"](self.deeds, [text]) if set(text) & set("*?~/") else UNRESOLVED

    def arguments(self, close: int) -> tuple[list[object], dict[str, object]]:
        """What stands between brackets: values, and those with a name."""
        values: list[object] = []
        named: dict[str, object] = {}
        while self.at < close and self.deeds.spend():
            before, token = self.at, self.tokens[self.at]
            if token.kind == "op" and token.text in SEPARATORS:
                self.at += 1
            elif self._argument(close, values, named):
                break
            self.at = max(self.at, before + 1)
        self.at = max(self.at, close)
        return values, named

    def _argument(self, end: int, values: list[object], named: dict[str, object]) -> bool:
        """One argument; True where nothing could be read."""
        token, follows = self.tokens[self.at], self.peek(end, 1)
        before = self.at
        marks = (":",) if self.key == "js" else ("=", ":", "=>")
        if (
            token.kind in ("word", "string")
            and token.text[:1] not in "$@%"
            and follows.kind == "op"
            and follows.text in marks
        ):
            self.at += 2
            named[token.text] = self.expression(end, 1)
        else:
            values.append(self.expression(end, 0 if self.key == "js" else 1))
        return self.at >= end and before == self.at

    # ---- members and calls ----

    def postfix(self, value: object, end: int) -> object:
        """Members, subscripts and calls behind a value."""
        called = False
        while self.at < end:
            found = self._follow(value, called, end)
            if found is None:
                break
            value, called = found
        if self.grammar.bare and not called and not self.name:
            value = self._sent(value)
        return value

    def _follow(self, value: object, called: bool, end: int) -> tuple[object, bool] | None:
        """The next step behind a value, and whether it was a call; None for none."""
        grammar, token, follows = self.grammar, self.tokens[self.at], self.peek(end, 1)
        if token.text in grammar.access and token.kind == "op" and follows.kind == "word":
            value = self._sent(value) if grammar.sends and not called and _is_sent(value) else value
            self.at += 2
            found = value_operations.member(self.deeds.call, value, follows.text, self.key), False
        elif token.text in ("->", "?.", ".") and token.text in grammar.access and follows.text in ("(", "[", "{"):
            self.at += 1
            found = value, called
        elif token.text == "(" and token.kind == "op" and not (token.fresh and self.key != "js"):
            found = self._call(value, end), True
        elif token.kind == "op" and token.text in ("[", "{") and self._subscripts(token, value):
            found = self._subscript(value, end), True
        elif token.kind == "string" and not token.fresh and self.key in ("js", "lua") and _callable(value):
            self.at += 1
            found = self.invoke(value, [self.text(token)], {}), True
        elif grammar.bare and not called and _callable(value) and self._begins(token, value):
            found = self._bare(value, end), True
        elif grammar.sends and self._has_block(end):
            found = self._block(value, called, end), True
        else:
            return None
        self.name = ""
        return found

    def _sent(self, value: object) -> object:
        """A name without arguments that is called all the same: ``path.delete``, ``unlink`` of ``$_``."""
        if isinstance(value, Method):
            return self.invoke(value, [], {}) if self.grammar.bare else value
        if isinstance(value, Dotted):
            if value.name in pure_functions.FUNCTIONS[self.key]:
                return self.invoke(value, [], {})
            if self.key == "perl" and "$_" in self.names and value.name in self.grammar.sinks:
                return self.invoke(value, [self.names["$_"]], {})
        return value

    def _call(self, value: object, end: int) -> object:
        self.at += 1
        close = self.closing(self.at - 1, end)
        values, named = self.arguments(close)
        self.at = min(close + 1, end)
        if self.key == "perl" and not values and "$_" in self.names:
            values = [self.names["$_"]]
        if self.grammar.sends and self._has_block(end):
            return self._block(Applied(value, values, named), True, end)
        return self.invoke(value, values, named)

    def _has_block(self, end: int) -> bool:
        token = self.peek(end)
        return not token.fresh and (token.text == "do" or (token.text == "{" and token.kind == "op"))

    def _subscripts(self, token: Token, value: object) -> bool:
        if token.fresh or token.spaced or (token.text == "{" and not self.grammar.sigils):
            return False
        return token.text == "[" or isinstance(value, dict | Dotted) or value is UNRESOLVED

    def _begins(self, token: Token, value: object) -> bool:
        """A call without parentheses goes on with its first argument."""
        if token.fresh or (not token.spaced and token.kind not in ("string", "words", "shell")):
            return False
        if token.kind == "word":
            return token.text not in _LOW and token.text not in _OPERATORS
        if token.kind != "op":
            return True
        follows = self.peek(len(self.tokens), 1)
        tight = token.text in ("*", "&", "->", "-", "\\", "<", "::") and not follows.spaced
        return token.text == "[" or tight or (token.text == "{" and self.key == "perl" and isinstance(value, Dotted))

    def _bare(self, value: object, end: int) -> object:
        if self.key == "perl" and self.peek(end).text == "{" and isinstance(value, Dotted):
            return self.mapped(value.name, end) if value.name in _BLOCKS else UNRESOLVED
        values: list[object] = []
        named: dict[str, object] = {}
        while self.at < end and not self._argument(end, values, named) and self.peek(end).text in (",", "=>"):
            self.at += 1
        if self.grammar.sends and self._has_block(end):
            return self._block(Applied(value, values, named), True, end)
        return self.invoke(value, values, named)

    def _subscript(self, value: object, end: int) -> object:
        self.at += 1
        close = self.closing(self.at - 1, end)
        inside = self.tokens[self.at : min(close, self.at + 2)]
        if len(inside) == 1 and inside[0].kind == "word" and inside[0].text[0] not in "$@" and self.key == "perl":
            values: list[object] = [inside[0].text]
        else:
            values, _ = self.arguments(close)
        self.at = min(close + 1, end)
        return value_operations.subscript(self.deeds, value, values[0] if values else UNRESOLVED, values)

    def _block(self, value: object, called: bool, end: int) -> object:
        """A ruby block is the last argument of the call before it."""
        start, close = self.at, self.closing(self.at, end)
        first = start + 1
        params: tuple[str, ...] = ()
        if first < close and self.tokens[first].text == "|":
            stop = next((n for n in range(first + 1, min(close, first + 20)) if self.tokens[n].text == "|"), first)
            params, first = parameters(self.tokens[first + 1 : stop]), stop + 1
        closure = Closure(params or ("it",), first, close, self.tokens, self.pairs)
        if isinstance(value, Applied):
            result = self.invoke(value.function, [*value.values, closure], value.named)
        elif _callable(value) and not called:
            result = self.invoke(value, [closure], {})
        else:
            result = self.enter(closure, [])
        self.at = min(close + 1, end)
        return result


def _callable(value: object) -> bool:
    return isinstance(value, Dotted | Method | Closure)


def _is_sent(value: object) -> bool:
    """In ruby a member is a call; ``Pathname`` in ``Pathname.new`` is none."""
    return isinstance(value, Method) or (isinstance(value, Dotted) and "." in value.name)


def parameters(tokens: list[Token]) -> tuple[str, ...]:
    """The names of a list of parameters; defaults and types are passed by."""
    names, fresh = [], True
    for token in tokens:
        if fresh and token.kind == "word":
            names.append(token.text)
        fresh = token.text in (",", "(", "[", "{") or (fresh and token.kind == "op")
    return tuple(names)
