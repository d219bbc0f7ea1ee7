"""Arguments of builtins that bash runs as code: callbacks (``mapfile -C``), word lists, subscripts of array names.

bash(1): a subscript is an arithmetic expression, and what is substituted in it runs, also where the name reaches the
builtin behind quotes: ``test -v 'a[$(date)]'``, ``read 'a[$(date)]'``, ``[[ 'a[$(date)]' -eq 1 ]]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sentinel_guard.core.analysis.evaluation.read_builtin import MAPFILE, from_descriptor
from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Options, options, parse
from sentinel_guard.core.analysis.expansion.partly_known_output import PartlyKnownText
from sentinel_guard.core.analysis.expansion.shell_state import Field

SUBSTITUTED_SUBSCRIPT = re.compile(r"\w\[[^]]*(?:\$\(|`)")
"""Arithmetic runs what stands in a subscript: ``x='a[$(rm y)]'; ((x))``."""
MAX_LINES = 20
"""Lines of standard input that a callback is called with."""

_COMPLETE = options("-A= -o= -C= -F= -G= -P= -S= -V= -W= -X=")
_CALLBACKS: dict[str, Options] = {
    **dict.fromkeys(("mapfile", "readarray"), MAPFILE),
    **dict.fromkeys(("complete", "compgen"), _COMPLETE),
}
_NAMED = frozenset(("read", "unset", "let", "getopts", "wait", "mapfile", "readarray"))
"""Builtins whose operands are names."""
_ARITHMETIC = frozenset(("-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
"""Operators of ``test`` and ``[[`` that evaluate a name or a number."""


def code_texts(walk: Walker, fields: Sequence[Field], place: WalkContext) -> Iterator[str]:
    """The shell texts that the arguments of a builtin are run as."""
    name, rest = fields[0].text, fields[1:]
    if name in _CALLBACKS:
        yield from _callbacks(walk, name, rest, place)
    if name == "printf" and [f.text for f in rest[:1]] == ["-v"]:
        yield from subscript_texts(rest[1:2])
    elif name in _NAMED:
        yield from subscript_texts(rest)
    elif name in ("test", "["):
        yield from texts_of_test(rest)


def texts_of_test(fields: Sequence[Field]) -> Iterator[str]:
    """What runs where ``test`` or ``[[`` takes a word for a name or a number."""
    if any(field.text in _ARITHMETIC for field in fields):
        yield from subscript_texts(fields)


def subscript_texts(fields: Sequence[Field]) -> Iterator[str]:
    """The substitutions in subscripts; what they print stands in bash's message about the subscript."""
    for field in fields:
        if "[" in field.text and field.known and SUBSTITUTED_SUBSCRIPT.search(field.text):
            yield f'echo "{field.text}"'


def _callbacks(walk: Walker, name: str, rest: Sequence[Field], place: WalkContext) -> Iterator[str]:
    parsed = parse(rest, _CALLBACKS[name])
    for code in parsed.values("-C"):
        text = code.text if code.known else UNKNOWN
        if name in ("mapfile", "readarray"):
            yield from (
                f"{text} {number} {line}" for number, line in enumerate(_lines(from_descriptor(walk, parsed, place)))
            )
        else:
            yield text
    for words in parsed.values("-W"):
        if words.known and ("$(" in words.text or "`" in words.text):
            yield f'echo "{words.text}"'


def _lines(place: WalkContext) -> list[str]:
    """The lines that a callback is called with, each as a quoted word."""
    text = place.stdin
    if not text or UNKNOWN in text or isinstance(text, PartlyKnownText):
        return ['"$(line)"']
    return ["'" + line.replace("'", "'\\''") + "'" for line in text.splitlines()[:MAX_LINES]]
