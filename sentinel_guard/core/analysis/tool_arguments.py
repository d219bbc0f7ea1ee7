"""Arguments of agents' tools: their texts, at any depth, and their names without what clients spell otherwise."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

Arguments = Mapping[str, object]

MAX_DEPTH = 5
"""Objects inside objects of the arguments."""
MAX_ITEMS = 2000
"""Arguments that are looked at, without those that are data."""
_DATA = frozenset(
    ("oldstring", "newstring", "oldstr", "newstr", "oldtext", "newtext", "content", "contents", "filetext")
)
_FILE_MAPS = frozenset(("changes", "files", "filechanges", "edits", "paths", "documents"))
"""Names of objects whose own names are paths."""
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


class Item(NamedTuple):
    """A text among the arguments."""

    key: str
    """The nearest name, without separators, in lower case."""
    text: str
    beside: frozenset[str]
    """The names in the same object."""


def plain_name(tool: str) -> str:
    """``mcp__files__write_file`` -> ``writefile``."""
    return folded(re.split(r"__|:", tool)[-1].lower())


@lru_cache(maxsize=1024)
def name_words(tool: str) -> tuple[str, ...]:
    """``mcp__Files__writeFile`` -> ``files write file``."""
    words = [word.lower() for word in _WORD.findall(tool)]
    return tuple(words[1:] if words[:1] == ["mcp"] else words)


def folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def texts_of(arguments: Arguments) -> Iterator[Item]:
    """The texts of the arguments, in order; one more than MAX_ITEMS where there are more, or ones that lie deeper."""
    return itertools.islice(_below(arguments, "", frozenset(), 0), MAX_ITEMS + 1)


def _below(value: object, key: str, beside: frozenset[str], depth: int, *, listed: bool = False) -> Iterator[Item]:
    if isinstance(value, str):
        if key not in _DATA:
            yield Item(key, value, beside)
    elif depth > MAX_DEPTH:
        if value and isinstance(value, Mapping | list | tuple):
            yield from itertools.repeat(Item("", "", beside), MAX_ITEMS + 1)
    elif isinstance(value, Mapping):
        names = frozenset(folded(str(name)) for name in value)
        for name, inner in value.items():
            if key in _FILE_MAPS and not listed:
                yield Item("path", str(name), names)
            yield from _below(inner, folded(str(name)), names, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _below(inner, key, beside, depth + 1, listed=True)


def values_of(arguments: Arguments) -> dict[str, list[object]]:
    """All values by their plain names: those of ``action``, too, and of names that are the same without separators."""
    found = dict[str, list[object]]()
    for name, value in arguments.items():
        found.setdefault(folded(str(name)), []).append(value)
    for action in [action for action in found.get("action", ()) if isinstance(action, Mapping)]:
        for name, value in action.items():
            found.setdefault(folded(str(name)), []).append(value)
    return found
