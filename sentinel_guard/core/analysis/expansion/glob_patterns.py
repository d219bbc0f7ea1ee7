"""Shell glob patterns -> regular expressions, for ``case``, ``${x#…}`` and matching file names."""

from __future__ import annotations

import fnmatch
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
def may_share(one: str, other: str) -> bool:
    """Whether there may be a name that both patterns match; a bracket may hold any character."""
    names, patterns = _places(one), _places(other)
    todo, seen = [(0, 0)], set[tuple[int, int]]()
    while todo:
        at, where = todo.pop()
        if (at, where) in seen:
            continue
        seen.add((at, where))
        left = names[at] if at < len(names) else ""
        right = patterns[where] if where < len(patterns) else ""
        if not (left or right):
            return True
        if left == "*" or right == "*":
            todo += [(at + 1, where)] if left == "*" else [(at + 1, where)] if left else []
            todo += [(at, where + 1)] if right == "*" else [(at, where + 1)] if right else []
        elif left and right and (left == right or "?" in (left, right)):
            todo.append((at + 1, where + 1))
    return False


def _places(pattern: str) -> list[str]:
    """Each place of a pattern: ``*``, ``?`` for any one character, or that character."""
    found, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "[" and (bracket := _bracket(pattern, at)):
            char, at = "?", bracket[1]
        elif char == "\\" and at < len(pattern):
            char, at = f"\\{pattern[at]}", at + 1
        found.append(char)
    return [char[1] if char[0] == "\\" and char[1:] not in ("*", "?") else char for char in found]


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
    """The set behind a bracket, and where it ends; None where nothing closes it.

    As bash reads it from the left: ``x-y`` is a range whatever its ends are, and an empty one where they are turned.
    """
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    items, first = "", True
    while at < len(pattern):
        if pattern[at] == "]" and not first:
            return _set(items, negated), at + 1
        first = False
        if named := _CLASS.match(pattern, at):
            items += CLASSES.get(named[1], "")
            at = named.end()
            continue
        low, at = _character(pattern, at)
        high = low
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("", "]"):
            high, at = _character(pattern, at + 1)
        if low <= high:
            items += re.escape(low) if low == high else f"{re.escape(low)}-{re.escape(high)}"
    return None


def _character(pattern: str, at: int) -> tuple[str, int]:
    """The character of a set that stands there, and the place behind it; a backslash quotes the next one."""
    if pattern[at] == "\\" and at + 1 < len(pattern):
        at += 1
    return pattern[at], at + 1


def _set(items: str, negated: bool) -> str:
    if not items:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{items}]"


def world_classes(pattern: str) -> str:
    """The same pattern without named classes, which the file system's matcher does not know."""
    return _CLASS.sub(lambda m: CLASSES.get(m[1], m[0]), pattern) if "[:" in pattern else pattern


def fits(parts: list[str], wanted: list[str]) -> bool:
    """Whether a path is what a pattern names, by their parts. ``**`` stands for any number of folders; after a failure
    only the last one takes more.
    """
    at = want = again = 0
    stars = -1
    while at < len(parts):
        if want < len(wanted) and wanted[want] == "**":
            stars, again, want = want, at, want + 1
        elif want < len(wanted) and _is_named(parts[at], wanted[want]):
            at, want = at + 1, want + 1
        elif stars >= 0:
            again += 1
            at, want = again, stars + 1
        else:
            return False
    return all(rest == "**" for rest in wanted[want:])


def _is_named(part: str, want: str) -> bool:
    return (part[:1] != "." or want[:1] == ".") and fnmatch.fnmatchcase(part, want.replace("[^", "[!"))
