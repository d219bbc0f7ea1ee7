"""Edit TOML as text: put a table at the end of an array of tables, or members into a table, and take them out again.

Every other byte stays as it was. Each line of ours ends in a mark, by which it is known again; what an edit makes is
read again (tomllib), and has to hold what was there, what was put in, and nothing else.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence

MARK = "  # put here by sentinel-guard"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def value(text: str) -> object:
    """What it holds. Raises ValueError."""
    return tomllib.loads(text)


def put(text: str, path: Sequence[str], element: object) -> str:
    """The text with a table at the end of the array of tables at ``path``. Raises ValueError where there is no room."""
    if not isinstance(element, Mapping):
        raise ValueError("an array of tables holds tables")  # noqa: TRY004 - of a file's text
    wanted = tomllib.loads(text)
    at = wanted
    for name in path[:-1]:
        at = at.setdefault(name, {})
    try:
        at.setdefault(path[-1], []).append(copy.deepcopy(element))
    except (AttributeError, TypeError) as e:
        raise ValueError(f"{'.'.join(path)} is no array of tables") from e
    return _checked(_below(text, _tables(tuple(path), element)), wanted)


def put_member(text: str, name: str, element: object) -> str:
    """The text with a table of this name, or with the members that it lacks. Raises ValueError where another value
    stands there.
    """
    wanted = tomllib.loads(text)
    there = wanted.get(name, {})
    if not isinstance(element, Mapping) or not isinstance(there, dict):
        raise ValueError(f"{name} is no table")  # noqa: TRY004 - the same
    if wrong := [key for key, given in element.items() if there.get(key, given) != given]:
        raise ValueError(f"{name}.{wrong[0]} has another value")
    lacks = {key: given for key, given in element.items() if key not in there}
    if not lacks:
        return text
    wanted[name] = {**there, **lacks}
    head = re.search(rf"(?m)^[ \t]*\[[ \t]*{re.escape(_key(name))}[ \t]*\][^\n]*(?:\n|\Z)", text)
    if head is None:
        return _checked(_below(text, [f"[{_key(name)}]", *_members(lacks)]), wanted)
    before, behind = text[: head.end()], text[head.end() :]
    return _checked(_below(before, _members(lacks)) + behind, wanted)


def take(text: str, path: Sequence[str], ours: Callable[[object], bool]) -> str:
    """The text without the lines of ours, whatever they say. Raises ValueError where it is no TOML then."""
    del path, ours  # the mark tells
    rest = "".join(line for line in text.splitlines(keepends=True) if not line.rstrip("\r\n").endswith(MARK))
    tomllib.loads(rest)
    return rest


def _tables(path: tuple[str, ...], table: Mapping[str, object]) -> Iterator[str]:
    inner = {name: rows for name, rows in table.items() if isinstance(rows, list)}
    yield f"[[{'.'.join(map(_key, path))}]]"
    yield from _members({name: given for name, given in table.items() if name not in inner})
    for name, rows in inner.items():
        for row in rows:
            yield from _tables((*path, name), row)


def _members(table: Mapping[str, object]) -> Iterator[str]:
    for name, given in table.items():
        yield f"{_key(name)} = {json.dumps(given, ensure_ascii=False)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _below(text: str, lines: Iterator[str] | Sequence[str]) -> str:
    end = "" if not text or text.endswith("\n") else "\n"
    return text + end + "".join(f"{line}{MARK}\n" for line in lines)


def _checked(text: str, wanted: Mapping[str, object]) -> str:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise ValueError(f"nothing can be added to it: {e}") from e
    if found != wanted:
        raise ValueError("what is added to it would say something else there")
    return text
