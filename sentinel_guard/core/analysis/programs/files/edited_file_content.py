"""Computes a file's content after an edit: ``jq '.scripts.x="…"'``, ``npm pkg set a.b=c``.

An edit that is not one of the simple ones leaves a text of which nothing is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call

_NESTED = re.compile(r"[*+?}]\)?[*+{]|\)[*+{]|\(\?(?!:|i\))")
"""Repetitions of repetitions may take for ever; so may what ``(?x)`` and its kin let one write."""
MAX_STEPS = 10_000_000
"""Of a search that goes back and forth as often as it can."""


def bounded(pattern: str, lines: Iterable[str]) -> bool:
    """Whether a search for it ends soon: no repetition in another, and no more ways to try than can be tried."""
    if _NESTED.search(pattern):
        return False
    loops = sum(pattern.count(sign) for sign in "*+{")
    groups = pattern.count("(")
    ways = (1 - -pattern.count("|") // groups) ** groups if groups else 1 + pattern.count("|")
    ways <<= pattern.count("?")
    return ways * sum([int(len(line) ** (loops + 1)) for line in lines]) <= MAX_STEPS


_KEY = r"(?:\.?(?P<name>[A-Za-z_]\w*)|\.?\[\s*\"(?P<quoted>(?:[^\"\\]|\\.)*)\"\s*\]|\.\"(?P<dotted>(?:[^\"\\]|\\.)*)\")"
_KEYS = re.compile(_KEY)
_VALUE = r'"(?:[^"\\]|\\.)*"|-?\d[\d.]*|true|false|null'
_ASSIGN = re.compile(rf"\s*(?P<path>\.(?:[^=|\s]|(?<=\[)\s)*?)\s*=\s*(?P<value>{_VALUE})\s*(?:\||\Z)")


_EDIT = re.compile(r"\s*(?:\.[^=|]*(?:[|+*]=|=(?!=))|del\()")


def jq(program: str, text: str) -> str:
    """What ``jq PROGRAM`` prints of a package.json-like text, as far as its tasks go.

    Simple assignments are made; a program that does not speak of scripts leaves them as they are.
    """
    at = 0
    pairs: list[tuple[list[str], object]] = []
    while at < len(program):
        match = _ASSIGN.match(program, at)
        if match is None:
            return text if _EDIT.match(program) and "script" not in program else UNKNOWN
        pairs.append(([m[m.lastgroup or 0] for m in _KEYS.finditer(match["path"])], json.loads(match["value"])))
        at = match.end()
    return assigned(text, pairs)


def assigned(text: str, pairs: Sequence[tuple[Sequence[str], object]]) -> str:
    """The JSON text with these values under these keys; UNKNOWN where it is none."""
    try:
        top = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return UNKNOWN
    for keys, value in pairs:
        inner = top
        for key in keys[:-1]:
            inner = inner.setdefault(key, {}) if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not keys:
            return UNKNOWN
        inner[keys[-1]] = value
    return json.dumps(top)


def pkg_set(words: Sequence[str], text: str) -> str:
    """``npm pkg set scripts.x=CMD a.b=c``."""
    pairs = [(name.split("."), value) for name, _, value in (word.partition("=") for word in words)]
    return assigned(text, pairs)


def printed(call: Call) -> str:
    """What a call of jq prints, as far as it edits tasks."""
    words = [item for item in call.fields[1:] if item.text[:1] != "-"]
    if not words or not all(item.known for item in words):
        return UNKNOWN
    text = call.world.read(call.locate(words[1])) if len(words) > 1 else call.stdin
    return UNKNOWN if text is None or len(words) > 2 else jq(words[0].text, text)
