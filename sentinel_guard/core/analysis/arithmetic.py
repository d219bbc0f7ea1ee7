"""Constant shell arithmetic: ``$((1 << 3))`` with 64-bit integers, as bash counts."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

MAX_LENGTH = 200
"""Characters of an expression that is looked at."""

_ALLOWED = re.compile(r"[0-9a-fA-FxX+\-*/%()<>&|^~ \t\n]*")
_OCTAL = re.compile(r"\b0([0-7]+)\b")


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(a: int, b: int) -> int:
    return pow(a, b, 1 << 64) if b >= 0 else 0


_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: _quotient,
    ast.Mod: lambda a, b: a - b * _quotient(a, b),
    ast.Pow: _power,
    ast.LShift: lambda a, b: a << (b & 63),
    ast.RShift: lambda a, b: a >> (b & 63),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}


def evaluate(text: str) -> int | None:
    """The value of an expression of numbers and ``+ - * / % ** << >> & | ^ ~ ( )``; None for anything else."""
    text = text.strip() or "0"
    if len(text) > MAX_LENGTH or not _ALLOWED.fullmatch(text):
        return None
    source = re.sub(r"/", "//", _OCTAL.sub(r"0o\1", re.sub(r"\s+", " ", text)))
    try:
        value = _value(ast.parse(source, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None
    return None if value is None else (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _value(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        value = _value(node.operand)
        return None if value is None else _UNARY[type(node.op)](value)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left), _value(node.right)
        return None if left is None or right is None else _BINARY[type(node.op)](left, right)
    return None
