"""Size limits of a project's policy file: it is untrusted input, and every path is matched against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MOST_TEXTS = 1_000
MOST_CHARACTERS = 1_000
MOST_STARS = 8
_SHELL = {"program", "operand", "target", "not_target"}
"""Keys of a rule that hold shell patterns."""


def excess(document: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """(table, key, what is wrong) for each limit that a document exceeds."""
    count = 0
    for table, key, text, pattern in _texts(document):
        count += 1
        if len(text) > MOST_CHARACTERS:
            yield table, key, f"a text of {len(text)} characters; {MOST_CHARACTERS} are possible in a project's file"
        elif pattern and text.replace("**", "*").count("*") > MOST_STARS:
            yield table, key, f"{text!r} has more than {MOST_STARS} stars; a project's pattern has fewer"
    if count > MOST_TEXTS:
        yield "", "version", f"the file holds {count} patterns and texts; a project's file holds {MOST_TEXTS} at most"


def _texts(document: Mapping[str, object]) -> Iterator[tuple[str, str, str, bool]]:
    """Every text of a document: its table, its key, and whether it is a pattern."""
    for table, content in document.items():
        for part in content if isinstance(content, list) else [content]:
            for key, value in part.items() if isinstance(part, Mapping) else ():
                for text in value if isinstance(value, list) else [value]:
                    if isinstance(text, str):
                        yield table, key, text, table != "rule" or key in _SHELL
