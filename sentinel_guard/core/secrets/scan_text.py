"""Scan a text for secrets: keyword search first, then regular expressions around each keyword.

Rules of this file:
1. It never raises, and its time is linear in the text: every format looks at a place once.
2. What no needle points at costs one pass; patterns are compiled at their first needle.
3. Offsets are true: ``text[start:end]`` is the value, or the encoded run that holds it.
4. Finds do not overlap: the graver, then the more precise, then the longer one stays.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from sentinel_guard.core.secrets.decode_encoded_text import Run, from_base64, runs
from sentinel_guard.core.secrets.entropy_and_dummy_values import entropy, is_dummy_value
from sentinel_guard.core.secrets.example_and_encrypted_values import is_example_or_encrypted
from sentinel_guard.core.secrets.formats.registry import FORMATS
from sentinel_guard.core.secrets.generic_assignments import (
    NAME_NEEDLES,
    PROGRAMS,
    RULES,
    URL_NEEDLE,
    assigned,
    in_commands,
    in_urls,
)
from sentinel_guard.core.secrets.model import Format, Grade, SecretFind
from sentinel_guard.core.secrets.placeholder_values import password_like, words
from sentinel_guard.core.secrets.regex_engine import compile_with_re, compiled, searchable
from sentinel_guard.core.text.aho_corasick import KeywordSearch, lowered

BASIC = "basic-header"
"""Its value is base64 of a name and a password."""
_COUNTED = 1000
"""RE2 counts no further."""
_RUN = 10
"""Characters in order that are chance in no token, but in a name beside which a form stands alone are seen as one."""
BEFORE, AFTER = 120, 320
"""Characters round a needle that are looked at."""
SLACK = 64
"""Characters behind a needle in which a further one of the same format needs no window of its own."""
WIDEST = 1 << 14
"""Characters of one window: needles in a row share windows up to here; a value that goes on is followed to here."""


class _Row(NamedTuple):
    """What a needle points at."""

    formats: tuple[int, ...] = ()
    """Indices in FORMATS."""
    name: bool = False
    """A secret's name starts here, or ..."""
    url: bool = False
    """... the part of a URL in which a password may stand, or ..."""
    program: str = ""
    """... the name of a program to which a password is given: the pattern of how."""


def scan(text: str, *, generic: bool = True) -> list[SecretFind]:
    """The secrets in a text, in the order of their places; with ``generic`` those without a provider's form too."""
    found = _found(text, generic)
    plain = {leak.value for leak in found}
    for run in runs(text):
        if inside := [leak for leak in _found(run.text, generic) if leak.value not in plain]:
            found.append(_placed(max(inside, key=_telling), text, run))
    return without_overlaps(found)


def _placed(leak: SecretFind, text: str, run: Run) -> SecretFind:
    """The find in a decoded run, where the text has it: as it is, or as the whole run."""
    at = text.find(leak.value, run.start, run.end)
    start, end = (run.start, run.end) if at < 0 else (at, at + len(leak.value))
    return replace(leak, start=start, end=end)


def without_overlaps(leaks: Iterable[SecretFind]) -> list[SecretFind]:
    """In the order of their places, and of those that overlap only the one that tells most."""
    kept: list[SecretFind] = []
    for leak in sorted(leaks, key=lambda leak: (leak.start, leak.end)):
        if not kept or leak.start >= kept[-1].end:
            kept.append(leak)
        elif _telling(leak) > _telling(kept[-1]):
            kept[-1] = leak
    return kept


def _telling(leak: SecretFind) -> tuple[bool, int, bool, int]:
    return leak.kind == "known", leak.grade, leak.rule not in RULES, leak.end - leak.start


def _found(text: str, generic: bool) -> list[SecretFind]:
    windows: dict[int, list[tuple[int, int]]] = {}
    seen: dict[int, int] = {}
    names: list[int] = []
    urls: list[int] = []
    commands: list[tuple[int, str]] = []
    for start, end, row in _needles().places(lowered(text)):
        if row.name:
            names.append(start)
        if row.url:
            urls.append(start)
        if row.program:
            commands.append((start, row.program))
        for index in row.formats:
            if end > seen.get(index, -1):
                seen[index] = end + SLACK
                _widen(
                    windows.setdefault(index, []), max(start - BEFORE, 0), end + SLACK + (FORMATS[index].reach or AFTER)
                )
    leaks = [leak for leak in in_urls(text, urls) if generic or leak.grade is Grade.BLOCK]
    if generic:
        leaks += [*assigned(text, names), *in_commands(text, commands)]
    for index, spans in windows.items():
        leaks += (leak for lo, hi in spans for leak in _matches(text, FORMATS[index], lo, hi))
    return [leak for leak in leaks if not is_example_or_encrypted(leak.value)]


@functools.cache
def _needles() -> KeywordSearch[_Row]:
    formats: dict[str, list[int]] = {needle: [] for needle in (*NAME_NEEDLES, URL_NEEDLE, *PROGRAMS)}
    for index, wanted in enumerate(FORMATS):
        for needle in wanted.needles:
            formats.setdefault(needle, []).append(index)
    names = frozenset(NAME_NEEDLES)
    return KeywordSearch(
        {
            needle: _Row(tuple(rows), needle in names, needle == URL_NEEDLE, PROGRAMS.get(needle, ""))
            for needle, rows in formats.items()
        }
    )


def _widen(spans: list[tuple[int, int]], lo: int, hi: int) -> None:
    """One more window; with the one before, where they touch and are not too long together."""
    if spans and lo <= spans[-1][1] and hi - spans[-1][0] <= max(WIDEST, 3 * (hi - lo)):
        lo = spans.pop()[0]
    spans.append((lo, hi))


def _matches(text: str, row: Format, lo: int, hi: int) -> Iterator[SecretFind]:
    pattern, window, at = compiled(row.pattern), searchable(text[lo:hi]), 0
    while match := pattern.search(window, at):
        start, end = _trimmed(window, *_value(match))
        end = _to_end(window, start, end)
        if lo + end == hi < len(text) and len(window) < WIDEST:  # it may go on behind the window's end
            hi += WIDEST - len(window)
            window = searchable(text[lo:hi])
            continue
        value = text[lo + start : lo + end]
        if value and _whole(text, lo, start) and _real(row, value):
            yield SecretFind(row.rule, "secret", row.what, row.grade, lo + start, lo + end, value, row.hosts)
        at = max(end, match.start() + 1)


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span(match.re.groupindex.get("value", min(1, match.re.groups)))


def _trimmed(window: str, start: int, end: int) -> tuple[int, int]:
    """Without blanks at its ends: a key starts in its first line, and not behind its heading."""
    value = window[start:end]
    first = end - len(value.lstrip())
    return first, first + len(value.strip())


def _to_end(window: str, start: int, end: int) -> int:
    """Where a value ends that is longer than a pattern can count."""
    if end - start < _COUNTED or not window[end - 1].isalnum() or compile_with_re(r"[\s\\]").search(window, start, end):
        return end
    rest = compile_with_re(r"[A-Za-z0-9+/=_.-]*").match(window, end)
    return rest.end() if rest else end


def _whole(text: str, lo: int, start: int) -> bool:
    """Whether the value does not just begin where the window cut a longer word."""
    return start > 0 or lo == 0 or not (text[lo - 1].isalnum() and text[lo].isalnum())


def _real(row: Format, value: str) -> bool:
    """Whether a value of the form is one; a form that says all asks for no disorder, and for nothing else."""
    if not row.entropy:
        return True
    if entropy(value) < row.entropy or is_dummy_value(value, _RUN):
        return False
    if row.rule == BASIC:
        return password_like(from_base64(value).partition(":")[2])
    return row.grade is Grade.BLOCK or not words(value)
