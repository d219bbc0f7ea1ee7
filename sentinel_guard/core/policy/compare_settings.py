"""Compares two versions of an agent's settings file by the keys that count: JSON (with comments) and TOML.

Rules of this file:
1. A key that is missing and one that holds nothing (``{}``, ``[]``, ``""``, null) are the same.
2. What a program may read otherwise than we do counts: a key called ``__proto__``, whatever holds it.
3. A yes that is taken back gives nothing: it does not count.
4. What cannot be read is told apart from what is empty: it may be half written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator

from sentinel_guard.core.policy.agent_settings import SettingsFile

DEPTH = 64
"""Levels of nesting beyond which a value is compared as a whole."""
Key = tuple[str, ...]
"""A key and those above it, outermost first."""
EVERYTHING: Key = ("*",)
_PROTOTYPE = "__proto__"
_COMMENT = r"//[^\n]*|/\*(?:.*?\*/|.*)"
_TOKEN = re.compile(
    rf'"(?:[^"\\]|\\.)*+"?|(?P<comment>{_COMMENT})|(?P<comma>,)(?=(?:\s|{_COMMENT})*+[}}\]])', re.DOTALL
)


def changed_keys(file: SettingsFile, name: str, before: bytes | None, after: bytes | None) -> tuple[Key, ...]:
    """The keys that count and differ; ``EVERYTHING`` where every byte counts. None stands for no file.

    Raises ValueError where ``after`` cannot be read.
    """
    if file.comes_and_goes and (before is None or after is None):
        return ()
    if not file.keys:
        return () if before == after else (EVERYTHING,)
    new = _counting(file.keys, name, after)
    try:
        old = _counting(file.keys, name, before)
    except ValueError:
        old = {}
    keys = (key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key))
    return tuple(key for key in keys if not _is_withdrawal(file, key, old.get(key), new.get(key)))


def are_answers(file: SettingsFile, keys: tuple[Key, ...]) -> bool:
    """Whether an agent writes all of these keys where the person answers a question of its own."""
    return bool(keys) and all(_counts(file.answers, key) for key in keys)


def _is_withdrawal(file: SettingsFile, key: Key, before: str | None, after: str | None) -> bool:
    """Whether what a person once said yes to is no longer so: an agent that moves its settings does that."""
    return before == "true" and after in (None, "false") and _counts(file.answers, key)


def _counting(keys: tuple[str, ...], name: str, data: bytes | None) -> dict[Key, str]:
    """The keys that count, and their values as text. Raises ValueError."""
    try:
        leaves = _leaves(_read(name, data), ())
        return {key: value for key, value in leaves if _PROTOTYPE in key or _counts(keys, key)}
    except (RecursionError, ValueError) as e:
        raise ValueError(f"{name} cannot be read") from e


def _read(name: str, data: bytes | None) -> dict[str, object]:
    if data is None:
        return {}
    text = data.decode("utf-8-sig")
    found = tomllib.loads(text) if name.endswith(".toml") else _json(text)
    if not isinstance(found, dict):
        raise ValueError(name)  # noqa: TRY004 - what stands there is wrong, not what was called
    return found


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_TOKEN.sub(lambda m: " " if m["comment"] or m["comma"] else m[0], text))


def _leaves(value: object, key: Key) -> Iterator[tuple[Key, str]]:
    if isinstance(value, dict) and value and len(key) < DEPTH:
        for name, below in value.items():
            yield from _leaves(below, (*key, str(name)))
    elif value not in ({}, [], "", None):
        yield key, json.dumps(value, sort_keys=True, default=str)


def _counts(patterns: tuple[str, ...], key: Key) -> bool:
    """Whether the last of the patterns that takes a key in is none with ``!``."""
    for pattern in reversed(patterns):
        parts = pattern.removeprefix("!").split(".")
        if len(parts) <= len(key) and all(p in ("*", name) for p, name in zip(parts, key, strict=False)):
            return not pattern.startswith("!")
    return False
