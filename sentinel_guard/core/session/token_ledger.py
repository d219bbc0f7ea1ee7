"""The ledger of tokens (R6): usage entries to and from the audit log, each reply once, never two sources added.

Rules of this file:
1. A reply is told by its source and key: what is told of it later makes its counts higher and never lower, and leaves
   its time as it was first told. Who can write to a record takes nothing from the ledger.
2. Sources are not added, as they tell of the same replies: what the coding agents themselves record is counted where
   there is any, else their telemetry, else what was reported, else what was estimated.
3. What nobody told is unknown, and not 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sentinel_guard.core.model import Entry, Usage

TELEMETRY, REPORT, ESTIMATE = "telemetry", "report", "estimate"
"""Sources that are no coding agent's own record, the better one first."""
COUNTS = ("input", "output", "cache_read", "cache_write")
MINUTE = 60.0


def entry(session: str, at: float, usage: Usage, lowered: Usage | None = None) -> Entry:
    """What goes on record of a reply's tokens, at ``at``; ``lowered``: what its record tells now, with lower counts."""
    data: dict[str, object] = {name: getattr(usage, name) for name in COUNTS}
    data |= {"source": usage.source or REPORT, **({"replied": usage.at} if usage.at != at else {})}
    data |= {name: value for name in ("key", "model", "estimated", "compaction") if (value := getattr(usage, name))}
    data |= {"lowered": {name: getattr(lowered, name) for name in COUNTS}} if lowered else {}
    return Entry(at, session, "usage", data)


def lowered(entry: Entry) -> bool:
    """Whether an entry tells that an agent's own record was written anew with lower counts, which do not count."""
    return "lowered" in entry.data


def unread_entry(session: str, at: float, source: str, why: str) -> Entry:
    """That a coding agent's own record is not read, which leaves its tokens unknown."""
    return Entry(at, session, "usage", {"source": source, "unread": why})


def unread(entry: Entry) -> str | None:
    """Why a coding agent's own record is not read, empty where it is again; None where an entry tells of tokens."""
    return str(entry.data["unread"]) if "unread" in entry.data else None


def usage_from(entry: Entry) -> Usage:
    """The usage that an entry holds; one of an older version has neither a source nor the time of the reply."""
    d = entry.data
    replied = d.get("replied")
    return Usage(
        float(replied) if isinstance(replied, int | float) else entry.at,
        _number(d.get("input")),
        _number(d.get("output")),
        _number(d.get("cache_read")),
        _number(d.get("cache_write")),
        source=str(d.get("source") or REPORT),
        key=str(d.get("key") or ""),
        model=str(d.get("model") or ""),
        estimated=bool(d.get("estimated")),
        compaction=bool(d.get("compaction")),
    )


def grown(known: Usage | None, new: Usage) -> Usage:
    """What is known of a reply, with what is told of it later: the higher one of each count, the time as first told."""
    if known is None:
        return new
    counts = (max(getattr(known, name), getattr(new, name)) for name in COUNTS)
    return replace(
        new, **dict(zip(COUNTS, counts, strict=True)), at=known.at, compaction=known.compaction or new.compaction
    )


def is_lower(new: Usage, known: Usage) -> bool:
    """Whether a count is lower than what was told of the same reply before."""
    return any(getattr(new, name) < getattr(known, name) for name in COUNTS)


def merged(known: tuple[Usage, ...], new: Usage) -> tuple[Usage, ...]:
    """Those with a new one, joined with what was known of the same reply."""
    if not new.key:
        return (*known, new)
    same = next((u for u in known if (u.source, u.key) == (new.source, new.key)), None)
    return (*(u for u in known if u is not same), grown(same, new))


def bounded(usages: tuple[Usage, ...], most: int) -> tuple[Usage, ...]:
    """About so many: the oldest ones of a source are added up, so that who tells much pushes nothing out."""
    extra = len(usages) - most
    if extra <= 0:
        return usages
    sums: dict[tuple[str, bool], Usage] = {}
    for one in usages[: extra + 1]:
        kind = one.source, one.compaction
        sums[kind] = _added(sums[kind], one) if kind in sums else one
    return (*sums.values(), *usages[extra + 1 :])


def _added(one: Usage, other: Usage) -> Usage:
    counts = (getattr(one, name) + getattr(other, name) for name in COUNTS)
    return replace(other, **dict(zip(COUNTS, counts, strict=True)), at=max(one.at, other.at), key="")


def counted(known: Iterable[Usage]) -> tuple[Usage, ...]:
    """Those of the best kind of source that there is."""
    usages = tuple(known)
    if not usages:
        return ()
    best = min(map(_kind, usages), default=0)
    return tuple(u for u in usages if _kind(u) == best)


def per_minute(known: Iterable[Usage], now: float) -> int:
    """Work tokens of the last minute."""
    return sum(u.work for u in counted(known) if u.at > now - MINUTE)


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens of a session with one model, as one source told them."""

    session: str
    source: str
    model: str
    input: int
    output: int
    cache_read: int
    cache_write: int
    replies: int
    estimated: bool
    counted: bool
    """False where a better source told of the session: this one is not added to it."""

    @property
    def work(self) -> int:
        return self.input + self.output + self.cache_write


class Latest:
    """A session's usages by its entries: each reply once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Usage] = {}

    def take(self, entry: Entry) -> None:
        """Another entry, in their order; one that tells of no tokens is passed over."""
        if entry.kind == "usage" and unread(entry) is None:
            usage = usage_from(entry)
            key = usage.source, usage.key or f"\0{len(self._known)}"
            self._known[key] = grown(self._known.get(key), usage)

    def usages(self) -> tuple[Usage, ...]:
        """In the order of the replies."""
        return tuple(sorted(self._known.values(), key=lambda u: u.at))


def latest(entries: Iterable[Entry]) -> dict[str, tuple[Usage, ...]]:
    """Id of a session -> its usages, each reply once, in the order of the replies."""
    found: dict[str, Latest] = {}
    for one in entries:
        found.setdefault(one.session, Latest()).take(one)
    return {session: usages for session, known in found.items() if (usages := known.usages())}


def rows(known: Mapping[str, tuple[Usage, ...]]) -> list[Row]:
    """A row for each session, source and model, in that order."""
    found = []
    for session, usages in sorted(known.items()):
        best = {u.source for u in counted(usages)}
        for source, model in sorted({(u.source, u.model) for u in usages}):
            group = [u for u in usages if (u.source, u.model) == (source, model)]
            found.append(
                Row(
                    session,
                    source,
                    model,
                    sum(u.input for u in group),
                    sum(u.output for u in group),
                    sum(u.cache_read for u in group),
                    sum(u.cache_write for u in group),
                    replies=len(group),
                    estimated=any(u.estimated for u in group),
                    counted=source in best,
                )
            )
    return found


def _kind(usage: Usage) -> int:
    return {TELEMETRY: 1, REPORT: 2, "": 2, ESTIMATE: 3}.get(usage.source, 0)


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
