"""Computes which known lines ``grep`` lets through, for ``find … | grep -v node_modules | xargs rm``."""

from __future__ import annotations

import re

MAX_PATTERN = 200
MAX_QUANTIFIERS = 3
"""``*``, ``+`` and ``?`` of one pattern: each multiplies what a search may cost."""
MAX_LINE = 1000

_OPTIONS = re.compile(r"-[EFGivx]+|--(?:invert-match|ignore-case|line-regexp|extended-regexp|fixed-strings)")
_TOKEN = re.compile(r"\\[.|()+?*^$/\[\]-]|\[\^?[\w./-]+\]|[^\\\[\]{}]", re.ASCII)
"""Of a pattern: an escaped sign, a set of plain characters, a character."""
_OPERATORS = ("|", "(", ")", "+", "?")
"""What a basic pattern writes with a backslash, and an extended one without."""


def grep(words: tuple[str, ...], stdin: str, *, extended: bool = False, fixed: bool = False) -> str | None:
    """The lines that match, or with ``-v`` those that do not; None for other options, for files, and for patterns that
    are not plain.
    """
    options = [word for word in words if word.startswith("-") and word != "-e"]
    plain = [word for word in words if not word.startswith("-")]
    if len(plain) != 1 or words.count("-e") > 1 or not all(map(_OPTIONS.fullmatch, options)):
        return None
    letters = {letter for word in options for letter in (word[1:] if word[1] != "-" else _LETTERS[word])}
    pattern = _pattern(plain[0], extended=extended or "E" in letters, fixed=fixed or "F" in letters)
    lines = stdin.splitlines()
    if pattern is None or any(len(line) > MAX_LINE for line in lines):
        return None
    look = re.compile(pattern, re.IGNORECASE if "i" in letters else 0)
    matches = look.fullmatch if "x" in letters else look.search
    return "".join(f"{line}\n" for line in lines if (matches(line) is None) == ("v" in letters))


_LETTERS = {
    "--invert-match": "v",
    "--ignore-case": "i",
    "--line-regexp": "x",
    "--extended-regexp": "E",
    "--fixed-strings": "F",
}


def _pattern(text: str, *, extended: bool, fixed: bool) -> str | None:
    """The same pattern as Python spells it; None where that, or what it costs, is not certain."""
    if fixed:
        return re.escape(text)
    parts = _TOKEN.findall(text)
    if not text or len(text) > MAX_PATTERN or "".join(parts) != text:
        return None
    spelled = [_spelled(part, extended=extended) for part in parts]
    quantifiers = [at for at, part in enumerate(spelled) if part in ("*", "+", "?")]
    misplaced = any(at == 0 or spelled[at - 1] in ("(", ")", "|", "^", "*", "+", "?") for at in quantifiers)
    anchors = any(part == "^" and at for at, part in enumerate(spelled))
    anchors = anchors or any(part == "$" and at < len(spelled) - 1 for at, part in enumerate(spelled))
    if misplaced or anchors or len(quantifiers) > MAX_QUANTIFIERS:
        return None
    try:
        re.compile(result := "".join(spelled))
    except re.error:
        return None
    return result


def _spelled(token: str, *, extended: bool) -> str:
    bare = token[-1]
    if token[0] == "\\":
        return bare if bare in _OPERATORS and not extended else re.escape(bare)
    if token in _OPERATORS:
        return token if extended else re.escape(token)
    return token if token in (".", "*", "^", "$") or token[0] == "[" else re.escape(token)
