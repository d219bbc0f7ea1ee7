"""Bash syntax tree: the nodes that ``bash_parser.parse`` gives and ``word_expansion.expand`` evaluates.

Rules of this file:
1. Fields stand in source order, so ``simple_commands`` is one generic walk that no new node can escape.
2. A node keeps what was written; what it means is for ``word_expansion`` and for who walks the tree.
3. Nobody changes a node that the parser has handed out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from operator import attrgetter
from typing import TypeAlias

from sentinel_guard.core.value import value


@value
class Literal:
    """Characters that stand for themselves, quotes and backslashes removed."""

    text: str
    quoted: bool = False
    """True inside quotes or behind a backslash: no glob, brace, tilde or keyword."""


@value
class DoubleQuoted:
    """``"…"`` or ``$"…"``; its literals are ``quoted``."""

    parts: tuple[Part, ...]


@value
class Variable:
    """``$x  $1  $@  $?``, the name without the dollar."""

    name: str


@value
class Parameter:
    """``${…}``.

    ``op`` is one of: ``""`` (``${x}``, ``${a[i]}``), ``length`` (``${#x}``), ``indirect`` (``${!x}``),
    ``names`` (``${!x*}``), ``keys`` (``${!a[@]}``), ``:- - := = :? ? :+ +`` (argument = the word),
    ``# ## % %%`` (argument = the pattern), ``/ // /# /%`` (argument = the pattern, extra = the replacement),
    ``:`` (argument = offset, extra = length),
    ``^ ^^ , ,, ~ ~~`` (argument = the pattern or None), ``@Q @E @P @A @a @U @u @L @K @k``, or ``unknown``.
    """

    name: str
    index: Word | None
    """``0``, ``@``, ``*``, ``key`` of ``${a[…]}``."""
    op: str
    argument: Word | None
    extra: Word | None
    source: str


@value
class CommandSub:
    """``$(…)``, backticks, ``${ …; }``."""

    script: Script
    source: str
    """With its dollar and parentheses or backticks."""


@value
class ArithSub:
    """``$((…))`` or ``$[…]``; ``parts`` are the expansions and literals between the parentheses."""

    parts: tuple[Part, ...]
    source: str


@value
class ProcessSub:
    """``<(…)`` or ``>(…)``."""

    direction: str
    """``<`` or ``>``."""
    script: Script
    source: str


@value
class ExtGlob:
    """``@(a|b)`` and its kin ``?( *( +( !(``; ``parts`` hold everything between, bars included."""

    parts: tuple[Part, ...]
    source: str


@value
class ArrayLiteral:
    """``(a b [k]=c)`` behind ``name=``: the only or last part of its word."""

    words: tuple[Word, ...]
    source: str


Part: TypeAlias = (
    "Literal | DoubleQuoted | Variable | Parameter | CommandSub | ArithSub | ProcessSub | ExtGlob | ArrayLiteral"
)


_EXPANDS = re.compile(r"[*?\[{~]")


@dataclass(slots=True, init=False)
class Word:
    """One shell word before expansion; no parts for an empty one. What is asked of it again and again it knows."""

    parts: tuple[Part, ...]
    source: str
    """As written."""
    literal: str | None = field(repr=False, compare=False)
    """Its value when it has no expansion, quotes removed; else None. Globs, braces and tildes are characters."""
    plain: bool = field(repr=False, compare=False)
    """It has no glob, brace or tilde either: its literal is all that it becomes."""

    def __init__(self, parts: tuple[Part, ...], source: str) -> None:
        self.parts, self.source = parts, source
        if len(parts) == 1 and type(one := parts[0]) is Literal:
            self.literal = one.text
            self.plain = one.quoted or _EXPANDS.search(one.text) is None
        else:
            self.literal = _literal(parts)
            self.plain = self.literal is not None and not any(map(_expands, parts))


SHARED = 200
"""Characters of a word that is made once for all texts: ``git``, ``-la``."""


def bare_word(text: str) -> Word:
    """The word of characters without quotes and expansions."""
    return shared_word(text) if len(text) <= SHARED else Word((Literal(text),), text)


@lru_cache(maxsize=4096)
def shared_word(text: str) -> Word:
    """The same, of at most SHARED characters."""
    return Word((Literal(text),), text)


def _literal(parts: tuple[Part, ...]) -> str | None:
    text = ""
    for part in parts:
        if isinstance(part, Literal):
            text += part.text
        elif isinstance(part, DoubleQuoted) and (inner := _literal(part.parts)) is not None:
            text += inner
        else:
            return None
    return text


def _expands(part: Part) -> bool:
    """Whether a literal part is a pattern, a brace or a tilde."""
    return type(part) is Literal and not part.quoted and _EXPANDS.search(part.text) is not None


@dataclass(slots=True)
class Redirect:
    """One redirection. ``op``: ``< > >> >| <> <& >& &> &>> << <<- <<<``."""

    fd: str
    """``2``, ``{name}``, or empty for the operator's own."""
    op: str
    target: Word | None
    """File, descriptor, here-string or delimiter; None where the text ended."""
    heredoc: Word | None = None
    """The body of ``<<``: one quoted Literal where the delimiter was quoted, else text with expansions."""

    @property
    def strip_tabs(self) -> bool:
        return self.op == "<<-"


@value
class Assignment:
    """``name=value``, ``name+=value``, ``name[index]=value``."""

    name: str
    index: Word | None
    append: bool
    value: Word


@value
class Simple:
    """A simple command. Behind declare, export, local … ``name=value`` is a word.

    ``simple_command_parser.assignment`` splits it.
    """

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    start: int
    end: int
    """Span in the text that its parser was given: the script, or the inside of backticks or of a heredoc."""
    source: str
    """That span, as written."""


@value
class Pipeline:
    """``a | b``; also one command behind ``!`` or ``time``. A single plain command stands without a pipeline."""

    commands: tuple[Node, ...]
    negated: bool = False
    timed: bool = False


@value
class List:
    """Nodes, each with what follows it: ``&&  ||  ;  &``, a newline or ``""`` at the end.

    The whole and-or list before a ``&`` is one item (a nested List where it has more than one node), so that an item
    followed by ``&`` is exactly what runs in the background.
    """

    items: tuple[tuple[Node, str], ...]


@value
class Subshell:
    body: List
    redirects: tuple[Redirect, ...] = ()


@value
class Group:
    """``{ …; }``"""

    body: List
    redirects: tuple[Redirect, ...] = ()


@value
class If:
    clauses: tuple[tuple[List, List], ...]
    """Condition and body, of ``if`` and of each ``elif``."""
    otherwise: List | None
    redirects: tuple[Redirect, ...] = ()


@value
class Loop:
    kind: str
    """``for``, ``select``, ``while``, ``until``, or ``arithmetic`` for ``for ((…))``."""
    variable: str
    words: tuple[Word, ...] | None
    """Of for and select; None without ``in`` (positional parameters). The header of an arithmetic loop as one word."""
    condition: List | None
    """Of while and until."""
    body: List
    redirects: tuple[Redirect, ...] = ()


@value
class Arm:
    patterns: tuple[Word, ...]
    body: List
    end: str
    """``;;``, ``;&``, ``;;&`` or ``""`` for the last one."""


@value
class Case:
    subject: Word
    arms: tuple[Arm, ...]
    redirects: tuple[Redirect, ...] = ()


@value
class Function:
    """A definition: nothing runs until it is called."""

    name: str
    body: Node


@value
class Test:
    """``[[ … ]]``; operators are words too."""

    __test__ = False

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()


@value
class Arithmetic:
    """``(( … ))``; the word is what stands between."""

    word: Word
    redirects: tuple[Redirect, ...] = ()

    @property
    def source(self) -> str:
        return self.word.source


@value
class Coproc:
    name: str
    body: Node


Node: TypeAlias = (
    "Simple | Pipeline | List | Subshell | Group | If | Loop | Case | Function | Test | Arithmetic | Coproc"
)


@value
class Script:
    """A parsed text. ``errors`` hold every place that was not understood, those in substitutions included."""

    body: List
    errors: tuple[str, ...]
    source: str


_LEAVES = frozenset((str, int, bool, type(None), Literal, Variable))
_NOTHING_BELOW = ("str", "str | None", "int", "bool")
"""Types of fields, as they stand above, that hold no node."""


def _fields_with_nodes(kind: type) -> Callable[[object], tuple[object, ...]]:
    """Gives the fields of such a node in which others stand, in order."""
    names = [f.name for f in fields(kind) if f.type not in _NOTHING_BELOW]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda node: tuple(getattr(node, name) for name in names)


_CHILDREN: dict[type, Callable[[object], tuple[object, ...]]] = {
    kind: _fields_with_nodes(kind) for kind in list(globals().values()) if isinstance(kind, type) and is_dataclass(kind)
}


def is_bare(node: object) -> bool:
    """A word in which no command can stand: a cheap look at it as written, where most are."""
    if type(node) is not Word:
        return False
    return node.plain or not ("(" in node.source or "`" in node.source or "${" in node.source)


def children(node: object) -> tuple[object, ...]:
    """What stands right below a node, in source order."""
    return node if isinstance(node, tuple) else _CHILDREN[type(node)](node)


def simple_commands(tree: object) -> Iterator[Simple]:
    """Every simple command in a script (or in any part of one), in source order, wherever it hides."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if type(node) is Simple:
            yield node
        todo += [child for child in children(node)[::-1] if not (type(child) in _LEAVES or is_bare(child))]
