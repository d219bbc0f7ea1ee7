"""awk programs -> effects: ``system()``, pipes, redirections and ``getline``, with constants folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import STDIN, UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import UNRESOLVED, abstract, field, joined, text_of
from sentinel_guard.core.analysis.languages.shared.tokenizer import unescaped
from sentinel_guard.core.model import Effect

Effects = Iterable[Effect]

_STREAMS = ("/dev/stderr", "/dev/stdout", "-", "/dev/tty", "/dev/null")
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\\\n|\#[^\n]*)
      |(?P<string>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))
      |(?P<number>\d[\w.]*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<op>>>|\|&|\|\||&&|[-+*/%^=!<>]=|\+\+|--|.)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\]?(?:[^\]\\\n]|\\.){0,200}+\]){0,1000}+/")
_VALUES = frozenset(("word", "string", "number"))
_ENDS = frozenset(
    (";", "\n", "}", ")", ",", "{", "]", "|", "|&", ">", ">>", "<", "?", ":", "&&", "||", "==", "!=", "~", "!")
)
_STATEMENTS = frozenset((";", "\n", "}", "{"))
_WORDS = frozenset(("getline", "print", "printf", "in", "if", "else", "while", "for", "do", "return", "delete", "next"))


class Token(NamedTuple):
    kind: str
    text: str


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    at, end = 0, len(text)
    while at < end:
        value = bool(found) and (found[-1].kind in _VALUES or found[-1].text in (")", "]", "$", "++", "--"))
        if text[at] == "/" and not value and (regex := _REGEX.match(text, at)) is not None:
            found.append(Token("regex", regex[0]))
            at = regex.end()
            continue
        match = _TOKEN.match(text, at)
        assert match is not None, "the last alternative takes any character"
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup or "op", match[0]))
        at = match.end()
    return found


class _Program:
    """One awk program: what its variables hold as far as they are constants, and what it does."""

    def __init__(self, text: str, names: dict[str, object], deeds: EffectCollector) -> None:
        self.tokens = _tokens(text)
        self.names = names
        self.deeds = deeds

    def read(self) -> None:
        printing = False
        for at, token in enumerate(self.tokens):
            text = token.text
            if not self.deeds.spend():
                break
            if token.kind == "word":
                printing = printing or text in ("print", "printf")
                self._word(at, text)
            elif text in _STATEMENTS:
                printing = False
            elif text in ("|", "|&"):
                self._pipe(at)
            elif text in (">", ">>") and printing and not self._inside(at):
                self._redirect(at)
            elif text == "<" and at and self._reads(at):
                self.deeds.do("read", [self._value(at + 1)[0]])

    def _word(self, at: int, text: str) -> None:
        follows = self._text(at + 1)
        if text == "system" and follows == "(":
            self._shell(self._value(at + 2)[0])
        elif follows == "=" and text not in _WORDS and self._text(at - 1) not in ("$", "="):
            value, _ = self._value(at + 2)
            known = text not in self.names or self.names[text] == value
            self.names[text] = value if known else UNRESOLVED

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _shell(self, value: object) -> None:
        """A command that is made of the data that is read is not looked at where it begins with a constant."""
        if text_of(value) == UNKNOWN:
            self.deeds.opaque("a value that awk gives to the shell", "code")
        else:
            self.deeds.do("shell", [value])

    def _pipe(self, at: int) -> None:
        """``"cmd" | getline``, ``print | "cmd"``."""
        if self._text(at + 1) == "getline":
            self._shell(self._before(at))
            return
        value, _ = self._value(at + 1)
        printed = self._printed(at)
        if printed is not None and text_of(value) != UNKNOWN:
            self.deeds.do("shell", [f"printf %s {_quoted(printed)} | {text_of(value)}"])
        else:
            self._shell(value)

    def _printed(self, at: int) -> str | None:
        """The one constant that is printed into a pipe."""
        begin = at
        while begin and self.tokens[begin - 1].text not in ("print", "printf", *_STATEMENTS) and at - begin < 40:
            begin -= 1
        if not begin or self.tokens[begin - 1].text not in ("print", "printf"):
            return None
        value, end = self._value(begin)
        text = text_of(value)
        return text if end == at and text != UNKNOWN else None

    def _before(self, at: int) -> object:
        """The value that ends at a token."""
        begin = at
        while begin and at - begin < 40 and self.tokens[begin - 1].text not in (*_ENDS, "(", "="):
            begin -= 1
        return self._value(begin)[0]

    def _inside(self, at: int) -> bool:
        """A ``>`` between brackets compares."""
        depth = 0
        for back in range(at - 1, max(-1, at - 200), -1):
            text = self.tokens[back].text
            depth += (text == ")") - (text == "(")
            if depth < 0:
                return True
            if text in ("print", "printf", *_STATEMENTS):
                break
        return False

    def _reads(self, at: int) -> bool:
        """``getline < file``, ``getline x < file``."""
        return "getline" in (self._text(at - 1), self._text(at - 2))

    def _redirect(self, at: int) -> None:
        value, _ = self._value(at + 1)
        if text_of(value) not in _STREAMS:
            self.deeds.do(f"write {'append' if self._text(at) == '>>' else 'truncate'}", [value])

    def _value(self, at: int) -> tuple[object, int]:
        """The constants from here on, joined as awk joins what stands side by side; where they end."""
        parts: list[object] = []
        while at < len(self.tokens) and self.deeds.spend():
            token = self.tokens[at]
            if token.text == "(" and not parts:
                at += 1
                continue
            if (token.kind == "op" and token.text in _ENDS) or token.text in _WORDS:
                break
            if token.kind == "string":
                parts.append(unescaped(token.text[1:].removesuffix('"')))
            elif token.kind == "word":
                parts.append(self.names.get(token.text, UNRESOLVED))
                if self._text(at + 1) in ("(", "["):
                    at = self._closing(at + 1)
            else:
                parts.append(UNRESOLVED)
            at += 1
        return (joined(*parts) if parts else UNRESOLVED), at

    def _closing(self, at: int) -> int:
        depth = 0
        for forward in range(at, min(len(self.tokens), at + 200)):
            depth += (self.tokens[forward].text in "([") - (self.tokens[forward].text in ")]")
            if not depth:
                self.deeds.spend(forward - at)
                return forward
        self.deeds.spend(200)
        return at


def _quoted(text: str) -> str:
    """One word for the shell; what is not known stays so."""
    return UNKNOWN.join("'" + piece.replace("'", "'\\''") + "'" for piece in text.split(UNKNOWN))


def awk(call: Call) -> Effects:
    """The program text does what it says; the operands are read, with ``-i inplace`` written."""
    given = call.parsed.values("-f", "--file")
    sourced = call.parsed.values("-e", "--source")
    items = list(call.operands)
    texts = [abstract(call, item) for item in sourced]
    if not given and not sourced and items:
        first = items.pop(0)
        texts = [abstract(call, first)]
    for item in given:
        yield from call.read(item)
        texts += _from_file(call, item)
    names: dict[str, object] = {}
    for item in (*call.parsed.values("-v", "--assign"), *items):
        name, equals, value = item.text.partition("=")
        if equals and name.isidentifier():
            names[name] = unescaped(value) if item.known else UNRESOLVED
    deeds = EffectCollector(call, lambda _, __: None)
    for text in texts:
        _Program(text, names, deeds).read()
    yield from deeds.effects
    yield from _operands(call, items)


def _from_file(call: Call, item: Field) -> Sequence[str]:
    text = call.stdin if item.text in STDIN else call.script_text(call.locate(item)) if item.known else None
    return [] if text is None else [text]


def _operands(call: Call, items: Sequence[Field]) -> Iterator[Effect]:
    inplace = any(item.text == "inplace" for item in call.parsed.values("-i", "--include"))
    for item in items:
        name, equals, _ = item.text.partition("=")
        if not (equals and name.isidentifier()):
            yield from call.write(item, "inplace") if inplace else call.read(field(item.text) if item.known else item)


_OPTIONS = options(
    "-F= -v= -f= --file= --assign= --field-separator= -i= --include= -e= --source= -E= -l= --load= | first"
)
NAMES = ("awk", "gawk", "mawk", "nawk", "original-awk", "bwk")
OPTIONS = dict.fromkeys(NAMES, _OPTIONS)
PROGRAMS = dict.fromkeys(NAMES, awk)
