"""Tokenizer for the one-liner languages (JavaScript, Perl, Ruby, PHP …), driven by a table row for each language.

Rules of this file:
1. It never raises and always goes on: what is not closed ends with the text, what is not understood is an operator.
2. A string is a tuple of parts: texts, and lists of tokens for what is interpolated.
3. Each character is looked at a bounded number of times; nesting beyond a limit is cut and said so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_NESTING = 20
"""Strings inside interpolations inside strings."""
MAX_FAILS = 50
"""Things that look like the start of a regex and are none, before ``/`` is always a division."""

CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Token(NamedTuple):
    kind: str
    """word, string, shell, regex, number, op, or cut where nesting went too deep."""
    text: str
    parts: tuple[str | list[Token], ...] = ()
    fresh: bool = False
    """First on its line, or behind a semicolon."""
    spaced: bool = False
    """White space stands before it."""


@dataclass(frozen=True, slots=True)
class Quote:
    r"""A kind of string. ``escapes``: ``\n`` and its kin count; else only the closer and the backslash are escaped."""

    open: str
    close: str
    kind: str = "string"
    escapes: bool = True
    inner: str = ""
    """What begins an interpolation: a set of ``${``, ``#{``, ``$(``, ``{$``, ``$``, ``@``."""


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    comments: str
    """A regular expression for comments."""
    quotes: tuple[Quote, ...]
    """Tried in order at each place."""
    word: str = r"[^\W\d]\w*"
    regex: bool = False
    letters: str = ""
    """``perl``, ``ruby`` or ``lua``: quotes that begin with a letter, ``%`` or bracket."""
    heredoc: str = ""
    """A regular expression for what begins a heredoc: groups ``indent``, ``quote``, ``tag``."""
    pattern: re.Pattern[str] = field(init=False)
    comment: re.Pattern[str] = field(init=False)
    here: re.Pattern[str] | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "pattern",
            re.compile(rf"(?P<number>\d[\w]*(?:\.\d\w*)?)|(?P<word>{self.word})|(?P<op>{_OPERATORS})", re.DOTALL),
        )
        object.__setattr__(self, "comment", re.compile(self.comments, re.DOTALL | re.MULTILINE))
        object.__setattr__(self, "here", re.compile(self.heredoc) if self.heredoc else None)


_OPERATORS = (
    r"\.\.\.|===|!==|\*\*=|<=>|\?->|&&=|\|\|=|//=|\?\?=|=>|->|<-|::|\.\.|\?\.|&\.|\?\?|&&|\|\|"
    r"|[-+*/.<>=!:|~^%]=|[=!]~|<<|>>|\+\+|--|\*\*|//|\|>|<>|."
)
_SPACE = re.compile(r"[ \t\r\f\v]+|\\\n")
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,200}+\]){1,1000}+/[a-z]*", re.DOTALL)
_BEFORE_REGEX = frozenset(
    "return typeof case in of and or not if unless split grep map join while when print puts push until x".split()  # noqa: SIM905
)
_ESCAPE = re.compile(
    r"\\(?:x\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{1,2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_DECIMAL = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(\d{1,3})|(.))", re.DOTALL)
_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "e": "\x1b",
    "a": "\a",
    "f": "\f",
    "v": "\v",
    "b": "\b",
    "\n": "",
    "s": " ",
}
_NAME = re.compile(r"(?:\{\^?\w+\}|\w+(?:::\w+)*)(?:(?:->)?(?:\[[^\]\s]{0,80}\]|\{[^}\s]{0,80}\})|->\w+)*")
_PERL_QUOTE = re.compile(r"(?:q[qxwr]?|m|s|y|tr)(?![\w])\s*(?=[^\w\s,;)=])|(?:q[qxwr]?)\s+(?==)")
_RUBY_QUOTE = re.compile(r"%([qQwWiIxrs]?)([^\w\s=])")
_LUA_LONG = re.compile(r"\[(=*)\[\n?(.*?)(?:\]\1\]|\Z)", re.DOTALL)


def unescaped(text: str, *, decimal: bool = False) -> str:
    r"""``\n``, ``\x2e``, ``\056``, ``\u002e`` (``\046`` counts by ten in Lua) as what they stand for."""
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        letter = match[match.lastindex or 0]
        if match.lastindex == (3 if decimal else 6):
            return _LETTERS.get(letter, letter)
        base = (16, 10)[(match.lastindex or 1) - 1] if decimal else 8 if match.lastindex == 5 else 16
        return chr(min(int(letter, base), 0x10FFFF) or 1)

    return (_DECIMAL if decimal else _ESCAPE).sub(one, text)


def tokens(text: str, language: Language) -> list[Token]:
    """All tokens of a text."""
    return _Lexer(text, language).run(0, "")[0]


class _Lexer:
    def __init__(self, text: str, language: Language) -> None:
        self.text = text
        self.language = language
        self.nesting = 0
        self.fails = 0
        self.waiting: list[tuple[list[Token], int, re.Match[str]]] = []
        """Heredocs whose bodies begin at the next line."""

    def run(self, at: int, closer: str) -> tuple[list[Token], int]:
        """Tokens up to the closing bracket that is not opened here, or to the end of the text."""
        out: list[Token] = []
        text, language, end = self.text, self.language, len(self.text)
        fresh, depth, before = True, 0, -1
        opener = next((o for o, c in CLOSERS.items() if c == closer), "")
        while at < end:
            char = text[at]
            if char == "\n":
                fresh, at = True, self._bodies(at + 1)
            elif space := _SPACE.match(text, at):
                at = space.end()
            elif comment := language.comment.match(text, at):
                at = max(comment.end(), at + 1)
            elif closer and char == closer and not depth:
                return out, at + 1
            else:
                depth += (char == opener) - (char == closer) if closer else 0
                at = self._token(out, at, fresh, at != before and bool(out))
                fresh, before = out[-1].text == ";" and out[-1].kind == "op", at
        return out, end

    def _token(self, out: list[Token], at: int, fresh: bool, spaced: bool) -> int:
        found = self._string(out, at)
        if found is not None:
            token, at = found
        elif self.language.regex and self.text[at] == "/" and (regex := self._regex(out, at)):
            token, at = Token("regex", regex[0]), regex.end()
        else:
            match = self.language.pattern.match(self.text, at)
            assert match is not None, "the last alternative takes any character"
            token, at = Token(match.lastgroup or "op", match[0]), match.end()
        out.append(token._replace(fresh=fresh, spaced=spaced))
        return at

    def _regex(self, out: list[Token], at: int) -> re.Match[str] | None:
        last = out[-1] if out else None
        if last is not None and (
            last.text in (")", "]", "}")
            or (last.kind == "word" and last.text not in _BEFORE_REGEX)
            or last.kind in ("number", "string", "shell", "regex")
        ):
            return None
        match = _REGEX.match(self.text, at) if self.fails < MAX_FAILS else None
        self.fails += match is None
        return match

    # ---- strings ----

    def _string(self, out: list[Token], at: int) -> tuple[Token, int] | None:
        text, language = self.text, self.language
        for quote in language.quotes:
            if text.startswith(quote.open, at):
                return self._quoted(quote, at + len(quote.open))
        if language.letters and (found := _LETTERED[language.letters](self, out, at)) is not None:
            return found
        if language.here is not None and (match := language.here.match(text, at)) is not None:
            self.waiting.append((out, len(out), match))
            return Token("string", match["tag"]), match.end()
        return None

    def _quoted(self, quote: Quote, at: int) -> tuple[Token, int]:
        """The string whose inside begins at ``at``."""
        start, plain, level = at, at, 0
        nested = quote.open if CLOSERS.get(quote.open) == quote.close else ""
        stop = _stop(quote, nested)
        pieces: list[str | list[Token]] = []
        while (hit := stop.search(self.text, at)) is not None:
            sign = hit[0]
            if sign == "\\":
                at = hit.end() + 1
            elif nested and sign == nested:
                level, at = level + 1, hit.end()
            elif sign == quote.close and level:
                level, at = level - 1, hit.end()
            elif sign == quote.close:
                break
            else:
                inner, at = self._interpolation(sign, hit.end())
                if inner is not None:
                    pieces += [self._plain(self.text[plain : hit.start()], quote), inner]
                    plain = at
        stopped = hit.start() if hit is not None else len(self.text)
        pieces.append(self._plain(self.text[plain:stopped], quote))
        after = hit.end() if hit is not None else len(self.text)
        return Token(quote.kind, self.text[start:stopped], tuple(pieces)), after

    def _plain(self, text: str, quote: Quote) -> str:
        if quote.escapes:
            return unescaped(text, decimal=self.language.name == "lua")
        return text.replace(f"\\{quote.close}", quote.close).replace("\\\\", "\\") if "\\" in text else text

    def _interpolation(self, sign: str, at: int) -> tuple[list[Token] | None, int]:
        """The tokens that are interpolated behind this sign; None where the sign means itself."""
        if len(sign) == 2:
            if self.nesting >= MAX_NESTING:
                return [Token("cut", sign)], at
            self.nesting += 1
            found, after = self.run(at - (sign == "{$"), ")" if sign == "$(" else "}")
            self.nesting -= 1
            return found, after
        match = _NAME.match(self.text, at)
        if match is None:
            return None, at
        name = match[0]
        if name.startswith("{"):
            name = name[1:].replace("}", "", 1)
        return _Lexer(sign + name, self.language).run(0, "")[0], match.end()

    def _bodies(self, at: int) -> int:
        """Heredocs that wait for the end of this line take their bodies."""
        waiting, self.waiting = self.waiting, []
        for out, index, match in waiting:
            tag = re.compile(rf"^[ \t]*{re.escape(match['tag'])}\b;?", re.MULTILINE)
            end = tag.search(self.text, at)
            stop = end.start() if end else len(self.text)
            plain = match["quote"] == "'"
            inner = _Lexer(self.text[at:stop], self.language)
            inner.nesting = self.nesting + 1
            quote = Quote("", "\0", "string", not plain, "" if plain else self.language.quotes[-1].inner)
            kind = "shell" if match["quote"] == "`" else "string"
            if index < len(out) and inner.nesting <= MAX_NESTING:
                body = inner._quoted(quote, 0)[0]
                out[index] = out[index]._replace(kind=kind, parts=body.parts)
            at = end.end() if end else stop
        return at


_STOPS: dict[tuple[str, str, str], re.Pattern[str]] = {}


def _stop(quote: Quote, nested: str) -> re.Pattern[str]:
    """What a scan through this string stops at; compiled once for each kind."""
    key = (nested, quote.close, quote.inner)
    if key not in _STOPS:
        signs = [r"\\", re.escape(quote.close), *([re.escape(nested)] if nested else [])]
        signs += [re.escape(sign) for sign in sorted(quote.inner.split(), key=len, reverse=True)]
        _STOPS[key] = re.compile("|".join(signs))
    return _STOPS[key]


def _words(token: Token) -> Token:
    """``qw(a b)``: each word is a part."""
    texts = [part for part in token.parts if isinstance(part, str)]
    return Token("words", token.text, tuple("".join(texts).split()))


def _perl(lexer: _Lexer, out: Sequence[Token], at: int) -> tuple[Token, int] | None:
    """``q// qq// qw// qx// m// s/// tr///``; not a method, a key or a sub of that name."""
    if lexer.text[at] not in "qmsyt":
        return None
    match = _PERL_QUOTE.match(lexer.text, at)
    if match is None or (out and out[-1].text in ("->", "sub", "$", "%", "@", "&")):
        return None
    name, sign = match[0].strip(), lexer.text[match.end() : match.end() + 1]
    if (out and out[-1].text == "{" and sign == "}") or lexer.text.startswith("=>", match.end()):
        return None
    rich = name not in ("q", "qw") and sign != "'"
    inner = "@{ ${ $ @" if rich else ""
    kind = {"qx": "shell", "q": "string", "qq": "string", "qw": "string"}.get(name, "regex")
    close = CLOSERS.get(sign, sign)
    token, at = lexer._quoted(Quote(sign, close, kind, rich, inner if kind != "regex" else ""), match.end() + 1)  # noqa: SLF001 - part of the lexer
    if name in ("s", "y", "tr"):
        second = re.compile(r"\s*").match(lexer.text, at)
        if sign in CLOSERS and second is not None:
            sign = lexer.text[second.end() : second.end() + 1]
            at = second.end() + 1
        other, at = lexer._quoted(Quote(sign, CLOSERS.get(sign, sign), "regex", escapes=False), at)  # noqa: SLF001
        flags = re.compile(r"[a-z]*").match(lexer.text, at)
        at = flags.end() if flags else at
        if flags is not None and name == "s" and "e" in flags[0] and lexer.nesting < MAX_NESTING:
            lexer.nesting += 1
            code = _Lexer(other.text, lexer.language)
            code.nesting = lexer.nesting
            token = Token("regex", token.text, (code.run(0, "")[0],))
            lexer.nesting -= 1
    elif kind == "regex":
        flags = re.compile(r"[a-z]*").match(lexer.text, at)
        at = flags.end() if flags else at
    return (_words(token) if name == "qw" else token), at


def _ruby(lexer: _Lexer, out: Sequence[Token], at: int) -> tuple[Token, int] | None:
    """``%w[] %q() %x{}`` where a value may stand; ``:name`` is its own text."""
    text = lexer.text
    if text[at] == ":" and (symbol := re.compile(r":([^\W\d]\w*[?!=]?)").match(text, at)):
        if out and out[-1].text in (":", "?"):
            return None
        return Token("string", symbol[1], (symbol[1],)), symbol.end()
    match = _RUBY_QUOTE.match(text, at) if text[at] == "%" else None
    if match is None or (out and out[-1].kind in ("number", "string") and not match[1]):
        return None
    kind = {"x": "shell", "r": "regex"}.get(match[1], "string")
    rich = match[1] in ("", "Q", "x", "W", "I", "r")
    quote = Quote(match[2], CLOSERS.get(match[2], match[2]), kind, rich, "#{" if rich else "")
    token, at = lexer._quoted(quote, match.end())  # noqa: SLF001
    return (_words(token) if match[1] in ("w", "W", "i", "I") else token), at


def _lua(lexer: _Lexer, _: Sequence[Token], at: int) -> tuple[Token, int] | None:
    match = _LUA_LONG.match(lexer.text, at) if lexer.text[at] == "[" else None
    return None if match is None else (Token("string", match[2], (match[2],)), match.end())


_LETTERED = {"perl": _perl, "ruby": _ruby, "lua": _lua}
