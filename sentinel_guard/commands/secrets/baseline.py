"""``sentinel-guard secrets baseline``: puts the present finds on the allowlist; they are not asked about again.

Rules of this file:
1. A find for which a commit would be refused is taken in only after it was shown, and a person said yes.
2. Verdicts stay with the rows whose find is still there, in a file or in a commit that no remote has yet; what is gone
   leaves the file.
3. Never from inside a guarded session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sentinel_guard.commands import require_human
from sentinel_guard.commands.secrets import scan
from sentinel_guard.commands.secrets.scan import count
from sentinel_guard.core.secrets.allowlisted_findings import ANY, NAME, NONE, Allowlist, Row, Update, place
from sentinel_guard.core.secrets.model import Grade, Hit
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.secrets import allowlist_file, scanned_files
from sentinel_guard.humans.terminal_prompts import visible

SHOWN = 20
"""Rows that moved or are gone: so many are named."""
ALL = "  (and all of the rule in this file)"
REFUSED = "From inside a guarded session the baseline is not changed."
NOTHING = {
    False: "Nothing was found in the files: no baseline is needed. Commits that no remote has yet: --history",
    True: "Nothing was found in the files, nor in commits that no remote has yet: no baseline is needed.",
}
"""Whether commits were looked into -> the words where there is no find."""
Confirm = Callable[[str], bool] | None


def baseline(places: StatePaths, cwd: Path, confirm: Confirm, *, history: bool = False) -> int:
    """Search the work tree and write the baseline, or bring it up to date; says what changed. 1 if a person says no.

    With ``history`` the finds of commits that no remote has yet are taken in, too. Raises SentinelError from inside a
    session, ConfigError for a broken file, HostError outside of a repository.
    """
    root = commit_contents.top(cwd)
    require_human.require_human(places, root, REFUSED)
    before = allowlist_file.load(root)
    search = scan.begin(places, root, NONE)
    search.files(scan.whole(root))
    update, hits = _compared(search, root, allowlist_file.begin() if before is NONE else before, history)
    scan.end_of_telling()
    own = _own(hits, root, cwd)
    if before is NONE and not update.new:
        print("Nothing else was found: no baseline is needed." if own else NOTHING[history])
        return 0
    _tell(update)
    grave = _grave(update, hits)
    for hit in grave:
        many = update.baseline.row(hit)
        print(f"  {scan.line(hit, root, cwd)}{ALL if many and many.hash == ANY else ''}")
    question = f"Take {'this' if len(grave) == 1 else f'these {len(grave):,}'} in? Nobody is asked about them again."
    if grave and confirm and not confirm(question):
        print("Nothing was written.")
        return 1
    if _changed(update, before):
        allowlist_file.save(root, update.baseline)
        _next(update.baseline)
    return 0


def _compared(search: scan.Search, root: Path, before: Allowlist, history: bool) -> tuple[Update, list[Hit]]:
    """The baseline after what was found, and the finds; commits are looked into only where they could count."""
    here = search.found.open
    update = before.updated(here)
    if not history and not (update.gone or update.moved):
        return update, here
    past = search.lines(scanned_files.unpushed(root)).open[len(here) :]
    if not history:  # what has a row keeps it, and nothing new comes in
        lost = {(r.path, r.rule, r.hash) for r in before.rows}
        near = {(path, rule) for path, rule, _ in lost}
        past = [h for h in past if (place(h), h.leak.rule) in near and before.key(h) in lost]
    return before.updated(here, past), [*here, *past]


def _own(hits: Sequence[Hit], root: Path, cwd: Path) -> bool:
    """Whether there are values of the person's own among the finds, which it says."""
    own = [h for h in hits if h.leak.kind == "known"]
    if own:
        stay = "value of your own stays" if len(own) == 1 else "values of your own stay"
        print(f"{len(own):,} {stay} refused; no baseline lets one be:")
        print("".join(f"  {text}\n" for text in scan.lines(own, root, cwd)))
    return bool(own)


def _grave(update: Update, hits: Sequence[Hit]) -> list[Hit]:
    """The first find of each new row for which a commit would be refused."""
    new = set(update.new)
    first: dict[Row, Hit] = {}
    for hit in hits:
        row = update.baseline.row(hit)
        if row in new and hit.leak.grade is Grade.BLOCK and row.path == place(hit):
            first.setdefault(row, hit)
    return list(first.values())


def _changed(update: Update, before: Allowlist) -> bool:
    same = before is not NONE and update.baseline.rows == before.rows
    if same:
        print(f"{NAME} is up to date: {count(len(before.rows), 'row')}.")
    return not same


def _tell(update: Update) -> None:
    for rows, word in ((update.new, "new"), (update.moved, "moved, with their verdicts"), (update.gone, "gone")):
        if rows:
            print(f"{count(len(rows), 'row')} {word}.")
    for row in (*update.moved, *update.gone)[:SHOWN]:
        print(f"  {visible(row.path) or 'message'}:{row.line}  {row.rule}  {row.said}")


def _next(written: Allowlist) -> None:
    open_ = sum(r.said == "unreviewed" for r in written.rows)
    print(f"Wrote {NAME}: {count(len(written.rows), 'row')}, {open_:,} unreviewed. Commit it.")
    if open_:
        print("Inside guarded sessions only what a person has marked is let be. Next: sentinel-guard secrets audit")
