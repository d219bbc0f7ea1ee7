"""The words of a command, expanded: most are what they are, and nobody is asked about these."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.expansion.word_expansion import expand
from sentinel_guard.core.analysis.parser.syntax_tree import Word


def expand_all(words: Iterable[Word], scope: Scope) -> list[Field]:
    """The fields that words become, in order."""
    fields: list[Field] = []
    for word in words:
        if word.plain:
            fields.append(Field(word.literal or "", True, False, word.source))
        else:
            fields.extend(expand(word, scope))
    return fields
