"""Leaks in what a commit or a push adds -> findings: what, where, masked, and the ways out (R2, R3).

Only a find of grade BLOCK refuses; the others are summed up in a few lines. No value leaves here, only its mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from sentinel_guard.core.leaks.base import Grade, Hit
from sentinel_guard.core.model import Finding, Response
from sentinel_guard.host.files import read_toml
from sentinel_guard.host.added import Added
from sentinel_guard.host.hookcase import HookCase
from sentinel_guard.host.restricted import readable

SHOWN_WARNINGS = 5


class Words(NamedTuple):
    """How a find in a commit, or outside of one, is told."""

    adds: str
    """Who brings a find in: ``this commit adds``."""
    undo: str
    """How it is taken out again: a command, or what to do."""


_ALLOW = "If it is no secret, end its line with the comment `sentinel: allow`, or run: sentinel-guard secrets baseline"
_KNOWN = "Read it from the environment, or from a file that is not committed. No comment lets a value of your own pass."
_PERSONAL = (
    "If it belongs here, add the file to [leaks] allow in your own sentinel.toml, "
    "or run: sentinel-guard secrets baseline"
)
_WAYS = {"known": _KNOWN, "pii": _PERSONAL}


class Found(NamedTuple):
    """A finding, and the commit that it belongs to; empty for what is staged."""

    commit: str
    finding: Finding


def look(case: HookCase, added: Added, words: Callable[[Hit], Words]) -> tuple[list[Found], tuple[str, ...]]:
    """The leaks in new lines, and notes on what was not looked at. Raises SentinelError."""
    if not added.pieces:
        return [], added.notes
    from sentinel_guard.core.leaks.review import review  # noqa: PLC0415 - the formats load when there is a text
    from sentinel_guard.host import kingfisher  # noqa: PLC0415 - the same

    known, allow = case.known(), case.policy.leaks.allow
    files = review([p for p in added.pieces if p.path], known=known, allow=allow)
    # A message names the people who wrote, signed and reviewed: their addresses are there to be read.
    messages = review([p for p in added.pieces if not p.path], known=known, pii=False)
    more, notes = kingfisher.search(added.pieces, (*files.hits, *messages.hits), allow, case.environ)
    hits = _standing(case, [hit for hit in (*files.hits, *messages.hits, *more) if added.holds(hit)])
    found = [*_refusals(hits, words), *_warnings(hits, words)]
    return found, (*added.notes, *files.notes, *messages.notes, *notes)


def _standing(case: HookCase, hits: list[Hit]) -> list[Hit]:
    """The finds that neither a comment nor the baseline lets pass."""
    left = [hit for hit in hits if not hit.allowed]
    if not left:
        return left
    from sentinel_guard.core.leaks.baseline import NAME, Baseline  # noqa: PLC0415 - most commits have no find

    path = case.root / NAME
    if not path.exists():
        return left
    baseline = Baseline.parse(read_toml(path)[1])
    allows = (baseline.reviewed() if case.session else baseline).allows
    return [hit for hit in left if not allows(hit)]


def _refusals(hits: list[Hit], words: Callable[[Hit], Words]) -> Iterator[Found]:
    for first, count in _grouped(hit for hit in hits if hit.leak.grade == Grade.BLOCK):
        said = words(first)
        what = f"{said.adds} {_what(first, count)} (rule {first.leak.rule}): {first.excerpt}"
        instead = f"{said.undo}. {_WAYS.get(first.leak.kind, _ALLOW)}"
        rule = f"leak.{first.leak.kind}"
        yield Found(first.commit, Finding("leak", Response.DENY, what, "", instead, rule, first.leak.rule))


def _warnings(hits: list[Hit], words: Callable[[Hit], Words]) -> Iterator[Found]:
    groups = _grouped((hit for hit in hits if hit.leak.grade == Grade.WARN), all_kinds=True)
    for first, count in groups[:SHOWN_WARNINGS]:
        what = f"{words(first).adds} {_what(first, count)} (rule {first.leak.rule})"
        yield Found(first.commit, Finding("leak", Response.HINT, what, rule=f"leak.{first.leak.kind}"))
    if more := sum(count for _, count in groups[SHOWN_WARNINGS:]):
        yield Found("", Finding("leak", Response.HINT, f"and {more} more that may be leaks", rule="leak.more"))


def _grouped(hits: Iterable[Hit], *, all_kinds: bool = False) -> list[tuple[Hit, int]]:
    """The first find of each file and rule, with their number; secrets stand alone but where ``all_kinds`` do not."""
    groups: dict[tuple[object, ...], list[Hit]] = {}
    for hit in hits:
        alone = () if all_kinds or hit.leak.kind == "pii" else (hit.line, hit.column)
        groups.setdefault((hit.commit, hit.path, hit.leak.rule, *alone), []).append(hit)
    return [(group[0], len(group)) for group in groups.values()]


def _what(first: Hit, count: int) -> str:
    place = f"{readable(first.path)}:{first.line}:{first.column}"
    where = place if first.path else f"line {first.line}, column {first.column}"
    return f"{first.leak.what} in {where}" + (f", and {count - 1} more there" if count > 1 else "")
