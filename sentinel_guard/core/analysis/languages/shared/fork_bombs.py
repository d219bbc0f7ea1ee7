"""Detects fork bombs, loops that only fork: ``fork while fork``, ``while 1: os.fork()``, ``loop { fork }``."""

from __future__ import annotations

import ast
import re

MAX_TEXT = 200
"""Characters of a statement; a longer one does something else, too."""

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|[{}();&|,]|->")
_FORKS = frozenset(("fork", "pcntl_fork"))
_LOOPS = frozenset(("while", "until", "loop", "for"))
_ELSE = frozenset("1 0 true false not do end or and { } ( ) ; & | ,".split())  # noqa: SIM905
_STATEMENTS = re.compile(r";(?![^{(]*[})])|\n")


def forks(text: str) -> bool:
    """Whether a statement of a Perl, Ruby or PHP text is a loop of nothing but forks."""
    return "fork" in text and any(_is_loop(part) for part in (text, *_STATEMENTS.split(text)))


def _is_loop(part: str) -> bool:
    if len(part) > MAX_TEXT or _TOKEN.sub("", part).strip():
        return False
    words = set(_TOKEN.findall(part))
    return bool(words & _FORKS) and bool(words & _LOOPS) and words <= _FORKS | _LOOPS | _ELSE


def is_bomb(node: ast.While) -> bool:
    """``while True:`` with nothing but ``os.fork()`` in it. A server that forks does more."""
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    body = [statement for statement in node.body if not isinstance(statement, ast.Pass)]
    return endless and bool(body) and all(map(_is_fork, body))


def _is_fork(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call() as call) | ast.Assign(value=ast.Call() as call):
            function = call.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            return name in ("fork", "forkpty") and not call.args
    return False
