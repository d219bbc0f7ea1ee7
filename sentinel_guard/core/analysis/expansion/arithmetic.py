"""Shell arithmetic: ``$((1 << 3))``, ``((i++))`` with 64-bit integers and variables, as bash counts."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Protocol

MAX_LENGTH = 500
"""Characters of an expression that is looked at."""
MAX_DEPTH = 20
"""Variables whose value is an expression again."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+#[\w@]+|\d+)(?![\w#@])|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|[-=<>+!~*/%&^|?:,()\[\]]))"
)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"
_ASSIGNED = re.compile(
    r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*(?:(?:[-+*/%&^|]|<<|>>)?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)"
)


class Names(Protocol):
    """The variables of an expression."""

    def get(self, name: str, index: str | None) -> str | None:
        """The text that a name holds, ``""`` for nothing; None where it is not known."""

    def put(self, name: str, index: str | None, value: int | None) -> None: ...


class _Unknown(Exception):  # noqa: N818 - it never leaves this file
    """No number: a variable that is not known, or what bash would call an error."""


def evaluate(text: str, names: Names | None = None, depth: int = 0) -> int | None:
    """The value of an expression, its assignments made; None where it is not known. Without ``names`` no name is."""
    if not text.strip():
        return 0
    if len(text) > MAX_LENGTH or depth > MAX_DEPTH:
        return None
    try:
        reader = _Reader(text, names, depth)
        value = reader.comma()
        if reader.token:
            return None
    except (_Unknown, RecursionError):
        return None
    return value


def assigned(text: str) -> set[str]:
    """The names that an expression may assign."""
    return {a or b for a, b in _ASSIGNED.findall(text)}


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise _Unknown
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(a: int, b: int) -> int:
    if b < 0:
        raise _Unknown
    return pow(a, b, 1 << 64)


_OPERATORS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, lambda a, b: int(a == b)),
    "!=": (6, lambda a, b: int(a != b)),
    "<": (7, lambda a, b: int(a < b)),
    ">": (7, lambda a, b: int(a > b)),
    "<=": (7, lambda a, b: int(a <= b)),
    ">=": (7, lambda a, b: int(a >= b)),
    "<<": (8, lambda a, b: a << (b & 63)),
    ">>": (8, lambda a, b: a >> (b & 63)),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _quotient),
    "%": (10, lambda a, b: a - b * _quotient(a, b)),
}
"""Binary operator -> how strongly it binds, and what it does. ``&&``, ``||``, ``**`` have ways of their own."""
_ASSIGNS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>=")


class _Reader:
    """Reads and evaluates in one go; behind a condition that does not hold it only reads (``live`` is False)."""

    def __init__(self, text: str, names: Names | None, depth: int) -> None:
        self.text, self.names, self.depth = text, names, depth
        self.at = 0
        self.live = True
        self.token = self.kind = ""
        self._next()

    def _next(self) -> None:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            if self.text[self.at :].strip():
                raise _Unknown
            self.token = self.kind = ""
            return
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.at = match.end()

    def _take(self, token: str) -> bool:
        if self.token != token or self.kind != "op":
            return False
        self._next()
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise _Unknown

    def comma(self) -> int:
        value = self._ternary()
        while self._take(","):
            value = self._ternary()
        return value

    def _ternary(self) -> int:
        value = self._or()
        if not self._take("?"):
            return value
        first = self._dead(not value, self.comma)
        self._expect(":")
        second = self._dead(bool(value), self._ternary)
        return first if value else second

    def _dead(self, dead: bool, read: Callable[[], int]) -> int:
        saved = self.live
        self.live = saved and not dead
        value = read()
        self.live = saved
        return value

    def _or(self) -> int:
        value = self._and()
        while self._take("||"):
            right = self._dead(bool(value), self._and)
            value = int(bool(value or right))
        return value

    def _and(self) -> int:
        value = self._binary(3)
        while self._take("&&"):
            right = self._dead(not value, lambda: self._binary(3))
            value = int(bool(value and right))
        return value

    def _binary(self, weakest: int) -> int:
        value = self._raised()
        while self.kind == "op" and self.token in _OPERATORS and _OPERATORS[self.token][0] >= weakest:
            strength, work = _OPERATORS[self.token]
            self._next()
            right = self._binary(strength + 1)
            value = _wrap(work(value, right)) if self.live else 0
        return value

    def _raised(self) -> int:
        value = self._unary()
        if not self._take("**"):
            return value
        exponent = self._raised()
        return _wrap(_power(value, exponent)) if self.live else 0

    def _unary(self) -> int:
        if self.kind == "op" and self.token in ("++", "--"):
            step, at = self.token, self.at
            self._next()
            if self.kind == "name":
                name, index = self._lvalue()
                value = _wrap(self._read(name, index) + (1 if step == "++" else -1))
                self._write(name, index, value)
                return value
            self.at = at - 1  # ``--5`` is two signs
            self.token = step[0]
        if self._take("-"):
            return _wrap(-self._unary())
        if self._take("+"):
            return self._unary()
        if self._take("!"):
            return int(not self._unary())
        if self._take("~"):
            return ~self._unary()
        return self._primary()

    def _primary(self) -> int:
        if self._take("("):
            value = self.comma()
            self._expect(")")
            return value
        if self.kind == "number":
            value = _number(self.token)
            self._next()
            return value
        if self.kind != "name":
            raise _Unknown
        name, index = self._lvalue()
        if self.kind == "op" and self.token in _ASSIGNS:
            return self._assignment(name, index)
        value = self._read(name, index)
        for step, change in (("++", 1), ("--", -1)):
            if self._take(step):
                self._write(name, index, _wrap(value + change))
        return value

    def _assignment(self, name: str, index: str | None) -> int:
        sign = self.token[:-1]
        self._next()
        try:
            old = self._read(name, index) if sign else 0
            value = self._ternary()
        except _Unknown:
            if self.live and self.names is not None:
                self.names.put(name, index, None)
            raise
        if sign and self.live:
            value = _wrap(_OPERATORS[sign][1](old, value))
        self._write(name, index, value)
        return value

    def _lvalue(self) -> tuple[str, str | None]:
        name = self.token
        self._next()
        if self.kind != "op" or self.token != "[":  # noqa: S105 - a bracket
            return name, None
        start, level = self.at, 1
        while level:
            self._next()
            if not self.token:
                raise _Unknown
            level += {"[": 1, "]": -1}.get(self.token, 0)
        index = self.text[start : self.at - 1]
        self._next()
        return name, index

    def _read(self, name: str, index: str | None) -> int:
        if not self.live:
            return 0
        text = self.names.get(name, index) if self.names else None
        value = None if text is None else evaluate(text, self.names, self.depth + 1)
        if value is None:
            raise _Unknown
        return value

    def _write(self, name: str, index: str | None, value: int) -> None:
        if self.live:
            if self.names is None:
                raise _Unknown
            self.names.put(name, index, value)


def _number(token: str) -> int:
    """``42``, ``010``, ``0x1f``, ``2#101``."""
    base, mark, digits = token.partition("#")
    if mark:
        radix = int(base)
        letters = digits.lower() if radix <= 36 else digits
    elif token[:2] in ("0x", "0X"):
        radix, letters = 16, token[2:].lower()
    else:
        radix, letters = (8 if token.startswith("0") else 10), token
    value = 0
    for letter in letters:
        digit = _DIGITS.find(letter)
        if not 2 <= radix <= 64 or not 0 <= digit < radix:
            raise _Unknown
        value = value * radix + digit
    return _wrap(value)
