"""Secrets in what a commit or a push adds -> findings: what, where, the value redacted, and what to do (R2, R3).

Rules of this file:
1. Only a find of grade BLOCK refuses; the others are summed up in a few lines. No value leaves here, only its mask.
2. Inside a session no comment allows anything, for the agent may have written it; and what was not searched is asked
   about.
3. A way out is named only where it works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sentinel_guard.core.model import Ask, Finding, Response
from sentinel_guard.core.policy.policy import last_matching_pattern
from sentinel_guard.core.secrets.model import Grade, Hit
from sentinel_guard.host.githooks.hook_request import HookCase
from sentinel_guard.host.githooks.restricted_paths import is_let_in, is_restricted, readable
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.secrets.added_lines import Added, in_words
from sentinel_guard.host.secrets.kingfisher_program import installed

SHOWN_WARNINGS = 5
_PUSHES = ("pre-push", "reference-transaction")
"""What is only a warning was told at the commit."""
_APART = ("secrets",)
"""Hooks that run without the one that refuses restricted paths."""
_PLAIN = (".cer", ".crt", ".csv", ".der", ".ipynb", ".json", ".key", ".lock", ".p8", ".pem", ".ppk", ".tsv")
"""Ends of names of files that have no comments."""
_KEY = "private-key"
_BASELINE = "sentinel-guard secrets baseline"


class Words(NamedTuple):
    """How a find in a commit, or outside of one, is told."""

    adds: str
    """Who brings a find in: ``this commit adds``."""
    undo: str
    """How it is taken out again: a command, or what to do."""


class Found(NamedTuple):
    """A finding, and the commit that it belongs to; empty for what is staged."""

    commit: str
    finding: Finding


class _Told(NamedTuple):
    """All that the words about finds are made of."""

    case: HookCase
    words: Callable[[Hit], Words]
    unread: frozenset[tuple[str, str]]
    """Commits and paths of files that are no text, or too large to be read as one."""
    large: frozenset[str]
    """Paths of those that are."""
    names: Mapping[str, str]
    """Paths that hold a secret themselves, and how they are shown."""
    oldest: Hit | None
    """Of several commits the one from which on all is to be changed."""
    real: frozenset[Hit]
    """Finds of which a person has said that they must go."""


def look(case: HookCase, added: Added, words: Callable[[Hit], Words]) -> tuple[list[Found], tuple[str, ...]]:
    """The leaks in new lines, and notes on what was not looked at. Raises SentinelError."""
    gaps = [
        gap for gap in added.gaps if not (gap.path and last_matching_pattern(case.policy.leaks.allow, gap.path, ""))
    ]
    unseen = in_words(gaps)
    found = [_unsearched(unseen)] if unseen and case.session else []
    notes = () if case.session or case.hook in _PUSHES else unseen
    if not added.pieces:
        return found, notes
    (hits, real), more = _hits(case, added)
    large = frozenset(gap.path for gap in gaps)
    more = tuple(note for note in more if note.rpartition(": ")[0] not in large)
    raw = frozenset((p.commit, p.path) for p in added.pieces if p.raw and p.line)
    texts = {(p.commit, p.path) for p in added.pieces if not p.raw}
    names = {h.path: h.excerpt for h in hits if h.path and not h.line}
    told = _Told(case, words, raw - texts, large, names, _oldest(added, hits), real)
    return [*found, *_refusals(told, hits), *_warnings(told, hits)], (*notes, *more)


def _unsearched(words: Sequence[str]) -> Found:
    what = f"not all of this can be searched for secrets: {'; '.join(words)}"
    instead = "Leave it out, or ask the user to commit it"
    ask = Ask("COMMIT_UNSEARCHED", words[0].partition(" is over ")[0])
    return Found("", Finding("leak", Response.ASK, what, "", instead, "leak.unsearched", ask=ask))


class _Standing(NamedTuple):
    """The finds that nothing lets pass."""

    hits: list[Hit]
    real: frozenset[Hit] = frozenset()


def _hits(case: HookCase, added: Added) -> tuple[_Standing, tuple[str, ...]]:
    """The finds that stand, and notes."""
    from sentinel_guard.core.secrets.scan_outgoing_content import scan_pieces  # noqa: PLC0415 - the formats load when there is a text

    known, allow, comments = case.known(), case.policy.leaks.allow, not case.session
    files = scan_pieces(
        [p for p in added.pieces if p.path], known=known, allow=allow, comments=comments, new=added.holds
    )
    # A message names the people who wrote, signed and reviewed: their addresses are there to be read.
    messages = scan_pieces([p for p in added.pieces if not p.path], known=known, pii=False, comments=comments)
    ours = (*files.hits, *messages.hits)
    notes = (*files.notes, *messages.notes)
    if not installed():
        return _standing(case, [*ours]), notes
    from sentinel_guard.host.secrets import kingfisher  # noqa: PLC0415 - most machines have none

    texts = [p for p in added.pieces if not p.raw]
    more, words = kingfisher.search(texts, ours, allow, case.environ, added.holds, comments=comments)
    return _standing(case, [*ours, *more]), (*notes, *words)


def _standing(case: HookCase, hits: list[Hit]) -> _Standing:
    """The finds that neither a comment nor the baseline lets pass, and that are not refused by their path already."""
    left = list({(h.commit, h.path, h.line, h.column, h.leak.rule): h for h in hits if not h.allowed}.values())
    if left and case.hook not in _APART:
        refused = {path: is_restricted(case, path) for path in {h.path for h in left if h.path}}
        left = [h for h in left if not refused.get(h.path)]
    left = [h for h in left if not (h.leak.rule == _KEY and h.path and is_let_in(case, h.path))]
    if not left:
        return _Standing(left)
    from sentinel_guard.host.secrets import allowlist_file  # noqa: PLC0415 - most commits have no find

    baseline = allowlist_file.load(case.root)
    baseline = baseline.reviewed() if case.session else baseline
    left = [hit for hit in left if not baseline.allows(hit)]
    return _Standing(left, frozenset(hit for hit in left if baseline.row(hit)))


def _oldest(added: Added, hits: Iterable[Hit]) -> Hit | None:
    """The find in the oldest commit; the messages are in the order of the commits, the newest first."""
    order = {p.commit: n for n, p in enumerate(added.pieces) if not p.path}
    grave = (h for h in hits if h.path and h.commit in order and h.leak.grade == Grade.BLOCK)
    return max(grave, key=lambda h: order[h.commit], default=None)


def _refusals(told: _Told, hits: list[Hit]) -> Iterator[Found]:
    refused = _grouped(hit for hit in hits if hit.leak.grade == Grade.BLOCK)
    many = sum(bool(first.path or first.commit) for first, _ in refused) > 1  # no baseline holds a message yet to be
    for first, count in refused:
        undo = told.words(told.oldest if told.oldest and first.path else first).undo
        what = f"{_adds(told, first)} {_what(told, first, count)} (rule {first.leak.rule}): {first.excerpt}"
        instead = f"{undo}. {_way(told, first, many)}".strip()
        rule = f"leak.{first.leak.kind}"
        yield Found(first.commit, Finding("leak", Response.DENY, what, "", instead, rule, first.leak.rule))


def _adds(told: _Told, hit: Hit) -> str:
    if hit.path or hit.line:
        return told.words(hit).adds
    return f"{hit.commit[:12]} holds" if hit.commit else "this push sends"


def _way(told: _Told, hit: Hit, many: bool) -> str:
    """How a find is let pass, where it may be."""
    case, kind = told.case, hit.leak.kind
    if kind == "known":
        return f"{_KNOWN}{_public(case, hit)}."
    if hit in told.real:
        return "A person has said in .sentinel-secrets.toml that it must go."
    if case.session:
        return "If it belongs there, ask the user to let it pass: inside a session no comment does."
    ways = [*_comments(told, hit), *_outside(told, hit, many)]
    belongs = "If it belongs here" if kind == "pii" else "If it is no secret"
    return f"{belongs}, {', or '.join(ways)}" if ways else ""


_KNOWN = "Read it from the environment, or from a file that is not committed; no comment lets a value of your own pass"


def _public(case: HookCase, hit: Hit) -> str:
    return f". If it is no secret there, {_allow(case)}" if hit.path and not case.session else ""


def _allow(case: HookCase) -> str:
    return f"add the file to [leaks] allow in {places(case.environ).policy}"


def _comments(told: _Told, hit: Hit) -> list[str]:
    """The comment on a line, where the file has comments."""
    has_none = hit.path.lower().endswith(_PLAIN) or hit.leak.rule.startswith(_KEY) or _is_unread(told, hit)
    if has_none or hit.leak.kind == "pii" or not hit.line:
        return []
    return [f"end its line with the comment `sentinel: allow`{' in that very commit' if hit.commit else ''}"]


def _outside(told: _Told, hit: Hit, many: bool) -> list[str]:
    """The baseline, which knows the lines of texts, and the policy, which knows files."""
    if not hit.path:
        return [f"run: {_BASELINE} --history"] if hit.commit and hit.line else []
    if not hit.line or _is_unread(told, hit):
        return [_allow(told.case)]
    run = f"{'take in all of them at once' if many else 'run'}: {_BASELINE}{' --history' if hit.commit else ''}"
    return [_allow(told.case), run] if hit.leak.kind == "pii" else [run]


def _is_unread(told: _Told, hit: Hit) -> bool:
    return (hit.commit, hit.path) in told.unread


def _warnings(told: _Told, hits: list[Hit]) -> Iterator[Found]:
    if told.case.hook in _PUSHES:
        return
    groups = _grouped((hit for hit in hits if hit.leak.grade == Grade.WARN), all_kinds=True)
    for first, count in groups[:SHOWN_WARNINGS]:
        what = f"{_adds(told, first)} {_what(told, first, count)} (rule {first.leak.rule})"
        yield Found(first.commit, Finding("leak", Response.HINT, what, rule=f"leak.{first.leak.kind}"))
    if more := sum(count for _, count in groups[SHOWN_WARNINGS:]):
        yield Found("", Finding("leak", Response.HINT, f"and {more} more that may be leaks", rule="leak.more"))
    if groups and not told.case.session:
        yield Found("", Finding("leak", Response.HINT, _QUIET, rule="leak.more"))


_QUIET = (
    "warnings refuse nothing; the comment `sentinel: allow` on the line, or sentinel-guard secrets baseline, ends them"
)


def _grouped(hits: Iterable[Hit], *, all_kinds: bool = False) -> list[tuple[Hit, int]]:
    """The first find of each file and rule, with their number; secrets stand alone but where ``all_kinds`` do not."""
    groups: dict[tuple[object, ...], list[Hit]] = {}
    for hit in hits:
        alone = () if all_kinds or hit.leak.kind == "pii" else (hit.line, hit.column)
        groups.setdefault((hit.commit, hit.path, hit.leak.rule, *alone), []).append(hit)
    return [(group[0], len(group)) for group in groups.values()]


def _what(told: _Told, first: Hit, count: int) -> str:
    if first.count > 1 and first.line:
        shown = told.names.get(first.path) or readable(first.path)
        return f"{first.leak.what} in {shown}, the first at {first.line}:{first.column}"
    more = f", and {count - 1} more there" if count > 1 else ""
    return f"{first.leak.what} in {_place(told, first)}{more}"


def _place(told: _Told, hit: Hit) -> str:
    if not hit.line:
        owner = "its author, or its own name" if hit.commit else "a branch or tag"
        return "the name of a file" if hit.path else f"the name of {owner}"
    if not hit.path:
        return f"line {hit.line}, column {hit.column}"
    shown = told.names.get(hit.path) or readable(hit.path)
    no_text = _is_unread(told, hit) and hit.path not in told.large
    return f"{shown}, which is no text" if no_text else f"{shown}:{hit.line}:{hit.column}"
