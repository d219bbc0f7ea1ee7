"""One-liners and scripts in node, perl, ruby, php, lua and similar languages -> effects.

A lexer (tokenizer.py), an evaluator (statement_parser.py, expression_parser.py, function_calls.py), and tables of what
functions do (language_tables.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import MAX_SCRIPT, UNKNOWN, Call
from sentinel_guard.core.analysis.languages.one_liners.language_tables import GRAMMARS
from sentinel_guard.core.analysis.languages.one_liners.statement_parser import read
from sentinel_guard.core.analysis.languages.shared import own_schemas
from sentinel_guard.core.analysis.languages.shared.fork_bombs import forks
from sentinel_guard.core.analysis.languages.shared.function_effects import EffectCollector
from sentinel_guard.core.analysis.languages.shared.program_values import Dotted, is_code
from sentinel_guard.core.model import Effect, Kind

_FORKING = ("perl", "ruby", "php")
_PHP_TAGS = re.compile(r"<\?(?:php\b|=)(.*?)(?:\?>|\Z)", re.DOTALL)


def inline(call: Call, text: str, language: str, *, line: str | None = None) -> Iterator[Effect]:
    """The effects of a text in one of the languages of ``GRAMMARS``. ``line``: it runs for each line of its input."""
    if len(text) > MAX_SCRIPT:
        yield call.opaque(text[:80].replace(UNKNOWN, "…"), "parse")
        text = text[:MAX_SCRIPT]
    if is_code(text):
        yield call.opaque(text[:80].replace(UNKNOWN, "…"), "code")
    grammar = GRAMMARS[language]
    if language == "php" and "<?" in text:
        text = "\n".join(match[1] for match in _PHP_TAGS.finditer(text))
    names: dict[str, object] = {} if line is None else {"$_": line}
    if call.command.program == "zx":
        names["$"] = Dotted("zx.$")
    deeds = EffectCollector(call, lambda inner, code: read(code, grammar, inner, names))
    if language in _FORKING and forks(text):
        deeds.do("fork", [])
    deeds.run_text(text)
    yield from own_schemas.without(deeds.effects, text)


def lenient(effects: Iterable[Effect]) -> Iterator[Effect]:
    """A script on disk: what cannot be resolved in it is left to the shims, that see it run."""
    return (e for e in effects if e.kind is not Kind.OPAQUE)
