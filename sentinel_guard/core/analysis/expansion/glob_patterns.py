"""Shell glob patterns -> regular expressions, for ``case``, ``${x#…}`` and matching file names."""

from __future__ import annotations

import re
from functools import lru_cache

CLASSES = {
    "alpha": "A-Za-z",
    "digit": "0-9",
    "alnum": "A-Za-z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": " \\t\\n\\r\\f\\v",
    "blank": " \\t",
    "punct": "!-/:-@\\[-`{-~",
    "xdigit": "A-Fa-f0-9",
    "word": "A-Za-z0-9_",
    "cntrl": "\\x00-\\x1f\\x7f",
    "print": " -~",
    "graph": "!-~",
}
"""Of ``[:name:]``, as they stand inside of brackets."""
MAX_STARS = 3
"""Of a pattern that is searched for, not matched as a whole."""
_CLASS = re.compile(r"\[:(\w+):\]")
_SPECIAL = re.compile(r"[*?\[\]\\]")


def escape(text: str) -> str:
    r"""The pattern that matches just this text: ``*`` gives ``\*``."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def matches(pattern: str, text: str) -> bool:
    return compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """For ``fullmatch``, in time that many stars do not blow up: each takes as little as it can, for good."""
    first, *rest = _runs(pattern)
    inner = "".join(f"(?>.*?{run})" for run in rest[:-1])
    return re.compile(first + inner + "".join(f".*{run}" for run in rest[-1:]), re.DOTALL)


@lru_cache(maxsize=512)
def greedy(pattern: str) -> str | None:
    """A regular expression that finds the longest match anywhere; None for more stars than are tried."""
    runs = _runs(pattern)
    return ".*".join(runs) if len(runs) <= MAX_STARS + 1 else None


def _runs(pattern: str) -> list[str]:
    """What stands between the stars, as regular expressions; what no bracket closes is itself."""
    runs, at = [""], 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            if len(runs) == 1 or runs[-1]:
                runs.append("")
        elif char == "?":
            runs[-1] += "."
        elif char == "\\" and at < len(pattern):
            runs[-1] += re.escape(pattern[at])
            at += 1
        elif char == "[" and (found := _bracket(pattern, at)):
            runs[-1] += found[0]
            at = found[1]
        else:
            runs[-1] += re.escape(char)
    return runs


def _bracket(pattern: str, at: int) -> tuple[str, int] | None:
    """The set behind a bracket, and where it ends; None where nothing closes it."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    members, first = "", True
    while at < len(pattern):
        char = pattern[at]
        if char == "]" and not first:
            return _set(members, negated), at + 1
        first = False
        if named := _CLASS.match(pattern, at):
            members += CLASSES.get(named[1], "")
            at = named.end()
            continue
        if char == "\\" and at + 1 < len(pattern):
            at += 1
            char = pattern[at]
            members += "\\" + char if not char.isalnum() else char
        else:
            members += char if char == "-" or char.isalnum() or char == "_" else "\\" + char
        at += 1
    return None


_HYPHENS = r"-\-"


def _set(members: str, negated: bool) -> str:
    kept = re.sub(r"(?<!\\)(\w)-(\w)", lambda m: m[0] if m[1] <= m[2] else "", members)
    if not kept:
        return "." if negated else "(?!)"
    # Two hyphens are reserved for sets of another kind: it would warn of them.
    text = f"[{'^' if negated else ''}{kept[0]}{kept[1:].replace('--', _HYPHENS)}]"
    try:
        re.compile(text)
    except re.error:
        return "(?!)"
    return text


def world_classes(pattern: str) -> str:
    """The same pattern without named classes, which the file system's matcher does not know."""
    return _CLASS.sub(lambda m: CLASSES.get(m[1], m[0]), pattern) if "[:" in pattern else pattern
