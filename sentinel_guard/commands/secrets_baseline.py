"""``sentinel-guard secrets baseline``: what is there already is not asked about again.

Rules of this file:
1. A find for which a commit would be refused is taken in only after it was shown, and a person said yes.
2. Verdicts stay with the rows whose find is still there; what is gone leaves the file.
3. Never from inside a guarded session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sentinel_guard.commands import outside, secrets
from sentinel_guard.commands.secrets import count
from sentinel_guard.core.leaks.base import Grade, Hit
from sentinel_guard.core.leaks.baseline import ANY, NAME, NONE, Baseline, Row, Update, stored
from sentinel_guard.host import baselines, staged
from sentinel_guard.host.places import Places
from sentinel_guard.humans.terminal import visible

SHOWN = 20
"""Rows that moved or are gone: so many are named."""
ALL = "  (and all of the kind in this file)"
REFUSED = "From inside a guarded session the baseline is not changed."
Confirm = Callable[[str], bool] | None


def baseline(places: Places, cwd: Path, confirm: Confirm) -> int:
    """Search the work tree and write the baseline, or bring it up to date; says what changed. 1 if a person says no.

    Raises SentinelError from inside a session, ConfigError for a broken file, HostError outside of a repository.
    """
    root = staged.top(cwd)
    outside.only(places, root, REFUSED)
    before = baselines.load(root)
    found = secrets.begin(places, root, NONE).files(secrets.whole(root))
    secrets.end_of_telling()
    hits = [h for h in found.hits if not h.allowed]
    update = (baselines.begin() if before is NONE else before).updated(hits)
    if before is NONE and not update.new:
        print("Nothing was found: no baseline is needed.")
        return 0
    _tell(update)
    grave = _grave(update, hits)
    for hit in grave:
        many = update.baseline.row(hit)
        print(f"  {secrets.line(hit, root, cwd)}{ALL if many and many.hash == ANY else ''}")
    question = f"Take {'this' if len(grave) == 1 else f'these {len(grave):,}'} in? Nobody is asked about them again."
    if grave and confirm and not confirm(question):
        print("Nothing was written.")
        return 1
    if _changed(update, before):
        baselines.save(root, update.baseline)
        _next(update.baseline)
    return 0


def _grave(update: Update, hits: Sequence[Hit]) -> list[Hit]:
    """The first find of each new row for which a commit would be refused."""
    new = set(update.new)
    first: dict[Row, Hit] = {}
    for hit in hits:
        row = update.baseline.row(hit)
        if row in new and hit.leak.grade is Grade.BLOCK and row.path == stored(hit.path):
            first.setdefault(row, hit)
    return list(first.values())


def _changed(update: Update, before: Baseline) -> bool:
    same = before is not NONE and update.baseline.rows == before.rows
    if same:
        print(f"{NAME} is up to date: {count(len(before.rows), 'row')}.")
    return not same


def _tell(update: Update) -> None:
    for rows, word in ((update.new, "new"), (update.moved, "moved, with their verdicts"), (update.gone, "gone")):
        if rows:
            print(f"{count(len(rows), 'row')} {word}.")
    for row in (*update.moved, *update.gone)[:SHOWN]:
        print(f"  {visible(row.path)}:{row.line}  {row.rule}  {row.said}")


def _next(written: Baseline) -> None:
    open_ = sum(r.said == "unreviewed" for r in written.rows)
    print(f"Wrote {NAME}: {count(len(written.rows), 'row')}, {open_:,} unreviewed. Commit it.")
    if open_:
        print("Inside guarded sessions only what a person has marked is let be. Next: sentinel-guard secrets audit")
