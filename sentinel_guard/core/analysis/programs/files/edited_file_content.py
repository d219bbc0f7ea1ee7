"""Computes a file's content after an edit: ``sed -i s/a/b/``, ``jq '.scripts.x="…"'``, ``npm pkg set a.b=c``.

An edit that is not one of the simple ones leaves a text of which nothing is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call

MAX_EDITED = 64 * 1024
"""Characters of a file whose edit is followed."""

_REGEX = r"/(?:[^/\\\n]|\\.)*/I?"
_ADDRESS = re.compile(rf"(?P<from>\d+|\$|{_REGEX})(?:\s*,\s*(?P<to>\+?\d+|\$|{_REGEX}))?\s*(?P<but>!?)\s*")
_COMMAND = re.compile(
    r"s(?P<mark>[/|#,@!:;+])(?P<old>(?:(?!(?P=mark))[^\\]|\\.)*)(?P=mark)(?P<new>(?:(?!(?P=mark))[^\\]|\\.)*)(?P=mark)"
    r"(?P<flags>[gIi]*)\s*(?=[;\n}]|\Z)|(?P<drop>d)\s*(?=[;\n}]|\Z)"
    r"|(?P<put>[aic])(?:\s*\\\n|[ \t]*\\(?=[ \t])|[ \t]*)(?P<text>[^\\\n](?:[^\\\n]|\\[nt])*)(?:\n|\Z)",
    re.DOTALL,
)
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
    """The text after these scripts; UNKNOWN where they have other commands than ``s``, ``d``, ``a``, ``i``, ``c`` and
    groups of them.
    """
    if UNKNOWN in text or len(text) > MAX_EDITED:
        return UNKNOWN
    edits = _Edits(text, extended=extended)
    return edits.text if all(map(edits.follow, scripts)) else UNKNOWN


NOT_READ = 0
"""The number of what a script puts between the lines, and of what stands behind the last line's end."""


class _Edits:
    """Lines with the numbers by which they were read. A command takes all of them before the next one does."""

    def __init__(self, text: str, *, extended: bool) -> None:
        found = text.split("\n")
        self._lines = [*enumerate(found[:-1], 1), (len(found) if found[-1] else NOT_READ, found[-1])]
        self._last, self._extended = len(found) - (found[-1] == ""), extended

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self._lines)

    def follow(self, script: str) -> bool:
        """Whether a script is one that can be followed."""
        at, groups = 0, [{n for n, _ in self._lines if n != NOT_READ}]
        while (at := at + len(script[at:]) - len(script[at:].lstrip("; \t\n"))) < len(script):
            if script[at] == "}":
                del groups[-1]
                at += 1
                if not groups:
                    return False
                continue
            address = _ADDRESS.match(script, at)
            found = self._chosen(address) if address else groups[-1]
            at = address.end() if address else at
            if found is not None and script[at : at + 1] == "{":
                groups.append(groups[-1] & found)
                at += 1
                continue
            command = _COMMAND.match(script, at)
            several = address is not None and address["to"] is not None
            if found is None or command is None or (command["put"] == "c" and several):
                return False
            at = command.end()
            if not self._edit(command, groups[-1] & found):
                return False
        return len(groups) == 1

    def _chosen(self, address: re.Match[str]) -> set[int] | None:
        """The numbers of the lines that an address, or two with all between them, means; None where nobody knows."""
        begins, ends = self._meant(address["from"]), self._meant(address["to"] or "$")
        if begins is None or ends is None or (address["from"] == "0" and address["to"] is None):
            return None
        found, left = set[int](), -1  # the number up to which a range goes; -1 outside of one
        for n, _ in self._lines:
            if n == NOT_READ:
                continue
            if address["to"] is None:
                found |= {n} & begins
            elif left >= n:
                found.add(n)
                left = -1 if n in ends and address["to"][0] == "/" else left
            elif n in begins or (address["from"] == "0" and n == 1):
                found.add(n)
                left = self._end(address["to"], n)
                left = -1 if address["from"] == "0" and n in ends else left
        return {n for n, _ in self._lines if n != NOT_READ} - found if address["but"] else found

    def _end(self, to: str, begin: int) -> int:
        if to[0] == "+":
            return begin + int(to)
        return int(to) if to.isdigit() else self._last

    def _meant(self, address: str) -> set[int] | None:
        if address[0] != "/":
            return {self._last if address == "$" else int(address)}
        body, _, flags = address[1:].rpartition("/")
        pattern = _pattern(body, "/", extended=self._extended, flags=flags)
        if pattern is None or not bounded(pattern.pattern, (line for _, line in self._lines)):
            return None
        return {n for n, line in self._lines if n != NOT_READ and pattern.search(line)}

    def _edit(self, command: re.Match[str], chosen: set[int]) -> bool:
        """What one command makes of the lines that are chosen; whether that is known."""
        if command["put"]:
            self._lines = list(self._with_text(command, chosen))
        elif command["drop"]:
            self._lines = [pair for pair in self._lines if pair[0] not in chosen]
        else:
            pattern = _pattern(command["old"], command["mark"], extended=self._extended, flags=command["flags"])
            new, lines = command["new"], (line for _, line in self._lines)
            every = "g" in command["flags"]
            if pattern is None or len(new) > 2000 or _CASE.search(new) or not bounded(pattern.pattern, lines):
                return False
            if every and pattern.search(""):
                return False  # Python's takes nothing behind something for one more
            sub, count = partial(pattern.sub, _replacement(new)), 0 if every else 1
            self._lines = [(n, sub(line, count=count) if n in chosen else line) for n, line in self._lines]
        return True

    def _with_text(self, command: re.Match[str], chosen: set[int]) -> Iterator[tuple[int, str]]:
        """The lines, with a text behind, before or in place of those that are chosen."""
        how, text = command["put"], (NOT_READ, command["text"].replace(r"\n", "\n").replace(r"\t", "\t"))
        for pair in self._lines:
            here = pair[0] in chosen
            if here and how != "a":
                yield text
            if not here or how != "c":
                yield pair
            if here and how == "a":
                yield text
        if how != "i" and self._lines and self._lines[-1][0] in chosen:
            yield NOT_READ, ""  # ends the last line


_CASE = re.compile(r"\\[ULEul]")
"""What gives a replacement other letters."""
_CLASSES = {
    "[:space:]": r"\s", "[:blank:]": r" \t", "[:digit:]": "0-9", "[:alpha:]": "a-zA-Z", "[:alnum:]": "a-zA-Z0-9",
    "[:upper:]": "A-Z", "[:lower:]": "a-z", "[:xdigit:]": "0-9a-fA-F",
}  # fmt: skip
_CLASS = re.compile("|".join(map(re.escape, _CLASSES)))
_WORD_ENDS = re.compile(r"\\(.)", re.DOTALL)
_BASIC = re.compile(r"\\([(){}|+?])|([(){}|+?])|(\\.)|(\[(?:\^?\]?)[^\]]*\])", re.DOTALL)


def _pattern(text: str, mark: str, *, extended: bool, flags: str) -> re.Pattern[str] | None:
    """The regular expression of sed as one of Python's."""
    text = text.replace(f"\\{mark}", re.escape(mark) if mark not in ".*[]^$" else f"\\{mark}")
    text = _CLASS.sub(lambda m: _CLASSES[m[0]], text)
    text = _WORD_ENDS.sub(lambda m: r"\b" if m[1] in "<>" else m[0], text)
    if not extended:
        text = _BASIC.sub(lambda m: m[1] or (f"\\{m[2]}" if m[2] else m[0]), text)
    if _NESTED.search(text) or "[[" in text or len(text) > 500:
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
