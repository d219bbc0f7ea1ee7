"""Match a path against gitignore patterns, in time that grows with path times pattern, whatever both are.

A star is followed by what stands behind it at the first place where that stands, and never tries another one: of all
later places this one leaves the most to the next star. So nothing backtracks, and no pattern of a hostile repository
keeps a hook or the daemon busy. The meaning is that of pathspec, which tests/core/policy/test_gitignore_patterns.py
asks, but for two things in which git is right: a class takes no ``/``, and a file's name may hold line ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

_FOLDER = "(?P<folder>/)"
_END = rf"(?:{_FOLDER}|\Z)"
_WHOLE = {("**",): (_FOLDER, ""), ("**", "*"): (_FOLDER, ""), ("**", "*", "**"): (_FOLDER, "/")}
"""Patterns that take in all folders, or everything."""

_TOKEN = re.compile(
    r"(?P<star>\*)|(?P<any>\?)|\[(?P<not>[!^]?+)(?P<of>\]?+[^]]*+)\]|\\(?P<escaped>.)|(?P<plain>[^[\\])", re.DOTALL
)
_ITEM = re.compile(r"(.)(?:-(.))?", re.DOTALL)
"""Of a class: a range, or a character."""


@dataclass(frozen=True, slots=True)
class Pattern:
    takes: bool
    """False for a ``!`` pattern: it takes back."""
    regex: re.Pattern[str]


def parse(text: str) -> Pattern | None:
    """A pattern; None for a comment, for nothing, and for what git refuses."""
    said = text if text.endswith("\\ ") else text.rstrip()
    if not said or said.startswith("#") or said == "/":
        return None
    try:
        regex = _translated(said.removeprefix("!"))
        return Pattern(not said.startswith("!"), re.compile(regex, re.DOTALL)) if regex is not None else None
    except (ValueError, re.error):  # a class such as [b-a]
        return None


def last(patterns: Sequence[Pattern | None], path: str) -> int:
    """The place of the last pattern that decides about a path, -1 for none.

    What is meant for the path itself counts for more than what is meant for a folder above it.
    """
    above = -1
    for place in range(len(patterns) - 1, -1, -1):
        pattern = patterns[place]
        found = pattern.regex.match(path) if pattern else None
        if found and not found.groupdict().get("folder"):
            return place
        if found and above < 0:
            above = place
    return above


def _translated(text: str) -> str | None:
    parts = text.split("/")
    folder = not parts[-1]
    if not parts[0]:
        parts = parts[1:]
    elif len(parts) == 1 + folder:
        parts = ["**", *parts]
    if not parts:
        return None
    parts = [*parts[:-1], parts[-1] or "**"]
    parts = [part for kind, run in groupby(parts) for part in ([kind] if kind == "**" else run)]
    if tuple(parts) in _WHOLE:
        return ".*?" + _WHOLE[tuple(parts)][0 if folder else 1]
    return _joined(parts, folder)


def _joined(parts: list[str], folder: bool) -> str:
    """Runs of plain parts, each at the first place where it stands; the last at the last: it decides how all ends."""
    end = (_FOLDER if folder else "/") if parts[-1] == "**" else _END
    runs = ["/".join(map(_part, run)) for wild, run in groupby(parts, "**".__eq__) if not wild]
    anchored = [runs.pop(0)] if parts[0] != "**" else []
    early = [f"(?>(?:.+?/)??{run}(?=/))" for run in runs[:-1]]
    return "/".join([*anchored, *early, *(f"(?:.+/)?{run}" for run in runs[-1:])]) + end


def _part(text: str) -> str:
    """What stands between two slashes, as an expression that never looks at a place twice."""
    if text == "*":
        return "[^/]+"
    first, *rest = _between_stars(text)
    if not rest:
        return first
    return first + "".join(f"(?>[^/]*?{fixed})" for fixed in rest[:-1] if fixed) + "[^/]*" + rest[-1]


def _between_stars(text: str) -> list[str]:
    """Expressions of what stands between the stars. Raises ValueError for a class or an escape without an end."""
    runs, at = [""], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(text)
        if token["star"]:
            runs.append("")
        else:
            runs[-1] += _expression(token)
        at = token.end()
    return runs


def _expression(token: re.Match[str]) -> str:
    if token["any"]:
        return "[^/]"
    if token["of"] is None:
        return re.escape(token["escaped"] or token["plain"])
    ranges = ("-".join(map(re.escape, filter(None, one.groups()))) for one in _ITEM.finditer(token["of"]))
    return f"(?!/)[{'^' if token['not'] else ''}{''.join(ranges)}]"
