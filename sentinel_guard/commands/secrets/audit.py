"""``sentinel-guard secrets audit``: a person reviews each row of the allowlist that nobody has reviewed.

Rules of this file:
1. Only from a terminal, and never from inside a guarded session: what is marked here lets a find pass there.
2. Each answer is written at once: who stops in the middle loses nothing.
3. The value stays masked; the file and the line are named, for who has to see it.
4. A value is asked about once: what is said of it holds for each of its places.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

from sentinel_guard.commands import require_human
from sentinel_guard.commands.secrets import scan
from sentinel_guard.commands.secrets.baseline import REFUSED
from sentinel_guard.commands.secrets.scan import count
from sentinel_guard.core.secrets.allowlisted_findings import (
    ANY,
    NAME,
    NONE,
    Allowlist,
    ReviewStatus,
    Row,
    place,
    stored,
)
from sentinel_guard.core.secrets.model import Hit, Piece
from sentinel_guard.core.secrets.redacted_excerpt import ScannedText
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host.git import commit_contents
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.secrets import allowlist_file, scanned_files
from sentinel_guard.humans.terminal_prompts import visible

AROUND = 2
"""Lines above and below."""
ALSO = 5
"""Further places of one value that are named."""
KEYS = {"y": ReviewStatus.REAL, "a": ReviewStatus.ACCEPTED, "n": ReviewStatus.FALSE}
OTHER = "Keys: y, a, n, s, b or q. "
MENU = "y a real secret, it must go   a real, and may stay   n no secret   s skip   b back   q quit "
TOLD = {
    ReviewStatus.REAL: "Stays refused. Make it void where it was given out, then take it out of the file.",
    ReviewStatus.ACCEPTED: "Let be there.",
    ReviewStatus.FALSE: "Let be, in every file.",
}
GOING = """\
For what must go:
  1. make it void where it was given out (its provider, the database), and take a new one;
  2. read the new one from the environment or a file that git ignores;
  3. where it was pushed: others may have it, so 1 is what counts; git filter-repo takes it out of the history.
  Then: sentinel-guard secrets baseline"""


def audit(places: StatePaths, cwd: Path, key: Callable[[], str] | None) -> int:
    """Walk through the unreviewed rows. ``key`` waits for one key and returns it; None where there is no terminal.

    Raises SentinelError where no person can be asked, ConfigError where there is no baseline, or a broken one.
    """
    root, baseline = _opened(cwd)
    if key is None:
        raise SentinelError(
            "A person goes through the baseline, in a terminal.", "See it: sentinel-guard secrets audit --list"
        )
    require_human.require_human(places, root, REFUSED)
    rows = [r for r in baseline.rows if r.said is ReviewStatus.UNREVIEWED]
    if not rows:
        print(f"All {count(len(baseline.rows), 'row')} of {NAME} are reviewed.")
        return 0
    seen = _seen(places, root, baseline, rows)
    if gone := len(rows) - len(seen):
        print(f"{count(gone, 'row')} no longer found. To take them out: sentinel-guard secrets baseline\n")
    _walk(root, baseline, _alike(r for r in rows if r in seen), seen, key)
    return 0


def show(cwd: Path, *, as_json: bool = False) -> int:
    """Print every row with its verdict. Raises ConfigError where there is no baseline, or a broken one."""
    _, baseline = _opened(cwd)
    if as_json:
        print(json.dumps({"rows": [dict(row.table()) for row in baseline.rows]}))
        return 0
    for row in baseline.rows:
        print(f"{row.said.value:<10}  {_place(row)}  {row.rule}")
    number = {said: sum(r.said is said for r in baseline.rows) for said in ReviewStatus}
    print(", ".join(f"{n:,} {said.value}" for said, n in number.items() if n) or "No row.")
    return 0


def _opened(cwd: Path) -> tuple[Path, Allowlist]:
    root = commit_contents.top(cwd)
    baseline = allowlist_file.load(root)
    if baseline is NONE:
        raise ConfigError(f"There is no {NAME} in {root}.", "Write one: sentinel-guard secrets baseline")
    return root, baseline


def _seen(places: StatePaths, root: Path, baseline: Allowlist, rows: Iterable[Row]) -> dict[Row, list[str]]:
    """Each row whose find is still there, or in a commit that no remote has yet, and the lines that show it."""
    search, wanted = scan.begin(places, root, NONE), set(rows)
    paths = {row.path for row in wanted}
    files = (
        scanned_files.read(root / name, name).piece for name in scanned_files.tracked(root) if stored(name) in paths
    )
    seen: dict[Row, list[str]] = {}
    for piece in files:
        if piece:
            seen |= _found(baseline, (piece,), search.look([piece]), wanted - seen.keys())
    for lines in scanned_files.unpushed(root) if wanted - seen.keys() else ():
        hits = search.look(lines.pieces, lines.holds)
        seen |= _found(baseline, lines.pieces, hits, wanted - seen.keys())
    return seen


def _found(baseline: Allowlist, pieces: Iterable[Piece], hits: list[Hit], wanted: set[Row]) -> dict[Row, list[str]]:
    found: dict[Row, list[str]] = {}
    for hit in hits:
        row = None if hit.allowed else baseline.row(hit)
        if row in wanted and row not in found and row.path == place(hit):
            piece = next(p for p in pieces if _holds(p, hit))
            page = ScannedText(piece.text, [h.leak for h in hits if _holds(piece, h)])
            found[row] = _shown(page, hit, piece.line)
    return found


def _holds(piece: Piece, hit: Hit) -> bool:
    lines = range(piece.line, piece.line + piece.text.rstrip("\n").count("\n") + 1)
    return (piece.path, piece.commit) == (hit.path, hit.commit) and hit.line in lines


def _alike(rows: Iterable[Row]) -> list[list[Row]]:
    """The places of each value."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(row if row.hash == ANY else (row.rule, row.hash), []).append(row)
    return list(groups.values())


def _shown(page: ScannedText, hit: Hit, first: int) -> list[str]:
    lines = []
    for number in range(hit.line - AROUND, hit.line + AROUND + 1):
        text = hit.excerpt if number == hit.line else page.line(number - first + 1)
        mark = ">" if number == hit.line else " "
        if text or mark == ">":
            lines.append(f"  {mark} {number:>5}  {text}")
    where = f", only in commit {hit.commit[:10]}" if hit.commit else ""
    return [f"{hit.leak.what} ({hit.leak.rule}){where}", *lines]


def _walk(
    root: Path, baseline: Allowlist, groups: list[list[Row]], seen: dict[Row, list[str]], key: Callable[[], str]
) -> None:
    """Ask about each value, back and forth; ``baseline`` is written at each answer."""
    at, said = 0, dict.fromkeys(chain.from_iterable(groups), ReviewStatus.UNREVIEWED)
    while at < len(groups):
        rows = groups[at]
        _show(rows, seen[rows[0]], f"[{at + 1} of {len(groups)}]")
        pressed = _pressed(key)
        if pressed == "q":
            break
        if pressed == "b":
            at = max(at - 1, 0)
        else:
            if pressed in KEYS:
                said |= dict.fromkeys(rows, KEYS[pressed])
                allowlist_file.save(root, baseline.with_verdicts(said))
                print(f"  {TOLD[KEYS[pressed]]}" + (f" Said of all {len(rows)} places." if len(rows) > 1 else ""))
            at += 1
        print()
    _end(said)


def _show(rows: list[Row], lines: list[str], number: str) -> None:
    print(f"{number}  {_place(rows[0])}")
    print("\n".join(lines))
    if len(rows) > 1:
        more = "" if len(rows) - 1 <= ALSO else f" and {len(rows) - 1 - ALSO:,} more"
        print(f"  The same value: {', '.join(map(_place, rows[1 : ALSO + 1]))}{more}")


def _place(row: Row) -> str:
    return f"{visible(row.path) or 'message'}:{row.line}" if row.line else "a name"


def _pressed(key: Callable[[], str]) -> str:
    """One of the menu's keys; of another one it is said which there are, once."""
    print(MENU, end="", flush=True)
    told = False
    while (pressed := key().lower()) not in {*KEYS, "s", "b", "q"}:
        if pressed in {"\x03", "\x04", "\x1b"}:
            pressed = "q"
            break
        if not told:
            print(f"\n{OTHER}", end="", flush=True)
            told = True
    print(pressed)
    return pressed


def _end(said: dict[Row, ReviewStatus]) -> None:
    left = sum(s is ReviewStatus.UNREVIEWED for s in said.values())
    print(f"{count(len(said) - left, 'row')} marked, {left:,} left. Commit {NAME}.")
    if ReviewStatus.REAL in said.values():
        print(GOING)
