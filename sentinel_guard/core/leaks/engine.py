"""The search for secrets in a text.

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

from sentinel_guard.core.leaks.base import Format, Grade, Leak
from sentinel_guard.core.leaks.encoded import from_base64, runs
from sentinel_guard.core.leaks.entropy import entropy, made_up
from sentinel_guard.core.leaks.formats.registry import FORMATS
from sentinel_guard.core.leaks.generic import NAME_NEEDLES, RULES, URL_NEEDLE, assigned, in_urls
from sentinel_guard.core.leaks.literals import password_like, words
from sentinel_guard.core.leaks.needles import Needles, lowered
from sentinel_guard.core.leaks.patterns import compiled

BASIC = "basic-header"
"""Its value is base64 of a name and a password."""
_RUN = 10
"""Characters in order that are chance in no token, but in a name beside which a form stands alone are seen as one."""
BEFORE, AFTER = 160, 400
"""Characters round a needle that are looked at."""
WIDEST = 1 << 14
"""Characters of one window: needles in a row share windows up to here; a value that goes on is followed to here."""


class _Row(NamedTuple):
    """What a needle points at."""

    formats: tuple[int, ...] = ()
    """Indices in FORMATS."""
    name: bool = False
    """A secret's name starts here, or ..."""
    url: bool = False
    """... the part of a URL in which a password may stand."""


def scan(text: str, *, generic: bool = True) -> list[Leak]:
    """The secrets in a text, in the order of their places; with ``generic`` those without a provider's form too."""
    found = _found(text, generic)
    plain = {leak.value for leak in found}
    for run in runs(text):
        if inside := [leak for leak in _found(run.text, generic) if leak.value not in plain]:
            found.append(replace(max(inside, key=_telling), start=run.start, end=run.end))
    return settled(found)


def settled(leaks: Iterable[Leak]) -> list[Leak]:
    """In the order of their places, and of those that overlap only the one that tells most."""
    kept: list[Leak] = []
    for leak in sorted(leaks, key=lambda leak: (leak.start, leak.end)):
        if not kept or leak.start >= kept[-1].end:
            kept.append(leak)
        elif _telling(leak) > _telling(kept[-1]):
            kept[-1] = leak
    return kept


def _telling(leak: Leak) -> tuple[bool, int, bool, int]:
    return leak.kind == "known", leak.grade, leak.rule not in RULES, leak.end - leak.start


def _found(text: str, generic: bool) -> list[Leak]:
    windows: dict[int, list[tuple[int, int]]] = {}
    names: list[int] = []
    urls: list[int] = []
    for start, end, row in _needles().places(lowered(text)):
        if row.name:
            names.append(start)
        if row.url:
            urls.append(start)
        for index in row.formats:
            _widen(windows.setdefault(index, []), max(start - BEFORE, 0), end + (FORMATS[index].reach or AFTER))
    leaks = [leak for leak in in_urls(text, urls) if generic or leak.grade is Grade.BLOCK]
    leaks += assigned(text, names) if generic else ()
    for index, spans in windows.items():
        leaks += (leak for lo, hi in spans for leak in _matches(text, FORMATS[index], lo, hi))
    return leaks


@functools.cache
def _needles() -> Needles[_Row]:
    rows = {needle: _Row(name=True) for needle in NAME_NEEDLES} | {URL_NEEDLE: _Row(url=True)}
    for index, wanted in enumerate(FORMATS):
        for needle in wanted.needles:
            row = rows.get(needle, _Row())
            rows[needle] = row._replace(formats=(*row.formats, index))
    return Needles(rows)


def _widen(spans: list[tuple[int, int]], lo: int, hi: int) -> None:
    """One more window; with the one before, where they touch and are not too long together."""
    if spans and lo <= spans[-1][1] and hi - spans[-1][0] <= max(WIDEST, 3 * (hi - lo)):
        lo = spans.pop()[0]
    spans.append((lo, hi))


def _matches(text: str, row: Format, lo: int, hi: int) -> Iterator[Leak]:
    pattern, window, at = compiled(row.pattern), text[lo:hi], 0
    while match := pattern.search(window, at):
        start, end = _value(match)
        if lo + end == hi < len(text) and len(window) < WIDEST:  # it may go on behind the window's end
            hi += WIDEST - len(window)
            window = text[lo:hi]
            continue
        if start < end and _whole(text, lo, start) and _real(row, window[start:end]):
            yield Leak(row.rule, "secret", row.what, row.grade, lo + start, lo + end, window[start:end], row.hosts)
        at = max(end, match.start() + 1)


def _value(match: re.Match[str]) -> tuple[int, int]:
    return match.span(match.re.groupindex.get("value", min(1, match.re.groups)))


def _whole(text: str, lo: int, start: int) -> bool:
    """Whether the value does not just begin where the window cut a longer word."""
    return start > 0 or lo == 0 or not (text[lo - 1].isalnum() and text[lo].isalnum())


def _real(row: Format, value: str) -> bool:
    """Whether a value of the form is one; a form that says all asks for no disorder, and for nothing else."""
    if not row.entropy:
        return True
    if entropy(value) < row.entropy or made_up(value, _RUN):
        return False
    if row.rule == BASIC:
        return password_like(from_base64(value).partition(":")[2])
    return row.grade is Grade.BLOCK or not words(value)
