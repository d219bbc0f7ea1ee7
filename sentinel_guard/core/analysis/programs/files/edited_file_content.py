"""Computes a file's content after an edit: ``sed -i s/a/b/``, ``jq '.scripts.x="…"'``, ``npm pkg set a.b=c``.

An edit that is not one of the simple ones leaves a text of which nothing is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call

MAX_EDITED = 64 * 1024
"""Characters of a file whose edit is followed."""

_PLAIN = r"(?:\d+|\$|/(?:[^/\\]|\\.)*/)"
_ADDRESS = r"(?:(?P<line>\d+|\$)|/(?P<regex>(?:[^/\\]|\\.)*)/)?"
_SED = re.compile(
    rf"\s*{_ADDRESS}\s*(?:s(?P<mark>[/|#,@!:;+])(?P<old>(?:(?!(?P=mark))[^\\]|\\.)*)(?P=mark)"
    r"(?P<new>(?:(?!(?P=mark))[^\\]|\\.)*)(?P=mark)(?P<flags>[gIip\d]*)\s*(?:[;\n]|\Z)|(?P<drop>d)\s*(?:[;\n]|\Z)"
    r"|(?P<put>[aic])(?:\s*\\\n|[ \t]*\\(?=[ \t])|[ \t]*)(?P<text>[^\\\n](?:[^\\\n]|\\[nt])*)(?:\n|\Z))",
    re.DOTALL,
)
_DROPS = re.compile(rf"\s*{_PLAIN},{_PLAIN}\s*d\s*(?:[;\n]|\Z)")
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


def sed(scripts: Iterable[str], text: str, *, extended: bool) -> str:
    """The text after these scripts; UNKNOWN where they are not made of plain ``s``, ``d``, ``a``, ``i`` and ``c``."""
    if UNKNOWN in text or len(text) > MAX_EDITED:
        return UNKNOWN
    found = text.split("\n")
    lines = [*enumerate(found[:-1], 1), (len(found) if found[-1] else NOT_READ, found[-1])]
    for script in scripts:
        at = 0
        while at < len(script):
            if (dropped := _DROPS.match(script, at)) is not None:  # more than is left does not hurt
                at = max(dropped.end(), at + 1)
                continue
            match = _SED.match(script, at)
            if match is None:
                return UNKNOWN
            at = max(match.end(), at + 1)
            edited = _edited(match, lines, len(found) - (found[-1] == ""), extended=extended)
            if edited is None:
                return UNKNOWN
            lines = edited
    return "\n".join(line for _, line in lines)


Lines = list[tuple[int, str]]
"""Each with the number by which it was read."""
NOT_READ = 0
"""The number of what a script puts between the lines, and of what stands behind the last line's end."""


def _edited(match: re.Match[str], lines: Lines, last: int, *, extended: bool) -> Lines | None:
    chosen = _chosen(match, lines, last, extended=extended)
    if chosen is None:
        return None
    if match["put"]:
        return list(_put(match, lines, chosen))
    if match["drop"]:
        return [pair for pair in lines if not chosen(*pair)]
    pattern = _pattern(match["old"], match["mark"], extended=extended, flags=match["flags"])
    if pattern is None or len(match["new"]) > 2000 or not bounded(pattern.pattern, [line for _, line in lines]):
        return None
    new = _replacement(match["new"])
    count = 0 if "g" in match["flags"] else 1
    return [(n, pattern.sub(new, line, count=count) if chosen(n, line) else line) for n, line in lines]


def _put(match: re.Match[str], lines: Lines, chosen: Callable[[int, str], bool]) -> Iterator[tuple[int, str]]:
    """The lines, with a text behind, before or in place of those that are chosen."""
    how, text = match["put"], (NOT_READ, match["text"].replace(r"\n", "\n").replace(r"\t", "\t"))
    for pair in lines:
        here = chosen(*pair)
        if here and how != "a":
            yield text
        if not here or how != "c":
            yield pair
        if here and how == "a":
            yield text
    if how != "i" and lines and chosen(*lines[-1]):
        yield NOT_READ, ""  # ends the last line


def _chosen(match: re.Match[str], lines: Lines, last: int, *, extended: bool) -> Callable[[int, str], bool] | None:
    """Whether a line is one that the command is for."""
    if match["line"]:
        wanted = last if match["line"] == "$" else int(match["line"])
        return lambda n, _: n == wanted != NOT_READ
    if match["regex"] is None:
        return lambda n, _: n != NOT_READ
    pattern = _pattern(match["regex"], "/", extended=extended, flags="")
    if pattern is None or not bounded(pattern.pattern, [line for _, line in lines]):
        return None
    return lambda n, line: n != NOT_READ and pattern.search(line) is not None


_BASIC = re.compile(r"\\([(){}|+?])|([(){}|+?])|(\\.)|(\[(?:\^?\]?)[^\]]*\])", re.DOTALL)


def _pattern(text: str, mark: str, *, extended: bool, flags: str) -> re.Pattern[str] | None:
    """The regular expression of sed as one of Python's."""
    text = text.replace(f"\\{mark}", re.escape(mark) if mark not in ".*[]^$" else f"\\{mark}")
    if not extended:
        text = _BASIC.sub(lambda m: m[1] or (f"\\{m[2]}" if m[2] else m[0]), text)
    if _NESTED.search(text) or "[[:" in text or len(text) > 500:
        return None
    try:
        return re.compile(text, re.IGNORECASE if set("iI") & set(flags) else 0)
    except (re.error, OverflowError):
        return None


def _replacement(text: str) -> Callable[[re.Match[str]], str]:
    r"""``&`` is all that matched, ``\1`` a group of it."""

    def replaced(match: re.Match[str]) -> str:
        def piece(found: re.Match[str]) -> str:
            sign = found[0]
            if sign == "&":
                return match[0]
            if sign[1].isdigit():
                group = int(sign[1])
                return (match[group] or "") if group <= (match.re.groups or 0) else ""
            return {"n": "\n", "t": "\t"}.get(sign[1], sign[1])

        return re.sub(r"&|\\.", piece, text, flags=re.DOTALL)

    return replaced


# ---- JSON ----

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
