"""The read and mapfile builtins: standard input -> variables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sentinel_guard.core.analysis.evaluation.walk_context import WalkContext, Walker
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Parsed, options, parse
from sentinel_guard.core.analysis.expansion.partly_known_output import PartlyKnownText
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.expansion.word_splitting import separators

_READ = options("-d= -i= -n= -N= -p= -t= -u= -a=")
MAPFILE = options("-d= -n= -O= -s= -u= -C= -c=")
_ESCAPED = "\ufdd0"
"""Stands behind a character that a backslash keeps from splitting."""


def read(walk: Walker, fields: Sequence[Field], place: WalkContext) -> str:
    parsed = parse(fields[1:], _READ)
    array = parsed.value("-a")
    names = [f.text for f in parsed.operands]
    line = _line(parsed, from_descriptor(walk, parsed, place))
    if line is not None and "-r" not in parsed.flags:
        line = re.sub(r"\\(.)", lambda m: m[1] + _ESCAPED, line.replace("\\\n", ""), flags=re.DOTALL)
    scope = place.scope
    if line is None or not all(map(str.isidentifier, names)):
        scope.forget([array.text] if array else names or ["REPLY"])
    elif array is not None:
        scope.put(array.text, tuple(_plain(word) for word in _words(line, len(line) + 1, scope)))
    elif not names or "-N" in parsed.flags:
        scope.forget(names[1:])
        scope.put(names[0] if names else "REPLY", (_plain(line),))
    else:
        words = _words(line, len(names), scope)
        for at, name in enumerate(names):
            scope.put(name, (_plain(words[at]) if at < len(words) else "",))
    return ""


def from_descriptor(walk: Walker, parsed: Parsed, place: WalkContext) -> WalkContext:
    """The place with what ``-u 3`` reads as its standard input."""
    given = parsed.value("-u")
    if given is None or given.text == "0":
        return place
    path = walk.world.resolve_descriptor(f"/dev/fd/{given.text}")
    text = walk.world.read(path) if given.known else None
    return replace(place, stdin=UNKNOWN if text is None else text)


def _line(parsed: Parsed, place: WalkContext) -> str | None:
    """What is read: up to a newline, or as -d, -n, -N say; None where it is not known."""
    text, scope = place.stdin, place.scope
    start = scope.reading[1] if scope.reading[0] is text else 0
    rest = text[start:]
    if not rest or UNKNOWN in rest or isinstance(text, PartlyKnownText) or parsed.values("-t"):
        return None
    if separators(scope) is None:
        return None
    ends, size = parsed.value("-d"), parsed.value("-n", "-N")
    if (ends is not None and not ends.known) or (size is not None and not size.text.isdigit()):
        return None
    end = "\n" if ends is None else ends.text[:1] or "\0"
    line, found, _ = rest.partition(end)
    if "-N" in parsed.flags:
        line, found = rest, ""
    if "-r" not in parsed.flags:
        while found and len(line) - len(line.rstrip("\\")) & 1:
            more, found, _ = rest[len(line) + 1 :].partition(end)
            line += end + more
    if size is not None and len(line) >= int(size.text):
        line, found = line[: int(size.text)], ""
    scope.reading = text, start + len(line) + len(found)
    return line


def _plain(text: str) -> str:
    return text.replace(_ESCAPED, "")


def _words(line: str, count: int, scope: Scope) -> list[str]:
    """At most ``count`` words; the last one is all that is left, its blanks at the end apart."""
    ifs = separators(scope) or ""
    if not ifs:
        return [line] if line else []
    held = re.sub(f"(.){_ESCAPED}", lambda m: m[1] + _ESCAPED, line, flags=re.DOTALL)
    blanks = "".join(c for c in ifs if c in " \t\n")
    rest = _left(held, blanks)
    words: list[str] = []
    while rest and len(words) < count - 1:
        word, rest = _first(rest, ifs, blanks)
        words.append(word)
    if not rest:
        return words
    last = _right(rest, blanks)
    word, more = _first(last, ifs, blanks)
    return [*words, word if not more else last]


def _left(text: str, blanks: str) -> str:
    while text[:1] and text[0] in blanks and text[1:2] != _ESCAPED:
        text = text[1:]
    return text


def _right(text: str, blanks: str) -> str:
    return text.rstrip(blanks) if blanks else text


def _first(text: str, ifs: str, blanks: str) -> tuple[str, str]:
    """The first word and what is left behind its separator."""
    at = 0
    while at < len(text) and (text[at] not in ifs or text[at + 1 : at + 2] == _ESCAPED):
        at += 1
    rest = _left(text[at:], blanks)
    if rest[:1] and rest[0] in ifs and rest[0] not in blanks:
        rest = _left(rest[1:], blanks)
    return text[:at], rest


def mapfile(walk: Walker, fields: Sequence[Field], place: WalkContext) -> str:
    parsed = parse(fields[1:], MAPFILE)
    place = from_descriptor(walk, parsed, place)
    name = parsed.operands[0].text if parsed.operands else "MAPFILE"
    known = UNKNOWN not in place.stdin and not isinstance(place.stdin, PartlyKnownText)
    plain = place.stdin and known and not set(parsed.flags) - {"-t", "-u"}
    lines = _lines(place.stdin, keep="-t" not in parsed.flags) if plain else None
    place.scope.put(name, lines)
    return ""


def _lines(text: str, *, keep: bool) -> tuple[str, ...]:
    *lines, last = text.split("\n")
    return (*(f"{line}\n" if keep else line for line in lines), *([last] if last else []))
